"""Relaxation: what does a system do when the filters of a question match nothing?

Facts decide before any model is asked: what the system says it did, the passages it returned,
and how many chunks its own filters select.  Where a system says nothing (``Answer.behavior``),
only the text can tell, and a judge's word counts, if there is one.  Answering without saying that
nothing matched is the failure that a reader cannot see, so it has a rate of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import (
    Measure,
    Need,
    answered,
    counted,
    no_verdict,
    one_line,
    quoted,
)
from pytest_touchstone.score import NEEDS_JUDGE, NOT_APPLICABLE, NOT_COUNTED, Score, unscored
from pytest_touchstone.trace import Answer, Behavior, Facts, Observation
from pytest_touchstone.verdicts import BehaviourVerdict, NoVerdict


class Observed(NamedTuple):
    """What the facts say a system did.

    ``behaviour`` is ``None`` where they do not decide; ``contradicted`` tells that the system
    said one thing and the facts show another; ``open`` that only the text can tell, so that a
    judge's word goes before ``behaviour``.
    """

    behaviour: Behavior | None
    why: str
    contradicted: bool = False
    open: bool = False


def observed_behaviour(answer: Answer, facts: Facts) -> Observed:
    """What the system did, by the facts alone.

    :param facts: ``found_matches`` is ``None`` where it was not counted (no collection, or a
        system that reports no filters); a claim is then taken as it stands.
    """
    declared = answer.behavior
    if declared == "failed_silently":
        return Observed(declared, "the system says itself that it failed silently")
    if declared == "relaxed":
        return _relaxed(answer, facts)
    if declared is not None:
        return _gave_up(declared, answer, facts)
    if answer.passages:
        return Observed(
            "failed_silently",
            f"answered from {counted(len(answer.passages), 'passage')} without saying that nothing "
            "matches (`behavior` is how a system says so)",
            open=True,
        )
    return Observed(
        None, "no passages and no `behavior`: only the text can tell what it did", open=True
    )


def _relaxed(answer: Answer, facts: Facts) -> Observed:
    # Systems report the filters they inferred, or what was left of them: both are relaxing.
    if not answer.passages:
        return _contradicted("relaxed", "it returned no passages")
    if facts.found_matches is None:
        return Observed("relaxed", "says `relaxed` and returned passages; its filters not counted")
    if facts.found_matches == 0:
        return Observed(
            "relaxed",
            "says `relaxed`; its inferred filters match nothing, and it answered from "
            f"{counted(len(answer.passages), 'passage')} without them",
        )
    return Observed(
        "relaxed", f"says `relaxed`; its filters match {counted(facts.found_matches, 'chunk')}"
    )


def _gave_up(declared: Behavior, answer: Answer, facts: Facts) -> Observed:
    if facts.found_matches and answer.passages:
        return _contradicted(
            declared,
            f"its own filters match {counted(facts.found_matches, 'chunk')} and it returned "
            f"{counted(len(answer.passages), 'passage')}",
        )
    return Observed(declared, f"says `{declared}`, and nothing it returned speaks against it")


def _contradicted(declared: Behavior, but: str) -> Observed:
    return Observed("failed_silently", f"says `{declared}`, but {but}", contradicted=True)


@dataclass(frozen=True, repr=False)
class _BehaviourMeasure(Measure):
    """A measure of what was observed, on questions whose acceptable behaviours are labelled."""

    dimension: ClassVar[str] = "relaxation"
    needs: ClassVar[frozenset[Need]] = frozenset({"answer", "counts"})
    wants: ClassVar[frozenset[Need]] = frozenset({"behaviour"})

    def applies(self, case: Case) -> bool:
        return bool(case.behavior)

    def measure(self, case: Case, seen: Observation) -> Score:
        if not case.behavior:
            return unscored(NOT_APPLICABLE, "the gold question has no acceptable behaviours")
        if seen.facts.failed is not None:
            # A claim that nobody could check must not count as if it had been.
            return unscored(NOT_COUNTED, f"the collection was not counted: {seen.facts.failed}")
        answer = answered(seen)
        observed = observed_behaviour(answer, seen.facts)
        detail = {
            "acceptable": list(case.behavior),
            "declared": answer.behavior,
            "observed": observed.behaviour,
            "contradicted": observed.contradicted,
            "gold_matches": seen.facts.gold_matches,
            "found_matches": seen.facts.found_matches,
        }
        said = seen.verdicts.get("behaviour") if observed.open else None
        if isinstance(said, BehaviourVerdict):
            return self._judged(case, said, detail)
        if isinstance(said, NoVerdict):
            # Where a judge reads the other cases, the facts alone would be another measure.
            return replace(no_verdict(said), detail=detail)
        if observed.behaviour is None:
            return unscored(NEEDS_JUDGE, observed.why, **detail)
        return Score(self.value(case, observed.behaviour), observed.why, detail=detail)

    def _judged(self, case: Case, said: BehaviourVerdict, detail: dict[str, Any]) -> Score:
        judge = {"label": said.label, "rationale": said.rationale, **quoted(said.quotation)}
        return Score(
            self.value(case, said.label),
            one_line(f"the text says `{said.label}`: {said.rationale}"),
            origin="judge",
            detail={**detail, "observed": said.label, "judge": judge},
        )

    @abstractmethod
    def value(self, case: Case, behaviour: Behavior) -> float:
        """0 or 1."""


@dataclass(frozen=True, repr=False)
class AcceptableBehaviourMeasure(_BehaviourMeasure):
    """1 where the system did what the gold question accepts, else 0."""

    @property
    def name(self) -> str:
        return "AcceptableBehaviour"

    @property
    def label(self) -> str:
        return "Acceptable behaviour"

    def value(self, case: Case, behaviour: Behavior) -> float:
        return float(behaviour in case.behavior)


@dataclass(frozen=True, repr=False)
class SilentFailureMeasure(_BehaviourMeasure):
    """1 where the system answered as if its filters had matched, else 0; lower is better."""

    higher_is_better: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return "SilentFailure"

    @property
    def label(self) -> str:
        return "Silent failure"

    def value(self, case: Case, behaviour: Behavior) -> float:  # noqa: ARG002 (whatever is accepted)
        return float(behaviour == "failed_silently")


AcceptableBehaviour = AcceptableBehaviourMeasure()
SilentFailure = SilentFailureMeasure()
