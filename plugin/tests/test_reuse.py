"""Answers of earlier runs are read ahead, and each is given once to whoever asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from runs import MEASURES, PATIENCE_S, assert_all_threads_end, gold, join, store_url

from pytest_touchstone.flight.observe import Work
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.opening.reuse import Addresses, StoredAnswers
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import RunStore, Unit
from pytest_touchstone.trace import Answer, Observation, Turn

CASES = gold(150)
WORKS = [Work(case, "s", MEASURES) for case in CASES]
ADDRESSES = Addresses({"s": "digest"})


class Counting(Store):
    """A store that counts how often it is read."""

    reads = 0

    def read(self, job: Callable[..., Any]) -> Any:
        self.reads += 1
        return super().read(job)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Counting]:
    store = Counting(store_url(tmp_path))
    run = join(store, "a", CASES, ["s"])
    # The run answered all questions but every tenth.
    for number, work in enumerate(WORKS):
        if number % 10:
            address = ADDRESSES.of(work, (0,), False)
            turn = Turn(0, work.case.question, Answer(f"Answer {number}."))
            run.claim([Unit(work.case.id, "s")])
            seen = Observation(work.case.id, "s", (turn,), address=address)
            last = run.record(work.case, seen, {})
    last.result(PATIENCE_S)
    store.reads = 0
    yield store
    store.close()
    assert_all_threads_end()


def recalled(store: Store, works: list[Work]) -> list[str | None]:
    """The answers that are found for the works, asked for in this order, eight at a time."""

    async def ask() -> list[str | None]:
        threads = DaemonThreads("reuse")
        run = RunStore(store, "later", "b")
        recall = StoredAnswers(store, run, threads, ADDRESSES, frozenset({"s"}), WORKS)
        places = asyncio.Semaphore(8)

        async def one(work: Work) -> str | None:
            async with places:
                found = await recall(work, False)
            if found is None:
                return None
            assert (found.case_id, found.reused_from) == (work.case.id, "run")
            assert found.last.answer is not None
            return found.last.answer.text

        try:
            return list(await asyncio.gather(*map(one, works)))
        finally:
            threads.close()

    return asyncio.run(ask())


def test_answers_are_read_many_at_a_time(store: Counting) -> None:
    expected = [f"Answer {number}." if number % 10 else None for number in range(len(WORKS))]
    assert recalled(store, WORKS) == expected
    assert store.reads <= 5


def test_any_order_finds_the_same(store: Counting) -> None:
    """Another process has a part of the questions, and some come back from the dead."""
    places = [*range(140, 3, -7), 9, 139, 9]
    expected = [f"Answer {number}." if number % 10 else None for number in places]
    assert recalled(store, [WORKS[place] for place in places]) == expected


def test_nobody_looks_for_answers_of_a_system_that_is_asked_anew(store: Counting) -> None:
    async def ask() -> Observation | None:
        threads = DaemonThreads("reuse")
        recall = StoredAnswers(store, RunStore(store, "later", "b"), threads, ADDRESSES)
        return await recall(WORKS[1], False)

    assert asyncio.run(ask()) is None
    assert store.reads == 0


def test_many_works_are_looked_up_in_one_go(store: Counting) -> None:
    async def ask() -> list[Observation | None]:
        threads = DaemonThreads("reuse")
        run = RunStore(store, "later", "b")
        recall = StoredAnswers(store, run, threads, ADDRESSES, frozenset({"s"}), WORKS)
        try:
            found = list(await recall.several(WORKS[:40], False))
            # Who asks for what was not there is told so without another look.
            assert await recall(WORKS[10], False) is None
            assert await recall.several([], False) == []
            return found
        finally:
            threads.close()

    found = asyncio.run(ask())
    assert [seen is None for seen in found] == [number % 10 == 0 for number in range(40)]
    assert store.reads == 1
