"""Untrusted text on a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.report.display import display_width, padded, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("är får för 中文 café", "är får för 中文 café"),
        ("two\r\nlines\tand more\u2028end", "two  lines and more end"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b2Jclear", "\\x9b2Jclear"),
        ("back\x08\x7f\x00", "back\\x08\\x7f\\x00"),
        ("\u202egnp.exe\u202c", "\\u202egnp.exe\\u202c"),
        ("\u2066iso\u2069", "\\u2066iso\\u2069"),
        ("hid\u200bden\ufeff", "hid\\u200bden\\ufeff"),
        ("half \ud83d pair", "half \\ud83d pair"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_what_could_move_hide_or_reorder_is_shown_instead(text: str, shown: str) -> None:
    assert printable(text, 80) == shown


def test_long_text_is_cut_to_columns() -> None:
    assert printable("abcdef", 6) == "abcdef"
    assert printable("abcdefg", 6) == "abcde…"
    assert printable("中文中文", 8) == "中文中文"
    assert printable("中文中文", 6) == "中文…"
    assert printable("x" * 1_000_000, 20) == "x" * 19 + "…"
    assert printable("\x1b" * 1_000_000, 9) == "\\x1b\\x1b…"
    assert printable("anything", 0) == ""


def test_marks_without_width_cannot_make_a_line_long() -> None:
    shown = printable("a" + "\u0301" * 1_000_000, 10)
    assert len(shown) <= 100
    assert shown.endswith("…")


@given(st.text(st.characters()), st.integers(0, 40))
def test_every_text_becomes_one_safe_line_within_the_limit(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert display_width(shown) <= limit
    assert len(shown.splitlines()) <= 1
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cs", "Co", "Zl", "Zp"}
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert printable(shown, limit) == shown


def test_padding_counts_columns() -> None:
    assert padded("中", 4) == "中  "
    assert padded("e\u0301", 3) == "e\u0301  "
    assert padded("long", 2) == "long"
