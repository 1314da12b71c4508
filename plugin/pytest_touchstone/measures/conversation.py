"""Multi-turn: does a conversation reach its end when the system has to live with its own answers?

The conversation is played live: the gold user messages, one after the other, each with what the
system itself answered before.  (All other measures use the recorded history.)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import (
    Measure,
    Need,
    answered,
    counted,
    judgement,
    not_live,
    verdict,
)
from pytest_touchstone.measures.filters import labelled_turns, normalized, turn_verdicts
from pytest_touchstone.score import NEEDS_JUDGE, NOT_APPLICABLE, Score, unscored
from pytest_touchstone.trace import Filters, Observation, Turn
from pytest_touchstone.verdicts import CompletionLabel, Conversation

_SHARES: Mapping[CompletionLabel, float] = {"completed": 1.0, "partly": 0.5, "failed": 0.0}


@dataclass(frozen=True, repr=False)
class _LiveMeasure(Measure):
    """A measure of ``multi_turn`` questions that have earlier messages, played live."""

    dimension: ClassVar[str] = "multi_turn"

    def applies(self, case: Case) -> bool:
        return case.type == "multi_turn" and bool(case.history)

    def measure(self, case: Case, seen: Observation) -> Score:
        if not self.applies(case):
            return unscored(NOT_APPLICABLE, self.unlabelled)
        answered(seen)
        return not_live(seen) or self.played(case, seen)

    unlabelled: ClassVar[str] = "the gold question is no conversation"

    @abstractmethod
    def played(self, case: Case, seen: Observation) -> Score:
        """The score of a conversation that was played live to its last turn."""


@dataclass(frozen=True, repr=False)
class TaskCompletionMeasure(_LiveMeasure):
    """Whether the conversation reached what the gold answer asks: completed 1, partly 0.5."""

    needs: ClassVar[frozenset[Need]] = frozenset({"answer", "live", "conversation"})

    @property
    def name(self) -> str:
        return "TaskCompletion"

    @property
    def label(self) -> str:
        return "Task completion"

    def played(self, case: Case, seen: Observation) -> Score:  # noqa: ARG002 (the judge read it)
        found = verdict(seen, "conversation", Conversation)
        if isinstance(found, Score):
            return found
        why = f"{found.label}: {found.rationale}"
        return judgement(_SHARES[found.label], why, label=found.label, rationale=found.rationale)


@dataclass(frozen=True, repr=False)
class OnTopicMeasure(_LiveMeasure):
    """Share of the turns whose answer is on topic; a turn on which the system failed is not."""

    needs: ClassVar[frozenset[Need]] = frozenset({"answer", "live", "conversation"})

    @property
    def name(self) -> str:
        return "OnTopic"

    @property
    def label(self) -> str:
        return "On topic"

    def played(self, case: Case, seen: Observation) -> Score:  # noqa: ARG002 (the judge read it)
        found = verdict(seen, "conversation", Conversation)
        if isinstance(found, Score):
            return found
        told = {each.turn: (each.on_topic, each.rationale) for each in found.turns}
        told |= {turn.index: (False, _failure(turn)) for turn in seen.turns if turn.answer is None}
        missing = [turn.index + 1 for turn in seen.turns if turn.index not in told]
        if missing:
            return unscored(NEEDS_JUDGE, f"no verdict on turn {missing[0]}")
        rows = [
            {"turn": turn.index + 1, "on_topic": told[turn.index][0], "why": told[turn.index][1]}
            for turn in seen.turns
        ]
        off = [f"turn {row['turn']}: {row['why']}" for row in rows if not row["on_topic"]]
        right = len(rows) - len(off)
        why = "; ".join([f"{right} of {counted(len(rows), 'turn')} on topic", *off])
        return judgement(right / len(rows), why, turns=rows)


def _failure(turn: Turn) -> str:
    return f"system error ({turn.error.kind})" if turn.error else "no answer"


@dataclass(frozen=True, repr=False)
class FiltersRememberedMeasure(_LiveMeasure):
    """Share of the labelled turns whose inferred filters are exactly the gold ones, played live.

    ``JointGoalAccuracy`` is the same on the recorded conversation; the difference is what the
    system loses by its own answers.  ``detail`` has, for each turn, the fields of the labelled
    turn before that still hold: those that the system remembered and those that it lost.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"answer", "live"})
    unlabelled: ClassVar[str] = "no turn of a conversation has labelled filters"

    @property
    def name(self) -> str:
        return "FiltersRemembered"

    @property
    def label(self) -> str:
        return "Filters remembered"

    def applies(self, case: Case) -> bool:
        return super().applies(case) and bool(labelled_turns(case))

    def played(self, case: Case, seen: Observation) -> Score:
        verdicts = turn_verdicts(case, seen)
        if isinstance(verdicts, Score):
            return verdicts
        kept = dict(_kept(labelled_turns(case), seen))
        rows = [{**row, **kept[row["turn"] - 1]} for row in verdicts]
        right = sum(row["exact"] for row in rows)
        wrong = [f"turn {row['turn']}: {_wrong(row)}" for row in rows if not row["exact"]]
        why = "; ".join([f"{right} of {counted(len(rows), 'labelled turn')} exact", *wrong])
        return Score(right / len(rows), why, detail={"turns": rows})


def _kept(
    labelled: Mapping[int, Filters], seen: Observation
) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """For each labelled turn, the fields that hold since the labelled turn before it."""
    turns = {turn.index: turn for turn in seen.turns}
    before: dict[str, Any] = {}
    for index, gold in labelled.items():
        wanted = normalized(gold)
        answer = turns[index].answer
        found = normalized((answer.filters if answer is not None else None) or {})
        held = [field for field in wanted if before.get(field) == wanted[field]]
        remembered = [field for field in held if found.get(field) == wanted[field]]
        lost = [field for field in held if field not in remembered]
        yield index, {"remembered": remembered, "lost": lost}
        before = wanted


def _wrong(row: Mapping[str, Any]) -> str:
    lost = f" (lost: {', '.join(map(repr, row['lost']))})" if row["lost"] else ""
    return f"{row['why']}{lost}"


TaskCompletion = TaskCompletionMeasure()
OnTopic = OnTopicMeasure()
FiltersRemembered = FiltersRememberedMeasure()
