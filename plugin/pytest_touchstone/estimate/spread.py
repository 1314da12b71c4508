"""How far the mean of one cell may be off: cluster totals, design effect, degrees of freedom."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pytest_touchstone import student
from pytest_touchstone.estimate.values import MIN_CLUSTERS

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

PRIOR_ICC = 0.3
"""Intra-class correlation that clusters are taken to have as far as the data do not tell."""
PRIOR_ICC_OF_PAIRS = 0.2
"""The same for differences: what makes a cluster hard for both systems is gone from them."""
PRIOR_WEIGHT = 4.0
"""How many questions off the most common value that assumption weighs as much as."""
PRIOR_WEIGHT_OF_PAIRS = 60.0
"""The same for differences, over the degrees of freedom: 12 where there are six clusters."""
ONE_SIDED, WEIGHT_OF_ONE_SIDED = 2.0, 0.9
TWO_SIDED, WEIGHT_OF_TWO_SIDED = 4.0, 0.25
"""Up to so many effective pairs that differ, all in one direction or not, an unseen pair weighs
less: wider intervals would not be held more often."""


@dataclass(frozen=True)
class Spread:
    """The values of one cell, in units of their largest deviation from the mean.

    The mean of clusters of unequal size is a ratio of totals, so its error is that of the
    residuals ``r = Σ(x - mean)`` of the clusters (Cochran 1977, *Sampling Techniques*, section
    2.11).

    :param values: one a question.
    :param clusters: to which cluster each belongs (numbers of the run's clusters).
    :param strata: stratum of each of the run's clusters; all equal where there is none.
    :param paired: whether the values are differences.
    """

    values: Floats
    clusters: Places
    strata: Places
    paired: bool = False

    @cached_property
    def n(self) -> int:
        return len(self.values)

    @cached_property
    def mean(self) -> float:
        # Rounding can carry a mean of equal values past them by one unit in the last place.
        least, most = float(self.values.min()), float(self.values.max())
        return min(max(math.fsum(self.values.tolist()) / self.n, least), most)

    @cached_property
    def scale(self) -> float:
        """Largest deviation from the mean; 0 where all values are equal."""
        return float(np.abs(self.values - self.mean).max())

    @cached_property
    def _deviations(self) -> Floats:
        return (self.values - self.mean) / self.scale

    @cached_property
    def present(self) -> Places:
        """The clusters that have a value here, in order."""
        return np.flatnonzero(np.bincount(self.clusters, minlength=len(self.strata)))

    @cached_property
    def _place(self) -> Places:
        place = np.zeros(len(self.strata), dtype=np.intp)
        place[self.present] = np.arange(len(self.present))
        return place[self.clusters]

    def _summed(self, values: Floats) -> Floats:
        return np.bincount(self._place, weights=values).astype(np.float64)

    @cached_property
    def sizes(self) -> Floats:
        """Questions of each cluster present."""
        return np.bincount(self._place).astype(np.float64)

    @cached_property
    def totals(self) -> Floats:
        """Sum of each cluster's values."""
        return self._summed(self.values)

    @cached_property
    def residuals(self) -> Floats:
        """Sum of each cluster's deviations, in units of ``scale``."""
        return self._summed(self._deviations)

    @cached_property
    def stratum(self) -> Places:
        """Stratum of each cluster present, from 0; one stratum where some has too few."""
        members = np.bincount(self.strata[self.present])
        if np.count_nonzero(members) == 1 or members[members > 0].min() < MIN_CLUSTERS:
            return np.zeros(len(self.present), dtype=np.intp)
        number = np.cumsum(members > 0) - 1
        return number[self.strata[self.present]]

    @cached_property
    def effective_clusters(self) -> float:
        """Clusters of equal size that would say as much: n² / Σ size² (Kish 1965, section 5.6)."""
        return self.n**2 / float((self.sizes**2).sum())

    @cached_property
    def degrees(self) -> float:
        """Degrees of freedom of the variance: effective clusters less strata."""
        return max(1.0, self.effective_clusters - (1 + int(self.stratum.max())))

    @cached_property
    def apart(self) -> int:
        """Questions off the most common value."""
        ordered = np.sort(self.values)
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
        return self.n - int(np.diff(starts).max())

    @cached_property
    def independent(self) -> float:
        """Variance of the mean, were every question its own cluster, in units of ``scale``²."""
        return float((self._deviations**2).sum()) / (self.n * max(self.n - 1, 1))

    @cached_property
    def jackknife(self) -> float:
        """Variance of the mean from leaving out each cluster, in units of ``scale``².

        With strata the others of its stratum stand in for it (Wolter 2007, *Introduction to
        Variance Estimation*, section 4.5).  Leaving out rather than linearising makes up for
        what few and unequal clusters hide.
        """
        members = np.bincount(self.stratum).astype(np.float64)
        grown = (members / (members - 1))[self.stratum]
        of_stratum = np.bincount(self.stratum, weights=self.residuals)[self.stratum]
        size_of_stratum = np.bincount(self.stratum, weights=self.sizes)[self.stratum]
        residual = grown * (of_stratum - self.residuals) - of_stratum
        size = grown * (size_of_stratum - self.sizes) + self.n - size_of_stratum
        return float(((residual / size) ** 2 / grown).sum())

    @cached_property
    def least(self) -> float:
        """Variance under which no clustering brings that of the mean, in units of ``scale``²."""
        of_stratum = self.stratum[self._place]
        inside = np.bincount(of_stratum, weights=self._deviations**2).sum()
        means = np.bincount(of_stratum, weights=self._deviations)
        between = (means**2 / np.bincount(of_stratum)).sum()
        return float(inside - between) / (self.n * max(self.n - 1, 1))

    @cached_property
    def variance(self) -> float:
        """Variance of the mean in units of ``scale``²: the jackknife's, within reason."""
        return max(self.jackknife, self.least)

    @cached_property
    def prior_effect(self) -> float:
        """Design effect of clusters of these sizes as alike as assumed (Kish 1965, section 5.4)."""
        alike = PRIOR_ICC_OF_PAIRS if self.paired else PRIOR_ICC
        return 1 + (self.n / self.effective_clusters - 1) * alike

    @cached_property
    def _prior_share(self) -> float:
        weight = PRIOR_WEIGHT_OF_PAIRS / self.degrees if self.paired else PRIOR_WEIGHT
        return weight / (weight + self.apart)

    @cached_property
    def design_effect(self) -> float:
        """By how much clustering multiplies the variance of the mean.

        What the data say is drawn towards ``prior_effect``: three failures that happen to lie in
        one cluster, or in three, say next to nothing about how alike clusters are.
        """
        if not self.scale:
            return self.prior_effect
        most = max(self.n / self.effective_clusters, 1.0)
        own = min(self.variance / self.independent, most)
        return own + self._prior_share * (self.prior_effect - own)

    @cached_property
    def unseen(self) -> float:
        """How many questions one that was not seen counts for: the design effect, or less.

        Of few pairs that differ, those in both directions already say what an unseen one would.
        """
        if not self.paired:
            return self.design_effect
        apart = self.apart / self.prior_effect
        if self.values.min() < 0 < self.values.max():
            weight = WEIGHT_OF_TWO_SIDED if apart <= TWO_SIDED else 1.0
        else:
            weight = WEIGHT_OF_ONE_SIDED if apart <= ONE_SIDED else 1.0
        return weight * self.design_effect

    def widening(self, confidence: float) -> float:
        """How much wider an interval is because its variance comes from so few clusters.

        The ratio of two quantiles of t (Korn and Graubard 1998, *Survey Methodology* 24:193); what
        the prior adds counts as knowledge.
        """
        if len(self.present) == self.n:
            return 1.0
        share = (1 + confidence) / 2
        degrees = self.degrees / (1 - self._prior_share)
        return max(1.0, quantile(share, degrees) / quantile(share, self.n - 1))


def quantile(share: float, degrees: float) -> float:
    """Quantile of t; degrees are taken to three digits, so that few are ever computed."""
    return student.quantile(share, float(f"{degrees:.3g}"))
