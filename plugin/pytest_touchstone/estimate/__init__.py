"""Means of measures, their intervals, and paired comparisons.

The unit is the gold question; what is resampled, left out or flipped is the cluster, since
questions that share a conversation or a source document resemble each other.
"""

from pytest_touchstone.estimate.choice import MAY_BE_NARROW
from pytest_touchstone.estimate.comparison import holm
from pytest_touchstone.estimate.power import Plan
from pytest_touchstone.estimate.resampling import Resampling
from pytest_touchstone.estimate.values import (
    LIMIT,
    MIN_CLUSTERS,
    NO_INTERVAL,
    NOTHING_SCORED,
    Cell,
    Comparison,
    Estimate,
    Range,
    differences,
    mean_of_repeats,
    seed_from,
    usable,
)

__all__ = [
    "LIMIT",
    "MAY_BE_NARROW",
    "MIN_CLUSTERS",
    "NOTHING_SCORED",
    "NO_INTERVAL",
    "Cell",
    "Comparison",
    "Estimate",
    "Plan",
    "Range",
    "Resampling",
    "differences",
    "holm",
    "mean_of_repeats",
    "seed_from",
    "usable",
]
