"""Ten thousand computed cases beside plain pytest on as many trivial parametrized tests.

``python benchmarks/cases.py [CASES] [ROUNDS]``: a system that answers at once, Recall@5 and MRR of
five passages.  Prints the time and the peak memory of the whole command as ratios to plain pytest
(without the plugin, as many tests of a parameter that is a number), the memory that a case takes
beyond that, and the time of a case between a tenth of the cases and all of them.  Of several
rounds, in turn, the best counts.
"""

from __future__ import annotations

import json
import os
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
    """Seconds, and the most memory in KB that the process had resident."""

    seconds: float
    memory: int


def main() -> None:
    """Measure and print."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    few = cases // 10
    with tempfile.TemporaryDirectory() as folder:
        makers = {"evaluation": evaluation, "plain": trivial}
        found: dict[tuple[str, int], list[Run]] = {}
        for name, make in makers.items():
            for count in (few, cases):
                make(Path(folder, name, str(count)), count)
        for _ in range(rounds):
            for name in makers:
                for count in (few, cases):
                    run = measured(Path(folder, name, str(count)), plain=name == "plain")
                    found.setdefault((name, count), []).append(run)
    seconds = {key: min(run.seconds for run in runs) for key, runs in found.items()}
    memory = {key: min(run.memory for run in runs) for key, runs in found.items()}
    for name, count in found:
        print(
            f"{name:11}{count:7} cases {seconds[name, count]:7.2f} s"
            f" {memory[name, count] / 1024:7.0f} MB"
        )
    ours, plain = ("evaluation", cases), ("plain", cases)
    print(f"time          {seconds[ours] / seconds[plain]:.2f} of plain pytest")
    more = {name: memory[name, cases] - memory[name, few] for name in makers}
    each = (more["evaluation"] - more["plain"]) / (cases - few)
    print(
        f"memory        {memory[ours] / memory[plain]:.2f} of plain pytest;"
        f" {each:.1f} KB a case beyond it"
    )
    start = min(run.seconds for run in _starts(rounds))
    print(
        "one case      "
        f"{1000 * (seconds['evaluation', few] - start) / few:.2f} ms of {few},"
        f" {1000 * (seconds[ours] - seconds['evaluation', few]) / (cases - few):.2f} ms of the rest"
    )


def _starts(rounds: int) -> list[Run]:
    """An evaluation of one case: what starting takes."""
    with tempfile.TemporaryDirectory() as folder:
        evaluation(Path(folder, "one"), 1)
        return [measured(Path(folder, "one"), plain=False) for _ in range(rounds)]


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


def measured(folder: Path, *, plain: bool) -> Run:
    """One command from an empty store."""
    for file in (folder / "reports").glob("*"):
        file.unlink()
    without = ["-p", "no:touchstone"] if plain else []
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:deepeval", *without]
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
    return Run(time.perf_counter() - start, used.ru_maxrss)


if __name__ == "__main__":
    main()
