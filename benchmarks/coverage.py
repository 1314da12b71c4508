"""How often the intervals of a report hold the truth, by simulation.

``python benchmarks/coverage.py [SIMULATIONS] [--processes N]``: so many simulated sets of gold
questions (10,000) in each cell, single systems and paired differences, independent questions and
clustered ones (intra-class correlation 0.3).  Prints for each cell the coverage of the interval
that the report gives, its mean width as a ratio to that of a normal interval made with the true
variance, how often the truth lies above and below it (nominal: 2.5% each), and the coverage of
the plain percentile bootstrap (over clusters) and of the normal interval on the same data.
Where there is no difference, "above" is how often a gate `X >= previous` turns red for nothing.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from pytest_touchstone.estimate import Cell, Estimate, Resampling

Floats = NDArray[np.float64]

ICC = 0.3
ALIKE = 0.5
"""How much of what makes a question hard is the same for both systems."""
RATES = (0.5, 0.8, 0.95, 0.99)
SCORE, WEAKER = (3.0, 0.6), (2.0, 1.0)
"""Beta parameters of a skewed score (mean 0.83, deviation 0.17) and of a baseline's."""
BATCH = 100
"""Simulated sets that share one set of resample weights, as the measures of a run do."""
Z = stats.norm.ppf(0.975)
NOTED = 0.93
WIDEST = 1.3
_GRID = np.linspace(0, 1, 20001)


@dataclass(frozen=True)
class Setting:
    """What is simulated in one cell.

    :param kind: ``rate``, ``score`` or ``cost``.
    :param clusters: equal to ``n`` where questions are independent.
    :param other: what the baseline is, ``None`` for a single system; of the same kind as
        ``value``: a rate, the parameters of a beta distribution, the scale of a cost.
    """

    n: int
    clusters: int
    kind: str
    value: float | tuple[float, float]
    other: float | tuple[float, float] | None = None

    @property
    def label(self) -> str:
        shape = f"{self.n}" if self.clusters == self.n else f"{self.n}/{self.clusters}"
        name = f"rate {self.value:g}" if self.kind == "rate" else self.kind
        if self.other is None:
            return f"{shape} {name}"
        if self.other == self.value:
            return f"{shape} {name}, Δ = 0"
        return f"{shape} {name}, Δ = {self.truth:+.2g}"

    @property
    def truth(self) -> float:
        return self._mean(self.value) - (0 if self.other is None else self._mean(self.other))

    def _mean(self, value: float | tuple[float, float]) -> float:
        match self.kind:
            case "rate":
                return value
            case "score":
                return value[0] / (value[0] + value[1])
            case _:
                return value * math.exp(0.5)

    @property
    def sizes(self) -> NDArray[np.intp]:
        whole, rest = divmod(self.n, self.clusters)
        return np.array([whole + (k < rest) for k in range(self.clusters)])

    def drawn(self, rng: np.random.Generator, sets: int) -> Floats:
        """Simulated values (sets x questions)."""
        if self.kind == "rate":
            return self._rates(rng, sets)
        one, other = self._normals(rng, sets)
        if self.kind == "score":
            values = _beta(special.ndtr(one), self.value)
            return values if self.other is None else values - _beta(special.ndtr(other), self.other)
        values = self.value * np.exp(one)
        return values if self.other is None else values - self.other * np.exp(other)

    def _rates(self, rng: np.random.Generator, sets: int) -> Floats:
        shape = (sets, self.n)
        hard = rng.random(shape)
        hard_too = np.where(rng.random(shape) < ALIKE, hard, rng.random(shape))
        if self.clusters == self.n:
            value = (hard < self.value).astype(float)
            return value if self.other is None else value - (hard_too < self.other)
        shape = (sets, self.clusters)
        chance = _beta_binomial(rng, self.value, shape)
        value = (hard < np.repeat(chance, self.sizes, axis=1)).astype(float)
        if self.other is None:
            return value
        chance_too = _beta_binomial(rng, self.other, shape)
        alike = rng.random(shape) < ALIKE
        chance_too[alike] = _moved(chance[alike], self.value, self.other)
        return value - (hard_too < np.repeat(chance_too, self.sizes, axis=1))

    def _normals(self, rng: np.random.Generator, sets: int) -> tuple[Floats, Floats]:
        one, other = _correlated(rng, (sets, self.n))
        if self.clusters == self.n:
            return one, other
        # 0.35 between normal variates is about 0.3 between the scores.
        shared = [np.repeat(c, self.sizes, axis=1) for c in _correlated(rng, (sets, self.clusters))]
        return tuple(  # type: ignore[return-value]
            math.sqrt(0.35) * c + math.sqrt(0.65) * own
            for c, own in zip(shared, (one, other), strict=True)
        )


