"""From a gold question to an observation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from runs import OBSERVER, loaded

from pytest_touchstone.flight.lane import Lane
from pytest_touchstone.flight.observe import Observer, Work, conversation
from pytest_touchstone.gold import Case, GoldMessage
from pytest_touchstone.measures import (
    AcceptableBehaviour,
    CostPerQuery,
    FilterExactMatch,
    JointGoalAccuracy,
    Recall,
)
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.systems.protocol import Session
from pytest_touchstone.trace import (
    Answer,
    Facts,
    Message,
    Observation,
    Passage,
    Retrieval,
    SystemFault,
    Usage,
)

TALK = Case(
    "q",
    "multi_turn",
    "And Gulu?",
    history=(
        GoldMessage("user", "Roads in 2022?", {"year": "2022"}),
        GoldMessage("assistant", "Bad."),
        GoldMessage("user", "Thanks."),
        GoldMessage("assistant", "You are welcome."),
        GoldMessage("user", "And 2021?", {}),
        GoldMessage("assistant", "Worse."),
    ),
    filters={"district": "Gulu"},
    behavior=("admitted",),
)
MESSAGES = tuple(Message(m.role, m.content) for m in TALK.history)
PASSAGES = (Passage("c1", "text"),)
LAST = (*MESSAGES, Message("user", "And Gulu?"))


class Recorder:
    """A system that notes how it was asked."""

    def __init__(self, *answers: Any, retrieves: bool = True) -> None:
        self.answers = list(answers)
        self.calls: list[tuple[str, Any, Session]] = []
        if not retrieves:
            self.retrieve = None  # type: ignore[method-assign, assignment]

    async def ask(self, messages: Sequence[Message], session: Session) -> Any:
        self.calls.append(("ask", messages, session))
        answer = self.answers.pop(0) if self.answers else Answer("So.")
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def retrieve(self, messages: Sequence[Message], session: Session) -> Any:
        self.calls.append(("retrieve", messages, session))
        return Retrieval(PASSAGES, {"year": "2022"}, (Usage("m", 5),))


def observe(
    system: Recorder, *measures: Measure, case: Case = TALK, observer: Observer = OBSERVER
) -> Observation:
    lane = Lane(loaded(system.ask, retrieve=system.retrieve))
    return asyncio.run(observer.observe(Work(case, "s", measures), lane))


def test_the_recorded_conversation_up_to_each_turn_that_is_asked() -> None:
    assert conversation(TALK, every_labelled=False) == [(3, LAST)]
    assert conversation(TALK, every_labelled=True) == [
        (0, MESSAGES[:1]),
        (2, MESSAGES[:5]),
        (3, LAST),
    ]
    single = Case("q", "factual", "What?")
    assert conversation(single, every_labelled=True) == [(0, (Message("user", "What?"),))]


def test_only_what_a_measure_needs_is_asked() -> None:
    system = Recorder()
    seen = observe(system, Recall @ 5)
    assert [call[0] for call in system.calls] == ["retrieve"]
    assert seen.last.retrieved_only
    assert seen.last.answer == Answer("", PASSAGES, {"year": "2022"}, usage=(Usage("m", 5),))
    assert (seen.last.cost_usd, seen.last.cost_reason, seen.last.error) == (0.0, None, None)

    system = Recorder()
    assert not observe(system, Recall @ 5, CostPerQuery).last.retrieved_only
    assert [call[0] for call in system.calls] == ["ask"]

    system = Recorder(retrieves=False)
    assert not observe(system, Recall @ 5).last.retrieved_only
    assert [call[0] for call in system.calls] == ["ask"]


def test_labelled_turns_are_asked_in_one_session_and_order() -> None:
    system = Recorder(retrieves=False)
    seen = observe(system, JointGoalAccuracy)
    assert [turn.index for turn in seen.turns] == [0, 2, 3]
    assert [turn.question for turn in seen.turns] == ["Roads in 2022?", "And 2021?", "And Gulu?"]
    assert [call[1] for call in system.calls] == [MESSAGES[:1], MESSAGES[:5], LAST]
    assert len({id(call[2]) for call in system.calls}) == 1


def test_a_session_is_never_used_twice() -> None:
    """A system may keep what it knows of a session in a database of its own."""
    system = Recorder()
    for _ in range(3):
        observe(system, CostPerQuery)
    ids = [call[2].id for call in system.calls]
    assert len(set(ids)) == 3
    assert all(name.startswith("q/s/0/recorded/") for name in ids)


def test_a_turn_that_fails_does_not_keep_the_later_ones_from_being_asked() -> None:
    system = Recorder(ValueError("first"), retrieves=False)
    seen = observe(system, JointGoalAccuracy)
    first, _, last = seen.turns
    assert first.answer is None
    assert first.error is not None
    assert first.error.kind == "exception"
    assert first.duration_ms is not None
    assert last.answer == Answer("So.")
    assert last.error is None


@pytest.mark.parametrize("text", ["", " \n\u2003"])
def test_an_empty_answer_is_a_fault_that_keeps_its_passages_and_its_price(text: str) -> None:
    answer = Answer(text, (Passage("c1", "t"),), usage=(Usage("m", 5),))
    observer = replace(OBSERVER, price=lambda usage: (len(usage or ()) / 4, None))
    last = observe(Recorder(answer), CostPerQuery, observer=observer).last
    assert last.error == SystemFault("empty_answer", "the answer's text is empty")
    assert last.answer == answer
    assert last.cost_usd == 0.25


def test_the_price_and_why_there_is_none() -> None:
    observer = replace(OBSERVER, price=lambda usage: (None, "no_usage"))
    last = observe(Recorder(), CostPerQuery, observer=observer).last
    assert (last.cost_usd, last.cost_reason) == (None, "no_usage")


def test_a_fault_is_written_down_without_secrets_storable_and_short() -> None:
    observer = replace(OBSERVER, redact=lambda text: text.replace("x" * 600, "[secret]"))
    message = "key " + "x" * 600 + "\0\ud800" + "y" * 600
    last = observe(Recorder(ValueError(message)), CostPerQuery, observer=observer).last
    assert last.error is not None
    assert last.error.message.startswith("ValueError: key [secret]\ufffd\ufffdyyy")
    assert len(last.error.message) == 500
    assert last.error.message.endswith("y…")


def test_filters_are_counted_where_a_measure_wants_it() -> None:
    counted: list[Any] = []

    async def count(filters: Any) -> int:
        counted.append(filters)
        return len(counted)

    observer = replace(OBSERVER, count=count)
    answer = Answer("So.", filters={"year": "2022"})
    seen = observe(Recorder(answer), AcceptableBehaviour, observer=observer)
    assert seen.facts == Facts(gold_matches=1, found_matches=2)
    assert counted == [{"district": "Gulu"}, {"year": "2022"}]

    assert observe(Recorder(answer), FilterExactMatch, observer=observer).facts == Facts()
    silent = observe(Recorder(Answer("So.")), AcceptableBehaviour, observer=observer)
    assert silent.facts.found_matches is None
    failed = observe(Recorder(ValueError()), AcceptableBehaviour, observer=observer)
    assert failed.facts.found_matches is None
    assert len(counted) == 4


def test_a_count_that_fails_leaves_its_reason() -> None:
    async def count(filters: Any) -> int:
        if filters == {"district": "Gulu"}:
            return 5
        raise RuntimeError("no such operator")

    observer = replace(OBSERVER, count=count)
    answer = Answer("So.", filters={"year": {"$gt": 2020}})
    seen = observe(Recorder(answer), AcceptableBehaviour, observer=observer)
    assert seen.facts == Facts(failed="no such operator")


def played(system: Recorder) -> Observation:
    lane = Lane(loaded(system.ask))
    work = Work(TALK, "s", (CostPerQuery,), mode="live")
    return asyncio.run(OBSERVER.observe(work, lane))


def test_a_live_conversation_goes_on_from_the_systems_own_answers() -> None:
    system = Recorder(*(Answer(text) for text in ("One.", "Two.", "Three.", "Four.")))
    seen = played(system)
    assert seen.mode == "live"
    assert [turn.question for turn in seen.turns] == [
        "Roads in 2022?", "Thanks.", "And 2021?", "And Gulu?",
    ]  # fmt: skip
    assert [m.content for m in system.calls[-1][1]] == [
        "Roads in 2022?", "One.", "Thanks.", "Two.", "And 2021?", "Three.", "And Gulu?",
    ]  # fmt: skip
    assert len({id(call[2]) for call in system.calls}) == 1


def test_a_live_conversation_ends_where_the_system_fails() -> None:
    seen = played(Recorder(Answer("One."), ValueError("gone")))
    assert [turn.index for turn in seen.turns] == [0, 1]
    assert seen.last.error is not None
