"""A measure is a value: hashable, with one canonical name, a range, a direction and its needs.

``Recall @ 5`` and ``parse("Recall@5")`` are equal.  Subclasses are frozen dataclasses; they
implement :meth:`Measure.applies` (which gold labels they need) and :meth:`Measure.measure`
(the number, given an answered turn).  What happens to a failed system is decided here, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_touchstone.gold import Case
from pytest_touchstone.score import SYSTEM_ERROR, Score, unscored
from pytest_touchstone.trace import Answer, Observation

Need = Literal["passages", "answer", "turns", "counts"]
"""What a measure needs observed: retrieved passages only; a full answer; every user turn whose
filters are labelled; counts in the collection."""


@dataclass(frozen=True, repr=False)
class Measure(ABC):
    """Base of all measures.

    Class attributes: ``dimension`` (the name after ``tests/test_``), ``unit`` (``""`` for
    shares), ``range`` (lowest and highest value; ``None`` where unbounded),
    ``higher_is_better``, ``needs``.
    """

    dimension: ClassVar[str]
    unit: ClassVar[str] = ""
    range: ClassVar[tuple[float, float | None]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = True
    needs: ClassVar[frozenset[Need]]

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
