"""How many chunks of a collection hold a line: what stands in every document alike is no finding.

Boilerplate seldom repeats to the letter: names, years and page numbers change.  A line therefore
counts as held where its sequences of words are, figures made alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pytest_touchstone.tokens import tokens

WIDTH = 4
"""Words in a sequence."""


class Recurrence:
    """Share of the chunks that hold a line, by its sequences of four words.

    :param texts: the chunks of a collection.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        held: list[NDArray[np.uint64]] = [
            np.unique(np.fromiter(_sequences(text), np.uint64)) for text in texts
        ]
        self._chunks = len(held)
        self._keys, self._counts = np.unique(
            np.concatenate(held) if held else np.zeros(0, np.uint64), return_counts=True
        )

    def __call__(self, line: str) -> float:
        """The share, from 0 to 1, of other chunks that hold three quarters of the line's sequences
        of words; 0 for a line without words.  The line's own chunk is taken off."""
        keys = np.fromiter(_sequences(line), np.uint64)
        if not keys.size or self._chunks < 2 or not self._keys.size:
            return 0.0
        places = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
        counts = np.where(self._keys[places] == keys, self._counts[places], 1)
        counts.sort()
        return float(counts[counts.size // 4] - 1) / (self._chunks - 1)


def _sequences(text: str) -> Iterator[int]:
    words = ["0" if any(map(str.isdigit, word)) else word for word in tokens(text)]
    width = min(WIDTH, len(words))
    windows = zip(*(islice(words, start, None) for start in range(width)), strict=False)
    for window in windows:
        digest = hashlib.blake2b("\n".join(window).encode("utf-8", "surrogatepass"), digest_size=8)
        yield int.from_bytes(digest.digest(), "big")
