"""Places, shares and multiples in letters, times of the clock, and scales that numbers share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.judge.offline.quantities import Quantity, quantities
from pytest_touchstone.judge.offline.ranks import rank_or_share, written_ranks


def first(text: str) -> Quantity:
    return quantities(text)[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("third bridge", "3rd bridge"),
        ("tredje bron", "3:e bron"),
        ("second quarter", "Q2"),
        ("andra kvartalet", "Q2"),
        ("half of the staff", "50 %"),
        ("a quarter of the staff", "25 percent"),
        ("fell by a fifth", "20 percent"),
        ("en tredjedel av skolorna", "33 procent"),
        ("two thirds of them", "67%"),
        ("hälften av skolorna", "50 procent"),
        ("4 pm", "16:00"),
        ("kl. 16", "16:00"),
        ("klockan 14.30", "2:30 pm"),
        ("318 MSEK", "318 miljoner kronor"),
        ("4.6 MEUR", "4.6 million euros"),
        ("de 640 miljonerna", "640 miljoner"),
        ("12 fot", "12 feet"),
        ("9 million Kenyan shillings", "KES 9,000,000"),
    ],
)
def test_one_and_the_same(one: str, other: str) -> None:
    assert first(one).held_by(first(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("third bridge", "second bridge"),
        ("third bridge", "3 bridges"),
        ("Q2", "Q3"),
        ("a third of them", "50 %"),
        ("4 pm", "4 am"),
        ("318 MSEK", "318 MEUR"),
        ("16:00", "16 schools"),
    ],
)
def test_not_the_same(one: str, other: str) -> None:
    assert not first(one).held_by(first(other))


@pytest.mark.parametrize("text", ["a second", "per second", "andra kommuner", "the other half"])
def test_what_is_no_place(text: str) -> None:
    assert not quantities(text)


@pytest.mark.parametrize(
    "text", ["from 215 to 340 million pounds", "215 of 340 million pounds", "£215–340 million"]
)
def test_a_number_shares_the_scale_of_the_one_it_is_joined_to(text: str) -> None:
    joined, _ = quantities(text)
    assert joined.held_by(first("£215 million"))
    assert not joined.held_by(first("£251 million"))


def test_a_number_that_is_not_joined_shares_nothing() -> None:
    alone, _ = quantities("215 schools cost 340 million pounds")
    assert not alone.held_by(first("£215 million"))


@given(st.text())
def test_every_match_has_a_value_above_zero(text: str) -> None:
    assert all(rank_or_share(match)[0] > 0 for match in written_ranks(text))
