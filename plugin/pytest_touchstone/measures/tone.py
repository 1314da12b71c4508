"""Tone: is an answer written in the register of an audit, and no surer than its evidence?"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import Measure, Need, judgement, verdict
from pytest_touchstone.score import Score
from pytest_touchstone.trace import Observation
from pytest_touchstone.verdicts import Tone


@dataclass(frozen=True, repr=False)
class _ToneMeasure(Measure):
    """One of the two marks from 1 to 5 that a judge gives in one call."""

    dimension: ClassVar[str] = "tone"
    unit: ClassVar[str] = "1-5"
    range: ClassVar[tuple[float, float | None]] = (1.0, 5.0)
    needs: ClassVar[frozenset[Need]] = frozenset({"answer", "tone"})

    def applies(self, case: Case) -> bool:  # noqa: ARG002 (every answer has a register)
        return True

    def measure(self, case: Case, seen: Observation) -> Score:  # noqa: ARG002 (no label is needed)
        tone = verdict(seen, "tone", Tone)
        if isinstance(tone, Score):
            return tone
        mark, rationale = self.mark(tone)
        return judgement(float(mark), rationale, rationale=rationale)

    @abstractmethod
    def mark(self, tone: Tone) -> tuple[int, str]:
        """The mark and its rationale."""


@dataclass(frozen=True, repr=False)
class FormalityMeasure(_ToneMeasure):
    """Register, from 1 (chatty) to 5 (the sober register of an audit report)."""

    @property
    def name(self) -> str:
        return "Formality"

    def mark(self, tone: Tone) -> tuple[int, str]:
        return tone.formality, tone.formality_rationale


@dataclass(frozen=True, repr=False)
class CautionMeasure(_ToneMeasure):
    """Caution, from 1 (claims far more than the evidence allows) to 5 (claims no more)."""

    @property
    def name(self) -> str:
        return "Caution"

    def mark(self, tone: Tone) -> tuple[int, str]:
        return tone.caution, tone.caution_rationale


Formality = FormalityMeasure()
Caution = CautionMeasure()
