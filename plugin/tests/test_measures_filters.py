"""Filters: types count, lists are alternatives, what cannot be said is not said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.gold import Case, GoldMessage
from pytest_touchstone.measures import (
    FilterExactMatch,
    FilterF1,
    FilterPrecision,
    FilterRecall,
    JointGoalAccuracy,
    Measure,
)
from pytest_touchstone.score import Score
from pytest_touchstone.trace import Answer, Observation, SystemFault, Turn

Dict = dict[str, Any]
ALL = [FilterExactMatch, FilterPrecision, FilterRecall, FilterF1]


def score(measure: Measure, wanted: Dict | None, found: Dict | None) -> Score:
    case = Case("c", "factual", "Who?", filters=wanted)
    return measure.score(
        case, Observation("c", "s", (Turn(0, "Who?", Answer("x", filters=found)),))
    )


@pytest.mark.parametrize(
    ("wanted", "found", "same"),
    [
        (2022, 2022, True),
        (2022, 2022.0, True),
        ("2022", 2022, False),
        (2022, "2022", False),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        ("Gulu", "gulu", False),
        ("Gulu", "Gulu ", False),
        ("Umeå", "Umea\u030a", True),
        ("Gulu", ["Gulu"], True),
        (["Gulu"], "Gulu", True),
        (["Gulu", "Lira"], ["Lira", "Gulu", "Gulu"], True),
        (["Gulu", "Lira"], "Gulu", False),
        ([1, "1"], ["1", 1.0], True),
        ([1, "1"], [1, True], False),
        (2**53 + 1, float(2**53), False),
        ("Gulu", None, False),
        ("Gulu", [], False),
        ("None", None, False),
        ("[]", [], False),
        ("nan", float("nan"), False),
        ("Gulu", {"match": "Gulu"}, False),
        ("Gulu", ("Gulu",), True),
    ],
)
def test_when_a_value_is_the_same(wanted: object, found: object, same: bool) -> None:
    result = score(FilterExactMatch, {"f": wanted}, {"f": found})
    assert result.value == float(same)
    assert (result.why == "exact") == same
    assert score(FilterExactMatch("f"), {"f": wanted}, {"f": found}).value == float(same)
    json.dumps(result.detail, allow_nan=False)


def test_field_names_are_compared_in_nfc_and_otherwise_exactly() -> None:
    assert score(FilterExactMatch, {"l\u00e4n": 1}, {"la\u0308n": 1}).value == 1
    assert score(FilterExactMatch("la\u0308n"), {"l\u00e4n": 1}, {"la\u0308n": 1}).value == 1
    assert score(FilterExactMatch, {"Year": 1}, {"year": 1}).value == 0


@pytest.mark.parametrize(
    ("wanted", "found", "exact", "precision", "recall", "f1"),
    [
        ({"d": "Gulu", "y": 2022}, {"d": "Gulu", "y": 2022}, 1, 1, 1, 1),
        ({"d": "Gulu", "y": 2022}, {"d": "Gulu"}, 0, 1, 1 / 2, 2 / 3),
        ({"d": "Gulu"}, {"d": "Gulu", "y": 2022}, 0, 1 / 2, 1, 2 / 3),
        ({"d": "Gulu", "y": 2022}, {"d": "Gulu", "y": "2022"}, 0, 1 / 2, 1 / 2, 1 / 2),
        ({"d": ["Gulu", "Lira"]}, {"d": "Gulu"}, 0, 1, 1 / 2, 2 / 3),
        ({"d": "Gulu"}, {}, 0, None, 0, 0),
        ({}, {"d": "Gulu"}, 0, 0, None, 0),
        ({}, {}, 1, None, None, 1),
    ],
)
def test_values_by_hand(
    wanted: Dict,
    found: Dict,
    exact: float,
    precision: float | None,
    recall: float | None,
    f1: float,
) -> None:
    values = [score(measure, wanted, found).value for measure in ALL]
    assert values == pytest.approx([exact, precision, recall, f1])
    for measure in ALL:
        result = score(measure, wanted, found)
        assert (result.reason == "not_applicable") == (result.value is None)


def test_a_measure_of_one_field_sees_that_field_only() -> None:
    wanted = {"d": ["Gulu", "Lira"], "y": 2022}
    found = {"d": "Gulu", "z": 1}
    assert score(FilterExactMatch("d"), wanted, found).value == 0
    assert score(FilterPrecision("d"), wanted, found).value == 1
    assert score(FilterRecall("d"), wanted, found).value == 0.5
    assert score(FilterF1("d"), wanted, found).value == pytest.approx(2 / 3)
    assert score(FilterF1("d"), wanted, found).detail == {
        "expected": {"d": ["Gulu", "Lira"]},
        "found": {"d": "Gulu"},
    }
    assert score(FilterF1("y"), wanted, found).value == 0
    assert score(FilterF1("z"), wanted, found).value == 0
    assert score(FilterPrecision("y"), wanted, found).why == "nothing was inferred"
    assert score(FilterRecall("z"), wanted, found).why == "there is nothing to infer"
    for measure in ALL:
        neither = score(measure("q"), wanted, found)
        assert (neither.reason, neither.why) == ("not_applicable", "neither side filters by q")


@pytest.mark.parametrize("measure", [*ALL, FilterF1("d")], ids=str)
def test_a_system_that_infers_no_filters_is_not_measured(measure: Measure) -> None:
    result = score(measure, {"d": "Gulu"}, None)
    assert (result.value, result.reason) == (None, "no_filters")
    assert result.why == "the system reported no filters"


def test_what_is_not_labelled_does_not_apply() -> None:
    unlabelled, none_meant = Case("c", "factual", "?"), Case("c", "factual", "?", filters={})
    for measure in ALL:
        assert not measure.applies(unlabelled)
        assert score(measure, None, {"d": 1}).reason == "not_applicable"
    assert FilterExactMatch.applies(none_meant)
    assert not FilterRecall.applies(none_meant)
    assert not FilterRecall("d").applies(Case("c", "factual", "?", filters={"y": 1}))


def test_a_filter_on_no_alternative_is_not_the_absence_of_a_filter() -> None:
    assert score(FilterExactMatch, {}, {"d": []}).value == 0
    assert score(FilterF1, {}, {"d": None}).value == 0


def test_why_shows_values_with_their_types() -> None:
    wanted = {"district": "Gulu", "year": 2022, "only gold": [1, True]}
    found = {"year": "2022", "extra\n": 0.5, "district": "Gulu"}
    assert score(FilterF1, wanted, found).why == (
        'year: expected 2022, inferred "2022"; '
        "'only gold': expected [1, true], not inferred; "
        "'extra\\n': inferred 0.5, not expected"
    )


def test_detail_is_json_whatever_a_system_returns() -> None:
    found = {"a": float("inf"), "b": {"gte": {1}}, "c": (1, None, float("nan")), "d": b"x"}
    result = score(FilterF1, {"a": 1}, found)
    assert json.loads(json.dumps(result.detail, allow_nan=False))["found"] == {
        "a": "inf",
        "b": "{'gte': {1}}",
        "c": [1, None, "nan"],
        "d": "b'x'",
    }


scalars = st.sampled_from(["1", "Gulu", "gulu", 1, 1.0, 0, True, False, 2022, "2022"])
filters = st.dictionaries(
    st.sampled_from("abc"), scalars | st.lists(scalars, min_size=1, max_size=3), max_size=3
)


@given(wanted=filters, found=filters)
def test_the_four_measures_agree_with_each_other(wanted: Dict, found: Dict) -> None:
    exact, precision, recall, f1 = (score(measure, wanted, found).value for measure in ALL)
    assert exact is not None
    assert f1 is not None
    assert (exact == 1) == (f1 == 1)
    if precision is not None and recall is not None:
        both = precision + recall
        assert f1 == pytest.approx(2 * precision * recall / both if both else 0)
    # Gold and inferred change places: precision and recall do so too.
    assert score(FilterPrecision, found, wanted).value == recall
    assert score(FilterF1, found, wanted).value == f1


# Joint goal accuracy


def dialogue(*labels: Dict | None, final: Dict | None) -> Case:
    history: list[GoldMessage] = []
    for label in labels:
        history += [GoldMessage("user", "u", label), GoldMessage("assistant", "a")]
    return Case("c", "multi_turn", "Who?", history=tuple(history), filters=final)


def played(*found: Dict | SystemFault | None, first: int = 0) -> Observation:
    turns = tuple(
        Turn(index, "?", None, each)
        if isinstance(each, SystemFault)
        else Turn(index, "?", Answer("x", filters=each))
        for index, each in enumerate(found, start=first)
    )
    return Observation("c", "s", turns)


def test_joint_goal_accuracy_is_the_share_of_turns_that_are_exactly_right() -> None:
    case = dialogue({"d": "Gulu"}, None, {"d": "Gulu", "y": 2022}, final={})
    seen = played({"d": "Gulu"}, {"unlabelled": 1}, {"d": "Gulu", "y": "2022"}, {})
    result = JointGoalAccuracy.score(case, seen)
    assert result.value == pytest.approx(2 / 3)
    assert result.why == ('2 of 3 labelled turns exact; turn 3: y: expected 2022, inferred "2022"')
    assert [turn["turn"] for turn in result.detail["turns"]] == [1, 3, 4]
    assert result.detail["turns"][1] == {
        "turn": 3,
        "expected": {"d": "Gulu", "y": 2022},
        "found": {"d": "Gulu", "y": "2022"},
        "exact": False,
        "why": 'y: expected 2022, inferred "2022"',
    }
    right = JointGoalAccuracy.score(case, played({"d": "Gulu"}, {}, {"d": "Gulu", "y": 2022}, {}))
    assert (right.value, right.why) == (1.0, "3 of 3 labelled turns exact")
    json.dumps(right.detail, allow_nan=False)


def test_a_final_turn_without_label_is_left_out() -> None:
    case = dialogue({"d": 1}, final=None)
    assert JointGoalAccuracy.score(case, played({"d": 1}, {"d": 2})).value == 1


def test_a_turn_on_which_the_system_failed_is_wrong() -> None:
    case = dialogue({"d": 1}, final={"d": 1})
    result = JointGoalAccuracy.score(case, played(SystemFault("exception", "boom"), {"d": 1}))
    assert result.value == 0.5
    assert "turn 1: system error (exception)" in result.why
    last_failed = JointGoalAccuracy.score(case, played({"d": 1}, SystemFault("timeout", "late")))
    assert (last_failed.value, last_failed.reason) == (0.0, "system_error")


def test_a_turn_without_filters_is_wrong_unless_no_turn_has_any() -> None:
    case = dialogue({}, final={})
    assert JointGoalAccuracy.score(case, played(None, {})).value == 0.5
    assert JointGoalAccuracy.score(case, played(None, None)).reason == "no_filters"


def test_a_labelled_turn_that_was_not_asked_leaves_the_case_unscored() -> None:
    case = dialogue({"d": 1}, {"d": 1}, final={"d": 1})
    result = JointGoalAccuracy.score(case, played({"d": 1}, {"d": 1}, first=1))
    assert (result.reason, result.why) == ("not_asked", "labelled turn 1 was not asked")


def test_joint_goal_accuracy_needs_a_labelled_earlier_turn() -> None:
    for case in (dialogue(final={"d": 1}), dialogue(None, final={"d": 1})):
        assert not JointGoalAccuracy.applies(case)
        assert JointGoalAccuracy.score(case, played({}, {"d": 1})).reason == "not_applicable"
