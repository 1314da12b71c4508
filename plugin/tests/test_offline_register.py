"""The offline judge's tone: formality and caution by cues."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.judge.offline.register import tone

SET = Path(__file__).parents[2] / "evaluation" / "judge_fitting" / "tone.jsonl"
PAIRS = [json.loads(line) for line in SET.read_text("utf-8").split("\n") if line]


@pytest.mark.parametrize("pair", PAIRS, ids=[pair["id"] for pair in PAIRS])
def test_pairs_stand_in_their_order(pair: dict[str, str]) -> None:
    more, less = (getattr(tone("", pair[side]), pair["score"]) for side in ("more", "less"))
    assert more > less


@pytest.mark.parametrize(
    ("formality", "text"),
    [
        (5, "The council recovered UGX 12 million of the advances [1]."),
        (5, "Du kan ansöka om bidraget hos nämnden, enligt rapporten."),
        (4, "The council didn't keep a register. It was asked for one in 2019. It has one now."),
        (2, "What a great question! Thanks for asking! The council keeps no register."),
        (1, "Lol, those idiots lost tons of bucks 😂😂"),
    ],
)
def test_formality_by_its_levels(formality: int, text: str) -> None:
    found = tone("", text)
    assert found.formality == formality, found.formality_rationale


@pytest.mark.parametrize(
    ("caution", "text"),
    [
        (5, "I found no reports on Mora for 2031."),
        (5, "According to the report of 2022, about a third of the posts were vacant [1]."),
        (5, "Enligt revisorerna saknade tre av de granskade kommunerna rutiner [2]."),
        (3, "The posts are vacant."),
        (2, "Posts are always vacant, and obviously they will never be filled."),
        (1, "The council lied and stole. It is a scandal."),
        (1, "Ledningen ljuger. Det är en skandal."),
    ],
)
def test_caution_by_its_levels(caution: int, text: str) -> None:
    found = tone("", text)
    assert found.caution == caution, found.caution_rationale


def test_what_others_are_said_to_have_claimed_is_not_claimed() -> None:
    own = tone("", "The tender was a fraud.")
    reported = tone("", "According to the report, the minister said that the tender was a fraud.")
    assert own.caution == 1
    assert reported.caution >= 3


def test_an_innocent_word_of_another_language_is_no_slip() -> None:
    assert tone("", "Kommunen har en plan för VA och fett i avloppet.").formality == 5
    assert tone("", "The Sen. committee met on the road to Lax in the north.").formality == 5


def test_the_rationale_names_the_words() -> None:
    found = tone("", "Wow, that is really a scandal!")
    assert "“wow”" in found.formality_rationale
    assert "“scandal”" in found.caution_rationale


@given(st.text(max_size=300))
def test_any_text_has_two_scores_with_their_reasons_in_one_line(text: str) -> None:
    found = tone("", text)
    assert 1 <= found.formality <= 5
    assert 1 <= found.caution <= 5
    for why in (found.formality_rationale, found.caution_rationale):
        assert len(why.splitlines()) == 1
    assert tone("", text) == found


@pytest.mark.parametrize("unit", ["a", "a b. ", "港。"])
def test_a_megabyte_is_read(unit: str) -> None:
    found = tone("", unit * (1_000_000 // len(unit)))
    assert 1 <= found.formality <= 5
