"""A measure is a value: hashable, with one canonical name, a range, a direction and its needs.

``Recall @ 5`` and ``parse("Recall@5")`` are equal.  Subclasses are frozen dataclasses; they
implement :meth:`Measure.applies` (which gold labels they need) and :meth:`Measure.measure`
(the number, given an answered turn).  What happens to a failed system is decided here, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar, get_args

from pytest_touchstone.gold import Case
from pytest_touchstone.score import BUDGET, NEEDS_JUDGE, NOT_ASKED, SYSTEM_ERROR, Score, unscored
from pytest_touchstone.trace import Answer, Observation
from pytest_touchstone.verdicts import NoVerdict, Quotation

Judgement = Literal[
    "claims",
    "relevance",
    "coherence",
    "coverage",
    "tone",
    "support",
    "behaviour",
    "conversation",
]
"""What a judge is asked for; ``Observation.verdicts`` has its word under the same name."""

JUDGEMENTS: frozenset[Judgement] = frozenset(get_args(Judgement))

Need = Literal["passages", "answer", "turns", "counts", "live", "citation_coverage"] | Judgement
"""What a measure needs observed: retrieved passages only; a full answer; every user turn whose
filters are labelled; counts in the collection; the conversation played live; what a scorer says
of cited sources; a judge's word."""

LIVE = "live"
"""``Observation.mode`` of a conversation that was played with the system's own earlier answers."""


@dataclass(frozen=True, repr=False)
class Measure(ABC):
    """Base of all measures.

    Class attributes: ``dimension`` (the name after ``tests/test_``), ``unit`` (``""`` for
    shares), ``range`` (lowest and highest value; ``None`` where unbounded),
    ``higher_is_better``, ``needs``, ``wants`` (used where it is there, and not missed).
    """

    dimension: ClassVar[str]
    unit: ClassVar[str] = ""
    range: ClassVar[tuple[float, float | None]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = True
    needs: ClassVar[frozenset[Need]]
    wants: ClassVar[frozenset[Need]] = frozenset()

    @property
    def judged(self) -> bool:
        """Whether there is no value without a judge."""
        return bool(self.needs & JUDGEMENTS)

    @property
    def scored(self) -> bool:
        """Whether there is no value without a scorer."""
        return "citation_coverage" in self.needs

    @property
    @abstractmethod
    def name(self) -> str:
        """The canonical name, which :func:`pytest_touchstone.measures.parse` reads back."""

    @property
    def label(self) -> str:
        """The name for people, without the unit."""
        return self.name

    @property
    def title(self) -> str:
        """The name for people, with the unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def mode(self) -> str:
        """``live`` where the conversation is played on the system's own answers."""
        return "live" if "live" in self.needs else "recorded"

    @property
    def worst(self) -> float | None:
        """The worst end of the range, or ``None`` where that end is open."""
        low, high = self.range
        return low if self.higher_is_better else high

    @abstractmethod
    def applies(self, case: Case) -> bool:
        """Whether the gold question carries the labels that this measure needs."""

    @abstractmethod
    def measure(self, case: Case, seen: Observation) -> Score:
        """The score of an observation whose last turn was answered."""

    def score(self, case: Case, seen: Observation) -> Score:
        """The score of any observation; a failed system gets the worst value of a bounded range.

        Where the worst end of the range is open (cost), the score is unscored ``system_error``:
        crashing must never look like an improvement.
        """
        fault = seen.last.error
        if fault is None:
            return self.measure(case, seen)
        if fault.kind == BUDGET:
            return unscored(BUDGET, fault.message)  # nobody asked it: no failure of the system
        why = f"system error ({fault.kind}): {fault.message}"
        if self.worst is None:
            return unscored(SYSTEM_ERROR, why)
        return Score(self.worst, why, SYSTEM_ERROR)

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


def answered(seen: Observation) -> Answer:
    """The answer of the turn that is scored.

    :raises ValueError: where the system failed; such a turn is scored by ``Measure.score``.
    """
    if seen.last.answer is None:
        raise ValueError(f"{seen.system} did not answer {seen.case_id}; call `score`")
    return seen.last.answer


V = TypeVar("V")


def verdict(seen: Observation, need: Judgement, kind: type[V]) -> V | Score:
    """The judge's word of this kind, or an unscored value that says why there is none.

    :raises ValueError: where the system failed; such a turn is scored by ``Measure.score``.
    """
    answered(seen)
    found = seen.verdicts.get(need)
    if isinstance(found, kind):
        return found
    if isinstance(found, NoVerdict):
        return no_verdict(found)
    return unscored(NEEDS_JUDGE, f"no judge gave a verdict ({need})")


def no_verdict(missing: NoVerdict) -> Score:
    """An unscored value, for the judge's reason."""
    return unscored(missing.reason, one_line(missing.why))


def incomplete(judged: int, asked: int, what: str) -> Score | None:
    """An unscored value where a judge did not give exactly one verdict for each thing asked."""
    if judged == asked:
        return None
    return unscored(NEEDS_JUDGE, f"{counted(judged, 'verdict')} for {counted(asked, what)}")


def judgement(value: float, why: str, **detail: Any) -> Score:
    """A number that comes from a judge's word."""
    return Score(value, one_line(why), origin="judge", detail=detail)


def not_live(seen: Observation) -> Score | None:
    """An unscored value where the conversation was not played live."""
    if seen.mode == LIVE:
        return None
    return unscored(NOT_ASKED, f"the conversation was not played live (mode {seen.mode})")


def quoted(quotation: Quotation | None) -> dict[str, Any]:
    """A quotation as JSON data, to stand in a verdict's: none, or its text and whether it occurs
    where it was taken from."""
    if quotation is None:
        return {"quotation": None}
    return {"quotation": quotation.text, "quotation_found": quotation.found}


def one_line(text: str) -> str:
    """A text with each run of white space made one space; judges write in lines and lists."""
    return " ".join(text.split())


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
