"""The prompts that measures rest on: what a judge is really asked with for them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_touchstone.flight.judging import Judging
from pytest_touchstone.flight.observe import Work
from pytest_touchstone.gold import Case
from pytest_touchstone.judge import llm
from pytest_touchstone.judge.protocol import Judged
from pytest_touchstone.judge.tasks import Task
from pytest_touchstone.measures import MEASURES, parse
from pytest_touchstone.measures.base import JUDGEMENTS, LIVE, Measure
from pytest_touchstone.measures.prompts import AGAIN, PROMPTS, prompts_of
from pytest_touchstone.trace import Answer, Observation, Passage, Turn
from pytest_touchstone.verdicts import NoVerdict

READ = [measure for measure in MEASURES.values() if (measure.needs | measure.wants) & JUDGEMENTS]


class Noting:
    """A judge that finds one claim, and notes with which prompt it is asked."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    async def judge(self, task: Task[Any]) -> Judged[Any]:
        self.asked.add(task.prompt)
        if task.prompt == "judge_claims":
            return Judged(("the bridge is red",))
        return Judged(None, NoVerdict("judge_unreadable", "nothing"))


@pytest.mark.parametrize("measure", READ, ids=str)
def test_a_measure_rests_on_the_prompts_that_its_judge_is_asked_with(measure: Measure) -> None:
    case = Case(
        "q",
        "edge_case",
        "Which colour?",
        answer="Red.",
        key_points=("red",),
        behavior=("admitted",),
    )
    turn = Turn(
        0, "Which colour?", Answer("The bridge is red [1].", (Passage("c1", "It is red."),))
    )
    seen = Observation("q", "mine", (turn,), mode=measure.mode)
    judge = Noting()
    work = Work(case, "mine", (measure,), mode=measure.mode)
    asyncio.run(Judging(judge, "noting").verdicts(work, seen))
    # Who reads the claims reads the citing paragraphs too, for other measures.
    beside = {"judge_support"} if "claims" in measure.needs else set()
    assert judge.asked - beside == prompts_of(measure) - {AGAIN}
    assert judge.asked


def test_every_prompt_of_a_judge_has_its_place() -> None:
    assert PROMPTS.keys() == JUDGEMENTS
    assert {AGAIN, *(name for names in PROMPTS.values() for name in names)} == set(llm.ALL_PROMPTS)
    assert AGAIN == llm.AGAIN
    assert LIVE in {measure.mode for measure in READ}


def test_what_reads_nothing_of_a_judge_rests_on_no_prompt() -> None:
    assert prompts_of(parse("Recall@5")) == frozenset()
    assert prompts_of(parse("CostPerQuery")) == frozenset()
    assert AGAIN in prompts_of(parse("Formality"))
