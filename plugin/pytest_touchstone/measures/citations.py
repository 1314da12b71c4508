"""Citations: does each claim cite, does what is cited exist, and does it carry what cites it?

The first two are counted, the third is read by a judge: recall and precision are those of ALCE
(Gao et al., 2023, https://arxiv.org/abs/2305.14627, section 3.3).  What a scorer says of the same
is in :mod:`pytest_touchstone.measures.coverage`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_touchstone import verdicts
from pytest_touchstone.citing import cited_paragraphs, resolved
from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import (
    Measure,
    Need,
    answered,
    counted,
    incomplete,
    judgement,
    verdict,
)
from pytest_touchstone.paragraphs import Paragraph
from pytest_touchstone.score import NOT_APPLICABLE, Score, unscored
from pytest_touchstone.trace import Observation

NO_CLAIM = "the answer makes no claim"
CITES_NOTHING = "the answer cites nothing"


@dataclass(frozen=True, repr=False)
class CitationMeasure(Measure):
    """A measure of an answer's paragraphs."""

    dimension: ClassVar[str] = "citations"
    needs: ClassVar[frozenset[Need]] = frozenset({"answer"})

    def applies(self, case: Case) -> bool:  # noqa: ARG002 (any answer may claim or cite something)
        return True

    def measure(self, case: Case, seen: Observation) -> Score:  # noqa: ARG002 (no label is needed)
        return self.of(cited_paragraphs(answered(seen), seen.citation_pattern), seen)

    @abstractmethod
    def of(self, found: Sequence[Paragraph], seen: Observation) -> Score:
        """The score of an answer with these paragraphs."""


@dataclass(frozen=True, repr=False)
class UncitedMeasure(CitationMeasure):
    """Paragraphs that claim something and cite nothing, of all that claim; lower is better."""

    higher_is_better: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return "Uncited"

    def of(self, found: Sequence[Paragraph], seen: Observation) -> Score:  # noqa: ARG002
        claims = claiming(found)
        if not claims:
            return unscored(NOT_APPLICABLE, NO_CLAIM)
        uncited = [each for each in claims if not each.cited]
        why = f"{len(uncited)} of {counted(len(claims), 'paragraph')} that claim cite nothing"
        detail = [{"paragraph": each.index, "text": each.text} for each in uncited]
        return Score(len(uncited) / len(claims), why, detail={"uncited": detail})


@dataclass(frozen=True, repr=False)
class UnresolvedMeasure(CitationMeasure):
    """Citations that are no passage, of all citations; lower is better.

    A citation is a paragraph and a number that it cites.
    """

    higher_is_better: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return "Unresolved"

    def of(self, found: Sequence[Paragraph], seen: Observation) -> Score:
        passages = answered(seen).passages
        cites = citing(found)
        total = sum(len(each.cited) for each in cites)
        if not total:
            return unscored(NOT_APPLICABLE, CITES_NOTHING)
        missing = {each: set(each.cited).difference(resolved(each, passages)) for each in cites}
        number = sum(map(len, missing.values()))
        broken = [
            {"paragraph": each.index, "text": each.text, "numbers": sorted(numbers)}
            for each, numbers in missing.items()
            if numbers
        ]
        why = (
            f"{number} of {counted(total, 'citation')} to none of"
            f" {counted(len(passages), 'passage')}"
        )
        return Score(number / total, why, detail={"unresolved": broken})


# -- by a judge's verdicts -------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class _JudgedMeasure(CitationMeasure):
    needs: ClassVar[frozenset[Need]] = frozenset({"answer", "support"})

    def of(self, found: Sequence[Paragraph], seen: Observation) -> Score:
        if (nothing := self.nothing(found)) is not None:
            return unscored(NOT_APPLICABLE, nothing)
        support = verdict(seen, "support", verdicts.ParagraphSupport)
        if isinstance(support, Score):
            return support
        judged = {each.index: each for each in support.verdicts}
        cites = citing(found)
        there = [judged[each.index] for each in cites if each.index in judged]
        if partial := incomplete(len(there), len(cites), "paragraph"):
            return partial
        return self.judge(found, there)

    @abstractmethod
    def nothing(self, found: Sequence[Paragraph]) -> str | None:
        """Why the measure says nothing about these paragraphs, if it does not."""

    @abstractmethod
    def judge(
        self, found: Sequence[Paragraph], judged: Sequence[verdicts.ParagraphVerdict]
    ) -> Score:
        """The score, with a verdict on each paragraph that cites."""


