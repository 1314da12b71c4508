"""The estimates of a run: all cells resampled with the same draws, each with its own interval."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pytest_touchstone.estimate import draws, power, proportions, resampled
from pytest_touchstone.estimate.choice import Method, all_or_nothing, choose, described
from pytest_touchstone.estimate.comparison import sign_flip
from pytest_touchstone.estimate.spread import Spread, quantile
from pytest_touchstone.estimate.values import (
    LIMIT,
    MIN_CLUSTERS,
    NOTHING_SCORED,
    Cell,
    Comparison,
    Estimate,
    Range,
    usable,
)

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Ends = tuple[float, float]

_DIGITS = 12


class Resampling:
    """Resamples of a run's clusters, drawn once and shared by all its measures.

    The draws depend on the seed and on clusters and strata alone: not on the order of cases or
    measures, the process, the platform or the version of numpy.

    :param cluster_of: case id to cluster name, for all cases of the run.
    :param type_of: case id to type.  Where every cluster has one type, types are strata; the
        smallest are one stratum together, so that none has fewer than five clusters.
    :param resamples: how many times the clusters are drawn.
    :param confidence: the share of such sets whose interval holds the truth, within (0, 1).
    """

    def __init__(
        self,
        cluster_of: Mapping[str, str],
        *,
        seed: int,
        type_of: Mapping[str, str] | None = None,
        resamples: int = 1000,
        confidence: float = 0.95,
    ) -> None:
        names = sorted(set(cluster_of.values()))
        place = {name: index for index, name in enumerate(names)}
        cases = sorted(cluster_of)
        self._row = {case: index for index, case in enumerate(cases)}
        self._cluster = np.array([place[cluster_of[case]] for case in cases], dtype=np.intp)
        self._strata = _strata(names, cluster_of, type_of or {})
        self._seed = seed
        self._resamples = resamples
        self._confidence = confidence

    def mean(self, cell: Cell) -> Estimate:
        """The estimate of one cell; see :meth:`means`."""
        return self.means([cell])[0]

    def means(self, cells: Iterable[Cell]) -> list[Estimate]:
        """One estimate a cell, in the same order.

        :raises ValueError: for a value that is not finite or larger than ``LIMIT``.
        :raises KeyError: for a case that the resampling does not know.
        """
        return self._estimates([(cell, self._spread(cell)) for cell in cells])

    def delta(self, cell: Cell) -> Comparison:
        """The comparison of one paired cell; see :meth:`deltas`."""
        return self.deltas([cell])[0]

    def deltas(self, cells: Iterable[Cell]) -> list[Comparison]:
        """One comparison a cell of differences, in the same order.

        :raises ValueError: for a value that is not finite or larger than ``LIMIT``.
        :raises KeyError: for a case that the resampling does not know.
        """
        known = [(cell, self._spread(cell)) for cell in cells]
        totals = np.zeros((len(self._strata), len(known)))
        for column, (_, spread) in enumerate(known):
            if spread is not None:
                totals[spread.present, column] = spread.totals
        p_values = sign_flip(totals, self._seed)
        comparisons = []
        for (cell, spread), estimate, p in zip(
            known, self._estimates(known), p_values, strict=True
        ):
            if spread is None or estimate.clusters < MIN_CLUSTERS:
                comparisons.append(Comparison(estimate, None, None))
            else:
                found = self._detectable(cell, spread, estimate)
                comparisons.append(Comparison(estimate, p, found))
        return comparisons

    def _spread(self, cell: Cell) -> Spread | None:
        """Values and clusters of a cell, in the order of case ids so that sums are exact twins."""
        if not cell.values:
            return None
        rows = np.array([self._row[case] for case in cell.values], dtype=np.intp)
        values = np.array(list(cell.values.values()), dtype=np.float64)
        if not np.all(np.abs(values) <= LIMIT):
            wrong = next(case for case, value in cell.values.items() if not usable(value))
            raise ValueError(f"case {wrong!r}: {cell.values[wrong]!r} is no finite, bounded value")
        order = np.argsort(rows)
        return Spread(values[order], self._cluster[rows[order]], self._strata, cell.paired)

    def _estimates(self, known: Sequence[tuple[Cell, Spread | None]]) -> list[Estimate]:
        chosen: dict[Method, list[int]] = defaultdict(list)
        spreads: dict[int, Spread] = {}
        bounds: dict[int, Range] = {}
        for place, (cell, spread) in enumerate(known):
            if spread is not None:
                spreads[place], bounds[place] = spread, cell.bounds()
                chosen[choose(spread, bounds[place], paired=cell.paired)].append(place)
        estimates = [Estimate(None, None, NOTHING_SCORED, 0, 0)] * len(known)
        for method, places in chosen.items():
            group = [spreads[place] for place in places]
            ranges = [bounds[place] for place in places]
            ends = self._ends(method, group, ranges)
            for place, spread, low_high, end in zip(places, group, ranges, ends, strict=True):
                name = described(method, spread, low_high, self._resamples)
                ci = None if end is None else _within(end, spread, low_high)
                n, clusters = spread.n, len(spread.present)
                estimates[place] = Estimate(spread.mean, ci, name, n, clusters)
        return estimates

    def _ends(
        self, method: Method, spreads: Sequence[Spread], bounds: Sequence[Range]
    ) -> Sequence[Ends | None]:
        """The intervals of cells that have the same method, not yet held to their range."""
        match method:
            case Method.NONE:
                return [None] * len(spreads)
            case Method.CONSTANT:
                return [(spread.mean, spread.mean) for spread in spreads]
            case Method.UNSEEN:
                return [self._unseen(*pair) for pair in zip(spreads, bounds, strict=True)]
            case Method.MID_P:
                return self._mid_p(spreads, bounds)
            case Method.PSEUDO:
                return self._pseudo(spreads, bounds)
            case Method.T:
                return [self._t(spread) for spread in spreads]
            case Method.STUDENTIZED:
                return self._studentized(spreads)
            case Method.OUTER:
                return self._beyond(1.0, spreads)
            case Method.HALFWAY:
                return self._beyond(0.5, spreads)

    def _beyond(self, share: float, spreads: Sequence[Spread]) -> list[Ends]:
        """Studentized, and where t's end lies further out, that share of the way to it."""
        pairs = zip(map(self._t, spreads), self._studentized(spreads), strict=True)
        return [
            (b[0] + share * min(a[0] - b[0], 0.0), b[1] + share * max(a[1] - b[1], 0.0))
            for a, b in pairs
        ]

    def _unseen(self, spread: Spread, bounds: Range) -> Ends:
        low, high = _closed(bounds)
        share = proportions.unseen_share(spread.n / spread.design_effect, self._confidence)
        return (
            spread.mean + share * (low - spread.mean),
            spread.mean + share * (high - spread.mean),
        )

    def _mid_p(self, spreads: Sequence[Spread], bounds: Sequence[Range]) -> list[Ends]:
        n = np.array([s.n / s.design_effect / s.widening(self._confidence) ** 2 for s in spreads])
        low, high = np.array([_closed(pair) for pair in bounds]).T
        mean = np.array([spread.mean for spread in spreads])
        ends = proportions.mid_p((mean - low) / (high - low) * n, n, self._confidence)
        return _pairs(low + ends[0] * (high - low), low + ends[1] * (high - low))

    def _t(self, spread: Spread) -> Ends:
        reach = quantile((1 + self._confidence) / 2, spread.degrees) * spread.scale
        reach *= math.sqrt(spread.variance)
        return spread.mean - reach, spread.mean + reach

    def _studentized(self, spreads: Sequence[Spread]) -> list[Ends]:
        residuals, sizes = self._columns(spreads)
        ends = resampled.studentized(self._counts, residuals, sizes, self._confidence)
        return _unscaled(spreads, *ends)

    def _pseudo(self, spreads: Sequence[Spread], bounds: Sequence[Range]) -> list[Ends]:
        residuals, sizes = self._columns(spreads)
        closed = [_closed(pair) for pair in bounds]
        ends = resampled.pseudo(
            self._exponentials,
            self._halves,
            residuals,
            sizes,
            stretch=np.array([self._stretch(spread) for spread in spreads]),
            unseen=np.array([spread.unseen for spread in spreads]),
            ends=(
                np.array([(c[0] - s.mean) / s.scale for c, s in zip(closed, spreads, strict=True)]),
                np.array([(c[1] - s.mean) / s.scale for c, s in zip(closed, spreads, strict=True)]),
            ),
            confidence=self._confidence,
        )
        return _unscaled(spreads, *ends)

    def _stretch(self, spread: Spread) -> float:
        variance = spread.design_effect * spread.independent
        widening = spread.widening(self._confidence)
        return resampled.pseudo_stretch(spread.residuals, spread.n, variance, widening)

    def _columns(self, spreads: Sequence[Spread]) -> tuple[Floats, Floats]:
        """Residuals and sizes of the run's clusters (clusters x cells), 0 where absent."""
        residuals = np.zeros((len(self._strata), len(spreads)))
        sizes = np.zeros_like(residuals)
        for column, spread in enumerate(spreads):
            residuals[spread.present, column] = spread.residuals
            sizes[spread.present, column] = spread.sizes
        return residuals, sizes

    @cached_property
    def _counts(self) -> Floats:
        return draws.counts(self._seed, self._resamples, self._strata)

    @cached_property
    def _exponentials(self) -> Floats:
        return draws.exponentials(self._seed, self._resamples, len(self._strata))

    @cached_property
    def _halves(self) -> tuple[Floats, Floats]:
        return draws.halves(self._seed, self._resamples)

    def _detectable(self, cell: Cell, spread: Spread, estimate: Estimate) -> float | None:
        bounds = cell.bounds()
        if all_or_nothing(spread, bounds, paired=cell.paired):
            # Of the pairs that differ, those that would be left if neither system were ahead.
            better = np.count_nonzero(spread.values > 0)
            worse = np.count_nonzero(spread.values < 0)
            apart = 2 * min(better, worse) / spread.n
            effective = spread.n / spread.design_effect
            share = power.of_shares(apart, effective, spread.degrees, self._confidence)
            return share * _closed(bounds)[1]
        if not spread.scale:
            return None
        error = math.sqrt(spread.variance) * spread.scale
        found = power.of_spread(error, spread.degrees, self._confidence)
        if estimate.ci is None or estimate.value is None:
            return found
        # Some intervals allow for what was not seen: they are wider than the error alone.
        half = max(estimate.value - estimate.ci[0], estimate.ci[1] - estimate.value)
        return max(found, power.of_interval(half, spread.degrees, self._confidence))


