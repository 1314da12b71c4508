"""Paragraphs: is what was retrieved readable text, and does it bear on the question?

Chunks come from documents that were cut up by a program: some are paragraphs, others headers,
footers, remains of tables or halves of sentences.  Whether a chunk is a paragraph depends on its
text alone, so that it is judged once however many questions retrieve it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from pytest_touchstone import verdicts
from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import (
    Measure,
    Need,
    answered,
    counted,
    incomplete,
    judgement,
    no_verdict,
    verdict,
)
from pytest_touchstone.score import NOT_APPLICABLE, Score, unscored
from pytest_touchstone.trace import Observation

COHERENCE_DEPTH: Final = 10
"""How many retrieved passages are judged for coherence, from the first."""
RELEVANCE_DEPTH: Final = 5
"""How many retrieved passages are judged for relevance, from the first."""

_GAINS: Mapping[verdicts.RelevanceLabel, float] = {
    "relevant": 1.0,
    "partly": 0.5,
    "irrelevant": 0.0,
}
_NO_PASSAGES = "no passage was retrieved"


@dataclass(frozen=True, repr=False)
class CoherenceMeasure(Measure):
    """Share of the first ten retrieved passages that are paragraphs and no noise.

    A passage that was returned twice counts twice.
    """

    dimension: ClassVar[str] = "paragraphs"
    needs: ClassVar[frozenset[Need]] = frozenset({"passages", "coherence"})

    @property
    def name(self) -> str:
        return "Coherence"

    def applies(self, case: Case) -> bool:  # noqa: ARG002 (any passage is a paragraph or not)
        return True

    def measure(self, case: Case, seen: Observation) -> Score:  # noqa: ARG002 (no label is needed)
        passages = answered(seen).passages[:COHERENCE_DEPTH]
        if not passages:
            return unscored(NOT_APPLICABLE, _NO_PASSAGES)
        found = verdict(seen, "coherence", tuple)
        if isinstance(found, Score):
            return found
        if partial := incomplete(len(found), len(passages), "passage"):
            return partial
        judged: list[verdicts.Coherence] = []
        for each in found:
            if isinstance(each, verdicts.NoVerdict):
                return no_verdict(each)
            judged.append(each)
        forms = Counter(each.label for each in judged)
        detail = [
            {
                "rank": rank,
                "passage_id": passage.id,
                "form": each.label,
                "rationale": each.rationale,
            }
            for rank, (passage, each) in enumerate(zip(passages, judged, strict=True), start=1)
        ]
        return judgement(forms["paragraph"] / len(judged), _forms(forms), passages=detail)


def _forms(forms: Counter[verdicts.FormLabel]) -> str:
    noise = [
        f"{number} {form.replace('_', ' ')}"
        for form, number in forms.items()
        if form != "paragraph"
    ]
    total = counted(forms.total(), "passage")
    return "; ".join([f"{forms['paragraph']} of {total} a paragraph", *sorted(noise)])


@dataclass(frozen=True, repr=False)
class ParagraphRelevanceMeasure(Measure):
    """Mean relevance of the first five retrieved passages: 1, partly 0.5, irrelevant 0.

    Not on questions whose filters match nothing (those with an accepted ``behavior``): there
    a system that retrieves nothing, or something wider and says so, is right.
    """

    dimension: ClassVar[str] = "paragraphs"
    needs: ClassVar[frozenset[Need]] = frozenset({"passages", "relevance"})

    @property
    def name(self) -> str:
        return "ParagraphRelevance"

    @property
    def label(self) -> str:
        return "Paragraph relevance"

    def applies(self, case: Case) -> bool:
        return not case.behavior

    def measure(self, case: Case, seen: Observation) -> Score:
        if not self.applies(case):
            return unscored(NOT_APPLICABLE, "nothing matches the filters of the question")
        passages = answered(seen).passages[:RELEVANCE_DEPTH]
        if not passages:
            return unscored(NOT_APPLICABLE, _NO_PASSAGES)
        found = verdict(seen, "relevance", verdicts.Relevance)
        if isinstance(found, Score):
            return found
        if partial := incomplete(len(found.verdicts), len(passages), "passage"):
            return partial
        value = sum(_GAINS[each.label] for each in found.verdicts) / len(passages)
        detail = [
            {
                "rank": each.rank,
                "passage_id": passage.id,
                "label": each.label,
                "rationale": each.rationale,
            }
            for passage, each in zip(passages, _ranked(found.verdicts), strict=True)
        ]
        return judgement(value, _labels(_ranked(found.verdicts)), passages=detail)


def _ranked(found: Sequence[verdicts.PassageVerdict]) -> list[verdicts.PassageVerdict]:
    return sorted(found, key=lambda each: each.rank)


def _labels(found: Sequence[verdicts.PassageVerdict]) -> str:
    return "; ".join(f"rank {each.rank} {each.label}" for each in found)


Coherence = CoherenceMeasure()
ParagraphRelevance = ParagraphRelevanceMeasure()
