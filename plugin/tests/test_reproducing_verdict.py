"""Whether figures came out again: what moved beyond chance, and what did not."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_touchstone.report import Report
from pytest_touchstone.reproducing.verdict import Verdict, reached

Scores = Mapping[str, Sequence[float | None]]
"""Measure to a value a question."""


def report(scores: Scores, *, sha: str = "a", repeats: int = 1, answer: str = "") -> Report:
    """As much of a report as a verdict reads."""
    number = len(next(iter(scores.values())))
    cases: list[dict[str, Any]] = [
        {
            "case": f"q{n}",
            "system": "mine",
            "repeat": repeat,
            "mode": "recorded",
            "gold": {"id": f"q{n}", "type": "factual", "question": "?"},
            "scores": {name: values[n] for name, values in scores.items()},
            "reasons": {name: "judge_unreachable" for name in scores if scores[name][n] is None},
            "details": {},
            "answer": answer,
            "filters": None,
            "behavior": None,
            "error": None,
            "earlier_turns": [],
        }
        for n in range(number)
        for repeat in range(repeats)
    ]
    measures: list[dict[str, Any]] = [
        {
            "measure": name,
            "title": name,
            "unit": "",
            "range": [0.0, None] if name == "Cost" else [0.0, 1.0],
            "higher_is_better": True,
            "system": None,
            "baseline": None,
            "variants": {},
        }
        for name in scores
    ]
    snapshot = {"results_sha256": sha, "confidence": 0.95, "seed": 1, "resamples": 1000}
    return cast(Report, {"snapshot": snapshot, "measures": measures, "cases": cases})


def verdict(then: Scores, now: Scores) -> Verdict:
    return reached(report(then), report(now, sha="b"))


def test_the_same_digest_is_identical() -> None:
    found = reached(report({"R": [0.0, 1.0]}), report({"R": [0.0, 1.0]}))
    assert (found.word, found.movements, found.cases) == ("identical", [], [])
    assert found.answers == (0, 2)


def test_other_answers_with_the_same_scores_are_within() -> None:
    now = report({"R": [0.0, 1.0]}, sha="b", answer="Otherwise.")
    found = reached(report({"R": [0.0, 1.0]}), now)
    assert found.word == "within the interval"
    assert found.answers == (2, 2)


def test_a_shift_on_every_question_is_seen_though_it_stays_in_the_old_interval() -> None:
    generator = random.Random(5)
    then = [generator.random() * 0.9 + 0.1 for _ in range(60)]
    found = verdict({"F": then}, {"F": [value - 0.05 for value in then]})
    (movement,) = found.movements
    assert found.word == "different"
    assert movement.then.ci is not None
    assert movement.now is not None
    assert movement.then.ci[0] < movement.now < movement.then.ci[1]
    assert movement.delta is not None
    assert movement.delta["estimate"] == pytest.approx(-0.05)


def test_a_fall_on_all_of_few_questions_is_seen_though_pairs_cannot_tell() -> None:
    found = verdict({"R": [1.0] * 6, "M": [1.0] * 6}, {"R": [0.3] * 6, "M": [0.5] * 6})
    assert found.word == "different"
    assert [m.delta is not None and m.delta["p_adjusted"] for m in found.movements] == [0.0625] * 2
    within = verdict({"R": [1.0] * 6, "M": [1.0] * 6}, {"R": [0.9] * 6, "M": [0.9] * 6})
    assert within.word == "within the interval"


def test_as_much_up_as_down_is_within() -> None:
    then = [0.0, 1.0] * 20
    now = [*then[2:], *then[:2]]
    now[:4] = [1.0, 0.0, 0.0, 1.0]
    found = verdict({"R": then}, {"R": now})
    assert found.word == "within the interval"
    assert [move.by for move in found.cases] == [1.0] * len(found.cases)


def test_with_too_few_clusters_whatever_differs_has_moved() -> None:
    found = verdict({"R": [1.0, 1.0, 1.0]}, {"R": [1.0, 1.0, 0.9]})
    (movement,) = found.movements
    assert (found.word, movement.moved, movement.then.ci) == ("different", True, None)


@pytest.mark.parametrize(("lost", "word"), [(4, "within the interval"), (6, "different")])
def test_what_was_not_scored_again_counts_when_it_is_the_most(lost: int, word: str) -> None:
    then = [1.0, 0.0] * 5
    left: list[float | None] = [*[None] * lost, *then[lost:]]
    found = verdict({"F": then}, {"F": left})
    (movement,) = found.movements
    assert found.word == word
    assert movement.lost == {"judge_unreachable": lost}
    assert movement.then.n == 10 - lost
    found = verdict({"F": left}, {"F": then})
    assert (found.word, found.movements[0].gained) == ("within the interval", lost)


def test_a_question_or_system_that_is_gone_is_no_pair() -> None:
    then, now = report({"R": [1.0] * 8}), report({"R": [1.0] * 8}, sha="b")
    now["cases"] = now["cases"][:3]
    (movement,) = reached(then, now).movements
    assert movement.lost == {"not part of the run": 5}
    assert movement.moved


def test_cases_are_told_the_furthest_first() -> None:
    found = verdict(
        {"R": [1.0] * 5, "Cost": [2.0, 2.0, 2.0, 2.0, 2.0]},
        {"R": [1.0, 0.7, 0.9, 1.0, 1.0], "Cost": [2.0, 2.0, 2.0, 1.0, 2.0]},
    )
    told = [(move.case, move.entry["measure"], move.then, move.now) for move in found.cases]
    assert told == [("q3", "Cost", 2.0, 1.0), ("q1", "R", 1.0, 0.7), ("q2", "R", 1.0, 0.9)]


values = st.one_of(st.none(), st.floats(0, 1))


@settings(max_examples=40, deadline=None)
@given(data=st.data(), number=st.integers(1, 12))
def test_nothing_but_numbers_and_the_other_way_round_the_same(data: Any, number: int) -> None:
    one, other = (
        {"R": data.draw(st.lists(values, min_size=number, max_size=number))} for _ in range(2)
    )
    found = verdict(one, other)
    back = verdict(other, one)
    for movement in (*found.movements, *back.movements):
        ends = [movement.then.value, movement.now, *(movement.then.ci or ())]
        assert all(math.isfinite(end) for end in ends if end is not None)
    assert {(m.case, m.then, m.now) for m in found.cases} == {
        (m.case, m.now, m.then) for m in back.cases
    }
    if one == other:
        assert found.word == "within the interval"