@dataclass(frozen=True, repr=False)
class CitationRecallMeasure(_JudgedMeasure):
    """Paragraphs that their citations together fully support, of all that claim something."""

    @property
    def name(self) -> str:
        return "CitationRecall"

    @property
    def label(self) -> str:
        return "Citation recall"

    def nothing(self, found: Sequence[Paragraph]) -> str | None:
        return None if claiming(found) else NO_CLAIM

    def judge(
        self, found: Sequence[Paragraph], judged: Sequence[verdicts.ParagraphVerdict]
    ) -> Score:
        claims = claiming(found)
        supported = sum(each.label == "supported" for each in judged)
        why = share(supported, len(claims), len(judged))
        detail = [
            {
                "paragraph": each.index,
                "text": each.text,
                "label": each.label,
                "rationale": each.rationale,
            }
            for each in judged
        ]
        return judgement(supported / len(claims), why, paragraphs=detail)


@dataclass(frozen=True, repr=False)
class CitationPrecisionMeasure(_JudgedMeasure):
    """Citations that are needed, of all citations.

    In ALCE a citation counts where its paragraph is fully supported, and it alone supports the
    paragraph, or without it the others do not.  The judge says what all together and what each
    alone supports; what is left without one follows: another that alone supports is enough, and
    one that holds nothing of substance is not missed.  So a ``partial`` source counts where no
    other source alone supports.  That is ALCE's number, but where several partial sources say the
    same part: here each of them counts.
    """

    @property
    def name(self) -> str:
        return "CitationPrecision"

    @property
    def label(self) -> str:
        return "Citation precision"

    def nothing(self, found: Sequence[Paragraph]) -> str | None:
        return None if citing(found) else CITES_NOTHING

    def judge(
        self, found: Sequence[Paragraph], judged: Sequence[verdicts.ParagraphVerdict]
    ) -> Score:
        detail = [
            {
                "paragraph": paragraph.index,
                "source": each.source,
                "label": each.label,
                "needed": _needed(paragraph, each),
            }
            for paragraph in judged
            for each in paragraph.citations
        ]
        asked = sum(len(each.cited) for each in citing(found))
        if partial := incomplete(len(detail), asked, "citation"):
            return partial
        needed = [one for one in detail if one["needed"]]
        why = f"{len(needed)} of {counted(asked, 'citation')} needed"
        return judgement(len(needed) / asked, why, citations=detail)


def _needed(paragraph: verdicts.ParagraphVerdict, one: verdicts.CitationVerdict) -> bool:
    if paragraph.label != "supported" or one.label == "unsupported":
        return False
    others = (each for each in paragraph.citations if each.source != one.source)
    return one.label == "supported" or not any(each.label == "supported" for each in others)


def claiming(found: Sequence[Paragraph]) -> list[Paragraph]:
    """The paragraphs that claim something."""
    return [each for each in found if each.claims]


def citing(found: Sequence[Paragraph]) -> list[Paragraph]:
    """The paragraphs that cite."""
    return [each for each in found if each.cited]


def share(supported: int, claim: int, cite: int) -> str:
    """One line on paragraphs that claim, cite and are supported."""
    uncited = f", {claim - cite} cite nothing" if claim > cite else ""
    return f"{supported} of {counted(claim, 'paragraph')} that claim supported{uncited}"


CitationRecall = CitationRecallMeasure()
CitationPrecision = CitationPrecisionMeasure()
Uncited = UncitedMeasure()
Unresolved = UnresolvedMeasure()
