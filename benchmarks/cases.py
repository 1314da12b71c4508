"""Ten thousand computed cases beside plain pytest on as many trivial parametrized tests.

``python benchmarks/cases.py [CASES] [ROUNDS]``: Recall@5 and MRR of five passages, of answers that
an earlier run stored (``--touchstone-reuse-answers``, in the store that this run left), and of a
system that answers at once.  Prints time, CPU and peak memory of the whole command as ratios to
plain pytest (without the plugin, as many tests of a parameter that is a number), the memory that a
case takes beyond that, and the CPU of a case between a tenth of the cases and all of them.  Of
several rounds, in turn, the best counts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

APP = """
from pytest_touchstone import Answer, Passage


async def ask(messages, session):
    number = int(messages[-1].content.split()[1].rstrip("?"))
    passages = [Passage(f"c{number + n}", f"Bridge {number + n} is red.") for n in range(5)]
    return Answer(f"Bridge {number} is red.", tuple(passages))
"""
MODULE = """
import pytest
from pytest_touchstone import MRR, Recall

pytestmark = pytest.mark.touchstone(Recall @ 5, MRR)


def test_retrieval(case, scores):
    scores.meet_floors()
"""
TRIVIAL = """
import pytest


@pytest.mark.parametrize("number", range(CASES))
def test_trivial(number):
    assert number >= 0
"""


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds, those of them on a CPU, and the most memory in KB that the process had resident."""

    seconds: float
    cpu: float
    memory: int

    @classmethod
    def best(cls, runs: list[Run]) -> Run:
        """The least of each."""
        return cls(
            min(run.seconds for run in runs),
            min(run.cpu for run in runs),
            min(run.memory for run in runs),
        )


def main() -> None:
    """Measure and print."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    few = cases // 10
    counts = (1, few, cases)
    with tempfile.TemporaryDirectory() as folder:
        plain, project = Path(folder, "plain"), Path(folder, "project")
        for count in counts:
            trivial(plain / str(count), count)
            evaluation(project / str(count), count)
            evaluate(project / str(count))
            shutil.copytree(project / str(count) / "reports", project / str(count) / "kept")
        kinds = {
            "plain": lambda count: measured(plain / count, "-p", "no:touchstone"),
            "stored": lambda count: evaluate(project / count, stored=True),
            "asked": lambda count: evaluate(project / count),
        }
        found: dict[tuple[str, int], list[Run]] = {}
        for _ in range(rounds):
            for kind, run in kinds.items():
                for count in counts:
                    found.setdefault((kind, count), []).append(run(str(count)))
    best = {key: Run.best(runs) for key, runs in found.items()}
    for (kind, count), run in best.items():
        print(
            f"{kind:8}{count:7} cases {run.seconds:7.2f} s {run.cpu:7.2f} s CPU"
            f" {run.memory / 1024:5.0f} MB"
        )
    for kind in ("stored", "asked"):
        _compare(kind, best, few, cases)


def _compare(kind: str, best: dict[tuple[str, int], Run], few: int, cases: int) -> None:
    """The bars' figures of one kind of run."""
    ours, plain, start = best[kind, cases], best["plain", cases], best[kind, 1]
    more = {name: best[name, cases].memory - best[name, few].memory for name in (kind, "plain")}
    print(
        f"{kind:8} {ours.seconds / plain.seconds:.2f} of plain pytest's time,"
        f" {ours.cpu / plain.cpu:.2f} of its CPU, {ours.memory / plain.memory:.2f} of its memory"
        f" ({(more[kind] - more['plain']) / (cases - few):.1f} KB a case beyond it);"
        f" CPU of a case {1000 * (best[kind, few].cpu - start.cpu) / few:.2f} ms of {few},"
        f" {1000 * (ours.cpu - best[kind, few].cpu) / (cases - few):.2f} ms of the rest"
    )


def evaluation(folder: Path, cases: int) -> None:
    """A project whose system answers at once."""
    (folder / "evaluation").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "app.py").write_text(APP)
    (folder / "tests" / "test_retrieval.py").write_text(MODULE)
    with (folder / "evaluation" / "gold.jsonl").open("w") as gold:
        for n in range(cases):
            case = {
                "id": f"q{n}",
                "type": "factual",
                "question": f"Question {n}?",
                "answer": "Red.",
                "gold_chunks": [{"id": f"c{n}", "grade": 2}, f"c{n + 3}"],
            }
            gold.write(json.dumps(case) + "\n")
    settings = {
        "dataset": "gold.jsonl",
        "system": "app",
        "baseline": "none",
        "systems": {"app": {"ask": "app:ask"}},
    }
    (folder / "evaluation" / "settings.yaml").write_text(json.dumps(settings))


def trivial(folder: Path, cases: int) -> None:
    """As many tests of nothing."""
    folder.mkdir(parents=True)
    (folder / "test_trivial.py").write_text(TRIVIAL.replace("CASES", str(cases)))


def evaluate(folder: Path, *, stored: bool = False) -> Run:
    """One evaluation: of an empty store, or in one that holds the answers of one run."""
    shutil.rmtree(folder / "reports", ignore_errors=True)
    if not stored:
        return measured(folder)
    shutil.copytree(folder / "kept", folder / "reports")
    return measured(folder, "--touchstone-reuse-answers")


def measured(folder: Path, *arguments: str) -> Run:
    """One command."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:deepeval", *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        # The memory of this process alone, not of the largest of all that ended so far.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the command failed in {folder}")
    return Run(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)


if __name__ == "__main__":
    main()
