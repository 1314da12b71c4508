"""What the calibrated interval covers, beside PPI++ as published and people's labels alone.

``python benchmarks/calibration.py [SIMULATIONS]`` (10,000): a judge that is 0.12 too generous reads
160 answers, people read 16 or 40 of them, drawn at random.  The correlation of judge and truth is
0.7 or 0.3; the truth is normal, a share with many ones, or yes and no.

``covers`` is the share of 95% intervals that hold the true mean, ``width`` the mean width,
``/ people`` the same divided by that of people's labels alone with Student's t, ``widest`` the
largest such ratio in any one simulation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_touchstone import student
from pytest_touchstone.calibrate import Item, calibrate

Floats = NDArray[np.float64]

ANSWERS = 160
TOO_GENEROUS = 0.12
CONFIDENCE = 0.95
_Z = student.quantile((1 + CONFIDENCE) / 2, float("inf"))


class Drawn(NamedTuple):
    """Simulations in rows: people's values, the judge's of the same answers, the judge's others."""

    people: Floats
    judge: Floats
    others: Floats


class Intervals(NamedTuple):
    """One interval a simulation."""

    low: Floats
    high: Floats


def main() -> None:
    """Simulate and print; ends with an error where a figure falls short."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    missed: list[str] = []
    for truth in (normal, share, yes_or_no):
        for labels in (16, 40):
            for correlation in (0.7, 0.3):
                rng = np.random.default_rng([labels, round(10 * correlation)])
                missed += _cell(rng, truth, times, labels, correlation)
    if missed:
        raise SystemExit("\n".join(missed))


def _cell(
    rng: np.random.Generator, truth: Truth, times: int, labels: int, correlation: float
) -> Iterator[str]:
    people, judge, mean = truth(rng, times, correlation)
    drawn = Drawn(people[:, :labels], judge[:, :labels], judge[:, labels:])
    alone = people_alone(drawn, student.quantile((1 + CONFIDENCE) / 2, labels - 1))
    found = {
        "people alone, normal": people_alone(drawn, _Z),
        "people alone, t": alone,
        "PPI++ as published": ppi_plus_plus(drawn, _Z),
        "PPI++ with t": ppi_plus_plus(drawn, student.quantile((1 + CONFIDENCE) / 2, labels - 1)),
        "this": ours(drawn, people),
    }
    seen = np.corrcoef(people.ravel(), judge.ravel())[0, 1]
    print(
        f"\n{truth.__name__}, {labels} of {ANSWERS} labelled, correlation {seen:.2f},"
        f" judge {judge.mean() - people.mean():+.3f}"
    )
    print(f"{'':22}covers   width  / people  widest")
    for name, (low, high) in found.items():
        covers = ((low <= mean) & (mean <= high)).mean()
        given = ~np.isnan(low)
        width = np.where(given, high - low, 0)
        people_width = alone.high - alone.low
        ratio = width[given].mean() / people_width[given].mean()
        known = people_width > 0
        widest = (width[known] / people_width[known]).max()
        print(f"{name:22}{covers:.4f}  {width[given].mean():.4f}    {ratio:.3f}   {widest:.3f}")
        if name == "this":
            where = f"{truth.__name__}, {labels} labels, correlation {correlation}"
            if covers < (0.92 if labels < 40 else 0.93):
                yield f"{where}: covers only {covers:.4f}"
            if labels >= 40 and correlation > 0.5 and ratio >= 1:
                yield f"{where}: not narrower than people alone"
            if widest > 1.05:
                yield f"{where}: wider than people alone by more than 5%"


Truth = Callable[[np.random.Generator, int, float], tuple[Floats, Floats, float]]


def normal(
    rng: np.random.Generator, times: int, correlation: float
) -> tuple[Floats, Floats, float]:
    """Normal values around 0.7."""
    truth, judge = _correlated(rng, times, correlation)
    return 0.7 + 0.2 * truth, 0.7 + TOO_GENEROUS + 0.2 * judge, 0.7


def share(rng: np.random.Generator, times: int, correlation: float) -> tuple[Floats, Floats, float]:
    """Shares from 0 to 1, a fifth of them 1."""
    # Cutting to the range takes something from correlation and generosity: more of both goes in.
    truth, judge = _correlated(rng, times, 1.08 * correlation)

    def shown(values: Floats, shift: float) -> Floats:
        return np.clip(0.75 + shift + 0.3 * values, 0, 1)

    grid = np.linspace(-8, 8, 160_001)
    density = np.exp(-(grid**2) / 2)
    mean = float((shown(grid, 0.0) * density).sum() / density.sum())
    return shown(truth, 0.0), shown(judge, 1.41 * TOO_GENEROUS), mean


def yes_or_no(
    rng: np.random.Generator, times: int, correlation: float
) -> tuple[Floats, Floats, float]:
    """Yes in 6 of 10, the judge in 7.2 of 10."""
    right, said = 0.6, 0.6 + TOO_GENEROUS
    both = right * said + correlation * np.sqrt(right * (1 - right) * said * (1 - said))
    truth = rng.random((times, ANSWERS)) < right
    chance = np.where(truth, both / right, (said - both) / (1 - right))
    judge = rng.random((times, ANSWERS)) < chance
    return truth.astype(np.float64), judge.astype(np.float64), right


def _correlated(rng: np.random.Generator, times: int, correlation: float) -> tuple[Floats, Floats]:
    truth, noise = rng.standard_normal((2, times, ANSWERS))
    return truth, correlation * truth + np.sqrt(1 - correlation**2) * noise


def people_alone(drawn: Drawn, reach: float) -> Intervals:
    """The classical interval of the labels."""
    labels = drawn.people.shape[1]
    middle = drawn.people.mean(axis=1)
    error = drawn.people.std(axis=1, ddof=1) / np.sqrt(labels)
    return Intervals(middle - reach * error, middle + reach * error)


def ppi_plus_plus(drawn: Drawn, reach: float) -> Intervals:
    """Angelopoulos, Duchi and Zrnic (2023), power-tuned, as `ppi-python` computes it."""
    labels, others = drawn.people.shape[1], drawn.others.shape[1]
    judged = np.concatenate([drawn.judge, drawn.others], axis=1)
    products = (drawn.people - _mean(drawn.people)) * (drawn.judge - _mean(drawn.judge))
    spread = (1 + labels / others) * judged.var(axis=1, ddof=1)
    power = np.clip(products.mean(axis=1) / np.where(spread > 0, spread, np.inf), 0, 1)[:, None]
    rest = drawn.people - power * drawn.judge
    middle = power[:, 0] * drawn.others.mean(axis=1) + rest.mean(axis=1)
    imputed = power[:, 0] ** 2 * drawn.others.var(axis=1) / others
    error = np.sqrt(imputed + rest.var(axis=1) / labels)
    return Intervals(middle - reach * error, middle + reach * error)


def ours(drawn: Drawn, people: Floats) -> Intervals:
    """The calibrated interval, simulation by simulation; none at all counts as one that misses."""
    clusters = [str(number) for number in range(ANSWERS)]
    labels = drawn.people.shape[1]
    probability = labels / ANSWERS
    bounds = (float(people.min()) - 1, float(people.max()) + 1)
    ends = []
    for said, judged, others in zip(*(part.tolist() for part in drawn), strict=True):
        items = [
            Item(judge, cluster, people=value, probability=probability)
            for judge, cluster, value in zip(judged, clusters, said, strict=False)
        ]
        items += map(Item, others, clusters[labels:])
        ends.append(calibrate(items, confidence=CONFIDENCE, bounds=bounds).ci or (np.nan, np.nan))
    low, high = np.array(ends).T
    return Intervals(low, high)


def _mean(values: Floats) -> Floats:
    means: Floats = values.mean(axis=1, keepdims=True)
    return means


if __name__ == "__main__":
    main()
