"""How far two readers agree: a judge and people, two annotators of a gold set.

Agreement by chance is what raw agreement hides: where nine of ten answers are good, two readers who
never look agree on most.  Cohen's kappa (1960; with weights 1968) and Krippendorff's alpha (2019,
*Content Analysis*, 4th ed., chapter 12) set it off; 1 is agreement without exception, 0 what chance
gives, below 0 is worse than chance.

Intervals are a delete-a-cluster jackknife on Fisher's scale (the inverse hyperbolic tangent) with
Student's t: in simulations with 16 to 100 pairs closer to their confidence than percentiles of a
bootstrap, which were too narrow, and nothing in it is random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pytest_touchstone import student

Level = Literal["nominal", "ordinal", "interval"]
"""Of values: names; ranks; numbers whose differences mean something."""
Weights = Literal["linear", "quadratic"]
"""How disagreement grows with the distance of two categories in their order."""

MIN_CLUSTERS = 5
"""With fewer clusters there is no interval."""

_SAME = 1e-9

Floats = NDArray[np.float64]
Counts = NDArray[np.intp]


def raw_agreement(first: Sequence[float], second: Sequence[float]) -> float:
    """Share of the pairs that are equal (to nine digits).

    :raises ValueError: without pairs, or where the two are not equally long.
    """
    one, two = _pairs(first, second)
    return float((np.abs(one - two) <= _SAME).mean())


def confusion(
    first: Sequence[float], second: Sequence[float], categories: Sequence[float]
) -> tuple[tuple[int, ...], ...]:
    """How often ``first`` gave the category of the row where ``second`` gave that of the column.

    :raises ValueError: for a value that is none of the categories.
    """
    one, two = _pairs(first, second)
    table = np.zeros((len(categories), len(categories)), dtype=np.intp)
    np.add.at(table, (_codes(one, categories), _codes(two, categories)), 1)
    return tuple(tuple(int(count) for count in row) for row in table)


def cohen_kappa(
    first: Sequence[float],
    second: Sequence[float],
    *,
    categories: Sequence[float] | None = None,
    weights: Weights | None = None,
) -> float | None:
    """Cohen's kappa: 1 - observed / expected disagreement, at most 1.

    :param categories: all there are, in order; those that occur where none are given.
    :param weights: by the distance of two categories in their order; ``None`` where any two
        differ alike.
    :return: ``None`` where both readers gave all one and the same category: chance explains all.
    :raises ValueError: without pairs, or for a value that is none of the categories.
    """
    one, two = _pairs(first, second)
    names = sorted({*first, *second}) if categories is None else categories
    left, right, size = _codes(one, names), _codes(two, names), len(names)
    counts = np.bincount(left * size + right, minlength=size * size).reshape(size, size)
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    cost = {None: (apart > 0).astype(np.float64), "linear": apart, "quadratic": apart**2}[weights]
    chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(one)
    return _set_off(float((counts * cost).sum()), float((chance * cost).sum()))


def krippendorff_alpha(units: Sequence[Sequence[float]], level: Level) -> float | None:
    """Krippendorff's alpha of any number of readers, not all of whom need have read everything.

    :param units: for each thing that was read, the values that it was given; those with fewer than
        two say nothing about agreement and are left out.
    :return: at most 1; ``None`` where nothing was read twice or all values are the same.
    """
    read = [np.asarray(unit, dtype=np.float64) for unit in units if len(unit) > 1]
    if not read:
        return None
    values = np.concatenate(read)
    sizes = np.array([len(unit) for unit in read])
    of = np.repeat(np.arange(len(read)), sizes)
    total = len(values)
    if level == "interval":
        centred = values - values.mean()
        sums = np.bincount(of, weights=centred)
        squares = np.bincount(of, weights=centred**2)
        within = 2 * (sizes * squares - sums**2) / (sizes - 1)
        observed = float(np.maximum(within, 0).sum()) / total
        expected = 2 * float(squares.sum()) / (total - 1)
        return _set_off(observed, expected)
    names, codes = np.unique(values, return_inverse=True)
    counts = np.zeros((len(read), len(names)))
    np.add.at(counts, (of, codes), 1)
    shared = counts / (sizes - 1)[:, None]
    coincidences = counts.T @ shared - np.diag(shared.sum(axis=0))
    margin = coincidences.sum(axis=0)
    cost = _ranks_apart(margin) if level == "ordinal" else 1 - np.eye(len(names))
    chance = (np.outer(margin, margin) - np.diag(margin)) / (total - 1)
    return _set_off(float((coincidences * cost).sum()), float((chance * cost).sum()))


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient with its interval.

    :param value: at most 1; ``None`` where chance explains everything.
    :param ci: ``None`` where it cannot be told: fewer than ``MIN_CLUSTERS`` clusters, no
        disagreement at all, a value that rests on one cluster, or one that no cluster moves (a
        reader who always says the same has kappa 0 whatever the other says).
    """

    value: float | None
    ci: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two readers agree.

    :param pairs: what both read.
    :param raw: share of equal pairs.
    :param difference: mean of the first reader's values minus the second's.
    :param kappa: unweighted for ``nominal``, quadratically weighted for ``ordinal``; ``None`` for
        ``interval``, whose values are no categories.
    :param alpha: at the level of the values.
    """

    pairs: int
    clusters: int
    level: Level
    raw: float
    difference: float
    kappa: Coefficient | None
    alpha: Coefficient


def agreement(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[str],
    *,
    level: Level,
    categories: Sequence[float] | None = None,
    confidence: float = 0.95,
) -> Agreement:
    """How far two readers agree on the same things.

    :param clusters: for each pair; pairs of one cluster are not independent.
    :param categories: as for :func:`cohen_kappa`.
    :raises ValueError: without pairs, or for a value that is none of the categories.
    """
    one, two = _pairs(first, second)
    names = {name: index for index, name in enumerate(sorted(set(clusters)))}
    of = np.array([names[name] for name in clusters], dtype=np.intp)
    weights: Weights | None = "quadratic" if level == "ordinal" else None

    def kappa(chosen: Counts) -> float | None:
        return cohen_kappa(
            one[chosen].tolist(), two[chosen].tolist(), categories=categories, weights=weights
        )

    def alpha(chosen: Counts) -> float | None:
        return krippendorff_alpha(np.stack([one[chosen], two[chosen]], axis=1).tolist(), level)

    def coefficient(statistic: Callable[[Counts], float | None]) -> Coefficient:
        value = statistic(np.arange(len(one)))
        return Coefficient(value, _interval(statistic, value, of, len(names), confidence))

    return Agreement(
        pairs=len(one),
        clusters=len(names),
        level=level,
        raw=raw_agreement(first, second),
        difference=math.fsum((one - two).tolist()) / len(one),
        kappa=None if level == "interval" else coefficient(kappa),
        alpha=coefficient(alpha),
    )


def _interval(
    statistic: Callable[[Counts], float | None],
    value: float | None,
    of: Counts,
    clusters: int,
    confidence: float,
) -> tuple[float, float] | None:
    if value is None or abs(value) > 1 - _SAME or clusters < MIN_CLUSTERS:
        return None
    without = []
    for cluster in range(clusters):
        left = statistic(np.flatnonzero(of != cluster))
        if left is None:
            return None
        without.append(left)
    spread = np.square(np.array(without) - np.mean(without)).sum()
    if spread <= _SAME**2:
        return None
    error = math.sqrt((clusters - 1) / clusters * float(spread)) / (1 - value**2)
    reach = student.quantile((1 + confidence) / 2, clusters - 1) * error
    middle = math.atanh(value)
    return math.tanh(middle - reach), math.tanh(middle + reach)


def _set_off(observed: float, expected: float) -> float | None:
    """Agreement beyond chance, from the disagreement seen and the one that chance would give."""
    return None if expected <= _SAME**2 else 1 - observed / expected


def _ranks_apart(margin: Floats) -> Floats:
    """Squared distances of ranks: the values between two, and half of each of the two."""
    upto = np.cumsum(margin) - margin / 2
    distances: Floats = np.square(np.subtract.outer(upto, upto))
    return distances


def _pairs(first: Sequence[float], second: Sequence[float]) -> tuple[Floats, Floats]:
    if len(first) != len(second) or not len(first):
        raise ValueError(f"readers are compared in pairs, not {len(first)} with {len(second)}")
    return np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)


def _codes(values: Floats, categories: Sequence[float]) -> Counts:
    """Each value's place among the categories."""
    distances = np.abs(np.subtract.outer(values, np.asarray(categories, dtype=np.float64)))
    codes: Counts = distances.argmin(axis=1)
    if (distances[np.arange(len(values)), codes] > _SAME).any():
        wrong = values[int(distances.min(axis=1).argmax())]
        raise ValueError(f"{wrong:g} is none of the categories {', '.join(map(str, categories))}")
    return codes
