"""Means of measures with bootstrap intervals: the unit is the gold question, what is resampled
is the cluster.

Questions that share a conversation or a source document resemble each other; resampling them
one by one would make intervals too narrow.  So whole clusters are drawn with replacement, and
the mean of a resample is the ratio of the drawn sum to the drawn number of questions
(Davison and Hinkley 1997, *Bootstrap Methods and their Application*, section 3.8; the percentile
interval is that of Efron and Tibshirani 1993, section 13.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MIN_CLUSTERS = 5
"""With fewer clusters a bootstrap says nothing about the spread, and no interval is given."""
NO_INTERVAL = f"none: fewer than {MIN_CLUSTERS} clusters"
NOTHING_SCORED = "none: nothing scored"
LIMIT = 1e100
"""Largest magnitude of a value; beyond it sums and differences could overflow."""

_DRAWS_AT_ONCE = 1 << 20

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean over gold questions and what is known about its uncertainty.

    :param value: mean of the questions' values; ``None`` where none is scored.
    :param ci: lower and upper end of the interval, within the range of the values; ``None``
        where there is none, and ``ci_method`` says why.
    :param n: questions that the mean is over (for a difference: pairs).
    :param clusters: clusters that these questions belong to.
    """

    value: float | None
    ci: tuple[float, float] | None
    ci_method: str
    n: int
    clusters: int


def seed_from(sha256: str) -> int:
    """The bootstrap's seed: the first 64 bits of the dataset's SHA-256 (hexadecimal).

    :raises ValueError: where this is no hexadecimal digest.
    """
    return int(sha256[:16], 16)


def usable(value: float) -> bool:
    """Whether a value can enter a mean: finite, and no larger in magnitude than ``LIMIT``."""
    return math.isfinite(value) and abs(value) <= LIMIT


def mean_of_repeats(values: Sequence[float]) -> float:
    """The value of a question that was asked several times: the mean of its scored repeats."""
    return min(max(math.fsum(values) / len(values), min(values)), max(values))


def differences(system: Mapping[str, float], baseline: Mapping[str, float]) -> dict[str, float]:
    """System minus baseline, question by question, over the questions that both scored."""
    return {case: value - baseline[case] for case, value in system.items() if case in baseline}


