"""A question asked several times: one score, variance between and within, disagreement."""

from __future__ import annotations

import random
import statistics
from typing import Any

import pytest
from gated import Scored
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.floors import BelowFloor, CaseScores
from pytest_touchstone.measures import Recall
from pytest_touchstone.repeats import averaged, components, disagree
from pytest_touchstone.score import Score, unscored


def test_one_score_stays_what_it_is() -> None:
    score = Score(0.5, "so", detail={"rank": 1})
    assert averaged([score]) is score


def test_repeats_are_averaged_over_what_is_scored() -> None:
    score = averaged([Score(1.0, "found"), unscored("no_judge", "away"), Score(0.5, "half")])
    assert (score.value, score.reason) == (0.75, None)
    assert score.why == "mean of 3 repeats (1, -, 0.5); found"
    none = averaged([unscored("no_judge", "away"), unscored("no_judge", "away")])
    assert (none.value, none.reason) == (None, "no_judge")


def test_a_system_that_fails_once_has_failed_the_question() -> None:
    failed = Score(0.0, "system error (timeout): 9 s", "system_error")
    score = averaged([Score(1.0, "found"), failed])
    assert (score.value, score.reason) == (0.5, "system_error")
    scores = CaseScores({Recall @ 5: score, Recall @ 10: score}, {})
    with pytest.raises(BelowFloor) as low:
        scores.meet_floors()
    assert low.value.lines == ("on 1 of 2 repeats: system error (timeout): 9 s",)
    costly = averaged([unscored("system_error", "it failed"), Score(0.1, "so")])
    assert (costly.value, costly.reason) == (0.1, "system_error")
    assert averaged([unscored("system_error", "it failed")] * 2).value is None


def test_components_of_a_textbook_example() -> None:
    """Two groups of two: mean squares 9 and 0.5, so 0.5 within and (9 - 0.5) / 2 between."""
    parts = components([[1.0, 2.0], [4.0, 5.0]])
    assert parts.within == pytest.approx(0.5)
    assert parts.between == pytest.approx(4.25)


def test_components_where_there_is_too_little() -> None:
    assert components([]) == components([[1.0], [0.0]]) == components([[], [1.0]])
    assert components([[1.0], [0.0]]).within is None
    one = components([[0.0, 1.0], []])
    assert (one.between, one.within) == (None, 0.5)
    assert components([[0.0, 1.0], [1.0, 0.0]]).between == 0, "never below 0"


@given(st.integers(0, 2**32), st.integers(2, 4))
def test_components_are_those_of_the_mean_squares(seed: int, repeats: int) -> None:
    rng = random.Random(seed)
    questions = [[rng.random() for _ in range(repeats)] for _ in range(6)]
    means = [statistics.fmean(question) for question in questions]
    parts = components(questions)
    within = statistics.fmean(statistics.variance(question) for question in questions)
    assert parts.within == pytest.approx(within)
    expected = max(0.0, statistics.variance(means) - within / repeats)
    assert parts.between == pytest.approx(expected)


def test_components_of_unequal_repeats_find_the_true_variances() -> None:
    rng = random.Random(3)
    found: list[tuple[float, float]] = []
    for _ in range(300):
        questions = []
        for _ in range(30):
            mean = rng.gauss(0, 2)
            questions.append([rng.gauss(mean, 1) for _ in range(rng.randint(1, 5))])
        parts = components(questions)
        assert parts.between is not None
        assert parts.within is not None
        found.append((parts.between, parts.within))
    between, within = (statistics.fmean(side) for side in zip(*found, strict=True))
    assert between == pytest.approx(4, abs=0.25)
    assert within == pytest.approx(1, abs=0.05)


def test_repeats_disagree_across_a_floor_or_by_half_the_range() -> None:
    share: Any = {"higher_is_better": True, "range_": [0.0, 1.0]}
    assert disagree([0.4, 0.6], floor=0.5, **share)
    assert not disagree([0.6, 1.0], floor=0.5, **share)
    assert disagree([1.0, 0.0, 1.0], floor=None, **share)
    assert not disagree([0.5, 0.9], floor=None, **share)
    assert not disagree([1.0], floor=2.0, **share)
    assert disagree([0.0, 0.5], floor=0.0, higher_is_better=False, range_=[0.0, 1.0])
    cost: Any = {"higher_is_better": False, "range_": [0.0, None]}
    assert not disagree([0.1, 9.0], floor=None, **cost)
    assert disagree([0.1, 9.0], floor=1.0, **cost)


def test_a_report_tells_of_repeats() -> None:
    run = Scored(
        {"mine": {"Recall@5": [[1.0, 1.0], [1.0, 0.0], [0.0, "no_judge"]]}},
        settings={"floors": {"Recall@5": 0.5}},
    )
    findings = run.report()["findings"]
    assert findings["flaky"] == [{"case": "q1", "measure": "Recall@5", "values": [1.0, 0.0]}]
    (entry,) = findings["repeats"]
    assert (entry["measure"], entry["questions"], entry["flaky"]) == ("Recall@5", 3, 1)
    assert entry["within"] == pytest.approx(0.25)
    once = Scored({"mine": {"Recall@5": [1.0, 0.0]}}).report()["findings"]
    assert (once["repeats"], once["flaky"]) == ([], [])
