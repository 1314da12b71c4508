"""Runs that are disturbed at some moment, and what is left of them: who was asked, what is stored.

Everything here is told apart by its own folder and server, so that several may run at once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from servers.counting import Call, CountingServer

from pytest_touchstone.store import tables

SYSTEM_CALLS, JUDGE_CALLS = 4, 6
"""Calls in flight at most, shared by all processes of a run."""
CALLS_A_CASE = 5
_WITHIN_S = 120.0

_APP = """
import aiohttp
from pytest_touchstone import Answer, Passage

SESSION = None


async def ask(messages, session):
    global SESSION
    SESSION = SESSION or aiohttp.ClientSession()
    async with SESSION.post("URL/ask", json={"question": messages[-1].content}) as response:
        data = await response.json()
    return Answer(data["text"], tuple(Passage(**p) for p in data["passages"]), usage=())
"""
_MODULE = """
import pytest
from pytest_touchstone import CitationRecall, Faithfulness, Formality, Recall

pytestmark = pytest.mark.touchstone(Recall @ 5, Faithfulness, Formality, CitationRecall)


def test_judged(case, scores):
    assert scores[Recall @ 5].value == 1
"""
_CONFTEST = "import pytest_touchstone.store.run as run\n\nrun.DEAD_AFTER_S"
_INI = """
[pytest]
addopts = -q -p no:deepeval -p no:asyncio -p no:repeat -p no:rerunfailures
"""
# One row each in a store that is whole.
_ONCE: dict[str, tuple[sa.Column[Any], ...]] = {
    "eval_questions": tuple(
        tables.questions.c[name]
        for name in ("run_id", "case_id", "system", "repeat", "mode", "turn")
    ),
    "eval_scores": tuple(
        tables.scores.c[name]
        for name in ("run_id", "case_id", "system", "repeat", "mode", "measure")
    ),
    "eval_judgments": (tables.judgments.c.question_id, tables.judgments.c.paragraph_idx),
    "eval_citations": (tables.citations.c.judgment_id, tables.citations.c.source_index),
}


class Disturbed:
    """A project whose system and judge are a counting server, and whose runs meet harm.

    :param folder: made anew.
    :param store: URL of the store; without it, the file that a project has by default.
    :param dead_after: seconds after which a process without a beat is taken for dead; without it,
        what everybody has.
    """

    def __init__(
        self,
        folder: Path,
        server: CountingServer,
        cases: int,
        store: str | None = None,
        dead_after: float | None = None,
    ) -> None:
        self.folder = folder
        self.server = server
        self.cases = cases
        self.store = store or f"sqlite:///{folder / 'evaluation/reports/touchstone.sqlite'}"
        settings = {
            "dataset": "gold.jsonl",
            "reports": "reports",
            "store": store,
            "system": "app",
            "baseline": "none",
            "systems": {"app": {"ask": "app:ask", "concurrency": SYSTEM_CALLS}},
            "resamples": 100,
            "judge": {
                "model": "stub",
                "url": f"{server.address}/v1",
                "concurrency": JUDGE_CALLS,
                "canaries": False,
            },
        }
        for name, text in {
            "pytest.ini": _INI,
            "conftest.py": "" if dead_after is None else f"{_CONFTEST} = {dead_after}\n",
            "app.py": _APP.replace("URL", server.address),
            "tests/test_judged.py": _MODULE,
            "evaluation/gold.jsonl": "".join(map(_gold_line, range(1, cases + 1))),
            "evaluation/settings.yaml": json.dumps(settings),
        }.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A run in a group of processes of its own; what it says is added to `said.txt`."""
        with (self.folder / "said.txt").open("ab") as said:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "pytest", *arguments],
                cwd=self.folder,
                env=_environment(),
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def end(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for a run's end, and for that of every process that it left behind."""
        try:
            code = process.wait(_WITHIN_S)
            until = time.monotonic() + _WITHIN_S
            while group(process.pid):
                assert time.monotonic() < until, "processes were left behind"
                time.sleep(0.02)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return code

    def run(self, *arguments: str) -> int:
        """A run that nobody disturbs; its exit code."""
        return self.end(self.start(*arguments))

    def wait_for_calls(self, number: int, process: subprocess.Popen[bytes]) -> None:
        """Wait until so many calls were made, or the run has ended."""
        while len(self.server.calls) < number and process.poll() is None:
            time.sleep(0.01)

    @property
    def said(self) -> str:
        """What all runs so far said."""
        return (self.folder / "said.txt").read_text("utf-8", "replace")

    def results(self, name: str | None = None) -> dict[str, Any]:
        """What must be equal in the newest report however it came about.

        :param name: of a report that was asked for by name.
        """
        files = (self.folder / "evaluation/reports").glob("*.json")
        newest = max(files, key=lambda file: file.stat().st_mtime_ns) if name is None else None
        report = json.loads((newest or self.folder / str(name)).read_text("utf-8"))
        kept = {name: report[name] for name in ("measures", "cases", "findings")}
        return kept | {"results_sha256": report["snapshot"]["results_sha256"]}

    def stored(self) -> tuple[int, int]:
        """Answers and results of judge calls that the store holds."""
        answered = sa.select(sa.func.count(sa.distinct(tables.questions.c.case_id)))
        judged = sa.select(sa.func.count()).where(
            tables.calls.c.kind == "judge", tables.calls.c.state == "done"
        )
        if self.store.startswith("sqlite") and not Path(self.store.partition(":///")[2]).exists():
            return 0, 0  # looking must not make it
        engine = sa.create_engine(self.store, poolclass=sa.NullPool)
        with engine.connect() as connection:
            there = set(sa.inspect(connection).get_table_names())
            if tables.questions.name not in there:
                return 0, 0
            answers = connection.execute(answered).scalar_one()
            return answers, connection.execute(judged).scalar_one()

    def faults(self) -> list[str]:
        """What is wrong with the store: it should open, be sound, and hold no row twice."""
        found = []
        engine = sa.create_engine(self.store, poolclass=sa.NullPool)
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":
                state = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
                if state != "ok":
                    found.append(f"integrity_check: {state}")
            for table, key in _ONCE.items():
                count = sa.func.count().label("rows")
                query = sa.select(*key, count).group_by(*key).having(sa.func.count() > 1)
                found += [f"{table}: {tuple(row)}" for row in connection.execute(query)]
            every = sa.select(sa.func.count()).select_from(tables.runs)
            if (runs := connection.execute(every).scalar()) != 1:
                found.append(f"{runs} runs")
        return found


@dataclass(frozen=True, slots=True)
class Lost:
    """What a kill cost, as server and store saw it.

    :ivar in_flight: calls that had come and not been replied to at the kill.
    :ivar unstored: calls that had come and whose results the store does not hold.
    :ivar repeated: calls that were made again.
    :ivar replied: those of them that had been replied to, the earliest so many seconds before the
        kill: ``late``.
    """

    in_flight: int
    unstored: int
    repeated: int
    replied: int
    late: float


def lost(before: Sequence[Call], after: Sequence[Call], dead: float, stored: int) -> Lost:
    """Compare the calls of a killed run with those of the run that went on with it.

    :param dead: the moment of the kill.
    :param stored: answers and results that the store held then.
    """
    made = {call.what: call for call in before}
    again = [made[call.what] for call in after if call.what in made]
    ages = [dead - call.left for call in again if call.left is not None and call.left < dead]
    return Lost(
        in_flight=sum(call.left is None or call.left > dead for call in before),
        unstored=len(made) - stored,
        repeated=len(again) + len(after) - len({call.what for call in after}),
        replied=len(ages),
        late=max(ages, default=0.0),
    )


def times(calls: Sequence[Call]) -> set[int]:
    """How often calls were made: 1, where nothing was asked twice."""
    return set(Counter(call.what for call in calls).values())


def group(leader: int) -> list[int]:
    """The processes of a group that are not dead."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(OSError):
            # The name in parentheses may hold anything; state, parent and group follow it.
            state, _, number = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(number) == leader and state != "Z":
                found.append(int(folder.name))
    return sorted(found)


def workers(leader: int) -> list[int]:
    """The processes that a run has started."""
    return [each for each in group(leader) if each != leader]


def _gold_line(number: int) -> str:
    question = {"id": f"q{number}", "type": "factual", "question": f"Question {number}?"}
    more = {"answer": f"Bridge {number} is red.", "gold_chunks": [f"c{number}"]}
    return json.dumps(question | more) + "\n"


def _environment() -> dict[str, str]:
    """This process's, without settings of its own, and with modules compiled."""
    strange = ("TOUCHSTONE_", "OPENAI_", "PYTEST_", "PYTHONDONTWRITEBYTECODE", "GITHUB_")
    return {name: value for name, value in os.environ.items() if not name.startswith(strange)}