class Resampling:
    """Resamples of a run's clusters, drawn once and shared by all its measures.

    The draws depend on the seed and on the set of cluster names alone: not on the order of
    cases or measures, the process, the platform or the version of numpy (bits of PCG64, whose
    stream numpy keeps stable, scaled to whole numbers here).

    :param cluster_of: case id to cluster name, for all cases of the run.
    :param resamples: how many times the clusters are drawn.
    :param confidence: the share of resampled means that an interval spans, within (0, 1).
    """

    def __init__(
        self,
        cluster_of: Mapping[str, str],
        *,
        seed: int,
        resamples: int = 1000,
        confidence: float = 0.95,
    ) -> None:
        names = sorted(set(cluster_of.values()))
        place = {name: index for index, name in enumerate(names)}
        cases = sorted(cluster_of)
        self._row = {case: index for index, case in enumerate(cases)}
        self._cluster = np.array([place[cluster_of[case]] for case in cases], dtype=np.intp)
        self._weights = _draw(seed, resamples, len(names))
        self._method = f"cluster bootstrap, percentile, {resamples} resamples"
        tail = (1 - confidence) / 2
        self._ends = (tail, 1 - tail)

    def mean(self, values: Mapping[str, float]) -> Estimate:
        """The estimate of one cell; see :meth:`means`."""
        return self.means([values])[0]

    def means(self, cells: Iterable[Mapping[str, float]]) -> list[Estimate]:
        """One estimate a cell, where a cell maps case ids to values (one a question).

        All cells are resampled with the same draws, in two matrix products.  Resamples in
        which no question of a cell falls are left out of that cell's interval.

        :raises ValueError: for a value that is not finite or larger than ``LIMIT``.
        :raises KeyError: for a case that the resampling does not know.
        """
        columns = [self._column(cell) for cell in cells]
        if not columns:
            return []
        size = self._weights.shape[1]
        sums = np.zeros((size, len(columns)))
        counts = np.zeros((size, len(columns)))
        for index, (clusters, values) in enumerate(columns):
            sums[:, index] = np.bincount(clusters, weights=values, minlength=size)
            counts[:, index] = np.bincount(clusters, minlength=size)
        lower, upper = self._intervals(sums, counts)
        clusters_seen = np.count_nonzero(counts, axis=0)
        return [
            self._estimate(values, int(clusters_seen[index]), lower[index], upper[index])
            for index, (_, values) in enumerate(columns)
        ]

    def _column(self, cell: Mapping[str, float]) -> tuple[NDArray[np.intp], Floats]:
        """Clusters and values of a cell, in the order of case ids so that sums are exact twins."""
        rows = np.fromiter((self._row[case] for case in cell), np.intp, len(cell))
        values = np.fromiter(cell.values(), np.float64, len(cell))
        if not np.all(np.abs(values) <= LIMIT):
            wrong = next(case for case, value in cell.items() if not usable(value))
            raise ValueError(f"case {wrong!r}: {cell[wrong]!r} is not a finite, bounded value")
        order = np.argsort(rows)
        return self._cluster[rows[order]], values[order]

    def _intervals(self, sums: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Both ends of each cell's interval: linearly interpolated quantiles of its means."""
        with np.errstate(invalid="ignore"):
            means = (self._weights @ sums) / (self._weights @ counts)
        valid = np.count_nonzero(~np.isnan(means), axis=0)
        means.sort(axis=0)  # empty resamples are NaN here, and NaN sorts last
        low, high = (_quantile(means, valid, end) for end in self._ends)
        return low, high

    def _estimate(
        self, values: Floats, clusters: int, lower: np.float64, upper: np.float64
    ) -> Estimate:
        n = len(values)
        if n == 0:
            return Estimate(None, None, NOTHING_SCORED, 0, 0)
        # Rounding can carry a mean of equal values past them by one unit in the last place.
        least, most = float(values.min()), float(values.max())
        value = min(max(math.fsum(values.tolist()) / n, least), most)
        if clusters < MIN_CLUSTERS:
            return Estimate(value, None, NO_INTERVAL, n, clusters)
        # Matrix products differ in their last bits from one machine or number of cells to the
        # next; twelve digits are the same everywhere, and far more than resampling can tell.
        low, high = (min(max(float(f"{end:.12g}"), least), most) for end in (lower, upper))
        return Estimate(value, (low, high), self._method, n, clusters)


def _draw(seed: int, resamples: int, clusters: int) -> Floats:
    """How often each cluster is drawn in each resample (resamples x clusters)."""
    weights = np.zeros((resamples, clusters))
    if clusters == 0:
        return weights
    bits = np.random.PCG64(seed)
    step = max(1, _DRAWS_AT_ONCE // clusters)
    for start in range(0, resamples, step):
        block = weights[start : start + step]
        raw = bits.random_raw(block.size)
        drawn = ((raw >> np.uint64(32)) * np.uint64(clusters) >> np.uint64(32)).astype(np.intp)
        drawn += np.repeat(np.arange(len(block)) * clusters, clusters)
        block[:] = np.bincount(drawn, minlength=block.size).reshape(block.shape)
    return weights


def _quantile(ordered: Floats, valid: NDArray[np.intp], share: float) -> Floats:
    """The quantile of the first ``valid`` rows of each ordered column (Hyndman-Fan type 7)."""
    place = share * np.maximum(valid - 1, 0)
    below = np.floor(place).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(valid - 1, 0))
    column = np.arange(ordered.shape[1])
    low, high = ordered[below, column], ordered[above, column]
    result: Floats = low + (place - below) * (high - low)
    return result
