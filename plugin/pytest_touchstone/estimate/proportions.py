"""Intervals for shares: mid-P Clopper-Pearson, for whole and for effective numbers of questions.

The interval is that of Clopper and Pearson (1934, *Biometrika* 26:404) with half the probability
of the observed number (Lancaster 1961; Berry and Armitage 1995, *The Statistician* 44:417).
Its ends are the tails of one distribution of the share,

    F(p) = ½ I_p(x, n - x + 1) + ½ I_p(x + 1, n - x),

I being the regularized incomplete beta function, so that x and n need not be whole: with an
effective n it is the interval of Korn and Graubard (1998, *Survey Methodology* 24:193).
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 100
_TERMS = 12
_SERIES_FROM = 50.0
_LEAST = 1e-15


def unseen_share(n: float, confidence: float) -> float:
    """The largest share of questions that may be otherwise though all ``n`` were alike.

    The mid-P end for ``n`` of ``n``: half the chance to see none of that share is the tail.  With
    ``n`` = 30 and 95%: 0.095; it is about 3 / n.
    """
    return -math.expm1(math.log(1 - confidence) / n)


def mid_p(x: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Both ends of the mid-P intervals for ``x`` of ``n``.

    :param x: successes, strictly between 0 and ``n``; need not be whole.
    """
    ends = _lower(np.concatenate([x, n - x]), np.tile(n, 2), (1 - confidence) / 2)
    low, failing = ends.reshape(2, -1)
    return low, 1 - failing


def _lower(x: Floats, n: Floats, tail: float) -> Floats:
    """Where F reaches ``tail``.

    By Newton's method for log F and log p: the one is a concave function of the other, so that
    every step but the first goes up, and none goes too far.
    """
    rest = np.array([_stirling(v) for v in np.concatenate([n, x, n - x]).tolist()]).reshape(3, -1)
    front = np.sqrt(n / (2 * math.pi * x * (n - x))) * np.exp(rest[0] - rest[1] - rest[2])
    # Wilson's interval (1927), from which it is never far.
    z = NormalDist().inv_cdf(tail)
    p = (x + z**2 / 2 + z * np.sqrt(x * (n - x) / n + z**2 / 4)) / (n + z**2)
    for _ in range(_STEPS):
        away = x * np.log(x / (n * p)) + (n - x) * np.log((n - x) / (n * (1 - p)))
        chance = front * np.exp(-away)
        below = _upper_beta(x, n, p, chance) + chance / 2
        slope = chance / 2 * (x + (n - x) * p / (1 - p)) / below
        following = np.clip(p * np.exp(np.log(tail / below) / slope), _LEAST, 1 - _LEAST)
        done = np.abs(following - p) <= 1e-13 * p
        p = following
        if done.all():
            break
    return p


def _stirling(v: float) -> float:
    """log Γ(v + 1) less Stirling's first terms (DLMF 5.11.1), which would lose it its digits."""
    if v > _SERIES_FROM:
        return (1 - (1 - 2 / (7 * v**2)) / (30 * v**2)) / (12 * v)
    return math.lgamma(v + 1) - (v + 0.5) * math.log(v) + v - 0.5 * math.log(2 * math.pi)


def _upper_beta(x: Floats, n: Floats, p: Floats, chance: Floats) -> Floats:
    """I_p(x + 1, n - x), given ``chance`` = Γ(n+1) / (Γ(x+1) Γ(n-x+1)) p^x (1-p)^(n-x).

    The continued fraction converges fast on one side of the mean (DLMF 8.17.22); the other side
    is its complement, 1 - I_{1-p}(n - x, x + 1).
    """
    a, b = x + 1, n - x
    swap = p > (a + 1) / (a + b + 2)
    one, other = np.where(swap, b, a), np.where(swap, a, b)
    at = np.where(swap, 1 - p, p)
    # chance * p * (n - x) is p^a (1 - p)^b / B(a, b).
    value = chance * p * (n - x) * _fraction(one, other, at) / one
    return np.where(swap, 1 - value, value)


def _fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """The continued fraction of the incomplete beta function, from its last term backwards.

    Terms are needed in proportion to the square root of the larger parameter.
    """
    value = np.ones_like(x)
    for m in range(_TERMS + int(2 * math.sqrt(max(a.max(), b.max()))), 0, -1):
        twice = a + 2 * m
        value = 1 - (a + m) * (a + b + m) * x / (twice * (twice + 1) * value)
        value = 1 + m * (b - m) * x / ((twice - 1) * twice * value)
    return 1 / (1 - (a + b) * x / ((a + 1) * value))
