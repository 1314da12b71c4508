"""Summarisation: does an answer say what a good summary says, and no more?

ROUGE compares words with the gold answer and needs no judge.  Whether the key points are there,
and how much of the answer serves none of them, is read by a judge.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import (
    Measure,
    Need,
    answered,
    counted,
    incomplete,
    judgement,
    quoted,
    verdict,
)
from pytest_touchstone.paragraphs import CITATION, sentences
from pytest_touchstone.rouge import Overlap, rouge_l, rouge_lsum
from pytest_touchstone.score import NOT_APPLICABLE, Score, unscored
from pytest_touchstone.tokens import tokens
from pytest_touchstone.trace import Observation
from pytest_touchstone.verdicts import Coverage, PointLabel

_SHARES: Mapping[PointLabel, float] = {"present": 1.0, "partly": 0.5, "absent": 0.0}
_CITATION = re.compile(CITATION)


@dataclass(frozen=True, repr=False)
class _RougeMeasure(Measure):
    """Overlap of words with the gold answer of a ``summary``, citation markers taken out."""

    dimension: ClassVar[str] = "summarisation"
    needs: ClassVar[frozenset[Need]] = frozenset({"answer"})

    def applies(self, case: Case) -> bool:
        return case.type == "summary" and bool(tokens(_plain(case.answer)))

    def measure(self, case: Case, seen: Observation) -> Score:
        if not self.applies(case):
            return unscored(NOT_APPLICABLE, "the gold question asks for no summary in words")
        found = self.overlap(_plain(case.answer), _plain(answered(seen).text))
        return Score(
            found.f1,
            f"precision {found.precision:.3f}, recall {found.recall:.3f}",
            detail={"precision": found.precision, "recall": found.recall},
        )

    @abstractmethod
    def overlap(self, gold: str, answer: str) -> Overlap:
        """What the two texts have in common."""


def _plain(text: str) -> str:
    return _CITATION.sub(" ", text)


@dataclass(frozen=True, repr=False)
class RougeLMeasure(_RougeMeasure):
    """F1 of the longest common subsequence of words (Lin, 2004), the text taken as a whole."""

    @property
    def name(self) -> str:
        return "RougeL"

    @property
    def label(self) -> str:
        return "ROUGE-L"

    def overlap(self, gold: str, answer: str) -> Overlap:
        return rouge_l(tokens(gold), tokens(answer))


@dataclass(frozen=True, repr=False)
class RougeLsumMeasure(_RougeMeasure):
    """F1 of the union of longest common subsequences, sentence by sentence (Lin, 2004, 3.2)."""

    @property
    def name(self) -> str:
        return "RougeLsum"

    @property
    def label(self) -> str:
        return "ROUGE-Lsum"

    def overlap(self, gold: str, answer: str) -> Overlap:
        left, right = ([tokens(each) for each in sentences(text)] for text in (gold, answer))
        return rouge_lsum(left, right)


def points_asked(case: Case) -> tuple[str, ...]:
    """What a good answer must contain: the key points, or of a summary that lists none the
    sentences of the gold answer."""
    if case.key_points or case.type != "summary":
        return case.key_points
    return sentences(case.answer)


@dataclass(frozen=True, repr=False)
class _CoverageMeasure(Measure):
    """A measure of the key points, on every question that has some."""

    dimension: ClassVar[str] = "summarisation"
    needs: ClassVar[frozenset[Need]] = frozenset({"answer", "coverage"})

    def applies(self, case: Case) -> bool:
        return bool(points_asked(case))

    def measure(self, case: Case, seen: Observation) -> Score:
        if not self.applies(case):
            return unscored(NOT_APPLICABLE, "the gold question has no key points")
        found = verdict(seen, "coverage", Coverage)
        if isinstance(found, Score):
            return found
        partial = incomplete(len(found.points), len(points_asked(case)), "key point")
        return partial or self.judge(found)

    @abstractmethod
    def judge(self, found: Coverage) -> Score:
        """The score of a complete verdict."""


@dataclass(frozen=True, repr=False)
class KeyPointCoverageMeasure(_CoverageMeasure):
    """Mean over the key points: present 1, partly 0.5, absent 0, or finer from an engine that
    grades."""

    @property
    def name(self) -> str:
        return "KeyPointCoverage"

    @property
    def label(self) -> str:
        return "Key point coverage"

    def judge(self, found: Coverage) -> Score:
        shares = [
            _SHARES[each.label] if each.support is None else each.support for each in found.points
        ]
        value = sum(shares) / len(shares)
        present = sum(each.label == "present" for each in found.points)
        lacking = [
            f"{each.label}: {each.point}" for each in found.points if each.label != "present"
        ]
        detail = [
            {
                "point": each.point,
                "label": each.label,
                "rationale": each.rationale,
                **quoted(each.quotation),
            }
            for each in found.points
        ]
        share = f"{present} of {counted(len(found.points), 'key point')} present"
        return judgement(value, "; ".join([share, *lacking]), points=detail)


@dataclass(frozen=True, repr=False)
class PaddingMeasure(_CoverageMeasure):
    """Share of the answer's sentences that serve no key point; lower is better."""

    higher_is_better: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return "Padding"

    def judge(self, found: Coverage) -> Score:
        total = len(found.sentences)
        if not total:
            return unscored(NOT_APPLICABLE, "the answer has no sentence")
        served_none = sorted({place for place in found.padding if 0 <= place < total})
        why = f"{len(served_none)} of {counted(total, 'sentence')} serve no key point"
        padding = [{"sentence": i + 1, "text": found.sentences[i]} for i in served_none]
        return judgement(len(served_none) / total, why, sentences=total, padding=padding)


RougeL = RougeLMeasure()
RougeLsum = RougeLsumMeasure()
KeyPointCoverage = KeyPointCoverageMeasure()
Padding = PaddingMeasure()
