"""Faithfulness: does each claim of an answer rest on the passages that the system had?

A judge takes the answer apart into claims and labels each one: supported by the passages,
contradicted by them, or not found in them.  The shares divide by the claims that were asked.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import (
    Measure,
    Need,
    answered,
    counted,
    judgement,
    quoted,
    verdict,
)
from pytest_touchstone.score import NOT_APPLICABLE, Score, unscored
from pytest_touchstone.trace import Observation, Passage
from pytest_touchstone.verdicts import Claims, ClaimVerdict


@dataclass(frozen=True, repr=False)
class _ClaimMeasure(Measure):
    """A share of an answer's claims; an answer that claims nothing is not applicable."""

    dimension: ClassVar[str] = "faithfulness"
    needs: ClassVar[frozenset[Need]] = frozenset({"answer", "claims"})

    def applies(self, case: Case) -> bool:  # noqa: ARG002 (any answer may claim something)
        return True

    def measure(self, case: Case, seen: Observation) -> Score:  # noqa: ARG002 (no label is needed)
        claims = verdict(seen, "claims", Claims)
        if isinstance(claims, Score):
            return claims
        if not claims.verdicts:
            return unscored(NOT_APPLICABLE, "the answer makes no claim")
        chosen = self.chosen(claims.verdicts)
        value = self.value(claims, len(chosen))
        passages = answered(seen).passages
        told = claims.verdicts if self.higher_is_better else chosen
        detail = [claim_detail(each, passages) for each in told]
        return judgement(value, self.why(claims.verdicts), claims=detail)

    def value(self, claims: Claims, chosen: int) -> float:
        """The number, of a judge's word with at least one claim."""
        return chosen / len(claims.verdicts)

    @abstractmethod
    def chosen(self, claims: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
        """The claims that are counted."""

    @abstractmethod
    def why(self, claims: Sequence[ClaimVerdict]) -> str:
        """One line on the number."""


@dataclass(frozen=True, repr=False)
class FaithfulnessMeasure(_ClaimMeasure):
    """Claims that the passages support, divided by all claims asked.

    A judge that grades says instead how strongly the passages support the whole answer, on the
    same scale.
    """

    @property
    def name(self) -> str:
        return "Faithfulness"

    def value(self, claims: Claims, chosen: int) -> float:
        return super().value(claims, chosen) if claims.support is None else claims.support

    def chosen(self, claims: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
        return [each for each in claims if each.label == "supported"]

    def why(self, claims: Sequence[ClaimVerdict]) -> str:
        numbers = {
            "contradicted": sum(each.label == "contradicted" for each in claims),
            "not found": sum(each.label == "not_found" for each in claims),
        }
        rest = "".join(f", {number} {label}" for label, number in numbers.items() if number)
        return f"{len(self.chosen(claims))} of {counted(len(claims), 'claim')} supported{rest}"


@dataclass(frozen=True, repr=False)
class ContradictionsMeasure(_ClaimMeasure):
    """Claims that the passages contradict, divided by all claims asked; lower is better."""

    higher_is_better: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return "Contradictions"

    def chosen(self, claims: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
        return [each for each in claims if each.label == "contradicted"]

    def why(self, claims: Sequence[ClaimVerdict]) -> str:
        found = self.chosen(claims)
        told = "; ".join(f"{each.claim!r}: {each.rationale}" for each in found[:_NAMED])
        more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        share = f"{len(found)} of {counted(len(claims), 'claim')} contradicted"
        return f"{share}; {told}{more}" if found else share


_NAMED = 3  # contradictions that one line of explanation tells


def claim_detail(claim: ClaimVerdict, passages: Sequence[Passage]) -> dict[str, Any]:
    """One claim with its evidence, as JSON data; the passage by its number and its id."""
    number = claim.passage
    known = number is not None and 1 <= number <= len(passages)
    return {
        "claim": claim.claim,
        "label": claim.label,
        "rationale": claim.rationale,
        "passage": number,
        "passage_id": passages[number - 1].id if known and number is not None else None,
        **quoted(claim.quotation),
    }


Faithfulness = FaithfulnessMeasure()
Contradictions = ContradictionsMeasure()
