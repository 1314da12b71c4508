"""What a text denies, and where "no" says "number"."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.judge.offline.denials import clauses, denied, heads_of, spoken
from pytest_touchstone.judge.offline.words import sense


@pytest.mark.parametrize(
    "text",
    [
        "No. Entity | Unaccounted UGX m | Officers",
        "No | Entity | Officers",
        "| No | Entity | Officers |",
        "No. of schools: 14",
        "Act no. 14 of 2015 applies.",
        "Act No 14 of 2015 applies.",
        "Nos. 3 and 4 were closed.",
        "No: 12, Entity: Gulu",
        "Nr. 5 gäller broar, och lag nr 5 vägar.",
        "Was it paid? No. The ministry paid.",
    ],
)
def test_number_is_no_negation(text: str) -> None:
    assert denied(text) == {}
    assert "no" not in spoken(text)


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("There were no latrines.", ["latrines"]),
        ("No entity accounted for it.", ["entity", "accounted"]),
        ("There was no 24-hour service.", ["24", "hour"]),
        ("There is no 100% guarantee.", ["100", "guarantee"]),
        ("It isn't open.", ["open"]),
        ("The cell | holds no water | at night", ["water"]),
        ("Bron öppnades inte.", ["öppnades"]),
    ],
)
def test_heads(text: str, heads: list[str]) -> None:
    assert denied(text).keys() == set(map(sense, heads))


def test_a_cell_is_a_clause_and_a_condition_denies_nothing() -> None:
    assert clauses("Land without title | Land sold") == (
        ("land",),
        ("without", "title"),
        ("land", "sold"),
    )
    assert heads_of(("if", "no", "water", "comes")) == []
    assert heads_of(("no", "water", "comes")) == [(0, [1, 2])]


@given(st.text(max_size=200))
def test_any_text_has_its_heads_inside(text: str) -> None:
    for words in clauses(text):
        for at, heads in heads_of(words):
            assert all(0 <= head < len(words) and head != at for head in heads)
