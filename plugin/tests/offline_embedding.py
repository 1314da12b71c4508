"""An embedding function for tests: words hashed into a vector, and a record of what was asked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_touchstone.tokens import tokens


class HashedWords:
    """Texts with common words are alike."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        rows = np.full((len(texts), 64), 0.01, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in tokens(text):
                row[hashlib.sha256(word.encode("utf-8", "replace")).digest()[0] % 64] += 1
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit
