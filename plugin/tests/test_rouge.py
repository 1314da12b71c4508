"""ROUGE: the figures of rouge-score under the same tokenizer, in any script."""

from __future__ import annotations

import random
import re
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer, lcs_ind  # type: ignore[import-untyped]
from rouge_score.tokenizers import Tokenizer  # type: ignore[import-untyped]

from pytest_touchstone.rouge import common_places, rouge_l, rouge_lsum
from pytest_touchstone.tokens import tokens

ENGLISH = re.split(
    " ",
    "The Auditor General found that the district of Gulu did not spend 1,200 million shillings "
    "which Parliament had given for roads, schools and health centres; in 2021/22 the Ministry's "
    "own books didn't agree with those of the bank. Management explained that funds came late.",
)
UNICODE = re.split(
    " ",
    "får för Får straße STRASSE A\u030angstro\u0308m Ångström län 中国 审计 署长 報告 のこ カタ "
    "تقرير المراجع العام تَقْرِير می\u200cخواهم ภาษาไทย हिन्दी отчёт Έλεγχος έλεγχοσ 𠀀 한국어",
)


class Words(Tokenizer):  # type: ignore[misc]  # rouge-score has no types
    """Our tokens, as rouge-score takes a tokenizer."""

    def tokenize(self, text: str) -> list[str]:
        return tokens(text)


REFERENCE = RougeScorer(["rougeL", "rougeLsum"], tokenizer=Words())


def text(rng: random.Random, words: list[str]) -> str:
    """Up to four lines of up to 12 words, empty ones among them."""
    lines = rng.choices(range(13), k=rng.randrange(5))
    return "\n".join(" ".join(rng.choices(words, k=length)) for length in lines)


def assert_equal_to_rouge_score(reference: str, candidate: str) -> None:
    expected = REFERENCE.score(reference, candidate)
    whole = rouge_l(tokens(reference), tokens(candidate))
    lines = rouge_lsum(
        [tokens(line) for line in reference.split("\n")],
        [tokens(line) for line in candidate.split("\n")],
    )
    for name, ours in (("rougeL", whole), ("rougeLsum", lines)):
        theirs = expected[name]
        assert (ours.precision, ours.recall, ours.f1) == (
            theirs.precision,
            theirs.recall,
            theirs.fmeasure,
        ), name


def test_equal_to_rouge_score_on_500_english_pairs() -> None:
    rng = random.Random(500)
    scored = 0
    for _ in range(500):
        reference, candidate = text(rng, ENGLISH), text(rng, ENGLISH)
        assert_equal_to_rouge_score(reference, candidate)
        scored += rouge_l(tokens(reference), tokens(candidate)).f1 > 0
    assert scored > 250  # the pairs are not all empty or disjoint


def test_equal_to_rouge_score_on_500_unicode_pairs() -> None:
    rng = random.Random(501)
    for _ in range(500):
        assert_equal_to_rouge_score(text(rng, UNICODE), text(rng, UNICODE))


def test_english_has_the_tokens_of_rouge_score_itself() -> None:
    own = RougeScorer(["rougeL"])
    rng = random.Random(502)
    for _ in range(100):
        reference, candidate = text(rng, ENGLISH), text(rng, ENGLISH)
        ours = rouge_l(tokens(reference), tokens(candidate)).f1
        assert ours == own.score(reference, candidate)["rougeL"].fmeasure


words = st.lists(st.sampled_from("abcd"), max_size=30)


@given(words, words)
def test_the_same_subsequence_as_rouge_score(reference: list[str], candidate: list[str]) -> None:
    places = common_places(reference, candidate)
    assert places == set(lcs_ind(reference, candidate))
    if reference and candidate:
        assert rouge_l(reference, candidate).recall == len(places) / len(reference)


@given(words, words)
def test_the_two_texts_change_places(reference: list[str], candidate: list[str]) -> None:
    here, there = rouge_l(reference, candidate), rouge_l(candidate, reference)
    assert (here.precision, here.recall, here.f1) == (there.recall, there.precision, there.f1)
    assert 0 <= here.f1 <= 1


@given(st.lists(words, max_size=4), st.lists(words, max_size=4))
def test_a_summary_has_at_most_all_words_in_common(
    reference: list[list[str]], candidate: list[list[str]]
) -> None:
    found = rouge_lsum(reference, candidate)
    assert 0 <= found.precision <= 1
    assert 0 <= found.recall <= 1
    whole = rouge_l(list(chain(*reference)), list(chain(*candidate)))
    if len(reference) == len(candidate) == 1:
        assert found.f1 == whole.f1
    assert rouge_lsum(reference, reference).f1 == float(any(reference))


@pytest.mark.parametrize(
    ("reference", "candidate", "f1"),
    [
        ("får", "för", 0.0),
        ("Får", "får", 1.0),
        ("审计署长的报告", "审计署长的报告", 1.0),
        ("تقرير المراجع العام", "تقرير المراجع العام", 1.0),
        ("审计署", "审计局", 2 / 3),
        ("", "", 0.0),
        ("word", "", 0.0),
        ("...", "...", 0.0),
        ("the cat sat", "the dog sat", 2 / 3),
    ],
)
def test_values_by_hand(reference: str, candidate: str, f1: float) -> None:
    assert rouge_l(tokens(reference), tokens(candidate)).f1 == pytest.approx(f1)
    assert rouge_lsum([tokens(reference)], [tokens(candidate)]).f1 == pytest.approx(f1)


def test_long_texts_by_what_is_known_of_them() -> None:
    numbers = list(range(5000))
    assert rouge_l(numbers, numbers).f1 == 1
    assert rouge_l(numbers, numbers[::-1]).recall == 1 / 5000
    assert rouge_l(numbers, numbers[::2]).recall == 1 / 2
    assert common_places(numbers, numbers[1000:2000]) == set(range(1000, 2000))
