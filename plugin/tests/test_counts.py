"""Counts of calls: what is planned, under way and done adds up whatever is asked after all."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

from runs import (
    PATIENCE_S,
    Assistant,
    assert_all_threads_end,
    flight,
    gold,
    in_thread,
    join,
    loaded,
    store_url,
    works,
)

from pytest_touchstone.flight.counts import CountedJudge, Counts, Share, asked
from pytest_touchstone.flight.judging import Judging
from pytest_touchstone.flight.reading import Reading
from pytest_touchstone.judge.protocol import Judged
from pytest_touchstone.judge.tasks import Task
from pytest_touchstone.measures import Faithfulness
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import Unit
from pytest_touchstone.trace import Answer, Observation, Turn
from pytest_touchstone.verdicts import NoVerdict


class Silent:
    """A judge that finds no claims, so that nobody asks for verdicts on them; it may be held."""

    def __init__(self, held: threading.Event | None = None) -> None:
        self._held = held

    async def judge(self, task: Task[Any]) -> Judged[Any]:
        if self._held is not None:
            await asyncio.to_thread(self._held.wait, PATIENCE_S)
        return Judged(None, NoVerdict("judge_unreadable", "nothing"))


def reading(held: threading.Event | None = None) -> Reading:
    counts = Counts("judge")
    return Reading(Judging(CountedJudge(Silent(held), counts), "silent", counts=counts))


def seen(counts: Counts) -> tuple[int, int, int]:
    return counts.planned, counts.in_flight, counts.done


def test_everything_planned_is_done_in_the_end(tmp_path: Path) -> None:
    store = Store(store_url(tmp_path))
    cases = gold(4)
    go = threading.Event()
    plan = works(cases, measures=(Faithfulness,))
    assistant = Assistant({"3": in_thread(go)})
    system = loaded(assistant.ask, concurrency=4)
    flying = flight(join(store, "a", cases), cases, system, plan=plan, reading=reading(go))
    own, judge = flying.counts
    assert (own.kind, own.name, judge.kind) == ("system", "s", "judge")
    assert seen(own) == (4, 0, 0)
    assert seen(judge) == (12, 0, 0), "claims, verdicts on them, and the paragraphs that cite"
    flying.start()
    while judge.in_flight < 6:
        threading.Event().wait(0.01)
    assert seen(own) == (4, 1, 3)
    assert seen(judge) == (12, 6, 0)
    go.set()
    flying.drain()
    assert seen(own) == (4, 0, 4)
    assert seen(judge) == (8, 0, 8), "what was not asked for is no longer planned"
    store.close()
    assert_all_threads_end()


def test_what_another_process_does_is_planned_here_no_more(tmp_path: Path) -> None:
    store = Store(store_url(tmp_path))
    cases = gold(2)
    plan = works(cases, measures=(Faithfulness,))
    other = join(store, "b", cases)
    assert other.claim([Unit("q0", "s")]).result(PATIENCE_S) is not None
    flying = flight(
        join(store, "a", cases), cases, loaded(Assistant().ask), plan=plan, reading=reading()
    )
    flying.start()
    assert set(flying.scores("q1", "s")) == {"Faithfulness"}
    done = Observation("q0", "s", (Turn(0, "What is 0?", Answer("It is 0.", ())),))
    other.record(cases[0], done, {}).result(PATIENCE_S)
    flying.drain()
    own, judge = flying.counts
    assert seen(own) == (1, 0, 1)
    assert seen(judge) == (2, 0, 2)
    store.close()


def test_a_piece_of_work_takes_no_more_than_its_share() -> None:
    judge, scorer = Counts("judge", expected=2), Counts("scorer")

    async def main() -> None:
        share = Share(judge, 1)
        asked(scorer)
        await asyncio.gather(*(asyncio.create_task(call()) for _ in range(2)))
        share.give_back()

    async def call() -> None:
        asked(judge)

    asyncio.run(main())
    assert (judge.asked, judge.expected, judge.planned) == (2, 1, 3)
    assert (scorer.asked, scorer.expected) == (1, 0)
