"""The embedded scorer: corrected cosine and words, long texts in windows, faults as reasons."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.corpus.embedder import EmbedderError
from pytest_touchstone.scorer.embedded import BACKGROUND, EmbeddedScorer
from pytest_touchstone.scorer.protocol import Covered

if TYPE_CHECKING:
    from pytest_touchstone.corpus.vectors import Vectors

WIDTH = 64


class Bags:
    """Embeds a text as its words: cosine is words in common."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        rows = np.full((len(texts), WIDTH), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.casefold().split():
                row[sum(map(ord, word)) % WIDTH] += 1
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def cover(paragraph: str, *sources: str, embed: Bags | None = None) -> tuple[Covered, ...]:
    scorer = EmbeddedScorer(embed or Bags(), "bags", asyncio.to_thread)
    return asyncio.run(scorer.cover(paragraph, sources))


def value(covered: Covered) -> float:
    assert covered.score is not None
    return covered.score


def test_what_covers_scores_above_what_is_related_above_what_is_neither() -> None:
    paragraph = "The district spent 42 million on repairing the hospital road"
    scores = [
        value(one)
        for one in cover(
            paragraph,
            f"Works. {paragraph} in November.",
            "The hospital road was opened by the minister",
            "Bees dance",
        )
    ]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.8
    assert scores[2] < 0.4


def test_it_says_that_it_is_a_proxy() -> None:
    scorer = EmbeddedScorer(Bags(), "bags 1", asyncio.to_thread)
    assert scorer.identity["scale"] == "proxy"
    assert scorer.identity["model"] == "bags 1 cosine and words"


def test_the_end_of_a_long_source_is_read() -> None:
    paragraph = "Gulu spent 42 million on the road"
    long = "Nothing of note was said here about anything at all. " * 600
    (without,) = cover(paragraph, long)
    (covered,) = cover(paragraph, long + paragraph)
    assert len(long) > 30_000
    assert covered.windows > 10
    assert value(covered) > 2 * value(without)


def test_of_a_long_paragraph_every_part_counts() -> None:
    first = "Gulu spent 42 million on the road to the hospital. " * 12
    second = "Elephants sleep standing while whales drift through arctic water. " * 30
    (alone,) = cover(first, first)
    (half,) = cover(first + second, first)
    assert value(half) < value(alone)


def test_short_texts_are_embedded_as_they_are_and_the_background_once() -> None:
    embed = Bags()
    scorer = EmbeddedScorer(embed, "bags", asyncio.to_thread)

    async def twice() -> None:
        await scorer.cover("One paragraph", ["a source", "another"])
        await scorer.cover("Two", ["a source"])

    asyncio.run(twice())
    texts = [*BACKGROUND, "One paragraph", "a source", "another", "Two", "a source"]
    assert embed.texts == texts


def test_nothing_to_score() -> None:
    assert cover(" \0 ", "a", "b") == (Covered(None, 0, "no_text"),) * 2
    some, none = cover("a", "a", "  ")
    assert some.score is not None
    assert none == Covered(None, 0, "no_text")
    assert cover("a") == ()


def test_an_embedder_that_fails_leaves_a_reason() -> None:
    def embed(texts: Sequence[str]) -> Vectors:
        raise EmbedderError("no connection")

    scorer = EmbeddedScorer(embed, "far", asyncio.to_thread)
    found = asyncio.run(scorer.cover("a", ["b", "c"]))
    assert found == (Covered(None, 0, "scorer_unreachable"),) * 2


@given(st.text(min_size=1), st.lists(st.text(), max_size=3))
def test_any_text_is_scored_or_said_to_be_none(paragraph: str, sources: list[str]) -> None:
    for one in cover(paragraph, *sources):
        assert (one.score is None) == (one.reason is not None)
        assert one.score is None or 0 <= one.score <= 1


@pytest.mark.parametrize("text", ["鉄道は国の動脈です", "a b c", "7", "får"])
def test_a_text_covers_itself(text: str) -> None:
    same, other = cover(text, text, "entirely different")
    assert value(same) > value(other)
