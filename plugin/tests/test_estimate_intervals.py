"""Each interval against its definition, or against scipy and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats
import statsmodels.api  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from pytest_touchstone.estimate import Cell, Resampling, draws, resampled
from pytest_touchstone.estimate.proportions import mid_p, unseen_share
from pytest_touchstone.estimate.spread import Spread

Floats = NDArray[np.float64]
SEED = 7


def one(x: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    low, high = mid_p(np.array([x]), np.array([n]), confidence)
    return float(low[0]), float(high[0])


def clustered(sizes: list[int], seed: int) -> tuple[Floats, NDArray[np.intp]]:
    """Values that are alike within clusters, and their clusters."""
    rng = np.random.default_rng(seed)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    inside = rng.normal(0.6, 0.2, len(sizes))[owners] + rng.normal(0, 0.1, len(owners))
    return np.clip(inside, 0.0, 1.0), owners


# -- shares -----------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(2, 3000), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_mid_p_counts_half_of_what_was_observed(n: int, share: float, confidence: float) -> None:
    x = min(max(round(share * n), 1), n - 1)
    low, high = one(x, n, confidence)
    tail = (1 - confidence) / 2
    at_low, at_high = scipy.stats.binom(n, low), scipy.stats.binom(n, high)
    assert at_low.sf(x) + at_low.pmf(x) / 2 == pytest.approx(tail, rel=1e-8)
    assert at_high.cdf(x - 1) + at_high.pmf(x) / 2 == pytest.approx(tail, rel=1e-8)


@settings(deadline=None)
@given(st.floats(5, 1e5), st.floats(0.001, 0.999), st.sampled_from([0.9, 0.95]))
def test_mid_p_of_an_effective_number(n: float, share: float, confidence: float) -> None:
    x = min(max(share * n, 0.5), n - 0.5)
    tail = (1 - confidence) / 2
    for end, wanted in zip(one(x, n, confidence), (tail, 1 - tail), strict=True):
        below = scipy.special.betainc(x, n - x + 1, end)
        above = scipy.special.betainc(x + 1, n - x, end)
        assert (below + above) / 2 == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(("x", "n"), [(1, 12), (11, 12), (20, 24), (150, 160), (300, 1000)])
def test_mid_p_lies_between_the_exact_and_the_ones_that_fall_short(x: int, n: int) -> None:
    low, high = one(x, n)
    exact = proportion_confint(x, n, method="beta")
    assert exact[0] < low
    assert high < exact[1]
    wilson = proportion_confint(x, n, method="wilson")
    assert (low, high) == pytest.approx(wilson, abs=0.6 / n)


def test_all_alike_is_the_limit_of_mid_p() -> None:
    assert unseen_share(30, 0.95) == pytest.approx(1 - 0.05 ** (1 / 30))
    assert one(30 - 1e-6, 30)[0] == pytest.approx(1 - unseen_share(30, 0.95), abs=1e-5)
    cell = Cell({f"c{n}": 1.0 for n in range(30)}, (0.0, 1.0))
    known = Resampling({case: case for case in cell.values}, seed=SEED)
    assert known.mean(cell).ci == pytest.approx((1 - unseen_share(30, 0.95), 1.0))


def test_half_an_unseen_question_at_each_end_is_jeffreys() -> None:
    """For yes and no the Bayesian bootstrap is a beta distribution."""
    x, n = 18, 24
    values = np.array([1.0] * x + [0.0] * (n - x)) - x / n
    size = 60_000
    low, high = resampled.pseudo(
        draws.exponentials(SEED, size, n),
        draws.halves(SEED, size),
        values[:, None],
        np.ones((n, 1)),
        stretch=np.ones(1),
        unseen=np.ones(1),
        ends=(np.array([-x / n]), np.array([1 - x / n])),
        confidence=0.95,
    )
    theirs = proportion_confint(x, n, method="jeffreys")
    assert (float(low[0]) + x / n, float(high[0]) + x / n) == pytest.approx(theirs, abs=0.004)


@pytest.mark.parametrize(
    ("better", "worse", "weight"),
    [(1, 0, 0.9), (0, 2, 0.9), (3, 0, 1.0), (1, 1, 0.25), (3, 1, 0.25), (3, 2, 1.0)],
)
def test_an_unseen_pair_weighs_less_where_few_differ(
    better: int, worse: int, weight: float
) -> None:
    values = np.array([1.0] * better + [-1.0] * worse + [0.0] * (60 - better - worse))
    alone, one_stratum = np.arange(60, dtype=np.intp), np.zeros(60, dtype=np.intp)
    assert Spread(values, alone, one_stratum, paired=True).unseen == pytest.approx(weight)
    assert Spread(values, alone, one_stratum).unseen == pytest.approx(1.0)


@pytest.mark.parametrize("differing", [1, 2, 3])
def test_up_to_three_pairs_in_one_direction_show_no_difference(differing: int) -> None:
    known = Resampling({f"{n}": f"{n}" for n in range(160)}, seed=SEED)
    values = {f"{n}": float(n < differing) for n in range(160)}
    interval = known.delta(Cell(values, (0.0, 1.0), paired=True)).estimate.ci
    assert interval is not None
    assert interval[0] < 0 < interval[1]


# -- the spread of a mean ---------------------------------------------------------------------


def test_equal_clusters_have_the_cluster_robust_variance_of_statsmodels() -> None:
    values, owners = clustered([4] * 15, 1)
    spread = Spread(values, owners, np.zeros(15, dtype=np.intp))
    fit = statsmodels.api.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": owners}
    )
    error = math.sqrt(spread.jackknife) * spread.scale
    assert error == pytest.approx(float(fit.bse[0]), rel=1e-9)
    assert spread.degrees == pytest.approx(14)


def test_the_jackknife_leaves_out_each_cluster_in_turn() -> None:
    values, owners = clustered([1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2], 2)
    strata = np.array([0] * 5 + [1] * 6)
    spread = Spread(values, owners, strata)
    total = 0.0
    for cluster in range(11):
        same = strata == strata[cluster]
        grown = same.sum() / (same.sum() - 1)
        weights = np.where(same, grown, 1.0)[owners] * (owners != cluster)
        away = float(np.average(values, weights=weights))
        total += (away - values.mean()) ** 2 / grown
    assert spread.jackknife * spread.scale**2 == pytest.approx(total, rel=1e-9)


def test_one_stratum_of_two_clusters_is_no_stratum() -> None:
    values, owners = clustered([2] * 12, 3)
    strata = np.array([0] * 10 + [1] * 2)
    plain = Spread(values, owners, np.zeros(12, dtype=np.intp))
    assert Spread(values, owners, strata).jackknife == plain.jackknife


def test_t_is_that_of_scipy_where_questions_are_independent() -> None:
    values = np.random.default_rng(4).normal(0.1, 0.3, 30).clip(-1, 1)
    cell = Cell({f"c{n:02}": float(x) for n, x in enumerate(values)}, (0.0, 1.0), paired=True)
    estimate = Resampling({case: case for case in cell.values}, seed=SEED).mean(cell)
    theirs = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert estimate.ci_method == "t with 29 degrees of freedom"
    assert estimate.ci == pytest.approx((theirs.low, theirs.high), rel=1e-9)


# -- resampled --------------------------------------------------------------------------------


def test_the_studentized_bootstrap_is_what_its_definition_says() -> None:
    values, owners = clustered([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9], 5)
    known = Resampling(
        {f"c{n:02}": f"g{owner:02}" for n, owner in enumerate(owners)}, seed=SEED, resamples=400
    )
    cell = Cell({f"c{n:02}": float(x) for n, x in enumerate(values)}, (0.0, 1.0))
    mean = float(values.mean())

    def error(owned: list[Floats]) -> tuple[float, float]:
        questions = np.concatenate(owned)
        centre = float(questions.mean())
        residuals = [float((part - centre).sum()) for part in owned]
        return centre, math.sqrt(sum(r**2 for r in residuals)) / len(questions)

    groups = [values[owners == cluster] for cluster in range(15)]
    roots = []
    for row in draws.counts(SEED, 400, np.zeros(15, dtype=np.intp)):
        drawn = [groups[k] for k, times in enumerate(row) for _ in range(int(times))]
        centre, its_error = error(drawn)
        roots.append((centre - mean) / its_error)
    low, high = np.quantile(roots, [0.025, 0.975])
    _, own = error(groups)
    estimate = known.mean(cell)
    assert estimate.ci_method == "studentized bootstrap, 400 resamples"
    assert estimate.ci == pytest.approx((mean - high * own, mean - low * own), rel=1e-9)


@pytest.mark.parametrize("skew", [(3.0, 0.6), (0.6, 3.0), (2.0, 2.0)])
def test_a_score_has_nearly_the_bca_interval_of_scipy(skew: tuple[float, float]) -> None:
    """Two ways to the same order of accuracy; with the plain percentile the ends are elsewhere."""
    sample = np.random.default_rng(3).beta(*skew, size=300)
    cell = Cell({f"c{n:03}": float(x) for n, x in enumerate(sample)}, (0.0, 1.0))
    ours = Resampling({case: case for case in cell.values}, seed=SEED, resamples=20_000).mean(cell)
    theirs = scipy.stats.bootstrap(
        (sample,),
        np.mean,
        n_resamples=20_000,
        method="BCa",
        batch=1000,
        random_state=np.random.default_rng(4),
    ).confidence_interval
    assert ours.ci_method == "studentized bootstrap, 20000 resamples"
    width = float(theirs.high - theirs.low)
    assert ours.ci == pytest.approx((theirs.low, theirs.high), abs=0.05 * width)


def test_a_long_tail_takes_the_far_side_of_one_interval_and_shares_the_near_one() -> None:
    sample = np.random.default_rng(6).lognormal(size=60)
    values = {f"c{n:02}": float(x) for n, x in enumerate(sample)}
    known = Resampling({case: case for case in values}, seed=SEED)
    bounded = known.mean(Cell(values, (0.0, 1000.0))).ci
    t = scipy.stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    assert bounded is not None
    assert bounded[1] > t.high
    assert bounded[0] > t.low
    open_ended = known.mean(Cell(values, (0.0, None))).ci
    assert open_ended == pytest.approx(((bounded[0] + t.low) / 2, bounded[1]), rel=1e-9)
    difference = known.mean(Cell(values, (0.0, None), paired=True)).ci
    assert difference == pytest.approx((t.low, bounded[1]), rel=1e-9)


@pytest.mark.parametrize(("paired", "rate"), [(False, 0.9), (True, 0.9), (False, 0.6)])
def test_it_covers(paired: bool, rate: float) -> None:
    """A small simulation; benchmarks/coverage.py is the large one."""
    rng = np.random.default_rng(8)
    cases = [f"c{n:02}" for n in range(24)]
    known = Resampling({case: f"g{int(case[1:]) // 2:02}" for case in cases}, seed=SEED)
    cells = []
    for _ in range(400):
        alike = np.repeat(rng.random(12) < rate, 2)
        answered = np.where(rng.random(24) < 0.5, alike, rng.random(24) < rate).astype(float)
        if paired:
            answered -= rng.random(24) < rate
        cells.append(Cell(dict(zip(cases, answered.tolist(), strict=True)), (0.0, 1.0), paired))
    truth = 0.0 if paired else rate
    ends = [estimate.ci for estimate in known.means(cells) if estimate.ci]
    covered = [low <= truth <= high for low, high in ends]
    assert len(covered) == 400
    # The lower end of a 99.9% Monte-Carlo interval around 0.95.
    assert np.mean(covered) >= scipy.stats.binom.ppf(0.001, 400, 0.95) / 400
