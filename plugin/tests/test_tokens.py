"""Tokens: words of any script; spelling that Unicode calls equal is equal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.tokens import tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Don't pay 1,200 (UGX)!", ["don", "t", "pay", "1", "200", "ugx"]),
        ("snake_case", ["snake", "case"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("fa\u030ar", ["f\u00e5r"]),
        ("审计abc署", ["审", "计", "abc", "署"]),
        ("ひらがな", ["ひ", "ら", "が", "な"]),
        ("か\u3099", ["が"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("تَقْرِير", ["تَقْرِير"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("co\u00adoperate \u202eabc\u202c", ["cooperate", "abc"]),
        ("one\u200btwo", ["one", "two"]),
        ("𠀀x", ["𠀀", "x"]),
        ("한국어 보고서", ["한국어", "보고서"]),
        ("\u0301 - \ud800", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@given(st.text())
def test_equivalent_texts_have_equal_tokens(text: str) -> None:
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(text)
    assert tokens(unicodedata.normalize("NFC", text)) == tokens(text)
    assert tokens(text.casefold()) == tokens(text)


@given(st.text(), st.text())
def test_a_space_parts_texts(left: str, right: str) -> None:
    assert tokens(f"{left} {right}") == tokens(left) + tokens(right)


@given(st.text())
def test_every_letter_and_digit_is_in_a_token(text: str) -> None:
    found = tokens(text)
    assert all(found)
    letters = sum(unicodedata.category(c)[0] in "LN" for c in "".join(found))
    assert letters >= len(found)
    assert bool(found) == any(
        unicodedata.category(c)[0] in "LN" for c in unicodedata.normalize("NFD", text)
    )
