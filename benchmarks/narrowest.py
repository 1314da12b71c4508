"""How narrow an interval could be at best where nearly every question passes.

``python benchmarks/narrowest.py``: for the cells of `coverage.py` with independent questions and a
rate of 0.99, the least mean width that any interval can have which holds the truth in 95%
(and in 93%) of all sets *whatever the rate is*, as a ratio to the normal interval made with the
true variance.  Beside it stands what `coverage.py` measures of the interval of a report.

An interval's mean width at one rate is the integral, over all other rates, of the chance that it
holds them (Pratt 1961, *JASA* 56:549).  For each of those it must keep what happens in 95% of the
sets that such a rate makes; the cheapest choice of outcomes to keep is found by trying all of them
(only the likeliest are tried, the others cost nothing: the figure is a bound from below, and
worthless where many outcomes are likely).  For
differences the other rates are those at which only one system, or hardly the other, ever fails.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]

Z = 1.959964
RATE = 0.99
ALIKE = 0.5
"""How often both systems share a question's luck, as in `coverage.py`."""
TRIED = 9
STEPS = 2000
MOST_APART = 9
"""Pairs that differ beyond this many are left out: they cost nothing."""


def least_width(
    here: Floats, others: Callable[[float], list[Floats]], reach: float, coverage: float
) -> float:
    """The bound: what must be kept, integrated over a distance of ``reach``.

    :param here: chance of each outcome at the true rate.
    :param others: the same at rates that lie a distance away; the dearest of them counts.
    """
    likely = np.argsort(-here)[:TRIED]
    kept = np.array(list(itertools.product((0.0, 1.0), repeat=len(likely))))
    price = kept @ here[likely]
    total = 0.0
    for step in range(STEPS):
        dearest = 0.0
        for chances in others((step + 0.5) / STEPS * reach):
            enough = kept @ chances[likely] + 1 - chances[likely].sum() >= coverage
            dearest = max(dearest, float(price[enough].min()))
        total += dearest * reach / STEPS
    return total


def of_rate(n: int, rate: float, coverage: float) -> float:
    """For the share of ``n`` independent questions that pass."""
    outcomes = np.arange(n + 1)
    here = stats.binom.pmf(outcomes, n, rate)
    below = least_width(
        here, lambda by: [stats.binom.pmf(outcomes, n, rate - by)], rate - 0.5, coverage
    )
    above = least_width(
        here, lambda by: [stats.binom.pmf(outcomes, n, rate + by)], 1 - rate, coverage
    )
    return (below + above) / (2 * Z * math.sqrt(rate * (1 - rate) / n))


def of_difference(n: int, rate: float, coverage: float) -> float:
    """For two systems of the same rate."""
    outcomes = [(a, b) for a in range(MOST_APART) for b in range(MOST_APART) if a + b < MOST_APART]
    better, worse = np.array(outcomes).T

    def chances(gain: float, loss: float) -> Floats:
        rows = np.stack([better, worse, n - better - worse], axis=1)
        found: Floats = stats.multinomial.pmf(rows, n, [gain, loss, 1 - gain - loss])
        return found

    apart = 2 * rate * (1 - rate) * (1 - ALIKE)
    tails = (0.0, apart / 4, apart / 2)
    one_side = least_width(
        chances(apart / 2, apart / 2),
        lambda by: [chances(by + tail, tail) for tail in tails],
        0.3,
        coverage,
    )
    return one_side / (Z * math.sqrt(apart / n))


def main() -> None:
    """Print the bounds."""
    print(f"{'cell':24}{'95%':>8}{'93%':>8}")
    for n in (48, 160):
        for name, bound in (("", of_rate), (", Δ = 0", of_difference)):
            figures = "".join(f"{bound(n, RATE, share):8.2f}" for share in (0.95, 0.93))
            print(f"{f'{n} rate {RATE}{name}':24}{figures}", flush=True)


if __name__ == "__main__":
    main()
