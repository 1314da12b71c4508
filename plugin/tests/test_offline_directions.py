"""Which way a figure goes, and what it is counted in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.judge.offline.directions import turned
from pytest_touchstone.judge.offline.evidence import read


def opposed(claim: str, passage: str) -> bool:
    return turned(read(claim), [read(passage)]) is not None


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Sales fell 18 percent.", "Sales were up 18 percent."),
        ("Costs were 3.5% less.", "Costs were 3.5% more than in 2031."),
        ("Det blev en minskning med 4 procent.", "Det blev en ökning med 4 procent."),
        ("Priset blev 12 miljoner billigare.", "Priset blev 12 miljoner dyrare."),
        ("It holds for people under 80 years.", "It holds for people over 80 years."),
        ("More than 40 bridges stand.", "Less than 40 bridges stand."),
        ("The key allows 600 calls per hour.", "The key allows 600 calls per minute."),
        ("Bron kostar 30 kronor om året.", "Bron kostar 30 kronor i månaden."),
        ("15 bridges had safe railings.", "15 bridges had no safe railings."),
    ],
)
def test_opposite(claim: str, passage: str) -> None:
    assert opposed(claim, passage)
    assert not opposed(claim, claim)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Sales rose 18 percent.", "Sales were 18 percent higher."),
        ("Sales rose 18 percent.", "The share was 18 percent."),
        ("It fell to over 4,000.", "It fell to 4,023."),
        ("It takes 600 calls per minute.", "It takes 600 calls."),
        ("No more than 40 bridges stand.", "At most 40 bridges stand."),
    ],
)
def test_not_opposite(claim: str, passage: str) -> None:
    assert not opposed(claim, passage)


@pytest.mark.parametrize(
    "claim",
    [
        "The rate increased from 23.4 to 19.7.",
        "The cost had gone down from 215 to 340 million pounds.",
        "Antalet minskade från 40 till 55 broar.",
    ],
)
def test_a_series_that_goes_the_other_way_opposes_itself(claim: str) -> None:
    assert opposed(claim, "Nothing.")


def test_a_series_that_goes_its_way_does_not() -> None:
    assert not opposed("The cost went up from 215 to 340 million pounds.", "Nothing.")
    assert not opposed("The rate did not rise from 23.4 to 19.7.", "Nothing.")


@given(st.text(), st.text())
def test_any_text_can_be_read(claim: str, passage: str) -> None:
    found = turned(read(claim), [read(passage)])
    assert found is None or any(map(str.isalpha, claim))
