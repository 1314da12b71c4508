"""Which of an answer's questions the judge is asked first, where not all find a place."""

from __future__ import annotations

import asyncio
from typing import Any

from runs import gold, works

from pytest_touchstone.flight.judging import Judging
from pytest_touchstone.flight.observe import Work
from pytest_touchstone.flight.places import RANK, Places
from pytest_touchstone.judge.protocol import Judged
from pytest_touchstone.judge.tasks import ClaimsTask, Task
from pytest_touchstone.measures import Faithfulness
from pytest_touchstone.trace import Answer, Observation, Turn
from pytest_touchstone.verdicts import NoVerdict


class OneByOne:
    """A judge that says nothing usable, and asks for one place of few first."""

    def __init__(self, places: int) -> None:
        self._places = Places(places)
        self.asked: list[bool] = []

    async def judge(self, task: Task[Any]) -> Judged[Any]:
        async with self._places:
            self.asked.append(isinstance(task, ClaimsTask))
            await asyncio.sleep(0)
        return Judged(None, NoVerdict("judge_unreadable", "nothing"))


def test_claims_come_before_what_nobody_waits_for() -> None:
    cases = gold(4)
    judge = OneByOne(4)
    judging = Judging(judge, "one by one")

    async def verdicts(rank: int, work: Work) -> None:
        RANK.set(rank)
        seen = Observation(work.case.id, "s", (Turn(0, "What?", Answer("It is 0.", ())),))
        await judging.verdicts(work, seen)

    async def main() -> None:
        plan = works(cases, measures=(Faithfulness,))
        tasks = (asyncio.create_task(verdicts(*each)) for each in enumerate(plan))
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert judge.asked == [True, False, True, False, True, True, False, False]
