"""Which interval a cell gets.  The figures behind the rule are those of `benchmarks/coverage.py`.

One that is right everywhere is not known: the bootstrap collapses where nearly all questions come
out alike, t misses the skew of scores near 1, and exact methods know yes and no alone.
"""

from __future__ import annotations

from enum import Enum, auto

from pytest_touchstone.estimate.spread import Spread
from pytest_touchstone.estimate.values import MIN_CLUSTERS, Range

FEW_CLUSTERS = 10
"""Below so many effective clusters, resampling them says little of their distribution."""
FEW_APART = 8
"""Below so many effective questions off the most common value, a tail may be unseen."""
FEW_FOR_A_TAIL = 30
"""Below so many effective clusters, a long tail may be unseen, and the interval warns."""
MAY_BE_NARROW = "may be too narrow"
"""Stands in the method of an interval that is known to cover less often than it says."""


class Method(Enum):
    """The intervals, in the order in which they are considered."""

    NONE = auto()
    """Fewer than ``MIN_CLUSTERS`` clusters."""
    CONSTANT = auto()
    """All values are equal and the range is not known: their own value."""
    UNSEEN = auto()
    """All values are equal: what share may be otherwise and yet unseen."""
    MID_P = auto()
    """Every value is one of the two ends of the range."""
    PSEUDO = auto()
    """Differences of such values, or nearly all values equal."""
    T = auto()
    """Differences within known bounds, or few clusters."""
    STUDENTIZED = auto()
    """Scores within known bounds."""
    HALFWAY = auto()
    """An open range: studentized, its short side drawn half the way to t."""
    OUTER = auto()
    """Differences in an open range: the outer ends of t and studentized."""


def choose(spread: Spread, bounds: Range, *, paired: bool) -> Method:
    """The interval for one cell.

    :param bounds: between which ends the values can lie.
    :param paired: whether the values are differences.
    """
    if len(spread.present) < MIN_CLUSTERS:
        return Method.NONE
    bounded = None not in bounds
    if not spread.scale:
        return Method.UNSEEN if bounded else Method.CONSTANT
    # Clusters may all have the same mean though their questions differ.
    uneven = spread.jackknife > 1e-12 * spread.independent
    if bounded and uneven:
        yes_or_no = all_or_nothing(spread, bounds, paired=paired)
        if yes_or_no and not paired:
            return Method.MID_P
        if yes_or_no or spread.apart / spread.prior_effect < FEW_APART:
            return Method.PSEUDO
    if spread.effective_clusters < FEW_CLUSTERS or not uneven or (bounded and paired):
        return Method.T
    if bounded:
        return Method.STUDENTIZED
    return Method.OUTER if paired else Method.HALFWAY


def all_or_nothing(spread: Spread, bounds: Range, *, paired: bool) -> bool:
    """Whether every value is an end of the range; a difference may be 0, too."""
    low, high = bounds
    if low is None or high is None:
        return False
    at_end = (spread.values == low) | (spread.values == high)
    return bool((at_end | (spread.values == 0) if paired else at_end).all())


def described(method: Method, spread: Spread, bounds: Range, resamples: int) -> str:
    """The name of an interval for the report, with what to beware of."""
    name = {
        Method.NONE: f"none: fewer than {MIN_CLUSTERS} clusters",
        Method.CONSTANT: "all values are equal",
        Method.UNSEEN: "unseen share, all values being equal",
        Method.MID_P: "mid-P Clopper-Pearson",
        Method.PSEUDO: f"Bayesian bootstrap with unseen question, {resamples} resamples",
        Method.T: f"t with {spread.degrees:.3g} degrees of freedom",
        Method.STUDENTIZED: f"studentized bootstrap, {resamples} resamples",
        Method.HALFWAY: f"studentized bootstrap, short side halfway to t, {resamples} resamples",
        Method.OUTER: f"outer of t and studentized bootstrap, {resamples} resamples",
    }[method]
    clustered = len(spread.present) < spread.n
    if clustered and method in (Method.UNSEEN, Method.MID_P, Method.PSEUDO):
        name += f", design effect {spread.design_effect:.2g}"
    reason = "" if method in (Method.NONE, Method.CONSTANT) else _doubt(method, spread, bounds)
    return f"{name}; {MAY_BE_NARROW}: {reason}" if reason else name


def _doubt(method: Method, spread: Spread, bounds: Range) -> str:
    """Why an interval is known to cover less often than it says, or nothing."""
    clustered = len(spread.present) < spread.n
    if spread.effective_clusters < FEW_CLUSTERS and clustered:
        return "few clusters"
    if spread.effective_clusters < FEW_FOR_A_TAIL and None in bounds:
        return "few questions for a long tail"
    if spread.effective_clusters < FEW_CLUSTERS and method == Method.T:
        return "few questions"
    return ""
