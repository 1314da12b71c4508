"""A scorer without a server: a proxy from an embedder's cosine and the words in common.

Not a cross-encoder, and never to be read with its bands in mind: it ranks what covers a paragraph
above what does not, in any language that the embedder knows, and sees no contradiction.  How well
it agrees with people and with labelled pairs is measured by
``python -m evaluation.demo.coverage.agreement``, and told in ``docs/citations.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pytest_touchstone.scorer.protocol import Covered
from pytest_touchstone.scorer.windows import clean, windows
from pytest_touchstone.tokens import tokens
from pytest_touchstone.unusable import Unusable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_touchstone.corpus.vectors import Vectors

Embed = Callable[[Sequence[str]], "Vectors"]
"""Texts to float32 vectors of length 1, one row a text."""

PROXY: Final = "proxy"
"""Its scale: no probability, and no cross-encoder's score."""

SLOPE, WORDS, INTERCEPT = 47.54, 6.03, -7.73
"""Weights of the corrected cosine and of the words in common, fitted to labelled pairs by
``evaluation.demo.coverage.agreement``."""

BACKGROUND: Final = (
    "The committee met on Tuesday and approved the minutes of its last session.",
    "Payments were made through the bank within the financial year.",
    "The children walked to school along the river every morning.",
    "The engine is cooled by air and needs little maintenance.",
    "Elections are held every four years on the second Sunday of September.",
    "He studied medicine and later worked as a doctor in the countryside.",
    "The recipe calls for two eggs and a spoonful of sugar.",
    "The law came into force after it was published in the gazette.",
    "Nämnden sammanträdde på tisdagen och godkände protokollet från förra mötet.",
    "Utbetalningarna gjordes via banken inom räkenskapsåret.",
    "Barnen gick till skolan längs ån varje morgon.",
    "Motorn är luftkyld och kräver lite underhåll.",
    "Val hålls vart fjärde år den andra söndagen i september.",
    "Hon läste medicin och arbetade sedan som läkare på landet.",
    "Receptet kräver två ägg och en sked socker.",
    "Lagen trädde i kraft sedan den hade kungjorts.",
)
"""Sentences about nothing in particular: what a text has in common with them, it has in common
with any text."""

AGREEMENT: Final = (
    "faithful against unfaithful answers (mtRAG's human evaluation), AUC 0.91 over 129 answers; it"
    " sees no contradiction (docs/citations.md)"
)
"""How well it agrees with people: the output of ``evaluation.demo.coverage.agreement``."""

_WINDOW, _OVERLAP = 400, 100  # estimated tokens; the embedder reads 512
_SHORTEST_WORD = 4


class EmbeddedScorer:
    """A :class:`~pytest_touchstone.scorer.protocol.Scorer` that embeds paragraph and sources.

    :param embed: best with a cache, since sources are passages that were embedded already.
    :param model: identity of the embedder.
    :param in_thread: runs a blocking function off the event loop, with its arguments.
    """

    def __init__(self, embed: Embed, model: str, in_thread: Callable[..., Awaitable[Any]]) -> None:
        self._embed = embed
        self._model = model
        self._in_thread = in_thread
        self._background: Vectors | None = None
        self._lock = threading.Lock()

    @property
    def identity(self) -> Mapping[str, Any]:
        """What the scores depend on."""
        return {
            "model": f"{self._model} cosine and words",
            "scale": PROXY,
            "agreement": AGREEMENT,
            "weights": {"cosine": SLOPE, "words": WORDS, "intercept": INTERCEPT},
        }

    async def cover(self, paragraph: str, sources: Sequence[str]) -> tuple[Covered, ...]:
        """See :class:`~pytest_touchstone.scorer.protocol.Scorer`."""
        try:
            covered: tuple[Covered, ...] = await self._in_thread(self._cover, paragraph, sources)
        except Unusable:
            return tuple(Covered(None, 0, "scorer_unreachable") for _ in sources)
        return covered

    def _cover(self, paragraph: str, sources: Sequence[str]) -> tuple[Covered, ...]:
        said = windows(clean(paragraph), _WINDOW, _OVERLAP)
        parts = [windows(clean(source), _WINDOW, _OVERLAP) for source in sources]
        if not said:
            return tuple(Covered(None, 0, "no_text") for _ in sources)
        flat = [part for several in parts for part in several]
        grid = self._grid(said, flat)
        found, start = [], 0
        for several in parts:
            scores = grid[:, start : start + len(several)]
            start += len(several)
            if several:
                found.append(Covered(float(scores.max(axis=1).mean()), len(several)))
            else:
                found.append(Covered(None, 0, "no_text"))
        return tuple(found)

    def _grid(self, paragraphs: list[str], sources: list[str]) -> NDArray[np.float64]:
        """Coverage of each part of the paragraph by each part of the sources."""
        import numpy as np

        cosines, words = self.features(paragraphs, sources)
        logits = SLOPE * cosines + WORDS * words + INTERCEPT
        # As float64 and through tanh: no overflow, whatever the weights are.
        grid: NDArray[np.float64] = (1 + np.tanh(logits.astype(np.float64) / 2)) / 2
        return grid

    def features(self, paragraphs: list[str], sources: list[str]) -> tuple[Vectors, Vectors]:
        """What coverage is made from, both of shape (paragraphs, sources).

        The cosine less the mean cosine that the two have with the background, and the share of the
        paragraph's words that stand in the source.
        """
        import numpy as np

        background = self._of_background()
        left, right = (self._embed(texts) for texts in (paragraphs, sources))
        if not sources:
            empty = np.zeros((len(paragraphs), 0), np.float32)
            return empty, empty
        usual = (left @ background.T).mean(axis=1)[:, None] + (right @ background.T).mean(axis=1)
        there = [frozenset(tokens(source)) for source in sources]
        shares = [[_share(words, source) for source in there] for words in map(_words, paragraphs)]
        return left @ right.T - usual / 2, np.array(shares, np.float32)

    def _of_background(self) -> Vectors:
        with self._lock:
            if self._background is None:
                self._background = self._embed(BACKGROUND)
            return self._background


def _words(text: str) -> frozenset[str]:
    """The words of a text that say something: long ones and numbers; all where there are none."""
    every = frozenset(tokens(text))
    telling = {word for word in every if len(word) >= _SHORTEST_WORD or word.isdigit()}
    return frozenset(telling) or every


def _share(words: frozenset[str], source: frozenset[str]) -> float:
    return len(words & source) / len(words) if words else 0.0
