"""How far two engines agree on the same answers, from the opinions beside the scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pytest_touchstone.report.index import Index, Unit
from pytest_touchstone.report.model import Disagreement, MeasureInfo, SecondOpinion
from pytest_touchstone.report.rows import ScoreRow
from pytest_touchstone.score import SECOND_OPINION
from pytest_touchstone.verdicts import Opinion

APART = 0.25
"""Share of a measure's range beyond which two values of one answer count as apart."""

_MOST_SHOWN = 10
_FEWEST_RANKED = 3


class _Pair(NamedTuple):
    """One answer that both engines scored."""

    unit: Unit
    row: ScoreRow
    value: float
    other: float
    opinion: Opinion

    @property
    def distance(self) -> float:
        return abs(self.value - self.other)


def second_opinions(index: Index, floors: Mapping[str, float]) -> list[SecondOpinion]:
    """One entry for each measure of which some answer has a second opinion.

    Only scores of the judge itself are compared; what people said is nobody's engine.

    :param floors: measure to the value on whose side both engines should see an answer; the
        middle of the measure's range where there is none.
    """
    entries = (_entry(index, info, floors.get(info["measure"])) for info in index.measures)
    return [entry for entry in entries if entry is not None]


def rank_correlation(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Spearman's rank correlation from -1 to 1, ties with their mean rank.

    ``None`` for fewer than three pairs, and where one side never differs.
    """
    if len(left) < _FEWEST_RANKED or len(set(left)) == 1 or len(set(right)) == 1:
        return None
    ranks = np.corrcoef(_ranks(left), _ranks(right))
    return float(np.clip(ranks[0, 1], -1, 1))


def _ranks(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    _, places, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    mean_rank: np.ndarray[tuple[int], np.dtype[np.float64]] = np.cumsum(counts) - (counts - 1) / 2
    return mean_rank[places]


def _entry(index: Index, info: MeasureInfo, floor: float | None) -> SecondOpinion | None:
    told = list(_opinions(index, info["measure"]))
    if not told:
        return None
    pairs = [
        _Pair(unit, row, row.value, opinion.value, opinion)
        for unit, row, opinion in told
        if row.value is not None and row.origin == "judge" and opinion.value is not None
    ]
    missing = Counter(opinion.reason or "unknown" for *_, opinion in told if opinion.value is None)
    low, high = info["range"][0] or 0.0, info["range"][1]
    threshold = floor if floor is not None else None if high is None else (low + high) / 2
    apart = None if high is None else APART * (high - low)
    far = [pair for pair in pairs if apart is not None and pair.distance > apart]
    return {
        "measure": info["measure"],
        "engine": told[0][2].engine,
        "n": len(pairs),
        "mean": _mean([pair.value for pair in pairs]),
        "other_mean": _mean([pair.other for pair in pairs]),
        "difference": _mean([pair.distance for pair in pairs]),
        "threshold": threshold,
        "agreement": None if threshold is None else _agreement(pairs, threshold),
        "correlation": rank_correlation([p.value for p in pairs], [p.other for p in pairs]),
        "apart": apart,
        "far_apart": len(far),
        "no_opinion": dict(sorted(missing.items())),
        "most_apart": _most_apart(pairs),
    }


def _opinions(index: Index, measure: str) -> Iterator[tuple[Unit, ScoreRow, Opinion]]:
    for unit, planned in index.units.items():
        if unit.system == index.roles["system"] and measure in planned:
            row = index.score(unit, measure)
            if SECOND_OPINION in row.detail:
                yield unit, row, Opinion(**row.detail[SECOND_OPINION])


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _agreement(pairs: Sequence[_Pair], threshold: float) -> float | None:
    return _mean([float((p.value >= threshold) == (p.other >= threshold)) for p in pairs])


def _most_apart(pairs: Sequence[_Pair]) -> list[Disagreement]:
    differing = [pair for pair in pairs if pair.distance > 0]
    # Equal distances stay in the order of the index.
    ordered = sorted(differing, key=lambda pair: -pair.distance)[:_MOST_SHOWN]
    return [
        {
            "case": pair.unit.case,
            "system": pair.unit.system,
            "repeat": pair.unit.repeat,
            "value": pair.value,
            "other": pair.other,
            "why": pair.row.why,
            "other_why": pair.opinion.why,
        }
        for pair in ordered
    ]
