"""Paragraphs, sentences and citation markers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.paragraphs import Paragraph, citations, paragraphs, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A [1]. B [2, 3]! C?", ["A [1].", "B [2, 3]!", "C?"]),
        ("Ja, t.ex. vid ån. [1] Nej.[2] Ja.", ["Ja, t.ex. vid ån. [1]", "Nej. [2]", "Ja."]),
        ("Slut. [Doc 1, Doc 2]. Nytt.", ["Slut. [Doc 1, Doc 2].", "Nytt."]),
        ("1. Apa.\n2. Bepa [1]\n- Cepa", ["1. Apa.", "2. Bepa [1]", "- Cepa"]),
        ("Det var 3.5 %. ”Ja.” Sade han.", ["Det var 3.5 %.", "”Ja.”", "Sade han."]),
        ("だめ。はい[3]。そう", ["だめ。", "はい[3]。", "そう"]),
        ("هل نعم؟ نعم۔ لا", ["هل نعم؟", "نعم۔", "لا"]),
        ("— \n ...", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


@given(st.text(alphabet="aB .!?\n[1],-") | st.text())
def test_sentences_lose_no_letter_and_no_digit(text: str) -> None:
    kept = "".join(c for sentence in sentences(text) for c in sentence if c.isalnum())
    assert kept == "".join(c for c in text if c.isalnum())


def test_paragraphs_are_parted_by_blank_lines_and_know_what_they_cite() -> None:
    text = "A [1].\nStill A [Doc 3, Doc 1].\r\n \r\n\r\nB\n\n\nC [2][20]"
    assert paragraphs(text) == (
        Paragraph(0, "A [1].\nStill A [Doc 3, Doc 1].", (1, 3)),
        Paragraph(1, "B"),
        Paragraph(2, "C [2][20]", (2, 20)),
    )
    assert paragraphs(" \n\n ") == ()


def test_the_pattern_of_a_marker_is_the_caller_s() -> None:
    assert citations("A (källa 4) [1]", r"\(källa \d+\)") == (4,)
    assert citations("Not [a], [1-2], [year 2020] or (3)") == ()