def _strata(
    names: Sequence[str], cluster_of: Mapping[str, str], type_of: Mapping[str, str]
) -> Places:
    """Stratum of each cluster, from 0."""
    types: dict[str, set[str]] = {name: set() for name in names}
    for case, cluster in cluster_of.items():
        types[cluster].add(type_of.get(case, ""))
    if any(len(found) > 1 for found in types.values()):
        return np.zeros(len(names), dtype=np.intp)
    alone = [next(iter(types[name])) for name in names]
    sizes = sorted((alone.count(kind), kind) for kind in set(alone))
    together: list[str] = []
    pooled = 0
    for size, kind in sizes:
        if size >= MIN_CLUSTERS and not 0 < pooled < MIN_CLUSTERS:
            break
        together.append(kind)
        pooled += size
    place = {kind: max(index - len(together) + 1, 0) for index, (_, kind) in enumerate(sizes)}
    return np.array([place[kind] for kind in alone], dtype=np.intp)


def _closed(bounds: Range) -> Ends:
    low, high = bounds
    if low is None or high is None:
        raise ValueError("this interval needs a range that is closed at both ends")
    return low, high


def _pairs(low: Floats, high: Floats) -> list[Ends]:
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _unscaled(spreads: Sequence[Spread], low: Floats, high: Floats) -> list[Ends]:
    return [
        (spread.mean + spread.scale * a, spread.mean + spread.scale * b)
        for spread, (a, b) in zip(spreads, _pairs(low, high), strict=True)
    ]


def _within(ends: Ends, spread: Spread, bounds: Range) -> Ends:
    """An interval within the range, around its mean, the same on every platform.

    Matrix products differ in their last bits from one machine or number of cells to the next;
    twelve digits are the same everywhere, and far more than resampling can tell.
    """
    largest = max(abs(spread.mean), spread.scale, *(abs(end) for end in ends))
    digits = _DIGITS - math.ceil(math.log10(largest)) if largest else 0
    low, high = (round(end, digits) for end in ends)
    least, most = bounds
    low = min(spread.mean, low if least is None else max(low, least))
    high = max(spread.mean, high if most is None else min(high, most))
    return low, high
