"""Tests of no difference, Holm's adjustment, and what a set can detect."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]
from statsmodels.stats.power import TTestPower  # type: ignore[import-untyped]

from pytest_touchstone.estimate import Cell, Plan, Resampling, holm
from pytest_touchstone.estimate.comparison import sign_flip
from pytest_touchstone.estimate.power import of_shares, of_spread

SEED = 7


def exact(totals: list[float]) -> float:
    found = scipy.stats.permutation_test(
        (np.array(totals),),
        lambda sample: abs(sum(sample)),
        permutation_type="samples",
        n_resamples=10_000,
        alternative="greater",
        vectorized=False,
    )
    return float(found.pvalue)


@settings(deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=2, max_size=9))
def test_few_clusters_are_flipped_in_every_way(totals: list[int]) -> None:
    values = [total / 8 for total in totals]
    padded = np.array([*values, 0.0, 0.0])[:, None]
    assert sign_flip(padded, SEED) == [pytest.approx(exact(values))]


def test_many_clusters_are_flipped_at_random() -> None:
    rng = np.random.default_rng(2)
    totals = np.column_stack([rng.normal(0.25, 1, 60), rng.normal(0, 1, 60), np.zeros(60)])
    one, none, nothing = sign_flip(totals, SEED)
    assert one == pytest.approx(scipy.stats.ttest_1samp(totals[:, 0], 0).pvalue, abs=0.015)
    assert none == pytest.approx(scipy.stats.ttest_1samp(totals[:, 1], 0).pvalue, abs=0.015)
    assert nothing == 1.0
    assert sign_flip(np.ones((60, 1)), SEED) == [1 / 5000], "never 0"


def test_without_a_difference_p_is_even() -> None:
    totals = np.random.default_rng(3).normal(size=(16, 2000))
    p_values = np.array(sign_flip(totals, SEED))
    for level in (0.05, 0.2, 0.5):
        assert np.mean(p_values <= level) == pytest.approx(level, abs=0.03)


@pytest.mark.parametrize("size", [1, 2, 9])
def test_holm_is_that_of_statsmodels(size: int) -> None:
    p_values = [round(p, 2) for p in np.random.default_rng(size).random(size) ** 3]
    _, theirs, _, _ = multipletests(p_values, method="holm")
    ours = holm(dict(enumerate(p_values)))
    assert [ours[place] for place in range(len(p_values))] == pytest.approx(list(theirs))


def test_holm_of_nothing() -> None:
    assert holm({}) == {}


def test_fewer_than_five_clusters_are_not_compared() -> None:
    values = {f"c{n}": 1.0 for n in range(8)}
    found = Resampling({case: f"g{int(case[1:]) % 4}" for case in values}, seed=SEED).delta(
        Cell(values, (0.0, 1.0), paired=True)
    )
    assert (found.estimate.value, found.p_value, found.detectable) == (1.0, None, None)


# -- power ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [24, 48, 160])
def test_what_scores_detect_is_what_statsmodels_says(n: int) -> None:
    theirs = TTestPower().solve_power(nobs=n, power=0.8, alpha=0.05)
    assert of_spread(1 / np.sqrt(n), n - 1, 0.95) == pytest.approx(theirs, rel=0.01)


@pytest.mark.parametrize(("n", "apart"), [(48, 0.2), (160, 0.05), (160, 0.0)])
def test_a_difference_of_shares_is_detected_four_times_in_five(n: int, apart: float) -> None:
    detectable = of_shares(apart, n, n - 1, 0.95)
    rng = np.random.default_rng(5)
    draws = rng.random((2000, n))
    balanced = apart / 2
    lost = draws < balanced + detectable
    won = draws > 1 - balanced
    pairs = won.astype(float) - lost
    cases = [f"c{k:03}" for k in range(n)]
    cells = [Cell(dict(zip(cases, row, strict=True)), (0.0, 1.0), True) for row in pairs.tolist()]
    known = Resampling({case: case for case in cases}, seed=SEED, resamples=400)
    seen = [e.ci[1] < 0 for e in known.means(cells[:600]) if e.ci]
    # Where nothing else differs a loss shows sooner: its pairs all point one way.
    assert np.mean(seen) == pytest.approx(0.8, abs=0.09) if apart else np.mean(seen) > 0.8


def test_clusters_detect_less() -> None:
    alone, alike = (Plan(160, clusters, icc=0.3, correlation=0.5) for clusters in (160, 12))
    assert alone.effective == 160
    assert alike.effective == pytest.approx(160 / (1 + (160 / 12 - 1) * 0.3))
    assert alike.of_rate(0.8) > 1.8 * alone.of_rate(0.8)
    assert alike.of_scores(0.2) == pytest.approx(2 * alike.of_scores(0.1))
    assert alone.of_scores(0.2) == pytest.approx((1.975 + 0.844) * 0.2 / np.sqrt(160), rel=2e-3), (
        "with half of the variance shared, a difference varies as much as one score"
    )


@pytest.mark.parametrize(
    ("questions", "clusters", "icc", "correlation", "message"),
    [
        (10, 11, 0.1, 0.5, "11 clusters of 10 questions"),
        (10, 1, 0.1, 0.5, "1 clusters"),
        (10, 5, 1.1, 0.5, "icc 1.1: must be from 0 to 1"),
        (10, 5, -0.1, 0.5, "icc -0.1"),
        (10, 5, 0.1, 1.0, "correlation 1"),
    ],
)
def test_a_plan_that_contradicts_itself(
    questions: int, clusters: int, icc: float, correlation: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Plan(questions, clusters, icc, correlation)


def test_no_smaller_difference_is_detectable_than_the_interval_can_exclude() -> None:
    """An interval that allows for what was not seen is wider than the error alone."""
    values = {f"q{n}": value for n, value in enumerate([0.0, 0.1, -0.1, 0.05, -0.05, 0.1, -0.1])}
    resampling = Resampling({case: case for case in values}, seed=1)
    comparison = resampling.delta(Cell(values, (0.0, 1.0), paired=True))
    ci, value = comparison.estimate.ci, comparison.estimate.value
    assert ci is not None
    assert value is not None
    assert comparison.detectable is not None
    assert comparison.detectable > max(value - ci[0], ci[1] - value)
