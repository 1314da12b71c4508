"""Random numbers that are the same on every platform and with every version of numpy.

Only the bits of PCG64 are taken from numpy, whose stream it keeps stable; they are turned into
numbers here.  Each kind of number has its own part of the stream.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_AT_ONCE = 1 << 20
_COUNTS, _EXPONENTIALS, _HALVES, _SIGNS = range(4)


def counts(seed: int, resamples: int, strata: Places) -> Floats:
    """How often each cluster is drawn in each resample (resamples x clusters).

    :param strata: stratum of each cluster; from each, as many are drawn as it has.
    """
    weights = np.zeros((resamples, len(strata)))
    bits = _bits(seed, _COUNTS)
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        # Even, so that no block leaves half a number of the stream behind.
        step = 2 * max(1, _AT_ONCE // (2 * len(members)))
        for start in range(0, resamples, step):
            rows = min(step, resamples - start)
            drawn = (_words(bits, rows * len(members)) * (len(members) * 2.0**-32)).astype(np.intp)
            drawn += np.repeat(np.arange(rows) * len(members), len(members))
            times = np.bincount(drawn, minlength=rows * len(members))
            weights[start : start + rows, members] = times.reshape(rows, len(members))
    return weights


def exponentials(seed: int, resamples: int, clusters: int) -> Floats:
    """A weight of mean 1 for each cluster in each resample: the Bayesian bootstrap's."""
    return _exponentials(_bits(seed, _EXPONENTIALS), resamples * clusters).reshape(
        resamples, clusters
    )


def halves(seed: int, resamples: int) -> tuple[Floats, Floats]:
    """Two columns of gamma variates of shape 1/2, each the other in reverse order.

    A squared normal variate is a gamma one: E cos²(2πU), as in the method of Box and Muller.
    """
    bits = _bits(seed, _HALVES)
    columns = [
        _exponentials(bits, resamples) * np.cos(2 * np.pi * _uniforms(bits, resamples)) ** 2
        for _ in range(2)
    ]
    return columns[0], columns[1]


def signs(seed: int, times: int, clusters: int) -> Iterator[Floats]:
    """Blocks of random signs, ±1 (rows x clusters; the rows of all blocks are ``times``)."""
    bits = _bits(seed, _SIGNS)
    words = -(-clusters // 64)
    step = max(1, _AT_ONCE // clusters)
    for start in range(0, times, step):
        rows = min(step, times - start)
        raw = bits.random_raw(rows * words).astype("<u8").view(np.uint8)
        flipped = np.unpackbits(raw.reshape(rows, words * 8), axis=1, count=clusters)
        yield 1.0 - 2.0 * flipped.astype(np.float64)


def _bits(seed: int, part: int) -> np.random.PCG64:
    return np.random.PCG64(seed).jumped(part)


def _words(bits: np.random.PCG64, size: int) -> NDArray[np.uint32]:
    """Random words of 32 bits, two from each number of the stream."""
    return bits.random_raw(-(-size // 2)).astype("<u8").view("<u4")[:size]


def _uniforms(bits: np.random.PCG64, size: int) -> Floats:
    """Within (0, 1), neither end included."""
    numbers = np.empty(size)
    step = 2 * (_AT_ONCE // 2)
    for start in range(0, size, step):
        part = numbers[start : start + step]
        part[:] = (_words(bits, len(part)) + 0.5) * 2.0**-32
    return numbers


def _exponentials(bits: np.random.PCG64, size: int) -> Floats:
    numbers = _uniforms(bits, size)
    np.log(numbers, out=numbers)
    np.negative(numbers, out=numbers)
    return numbers