def _correlated(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    one = rng.standard_normal(shape)
    return one, ALIKE * one + math.sqrt(1 - ALIKE**2) * rng.standard_normal(shape)


def _beta(uniform: Floats, shape: tuple[float, float]) -> Floats:
    return np.interp(uniform, _GRID, _quantiles(*shape))


@cache
def _quantiles(a: float, b: float) -> Floats:
    return stats.beta.ppf(_GRID, a, b)


def _shape(rate: float) -> tuple[float, float]:
    return rate * (1 - ICC) / ICC, (1 - rate) * (1 - ICC) / ICC


def _beta_binomial(rng: np.random.Generator, rate: float, shape: tuple[int, int]) -> Floats:
    return rng.beta(*_shape(rate), shape)


def _moved(chance: Floats, rate: float, other: float) -> Floats:
    if rate == other:
        return chance
    return stats.beta.ppf(stats.beta.cdf(chance, *_shape(rate)), *_shape(other))


# -- settings ---------------------------------------------------------------------------------


def settings() -> Iterator[Setting]:
    """All cells: single systems, then pairs without and with a difference."""
    shapes = [(n, n) for n in (12, 24, 48, 160)]
    shapes += [(n, k) for n in (48, 160) for k in (6, 12, 40)]
    for paired in ("single", "same", "other"):
        for n, clusters in shapes:
            for rate in RATES if clusters == n else RATES[:3]:
                other = {"single": None, "same": rate, "other": rate - 0.1}[paired]
                yield Setting(n, clusters, "rate", rate, other)
            other = {"single": None, "same": SCORE, "other": WEAKER}[paired]
            yield Setting(n, clusters, "score", SCORE, other)
            if clusters == n:
                other = {"single": None, "same": 1.0, "other": 0.5}[paired]
                yield Setting(n, clusters, "cost", 1.0, other)


# -- intervals --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """What came of one cell; shares of the simulated sets."""

    setting: Setting
    covered: float
    above: float
    below: float
    width: float
    percentile: float
    normal: float
    methods: Counter[str]
    simulations: int

    @property
    def upper(self) -> float:
        """Upper end of the 95% Monte-Carlo interval of the coverage."""
        covered = round(self.covered * self.simulations)
        return float(stats.beta.ppf(0.975, covered + 1, max(self.simulations - covered, 1e-9)))


def measured(task: tuple[Setting, int]) -> Result:
    """Simulate one cell."""
    setting, simulations = task
    rng = np.random.default_rng(zlib.crc32(setting.label.encode()))
    ours, percentile, normal, means = [], [], [], []
    methods: Counter[str] = Counter()
    for _ in range(0, simulations, BATCH):
        values = setting.drawn(rng, BATCH)
        estimates = reported(setting, values, int(rng.integers(2**63)))
        methods.update(_family(estimate) for estimate in estimates)
        ours += [estimate.ci for estimate in estimates]
        percentile.append(percentile_bootstrap(setting, values, rng))
        normal.append(normal_interval(setting, values))
        means += values.mean(axis=1).tolist()
    low, high = np.array(ours).T
    truth = setting.truth
    return Result(
        setting,
        covered=float(((low <= truth) & (truth <= high)).mean()),
        above=float((high < truth).mean()),
        below=float((low > truth).mean()),
        width=float((high - low).mean() / (2 * Z * _true_error(setting, means, rng))),
        percentile=_covering(np.concatenate(percentile, axis=1), truth),
        normal=_covering(np.concatenate(normal, axis=1), truth),
        methods=methods,
        simulations=len(means),
    )


def _true_error(setting: Setting, means: list[float], rng: np.random.Generator) -> float:
    """Standard error of the mean: from single questions where they are independent."""
    if setting.clusters < setting.n:
        return float(np.std(means))
    return float(np.std(setting.drawn(rng, 2_000_000 // setting.n)) / math.sqrt(setting.n))


def reported(setting: Setting, values: Floats, seed: int) -> list[Estimate]:
    """What a report would say of each set."""
    cases = [f"{place:03}" for place in range(setting.n)]
    owners = np.repeat(np.arange(setting.clusters), setting.sizes)
    resampling = Resampling(
        {case: f"{owner:03}" for case, owner in zip(cases, owners, strict=True)}, seed=seed
    )
    span = (0.0, None) if setting.kind == "cost" else (0.0, 1.0)
    paired = setting.other is not None
    return resampling.means(
        Cell(dict(zip(cases, row, strict=True)), span, paired) for row in values.tolist()
    )


def _family(estimate: Estimate) -> str:
    name = estimate.ci_method.split(",")[0].split(";")[0]
    return name.split(" with ")[0]


def percentile_bootstrap(setting: Setting, values: Floats, rng: np.random.Generator) -> Floats:
    """The plain one: quantiles of the means of 1,000 resamples of clusters."""
    k = setting.clusters
    weights = rng.multinomial(k, np.full(k, 1 / k), size=1000).astype(float)
    means = weights @ _totals(setting, values).T / (weights @ setting.sizes)[:, None]
    return np.quantile(means, [0.025, 0.975], axis=0)


def normal_interval(setting: Setting, values: Floats) -> Floats:
    """Mean and 1.96 standard errors, clusters taken account of."""
    k = setting.clusters
    mean = values.mean(axis=1)
    residuals = _totals(setting, values) - mean[:, None] * setting.sizes
    error = np.sqrt((residuals**2).sum(axis=1) * k / (k - 1)) / setting.n
    return np.array([mean - Z * error, mean + Z * error])


def _totals(setting: Setting, values: Floats) -> Floats:
    starts = np.concatenate([[0], np.cumsum(setting.sizes)[:-1]])
    return np.add.reduceat(values, starts, axis=1)


def _covering(ends: Floats, truth: float) -> float:
    return float(((ends[0] <= truth) & (truth <= ends[1])).mean())


# -- printing ---------------------------------------------------------------------------------


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("simulations", type=int, nargs="?", default=10_000)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    print("cell | covered | width | truth above | below | percentile | normal | interval")
    print("---|---|---|---|---|---|---|---")
    results = []
    with multiprocessing.Pool(options.processes) as pool:
        for result in pool.imap(measured, [(s, options.simulations) for s in settings()]):
            results.append(result)
            print(_line(result), flush=True)
        print("\nunder 0.93 even at the upper end of the Monte-Carlo interval:")
        print("\n".join(_line(one) for one in results if one.upper < NOTED) or "none")
        print("\nwider than 1.3 at n >= 48:")
        wide = [one for one in results if one.setting.n >= 48 and one.width > WIDEST]
        print("\n".join(_line(one) for one in wide) or "none")
        same = [one for one in results if one.setting.other == one.setting.value]
        worst = max(same, key=lambda one: one.above)
        print(f"\nred without a difference, at most: {worst.above:.4f} ({worst.setting.label})")


def _line(result: Result) -> str:
    method = ", ".join(
        f"{name} {count / result.simulations:.0%}" for name, count in result.methods.most_common(2)
    )
    return (
        f"{result.setting.label} | {result.covered:.4f} | {result.width:.2f} | {result.above:.4f}"
        f" | {result.below:.4f} | {result.percentile:.3f} | {result.normal:.3f} | {method}"
    )


if __name__ == "__main__":
    main()
