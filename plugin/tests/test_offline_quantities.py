"""Numbers in text: formats, scales, units, letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.judge.offline.quantities import Quantity, quantities


def one(text: str) -> Quantity:
    (found,) = quantities(text)
    return found


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("UGX 1.2bn", "1,200,000,000 shillings"),
        ("UGX 1.2 billion", "Shs 1,200 million"),
        ("2,4 miljarder kronor", "2 400 mkr"),
        ("12 per cent", "12 %"),
        ("18 procent", "18%"),
        ("14 200 kilometer", "14,200 km"),
        ("3 100 kilometer", "310 mil"),
        ("twenty-five schools", "25 schools"),
        ("tjugofem skolor", "25 skolor"),
        ("two hundred and five posts", "205 posts"),
        ("one million people", "1,000,000 people"),
        ("two months", "60 days"),
        ("two weeks", "14 days"),
        ("142 of the roads", "142 km"),
        ("about UGX 3.1 billion", "UGX 3.109 billion"),
        ("UGX 3.1 billion", "UGX 3.109 billion"),
        ("£3.6m", "3.6 million pounds"),
        ("٣٥ schools", "35 schools"),
        ("3亿", "300 million"),
    ],
)
def test_one_quantity_in_two_formats(claim: str, passage: str) -> None:
    assert one(claim).held_by(one(passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("UGX 1.3bn", "UGX 1.2bn"),
        ("UGX 1.2 million", "UGX 1.2 billion"),
        ("UGX 3.109 million", "UGX 3.109 billion"),
        ("USD 5", "UGX 5"),
        ("12 percentage points", "12 per cent"),
        ("12 procentenheter", "12 procent"),
        ("46 weeks", "46 days"),
        ("12 miles", "12 km"),
        ("UGX 3 billion", "UGX 3.109 billion"),
        ("elva bolag", "tolv bolag"),
        ("8.3 per mille", "8.3 %"),
        ("900 square kilometers", "900 hektar"),
    ],
)
def test_two_quantities(claim: str, passage: str) -> None:
    assert not one(claim).held_by(one(passage))


@pytest.mark.parametrize(
    "text", ["form APP-001", "version 6.16.0", "open 24/7", "no one", "en skola", "a second"]
)
def test_codes_versions_and_articles_are_no_quantities(text: str) -> None:
    assert quantities(text) == []


def test_a_comma_may_part_decimals_or_thousands() -> None:
    assert one("3,109 posts").values == (3109.0, 3.109)
    assert one("9.800 kr").values == (9.8, 9800.0)
    assert one("1,234,567.5").values == (1234567.5,)


@given(st.integers(0, 10**12))
def test_a_number_is_itself_in_every_format(number: int) -> None:
    spaced = f"{number:,}".replace(",", " ")
    for text in (str(number), f"{number:,}", spaced):
        assert one(f"{text} schools").held_by(one(f"{number} schools"))


@given(st.text(max_size=200))
def test_any_text_gives_finite_values_in_order(text: str) -> None:
    found = quantities(text)
    assert all(abs(value) < float("inf") for each in found for value in each.values)
    assert [each.start for each in found] == sorted(each.start for each in found)
