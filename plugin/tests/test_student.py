"""Student's t: the figures of scipy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_touchstone.student import cdf, quantile

DF = st.floats(0.5, 1e7)
TAILS = st.floats(1e-6, 0.5)


@given(TAILS, DF)
def test_the_quantile_is_that_of_scipy(tail: float, df: float) -> None:
    expected = float(stats.t.ppf(tail, df))
    assert quantile(tail, df) == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert quantile(1 - tail, df) == pytest.approx(-quantile(tail, df), rel=1e-8, abs=1e-9)


@given(st.floats(-50, 50), DF)
def test_the_probability_is_that_of_scipy(t: float, df: float) -> None:
    assert cdf(t, df) == pytest.approx(float(stats.t.cdf(t, df)), rel=1e-7, abs=1e-14)


@pytest.mark.parametrize("df", [1.0, 2.5, 30.0, 1e8, 1e12, math.inf])
def test_both_are_the_inverse_of_each_other(df: float) -> None:
    for tail in (1e-6, 0.025, 0.3, 0.5, 0.9):
        assert cdf(quantile(tail, df), df) == pytest.approx(tail, rel=1e-7)


def test_the_ends_that_are_known() -> None:
    assert quantile(0.5, 3) == 0
    assert quantile(0.975, 1) == pytest.approx(math.tan(0.475 * math.pi))
    assert quantile(0.975, math.inf) == pytest.approx(1.959963984540054)
    assert cdf(0, 7) == 0.5
    assert (cdf(-math.inf, 7), cdf(math.inf, 7)) == (0, 1)


@pytest.mark.parametrize(("p", "df"), [(0, 5), (1, 5), (math.nan, 5), (0.5, 0), (0.5, math.nan)])
def test_what_has_no_quantile(p: float, df: float) -> None:
    with pytest.raises(ValueError, match=r"within 0 and 1|above 0"):
        quantile(p, df)
    with pytest.raises(ValueError, match=r"a number|above 0"):
        cdf(math.nan, df)
