"""Dates in text, and when one is stated by others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.judge.offline.dates import dates, held


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("30 June 2019", "the year ended 30th June 2019"),
        ("June 30, 2019", "30 June 2019"),
        ("18 november 2021", "2021-11-18"),
        ("den 3 juni 2015", "2015-06-03"),
        ("14/10/2019", "14 October 2019"),
        ("FY 2021/22", "2021/2022"),
        ("FY 2018/19", "the year ended 30th June 2019"),
        ("in 2021", "18 November 2021"),
        ("in March 2022", "3 March 2022"),
        ("18 November 2021", "on 18 November. It was the wettest November of 2021"),
        ("in the 1990s", "in 1994"),
        ("on Monday", "i måndags"),
    ],
)
def test_stated(claim: str, passage: str) -> None:
    (date,) = dates(claim)
    assert held(date, dates(passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("30 June 2019", "30 June 2020"),
        ("30 June 2019", "30 July 2019"),
        ("30 June 2019", "3 June 2019"),
        ("FY 2021/22", "FY 2022/23"),
        ("FY 2021/22", "in 2021"),
        ("in 2012", "in 2021"),
        ("in May 2022", "in March 2022"),
        ("in 2021", ""),
        ("on Monday", "on Tuesday"),
    ],
)
def test_not_stated(claim: str, passage: str) -> None:
    (date,) = dates(claim)
    assert not held(date, dates(passage))


def test_words_that_are_no_months() -> None:
    assert dates("it may 5 times march on, as on Mars") == []
    assert [date.month for date in dates("i mars, in March and in May 2020")] == [3, 3, 5]


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert all(date.start < date.end for date in dates(text))


@given(st.dates())
def test_a_date_states_itself(day: object) -> None:
    text = str(day)
    found = dates(text)
    assert all(held(each, found) for each in found)
