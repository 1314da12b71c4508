"""Multi-turn: conversations played live, the judge's word on them, and filters kept or lost."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.gold import Case, GoldMessage
from pytest_touchstone.measures import (
    FiltersRemembered,
    JointGoalAccuracy,
    Measure,
    OnTopic,
    TaskCompletion,
)
from pytest_touchstone.trace import Answer, Observation, SystemFault, Turn
from pytest_touchstone.verdicts import CompletionLabel, Conversation, TurnVerdict

Dict = dict[str, Any]
LIVE: list[Measure] = [TaskCompletion, OnTopic, FiltersRemembered]


def dialogue(*labels: Dict | None, final: Dict | None) -> Case:
    history: list[GoldMessage] = []
    for label in labels:
        history += [GoldMessage("user", "u", label), GoldMessage("assistant", "a")]
    return Case("c", "multi_turn", "Who?", history=tuple(history), filters=final)


CASE = dialogue({"d": "Gulu"}, {"d": "Gulu", "y": 2022}, final={"d": "Gulu", "y": 2021})


def played(
    *found: Dict | SystemFault | None, said: Conversation | None = None, mode: str = "live"
) -> Observation:
    turns = tuple(
        Turn(index, "?", None, each)
        if isinstance(each, SystemFault)
        else Turn(index, "?", Answer("x", filters=each))
        for index, each in enumerate(found)
    )
    verdicts = {} if said is None else {"conversation": said}
    return Observation("c", "s", turns, mode=mode, verdicts=verdicts)


def conversation(*on_topic: bool, label: CompletionLabel = "completed") -> Conversation:
    turns = tuple(TurnVerdict(i, each, f"reason {i}") for i, each in enumerate(on_topic))
    return Conversation(label, "all of it", turns)


@pytest.mark.parametrize(("label", "value"), [("completed", 1), ("partly", 0.5), ("failed", 0)])
def test_task_completion(label: CompletionLabel, value: float) -> None:
    score = TaskCompletion.score(CASE, played({}, {}, {}, said=conversation(label=label)))
    assert (score.value, score.why, score.origin) == (value, f"{label}: all of it", "judge")
    assert score.detail == {"label": label, "rationale": "all of it"}


def test_on_topic_is_a_share_of_turns() -> None:
    score = OnTopic.score(CASE, played({}, {}, {}, said=conversation(True, False, True)))
    assert score.value == pytest.approx(2 / 3)
    assert (score.why, score.origin) == ("2 of 3 turns on topic; turn 2: reason 1", "judge")
    assert score.detail["turns"][1] == {"turn": 2, "on_topic": False, "why": "reason 1"}
    json.dumps(score.detail, allow_nan=False)


def test_a_turn_on_which_the_system_failed_is_not_on_topic() -> None:
    seen = played({}, SystemFault("timeout", "late"), {}, said=conversation(True, True, True))
    score = OnTopic.score(CASE, seen)
    assert score.value == pytest.approx(2 / 3)
    assert score.why == "2 of 3 turns on topic; turn 2: system error (timeout)"


def test_a_turn_without_a_verdict_leaves_on_topic_unscored() -> None:
    score = OnTopic.score(CASE, played({}, {}, {}, said=conversation(True, True)))
    assert (score.value, score.reason) == (None, "needs_judge")
    assert score.why == "no verdict on turn 3"


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.sampled_from(get_args(CompletionLabel)))
def test_both_are_within_their_range(on_topic: list[bool], label: CompletionLabel) -> None:
    seen = played(*[{} for _ in on_topic], said=conversation(*on_topic, label=label))
    assert OnTopic.score(CASE, seen).value == on_topic.count(True) / len(on_topic)
    assert TaskCompletion.score(CASE, seen).value in (0, 0.5, 1)


def test_filters_remembered_and_lost_by_turn() -> None:
    score = FiltersRemembered.score(CASE, played({"d": "Gulu"}, {"y": 2022}, {"d": "Gulu", "y": 1}))
    assert score.value == pytest.approx(1 / 3)
    assert score.why == (
        "1 of 3 labelled turns exact; "
        "turn 2: d: expected \"Gulu\", not inferred (lost: 'd'); "
        "turn 3: y: expected 2021, inferred 1"
    )
    assert [(row["remembered"], row["lost"]) for row in score.detail["turns"]] == [
        ([], []),
        ([], ["d"]),
        (["d"], []),
    ]
    assert score.origin == "computed"
    json.dumps(score.detail, allow_nan=False)


def test_a_filter_is_lost_that_took_another_value() -> None:
    case = dialogue({"d": "Gulu"}, final={"d": "Gulu"})
    score = FiltersRemembered.score(case, played({"d": "Gulu"}, {"d": "Lira"}))
    assert score.detail["turns"][1]["lost"] == ["d"]


def test_a_failed_turn_has_lost_what_held() -> None:
    case = dialogue({"d": "Gulu"}, {"d": "Gulu"}, final=None)
    fault = SystemFault("exception", "boom")
    score = FiltersRemembered.score(case, played({"d": "Gulu"}, fault, {}))
    assert score.value == 0.5
    assert score.detail["turns"][1]["lost"] == ["d"]


def test_a_system_that_infers_no_filters_is_not_measured() -> None:
    score = FiltersRemembered.score(CASE, played(None, None, None))
    assert (score.reason, score.why) == ("no_filters", "the system reported no filters")
    assert FiltersRemembered.score(CASE, played({}, {})).reason == "not_asked"


filters = st.dictionaries(st.sampled_from("ab"), st.sampled_from([1, "1", 2]), max_size=2)


@given(st.lists(st.tuples(filters, filters), min_size=2, max_size=4))
def test_filters_remembered_is_joint_goal_accuracy_played_live(
    turns: list[tuple[Any, Any]],
) -> None:
    gold, found = zip(*turns, strict=True)
    case = dialogue(*gold[:-1], final=gold[-1])
    live = FiltersRemembered.score(case, played(*found))
    assert live.value == JointGoalAccuracy.score(case, played(*found, mode="recorded")).value
    for row in live.detail["turns"]:
        assert not (row["exact"] and row["lost"])
        assert not set(row["remembered"]) & set(row["lost"])


@pytest.mark.parametrize("measure", LIVE, ids=str)
def test_a_recorded_conversation_is_not_a_live_one(measure: Measure) -> None:
    seen = played({}, {}, {}, said=conversation(True, True, True), mode="recorded")
    score = measure.score(CASE, seen)
    assert (score.value, score.reason) == (None, "not_asked")
    assert score.why == "the conversation was not played live (mode recorded)"


@pytest.mark.parametrize("measure", LIVE, ids=str)
def test_only_conversations_are_played(measure: Measure) -> None:
    single = Case("c", "multi_turn", "?", filters={})
    other = Case("c", "factual", "?", history=CASE.history, filters={})
    for case in (single, other):
        assert not measure.applies(case)
        assert measure.score(case, played({})).reason == "not_applicable"
    assert measure.applies(CASE)
    assert FiltersRemembered.applies(dialogue(None, final={}))
    assert not FiltersRemembered.applies(dialogue(None, final=None))
