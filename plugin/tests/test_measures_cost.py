"""Cost per query: the flight's figure, or the reason why there is none."""

from __future__ import annotations

import pytest

from pytest_touchstone.gold import Case
from pytest_touchstone.measures import CostPerQuery
from pytest_touchstone.score import Score
from pytest_touchstone.trace import Answer, Observation, Turn, Usage

CASE = Case("c", "factual", "Who?")


def score(usage: tuple[Usage, ...] | None, cost: float | None, reason: str | None = None) -> Score:
    first = Turn(0, "Hi", Answer("Hi."), cost_usd=9.0)
    last = Turn(1, "Who?", Answer("x", usage=usage), cost_usd=cost, cost_reason=reason)
    return CostPerQuery.score(CASE, Observation("c", "s", (first, last)))


def test_the_cost_is_that_of_the_last_turn() -> None:
    usage = (Usage("m-1", 100, 40, 10), Usage("m-2", 5), Usage("m-1", 1))
    assert score(usage, 0.0042) == Score(
        0.0042,
        "3 LLM calls (m-1, m-2): 106 input tokens (40 of them cached), 10 output tokens",
        detail={"calls": 3},
    )


def test_no_call_costs_nothing() -> None:
    assert score((), 0.0) == Score(0.0, "no LLM call", detail={"calls": 0})


@pytest.mark.parametrize(
    ("usage", "reason", "why"),
    [
        (
            (Usage("odd", 1),),
            "no_price",
            "no cost (no price); 1 LLM call (odd): 1 input tokens, 0 output tokens",
        ),
        (None, "no_usage", "no cost (no usage); the system does not report its token usage"),
    ],
)
def test_without_a_cost_the_reason_is_told(
    usage: tuple[Usage, ...] | None, reason: str, why: str
) -> None:
    found = score(usage, None, reason)
    assert (found.value, found.reason, found.why) == (None, reason, why)


def test_cost_is_lower_better_and_open_at_the_worse_end() -> None:
    assert CostPerQuery.applies(CASE)
    assert not CostPerQuery.higher_is_better
    assert CostPerQuery.range == (0.0, None)
    assert CostPerQuery.worst is None
