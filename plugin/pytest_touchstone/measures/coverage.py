"""Coverage: how well do the sources that a paragraph cites cover it, as a scorer sees it?

A scorer gives each paragraph and source a number from 0 to 1.  It sees what a source does not
cover, and hardly what it contradicts; that is what judges are for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from pytest_touchstone import verdicts
from pytest_touchstone.citing import SUPPORTS, band
from pytest_touchstone.measures.base import Need, answered, counted, no_verdict, one_line
from pytest_touchstone.measures.citations import (
    CITES_NOTHING,
    NO_CLAIM,
    CitationMeasure,
    citing,
    claiming,
    share,
)
from pytest_touchstone.paragraphs import Paragraph
from pytest_touchstone.score import NO_SCORER, NOT_APPLICABLE, Score, unscored
from pytest_touchstone.trace import Observation, Passage


@dataclass(frozen=True, repr=False)
class _ScoredMeasure(CitationMeasure):
    """A measure of coverage; a paragraph whose citations are all unresolved is covered by 0."""

    needs: ClassVar[frozenset[Need]] = frozenset({"answer", "citation_coverage"})

    def of(self, found: Sequence[Paragraph], seen: Observation) -> Score:
        if (nothing := self.nothing(found)) is not None:
            return unscored(NOT_APPLICABLE, nothing)
        said = seen.verdicts.get("citation_coverage")
        if isinstance(said, verdicts.NoVerdict):
            return no_verdict(said)
        if not isinstance(said, verdicts.CitationCoverage):
            return unscored(NO_SCORER, "no scorer is configured")
        covered = {each.index: each for each in said.paragraphs}
        cites = citing(found)
        there = [covered[each.index] for each in cites if each.index in covered]
        detail = {"scorer": said.scorer, "scale": said.scale, **self.evidence(there, seen)}
        if (lacking := _lacking(there, len(cites))) is not None:
            return unscored(*lacking, **detail)
        value, why = self.value(found, there)
        scale = " (proxy)" if said.scale == "proxy" else ""
        return Score(value, one_line(f"{why}{scale}"), None, "scorer", said.scorer, detail)

    @abstractmethod
    def nothing(self, found: Sequence[Paragraph]) -> str | None:
        """Why the measure says nothing about these paragraphs, if it does not."""

    @abstractmethod
    def value(
        self, found: Sequence[Paragraph], covered: Sequence[verdicts.ParagraphCoverage]
    ) -> tuple[float, str]:
        """The number and its explanation, with every citation scored."""

    def evidence(
        self,
        covered: Sequence[verdicts.ParagraphCoverage],  # noqa: ARG002
        seen: Observation,  # noqa: ARG002
    ) -> dict[str, Any]:
        """What stands beside the number; it stands once, with :data:`CitationCoverage`."""
        return {}


@dataclass(frozen=True, repr=False)
class CitationCoverageMeasure(_ScoredMeasure):
    """Mean over the paragraphs that cite: the best coverage over a paragraph's sources.

    Where a judge read the paragraphs, its verdict stands beside: a paragraph that is ``supported``
    and not covered is worth reading.
    """

    wants: ClassVar[frozenset[Need]] = frozenset({"support"})

    @property
    def name(self) -> str:
        return "CitationCoverage"

    @property
    def label(self) -> str:
        return "Citation coverage"

    def nothing(self, found: Sequence[Paragraph]) -> str | None:
        return None if citing(found) else CITES_NOTHING

    def value(
        self,
        found: Sequence[Paragraph],  # noqa: ARG002 (what does not cite is not covered)
        covered: Sequence[verdicts.ParagraphCoverage],
    ) -> tuple[float, str]:
        best = [_best(each) for each in covered]
        low = sum(band(each) == "does_not_support" for each in best)
        why = f"mean over {counted(len(best), 'paragraph')}, {low} of them below 0.4"
        return min(1.0, sum(best) / len(best)), why

    def evidence(
        self, covered: Sequence[verdicts.ParagraphCoverage], seen: Observation
    ) -> dict[str, Any]:
        return {"paragraphs": _details(covered, seen)}


@dataclass(frozen=True, repr=False)
class AtThreshold(_ScoredMeasure):
    """A measure that takes a source for support where its coverage is above a threshold.

    :param threshold: from 0 up to, but not, 1; ``CoverageRecall @ 0.7``.
    """

    threshold: float = SUPPORTS

    base_name: ClassVar[str]
    base_label: ClassVar[str]

    def __matmul__(self, threshold: float) -> Self:
        """The same measure at another threshold.

        :raises ValueError: unless it is a number from 0 up to, but not, 1, given once.
        """
        is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if not is_number or not 0 <= threshold < 1:
            raise ValueError(f"{self.base_name}@t needs a number from 0 to below 1: {threshold!r}")
        if self.threshold != SUPPORTS:
            raise ValueError(f"{self.name} has its threshold already")
        return replace(self, threshold=abs(float(threshold)))

    @property
    def name(self) -> str:
        own = "" if self.threshold == SUPPORTS else f"@{self.threshold!r}"
        return self.base_name + own

    @property
    def label(self) -> str:
        return f"{self.base_label} (> {self.threshold:g})"


@dataclass(frozen=True, repr=False)
class CoverageRecallMeasure(AtThreshold):
    """Paragraphs with a source that covers them above the threshold, of all that claim."""

    base_name: ClassVar[str] = "CoverageRecall"
    base_label: ClassVar[str] = "Coverage recall"

    def nothing(self, found: Sequence[Paragraph]) -> str | None:
        return None if claiming(found) else NO_CLAIM

    def value(
        self, found: Sequence[Paragraph], covered: Sequence[verdicts.ParagraphCoverage]
    ) -> tuple[float, str]:
        claims = claiming(found)
        supported = sum(_best(each) > self.threshold for each in covered)
        return supported / len(claims), share(supported, len(claims), len(covered))


@dataclass(frozen=True, repr=False)
class CoveragePrecisionMeasure(AtThreshold):
    """Citations whose source alone covers the paragraph above the threshold, of all citations.

    A scorer sees one source at a time, so that halves from two sources count for neither.
    """

    base_name: ClassVar[str] = "CoveragePrecision"
    base_label: ClassVar[str] = "Coverage precision"

    def nothing(self, found: Sequence[Paragraph]) -> str | None:
        return None if citing(found) else CITES_NOTHING

    def value(
        self,
        found: Sequence[Paragraph],  # noqa: ARG002 (what does not cite has no citation)
        covered: Sequence[verdicts.ParagraphCoverage],
    ) -> tuple[float, str]:
        scores = [each.score for paragraph in covered for each in paragraph.sources]
        good = sum(score is not None and score > self.threshold for score in scores)
        return good / len(scores), f"{good} of {counted(len(scores), 'citation')} cover alone"


def _lacking(covered: Sequence[verdicts.ParagraphCoverage], asked: int) -> tuple[str, str] | None:
    """Reason and explanation where not everything that is cited was scored."""
    if len(covered) != asked:
        why = f"coverage of {len(covered)} of {counted(asked, 'citing paragraph')}"
        return NO_SCORER, why
    missing = [
        each.reason or NO_SCORER
        for paragraph in covered
        for each in paragraph.sources
        if each.score is None and each.reason != verdicts.UNRESOLVED
    ]
    if not missing:
        return None
    return missing[0], f"{counted(len(missing), 'citation')} without coverage: {missing[0]}"


def _best(covered: verdicts.ParagraphCoverage) -> float:
    return 0.0 if covered.best is None else covered.best


def _details(
    covered: Sequence[verdicts.ParagraphCoverage], seen: Observation
) -> list[dict[str, Any]]:
    support = seen.verdicts.get("support")
    judged = support.verdicts if isinstance(support, verdicts.ParagraphSupport) else ()
    labels = {each.index: each.label for each in judged}
    passages = answered(seen).passages
    return [
        {
            "paragraph": paragraph.index,
            "text": paragraph.text,
            "coverage": paragraph.best,
            "verdict": labels.get(paragraph.index),
            "sources": [_source(each, passages) for each in paragraph.sources],
        }
        for paragraph in covered
    ]


def _source(covered: verdicts.SourceCoverage, passages: Sequence[Passage]) -> dict[str, Any]:
    known = 1 <= covered.source <= len(passages)
    return {
        "source": covered.source,
        "passage_id": passages[covered.source - 1].id if known else None,
        "coverage": covered.score,
        "windows": covered.windows,
        "reason": covered.reason,
    }


CitationCoverage = CitationCoverageMeasure()
CoverageRecall = CoverageRecallMeasure()
CoveragePrecision = CoveragePrecisionMeasure()
