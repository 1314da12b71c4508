"""Intervals from resampled means: cells are columns, and all share the same weights.

Everything is in deviations from the cell's mean, so that the mean itself is 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def studentized(
    weights: Floats, residuals: Floats, sizes: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Both ends of the studentized bootstrap interval of each column's mean.

    The root is the error of a resample's mean over its own linearised standard error (Davison
    and Hinkley 1997, *Bootstrap Methods and their Application*, sections 2.4 and 5.2.1).
    Factors of the standard error that do not change between resamples cancel, that of strata
    among them.

    :param weights: how often each cluster is drawn (resamples x clusters).
    :param residuals: each cluster's sum of deviations (clusters x cells), 0 where absent.
    :param sizes: each cluster's questions (clusters x cells).
    """
    drawn = weights @ sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        error = (weights @ residuals) / drawn
        squares = (
            weights @ residuals**2
            - 2 * error * (weights @ (residuals * sizes))
            + error**2 * (weights @ sizes**2)
        )
        root = error * drawn / np.sqrt(squares)
    # A resample without spread, or in which no question falls, has no root.
    root = np.where(squares > 1e-12 * (residuals**2).sum(axis=0), root, 0.0)
    standard = np.sqrt((residuals**2).sum(axis=0)) / sizes.sum(axis=0)
    tail = (1 - confidence) / 2
    low, high = np.quantile(root, [tail, 1 - tail], axis=0)
    return -high * standard, -low * standard


def pseudo(
    weights: Floats,
    halves: tuple[Floats, Floats],
    residuals: Floats,
    sizes: Floats,
    *,
    stretch: Floats,
    unseen: Floats,
    ends: tuple[Floats, Floats],
    confidence: float,
) -> tuple[Floats, Floats]:
    """Both ends of the Bayesian bootstrap interval with half a question at each end of the range.

    Rubin's bootstrap (1981, *Annals of Statistics* 9:130) of the clusters, to which half an
    unseen question at the worst and half a one at the best value are added.  For yes and no it is
    the interval of Jeffreys, which that half is known from (Brown, Cai and DasGupta 2001,
    *Statistical Science* 16:101).

    :param weights: exponential weights of the clusters (resamples x clusters).
    :param halves: gamma variates of shape 1/2 for the two unseen halves.
    :param stretch: factor of each cell's deviations, which brings their variance to the one
        that clustering and few clusters ask for.
    :param unseen: how many questions an unseen one counts for.
    :param ends: lowest and highest possible value, as deviations from the mean.
    """
    sums = stretch * (weights @ residuals)
    drawn = weights @ sizes
    tail = (1 - confidence) / 2
    means = []
    # Both ways round, so that the interval of reversed values is exactly the reversed interval.
    for worst, best in (halves, halves[::-1]):
        at_worst, at_best = (np.outer(column, unseen) for column in (worst, best))
        means.append((sums + at_worst * ends[0] + at_best * ends[1]) / (drawn + at_worst + at_best))
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail], axis=0)
    return low, high


def pseudo_stretch(residuals: Floats, n: int, variance: float, widening: float) -> float:
    """The ``stretch`` of a cell: from the variance of Rubin's bootstrap to the one wanted.

    A Bayesian bootstrap of ``n`` independent questions has (n - 1) / (n + 1) times the unbiased
    variance, which is kept: the unseen halves make up for it.
    """
    clusters = len(residuals)
    own = float((residuals**2).sum()) / n**2 * clusters / (clusters + 1)
    return float(np.sqrt(variance * (n - 1) / (n + 1) / own)) * widening
