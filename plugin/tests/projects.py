"""Projects that pytest is run on: settings, gold questions, systems that count their calls."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import pytest_touchstone.report
from pytest_touchstone.shipped import shipped

CASES = tuple(f"q{number:02}" for number in range(1, 9))
"""Ids of the gold questions; their order in the file is another: see :func:`gold`."""

TIMEOUT = 60
"""Seconds that a run in a process of its own may take before the test fails."""

APP = '''
"""Systems that note every call in a file, and fail where `faults.json` says so."""

import asyncio
import json
import os
import signal
import time
from pathlib import Path

from pytest_touchstone import Answer, Passage, Retrieval, Usage

HERE = Path(__file__).parent
FAULTS = json.loads((HERE / "faults.json").read_text())


def note(*words):
    line = " ".join(words) + "\\n"
    file = os.open(HERE / "calls.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)


def passages(case, behind):
    """The gold chunk of the case behind so many others."""
    ids = [f"x{n}" for n in range(behind)] + ["c" + case[1:]]
    return [Passage(i, f"Text of {i}.") for i in ids]


FILTERS = {"year": "2021"}


def answer(case, behind, filters=None):
    usage = [Usage("own-model", 1000, 0, 100 + behind)]
    return Answer(f"The answer to {case} [1].", passages(case, behind), filters, usage=usage)


def fault(system, case):
    """What the call returns instead of an answer, or the answer's own value `...`."""
    kind = FAULTS.get(f"{system} {case}") or FAULTS.get(system)
    if kind is None:
        return ...
    if kind == "raise":
        raise ValueError(f"no luck with {case}")
    if kind == "secret":
        raise ConnectionError("refused key " + os.environ["MY_SERVICE_API_KEY"] + " \\x1b[31m")
    if kind == "exit":
        raise SystemExit(3)
    if kind == "empty":
        return Answer("  ", passages(case, 0), usage=())
    if kind == "no ids":
        return {"text": "An answer.", "passages": [{"text": "without an id"}]}
    if kind == "nothing":
        return None
    if kind == "kill once" and not (HERE / "killed").exists():
        time.sleep(1)  # until xdist has handed out its tests: it breaks where a worker dies then
        (HERE / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return ...


class Async:
    def __init__(self, name, behind):
        self.name, self.behind = name, behind

    async def ask(self, messages, session):
        case = messages[-1].content.split()[-1].rstrip("?")
        note(self.name, "ask", case)
        kind = FAULTS.get(f"{self.name} {case}") or FAULTS.get(self.name)
        while kind == "until a kill" and not (HERE / "killed").exists():
            await asyncio.sleep(0.05)
        while kind in ("hang", "swallow", "slow"):
            try:
                await asyncio.sleep(0.3 if kind == "slow" else 3600)
                break
            except asyncio.CancelledError:
                if kind != "swallow":
                    raise
        other = fault(self.name, case)
        return answer(case, self.behind, FILTERS) if other is ... else other


class AsyncWithRetrieve(Async):
    async def retrieve(self, messages, session):
        case = messages[-1].content.split()[-1].rstrip("?")
        note(self.name, "retrieve", case)
        other = fault(self.name, case)
        return Retrieval(passages(case, self.behind)) if other is ... else other


assistant = AsyncWithRetrieve("assistant", 0)
history = Async("history", 1)


def plain(messages, session):
    """A plain function, as a baseline."""
    case = messages[-1].content.split()[-1].rstrip("?")
    note("plain", "ask", case)
    kind = FAULTS.get(f"plain {case}") or FAULTS.get("plain")
    if kind in ("hang", "slow"):
        time.sleep(0.3 if kind == "slow" else 3600)
    other = fault("plain", case)
    return answer(case, 6) if other is ... else other
'''

# What comes with deepeval is installed where it is.
INI = """
[pytest]
addopts = -p no:deepeval -p no:asyncio -p no:repeat -p no:rerunfailures
filterwarnings = error
"""

_INTERRUPTIBLE = """
import signal, sys, pytest
# Whoever starts the tests in the background lets them ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(pytest.main())
"""

Json = dict[str, Any]


def question(name: str, kind: str = "factual", **labels: Any) -> Json:
    """One gold question."""
    return {"id": name, "type": kind, "question": f"What is {name}?", "answer": "", **labels}


def gold() -> list[Json]:
    """Eight questions, neither in order of id nor of type; `q04` has no labels at all."""
    kinds = ("factual", "summary", "comparative", "edge_case")
    labels: dict[str, Json] = {name: {"gold_chunks": ["c" + name[1:]]} for name in CASES}
    labels["q01"]["filters"] = {"year": "2021"}
    labels["q05"]["filters"] = {"year": "2022"}
    del labels["q04"]["gold_chunks"]
    return [
        question(name, kinds[place % 4], **labels[name])
        for place, name in enumerate((*CASES[4:], *CASES[:4]))
    ]


@dataclass(frozen=True)
class Ended:
    """A process that ended."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Everything that it said."""
        return self.out + self.err


class Project:
    """A folder with everything that an evaluation needs.

    ``assistant`` is the system under test, ``plain`` its baseline, ``history`` a variant.
    """

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.folder = pytester.path
        self.settings: Json = {
            "dataset": "gold.jsonl",
            "system": "assistant",
            "baseline": "plain",
            "variants": ["history"],
            "systems": {name: {"ask": f"app:{name}"} for name in ("assistant", "plain", "history")},
            "prices": {"own-model": {"input": 1, "output": 2}},
            "resamples": 100,
            # Several runs of one project are to ask as if they were the first.
            "reuse_answers": "none",
        }
        self.write("pytest.ini", INI)
        self.write("app.py", APP.lstrip())
        self.faults()
        self.gold(gold())
        self.configure()
        shutil.copytree(
            shipped("tests"), self.folder / "tests", ignore=shutil.ignore_patterns("__pycache__")
        )

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def configure(self, **changes: Any) -> None:
        """Write the settings, with these changes."""
        self.settings |= changes
        self.write("evaluation/settings.yaml", yaml.safe_dump(self.settings, sort_keys=False))

    def gold(self, cases: Sequence[Mapping[str, Any]]) -> None:
        """Write the gold questions."""
        self.write("evaluation/gold.jsonl", "".join(json.dumps(case) + "\n" for case in cases))

    def faults(self, faults: Mapping[str, str] | None = None) -> None:
        """Make systems fail: ``"assistant q01"`` or ``"assistant"`` to what happens."""
        self.write("faults.json", json.dumps(dict(faults or {})))

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in this process."""
        return self.pytester.runpytest_inprocess(*arguments)

    def end(self, *arguments: str) -> Ended:
        """Run pytest: in this process, or with `-n2` in one of its own."""
        if "-n2" in arguments:
            return self.spawn(*arguments)
        result = self.run(*arguments)
        return Ended(int(result.ret), result.stdout.str() + "\n", result.stderr.str() + "\n")

    def spawn(
        self, *arguments: str, module: str = "pytest", cwd: Path | None = None, **environ: str
    ) -> Ended:
        """Run a module in a process of its own, which has to end by itself."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", module, *arguments],
            cwd=cwd or self.folder,
            env=os.environ | environ,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def interrupt(self, *arguments: str, after: int, everywhere: bool = True) -> Ended:
        """Run pytest, and press Ctrl-C once the systems were called so many times.

        :param everywhere: a terminal interrupts the whole group of processes; otherwise only the
            first one learns of it.
        """
        with subprocess.Popen(
            [sys.executable, "-P", "-c", _INTERRUPTIBLE, *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                while len(self.calls()) < after:
                    assert process.poll() is None, process.communicate()
                    time.sleep(0.02)
                (os.killpg if everywhere else os.kill)(process.pid, signal.SIGINT)
                out, err = process.communicate(timeout=TIMEOUT)
            finally:
                process.kill()
        return Ended(process.returncode, out, err)

    def calls(self) -> list[str]:
        """Every call that a system received, such as ``"assistant ask q01"``, sorted."""
        file = self.folder / "calls.txt"
        return sorted(file.read_text("utf-8").splitlines()) if file.exists() else []

    def forget_calls(self) -> None:
        """Count from zero again."""
        (self.folder / "calls.txt").unlink(missing_ok=True)

    def report_files(self) -> list[Path]:
        """The reports written so far, oldest first."""
        return sorted((self.folder / "reports").glob("*.json"), key=lambda f: f.stat().st_mtime_ns)

    def report(self) -> Json:
        """The newest report, checked against the shipped schema."""
        report: Json = json.loads(self.report_files()[-1].read_text("utf-8"))
        schema = Path(pytest_touchstone.report.__file__).with_name("report.schema.json")
        jsonschema.Draft202012Validator(json.loads(schema.read_text("utf-8"))).validate(report)
        return report

    def tree(self) -> dict[str, bytes]:
        """Every file of the project but pytest's and Python's own caches."""
        return {
            str(file.relative_to(self.folder)): file.read_bytes()
            for file in self.folder.rglob("*")
            if file.is_file() and not {".pytest_cache", "__pycache__"} & set(file.parts)
        }


def case_of(report: Mapping[str, Any], case: str, system: str) -> Json:
    """What one system did with one question."""
    (found,) = (c for c in report["cases"] if (c["case"], c["system"]) == (case, system))
    return dict(found)


def measure_of(report: Mapping[str, Any], name: str) -> Json:
    """One measure's entry."""
    (found,) = (m for m in report["measures"] if m["measure"] == name)
    return dict(found)
