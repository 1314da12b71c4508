"""The smallest difference that a set of questions can detect.

A difference counts as detected where the paired interval leaves out 0.  The smallest that is
detected with probability ``POWER`` is (t_{1-α/2} + t_{power}) standard errors (Cohen 1988,
*Statistical Power Analysis*; for clusters, Murray 1998, *Design and Analysis of Group-Randomized
Trials*, chapter 9).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_touchstone.estimate.spread import quantile

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Plan:
    """A set of gold questions that is planned.

    :param questions: how many; ``clusters`` of about equal size, each at least one.
    :param icc: intra-class correlation of the differences within a cluster, in [0, 1].
    :param correlation: of the two systems' scores over questions, in [0, 1).
    :raises ValueError: where these contradict each other.
    """

    questions: int
    clusters: int
    icc: float
    correlation: float
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not 2 <= self.clusters <= self.questions:
            raise ValueError(
                f"{self.clusters} clusters of {self.questions} questions: there must be at least"
                " 2 clusters, and a question in each"
            )
        if not 0 <= self.icc <= 1:
            raise ValueError(f"icc {self.icc:g}: must be from 0 to 1")
        if not 0 <= self.correlation < 1:
            raise ValueError(f"correlation {self.correlation:g}: must be 0 or more, and below 1")

    @property
    def effective(self) -> float:
        """Independent questions that would say as much (Kish 1965, section 5.4)."""
        return self.questions / (1 + (self.questions / self.clusters - 1) * self.icc)

    def of_rate(self, rate: float) -> float:
        """The detectable difference of a yes/no measure whose mean is about ``rate``."""
        apart = 2 * rate * (1 - rate) * (1 - self.correlation)
        return of_shares(apart, self.effective, self.clusters - 1, self.confidence)

    def of_scores(self, deviation: float) -> float:
        """The detectable difference of a score with this standard deviation over questions."""
        error = deviation * math.sqrt(2 * (1 - self.correlation) / self.effective)
        return of_spread(error, self.clusters - 1, self.confidence)


def of_spread(error: float, degrees: float, confidence: float) -> float:
    """The detectable difference where its standard error is ``error``."""
    return _reach(degrees, confidence) * error


def of_interval(half: float, degrees: float, confidence: float) -> float:
    """The detectable difference where the interval reaches ``half`` to either side."""
    return half * _reach(degrees, confidence) / quantile((1 + confidence) / 2, degrees)


def of_shares(apart: float, effective: float, degrees: float, confidence: float) -> float:
    """The detectable difference of yes/no values, as a share of the range.

    A difference d of two shares takes at least d pairs that differ, and they add to its variance:
    δ² = k² (apart + δ - δ²) / n, solved for δ, where k = t_{1-α/2} + t_{power}.

    :param apart: share of pairs that would differ if there were no difference in the mean.
    :param effective: independent pairs that say as much.
    """
    ratio = _reach(degrees, confidence) ** 2 / effective
    return (ratio + math.sqrt(ratio**2 + 4 * (1 + ratio) * ratio * apart)) / (2 * (1 + ratio))


def _reach(degrees: float, confidence: float) -> float:
    return quantile((1 + confidence) / 2, degrees) + quantile(POWER, degrees)
