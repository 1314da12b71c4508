"""What the offline judge takes of an embedder: one function from texts to unit vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Embed = Callable[[Sequence[str]], "Vectors"]
"""Texts to float32 vectors of length 1, shape (n, d), in the texts' order.

The same text gives the same vector without being embedded again.  A new text is slow (about
twenty sentences a second), so ask only where words do not decide.
"""


def likeness(claim: str, passage: str, embed: Embed) -> float:
    """How much a claim is about what a passage is about, from 0 to 1.

    The cosine of the two, with the highest cosine between the claim and texts that have nothing to
    do with it as zero: raw cosines of one model lie between 0.7 and 0.9, of another near 0.
    """
    mine, theirs = embed([claim])[0], embed([passage])[0]
    background = float((embed(_UNRELATED) @ mine).max())
    return min(1.0, max(0.0, (float(mine @ theirs) - background) / max(1e-6, 1.0 - background)))


_UNRELATED = (
    "The weather was fine and we had lunch in the garden.",
    "Click the button to continue to the next page.",
    "The report was adopted at the annual meeting.",
    "Vi åt lunch i trädgården och vädret var fint.",
    "Klicka på knappen för att gå vidare till nästa sida.",
    "Rapporten antogs vid årsmötet.",
)
