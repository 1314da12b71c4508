"""Tests of "no difference": sign-flip permutation of clusters, and Holm's adjustment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pytest_touchstone.estimate import draws

Floats = NDArray[np.float64]
Key = TypeVar("Key")

FLIPS = 4999
"""Random flips where there are too many clusters to try all."""
EXACT_UP_TO = 12
"""Clusters that differ at all, up to which every one of the 2^k flips is tried."""
_EQUAL = 1e-9
"""Sums of the same numbers in another order count as equal, relative to the largest possible."""


def sign_flip(totals: Floats, seed: int) -> list[float]:
    """Two-sided p of each column: had the two systems changed places in any cluster.

    Under no difference each cluster's total would be as likely with the other sign (Fisher 1935,
    *The Design of Experiments*, section 21).  All flips are tried where few clusters differ;
    otherwise p = (b + 1) / (m + 1) over ``FLIPS`` random ones (Phipson and Smyth 2010,
    *Statistical Applications in Genetics and Molecular Biology* 9:39).

    :param totals: each cluster's sum of differences (clusters x cells), 0 where absent.
    """
    differing = np.count_nonzero(totals, axis=0)
    observed = np.abs(totals.sum(axis=0)) - _EQUAL * np.abs(totals).sum(axis=0)
    values = [1.0] * totals.shape[1]
    many = np.flatnonzero(differing > EXACT_UP_TO)
    for column in np.flatnonzero(differing <= EXACT_UP_TO):
        values[column] = _exact(totals[totals[:, column] != 0, column], observed[column])
    if len(many):
        beyond = np.zeros(len(many), dtype=np.intp)
        for flips in draws.signs(seed, FLIPS, len(totals)):
            beyond += (np.abs(flips @ totals[:, many]) >= observed[many]).sum(axis=0)
        for column, count in zip(many, beyond, strict=True):
            values[column] = float((count + 1) / (FLIPS + 1))
    return values


def _exact(totals: Floats, observed: float) -> float:
    sums = np.zeros(1)
    for total in totals:
        sums = np.concatenate([sums + total, sums - total])
    return float(np.mean(np.abs(sums) >= observed))


def holm(p_values: Mapping[Key, float]) -> dict[Key, float]:
    """Adjusted p of each of several tests (Holm 1979, *Scandinavian Journal of Statistics* 6:65).

    The chance that any true "no difference" gets one at or below 0.05 is at most 0.05.
    """
    ordered: Sequence[Key] = sorted(p_values, key=lambda key: p_values[key])
    adjusted: dict[Key, float] = {}
    least = 0.0
    for place, key in enumerate(ordered):
        least = max(least, min(1.0, (len(ordered) - place) * p_values[key]))
        adjusted[key] = least
    return adjusted
