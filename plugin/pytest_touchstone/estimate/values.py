"""What goes into an estimate and what comes out of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MIN_CLUSTERS = 5
"""With fewer clusters nothing can be said about the spread, and no interval is given."""
NO_INTERVAL = f"none: fewer than {MIN_CLUSTERS} clusters"
NOTHING_SCORED = "none: nothing scored"
LIMIT = 1e100
"""Largest magnitude of a value; beyond it sums and differences could overflow."""

Range = tuple[float | None, float | None]
"""Lowest and highest possible value; ``None`` where that end is open."""
OPEN: Range = (None, None)


@dataclass(frozen=True, slots=True)
class Cell:
    """What one mean is over.

    :param values: case to value (one a question), or to the difference of two systems.
    :param range: the measure's own range, also where the values are differences.
    :param paired: whether the values are differences.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    range: Range = OPEN
    paired: bool = False

    def bounds(self) -> Range:
        """Between which ends the values can lie: those of differences are symmetric."""
        low, high = self.range
        if not self.paired:
            return low, high
        return OPEN if low is None or high is None else (low - high, high - low)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean over gold questions and what is known about its uncertainty.

    :param value: mean of the questions' values; ``None`` where none is scored.
    :param ci: lower and upper end of the interval, within the measure's range; ``None`` where
        there is none, and ``ci_method`` says why.
    :param ci_method: which interval it is, and what to beware of.
    :param n: questions that the mean is over (for a difference: pairs).
    :param clusters: clusters that these questions belong to.
    """

    value: float | None
    ci: tuple[float, float] | None
    ci_method: str
    n: int
    clusters: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired difference: its estimate, and what a test of "no difference" says.

    :param p_value: two-sided, by sign-flip permutation of clusters; ``None`` with fewer than
        five clusters.
    :param detectable: the smallest true difference whose interval would leave out 0 in 80% of
        such sets; ``None`` where the spread is not known.
    """

    estimate: Estimate
    p_value: float | None
    detectable: float | None


def seed_from(sha256: str) -> int:
    """The bootstrap's seed: the first 64 bits of the dataset's SHA-256 (hexadecimal).

    :raises ValueError: where this is no hexadecimal digest.
    """
    return int(sha256[:16], 16)


def usable(value: float) -> bool:
    """Whether a value can enter a mean: finite, and no larger in magnitude than ``LIMIT``."""
    return math.isfinite(value) and abs(value) <= LIMIT


def mean_of_repeats(values: Sequence[float]) -> float:
    """The value of a question that was asked several times: the mean of its scored repeats."""
    return min(max(math.fsum(values) / len(values), min(values)), max(values))


def differences(system: Mapping[str, float], baseline: Mapping[str, float]) -> dict[str, float]:
    """System minus baseline, question by question, over the questions that both scored."""
    return {case: value - baseline[case] for case, value in system.items() if case in baseline}
