"""Floors: which score makes a case low, and what the reader is told."""

from __future__ import annotations

import pytest

from pytest_touchstone.floors import BelowFloor, CaseScores
from pytest_touchstone.measures import MRR, CostPerQuery, Measure, Recall
from pytest_touchstone.score import NO_PRICE, SYSTEM_ERROR, Score, unscored


def low_lines(scores: dict[Measure, Score], floors: dict[str, float]) -> tuple[str, ...]:
    with pytest.raises(BelowFloor) as raised:
        CaseScores(scores, floors).meet_floors()
    assert str(raised.value) == "\n".join(raised.value.lines)
    return raised.value.lines


def assert_not_low(scores: dict[Measure, Score], floors: dict[str, float]) -> None:
    CaseScores(scores, floors).meet_floors()


def test_a_floor_is_the_worst_value_that_is_not_low() -> None:
    at, below = Score(0.5, "1 of 2"), Score(0.4999, "less than 1 of 2")
    assert_not_low({Recall @ 5: at}, {"Recall@5": 0.5})
    assert low_lines({Recall @ 5: below}, {"Recall@5": 0.5}) == (
        "Recall@5 0.4999 < 0.5: less than 1 of 2",
    )


def test_where_lower_is_better_it_is_a_ceiling() -> None:
    floors = {"CostPerQuery": 0.01}
    assert_not_low({CostPerQuery: Score(0.01, "one call")}, floors)
    assert low_lines({CostPerQuery: Score(0.02, "two calls")}, floors) == (
        "CostPerQuery 0.02 > 0.01: two calls",
    )


def test_other_measures_and_unscored_values_are_not_low() -> None:
    scores = {MRR: Score(0.0, "none found"), CostPerQuery: unscored(NO_PRICE, "no price for x")}
    assert_not_low(scores, {"Recall@5": 1, "CostPerQuery": 0})


def test_a_failed_system_is_low_without_any_floor_and_says_so_once() -> None:
    why = "system error (exception): ValueError: no"
    failed: dict[Measure, Score] = {
        measure: Score(0.0, why, SYSTEM_ERROR) for measure in (Recall @ 5, MRR)
    }
    failed[CostPerQuery] = unscored(SYSTEM_ERROR, why)
    assert low_lines(failed, {"MRR": 1}) == (why,)


def test_scores_are_a_mapping_by_measure() -> None:
    scores = CaseScores({Recall @ 5: Score(1.0, "all")}, {})
    assert list(scores) == [Recall @ 5]
    assert len(scores) == 1
    assert Recall @ 10 not in scores
    assert scores[Recall @ 5].value == 1
