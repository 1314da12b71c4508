"""Runs for the tests of store and flight: gold questions, systems, flights, second processes.

As a program it is such a second process: ``python runs.py claim|fly <url> <owner>``.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pytest_touchstone.flight.flight import Flight
from pytest_touchstone.flight.lane import Lane
from pytest_touchstone.flight.observe import Observer, Work
from pytest_touchstone.gold import Case, GoldChunk
from pytest_touchstone.measures import Recall
from pytest_touchstone.measures.base import Measure, Need
from pytest_touchstone.report.rows import PlanRow
from pytest_touchstone.score import Score
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import RunStart, RunStore, Unit
from pytest_touchstone.systems.protocol import Loaded, Session
from pytest_touchstone.trace import Answer, Message, Observation, Passage

MEASURES: tuple[Measure, ...] = (Recall @ 5,)
PATIENCE_S = 30.0


def store_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'reports' / 'touchstone.sqlite'}"


def gold(number: int) -> list[Case]:
    return [
        Case(f"q{i}", "factual", f"What is {i}?", gold_chunks=(GoldChunk(f"c{i}"),))
        for i in range(number)
    ]


def start(run_id: str = "run", **given: Any) -> RunStart:
    known: dict[str, Any] = {
        "started_at": "2026-11-30T12:00:00.000Z",
        "config": {"seed": 1, "models": {"scorer": {}}},
        "dataset_path": "gold.jsonl",
        "dataset_sha256": "0" * 64,
        "commit_sha": None,
    }
    return RunStart(run_id, **(known | given))


def join(store: Store, owner: str, cases: Sequence[Case], systems: Sequence[str] = ()) -> RunStore:
    """One process's part in the run `run`, begun."""
    run = RunStore(store, "run", owner)
    plan = [
        PlanRow(case.id, system, measure.name)
        for case in cases
        for system in systems
        for measure in MEASURES
    ]
    run.begin(start(), cases, plan).result(PATIENCE_S)
    return run


def loaded(ask: Callable[..., Any], **given: Any) -> Loaded:
    known: dict[str, Any] = {"name": "s", "retrieve": None, "identity": {}, "timeout": PATIENCE_S}
    return Loaded(ask=ask, **(known | given))


def answer(number: str) -> Answer:
    return Answer(f"It is {number}.", (Passage(f"c{number}", f"About {number}.", 0.5),), usage=())


def number_in(messages: Sequence[Message]) -> str:
    return messages[-1].content.removeprefix("What is ").removesuffix("?")


class Assistant:
    """A system that answers right and notes what it was asked; `wait` may hold it up."""

    def __init__(self, wait: Mapping[str, Callable[[], Any]] | None = None) -> None:
        self.asked: list[str] = []
        self._wait = wait or {}

    async def ask(self, messages: Sequence[Message], session: Session) -> Answer:
        number = number_in(messages)
        self.asked.append(number)
        if number in self._wait:
            await self._wait[number]()
        return answer(number)


async def no_count(filters: object) -> int | None:
    return None


OBSERVER = Observer(count=no_count, price=lambda usage: (0.0, None), redact=lambda text: text)


def works(
    cases: Sequence[Case], *systems: str, measures: Sequence[Measure] = MEASURES
) -> list[Work]:
    return [Work(case, system, tuple(measures)) for case in cases for system in systems or ("s",)]


def flight(
    run: RunStore,
    cases: Sequence[Case],
    *systems: Loaded,
    patience: float = PATIENCE_S,
    **given: Any,
) -> Flight:
    lanes = {system.name: Lane(system) for system in systems}
    plan = given.pop("plan", None) or works(cases, *lanes)
    observer, awaited = given.pop("observer", OBSERVER), given.pop("awaited", next(iter(lanes)))
    return Flight(plan, lanes, observer, run, awaited=awaited, patience=patience, **given)


@dataclass(frozen=True, repr=False)
class Odd(Measure):
    """A measure that does what it is told."""

    do: Callable[[], Any] = field(compare=False)
    dimension: ClassVar[str] = "retrieval"
    needs: ClassVar[frozenset[Need]] = frozenset({"answer"})

    @property
    def name(self) -> str:
        return "Odd"

    def applies(self, case: Case) -> bool:
        return True

    def measure(self, case: Case, seen: Observation) -> Score:
        score: Score = self.do()
        return score


def in_thread(event: threading.Event) -> Callable[[], Any]:
    """Something to await that lets the loop go on until another thread sets the event."""
    return lambda: asyncio.to_thread(event.wait, PATIENCE_S)


def assert_all_threads_end() -> None:
    """No thread of ours is left; whoever held one up has let it go before."""
    for thread in threading.enumerate():
        if thread.name.startswith("touchstone"):
            thread.join(PATIENCE_S)
            assert not thread.is_alive(), thread.name


@contextmanager
def second_process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """This module as a program, killed at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, __file__, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        with process:
            try:
                yield process
            finally:
                process.kill()
    except BrokenPipeError:
        pass


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def _claim(url: str, owner: str) -> None:
    """Wait for a line, then claim whatever is free, one after the other; print what was got."""
    _say("ready")
    sys.stdin.readline()
    store = Store(url)
    run = join(store, owner, [])
    units = [Unit(f"q{i}", "s") for i in range(200)]
    while units:
        window = units[:7]
        mine = run.claim(window).result()
        if mine is not None:
            _say(mine.case_id)
            units = units[units.index(mine) + 1 :]
        else:
            units = units[len(window) :]
    store.close()


def _fly(url: str, owner: str) -> None:
    """Carry out a run of ten questions, but never come to an end with the fourth and fifth."""
    cases = gold(10)

    async def never() -> None:
        _say("stuck")
        await asyncio.Event().wait()

    system = Assistant({"3": never, "4": never})
    run = join(Store(url), owner, cases)
    under_way = flight(run, cases, loaded(system.ask, concurrency=2))
    under_way.start()
    under_way.drain()


if __name__ == "__main__":
    {"claim": _claim, "fly": _fly}[sys.argv[1]](*sys.argv[2:])
