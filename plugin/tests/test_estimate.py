"""Estimates of a run: what always holds, which interval a cell gets, and that it stays the same."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_touchstone.estimate import (
    NO_INTERVAL,
    NOTHING_SCORED,
    Cell,
    Estimate,
    Range,
    Resampling,
    differences,
    draws,
    mean_of_repeats,
    seed_from,
)

SEED = seed_from(hashlib.sha256(b"gold").hexdigest())
SHARE: Range = (0.0, 1.0)
OPEN: Range = (0.0, None)

names = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=6)
groups = st.sampled_from("abcdefghijklm")
wild = st.floats(-1e100, 1e100, allow_nan=False)
shares = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
answers = st.dictionaries(names, st.tuples(shares, groups), min_size=1, max_size=40)


def resampling(cluster_of: Mapping[str, str], resamples: int = 100) -> Resampling:
    return Resampling(cluster_of, seed=SEED, resamples=resamples)


def split(cases: Mapping[str, tuple[float, str]]) -> tuple[dict[str, float], dict[str, str]]:
    return (
        {case: value for case, (value, _) in cases.items()},
        {case: cluster for case, (_, cluster) in cases.items()},
    )


def alone(values: list[float], span: Range = SHARE, *, paired: bool = False) -> Estimate:
    """The estimate of questions that are their own clusters."""
    cell = Cell({f"c{n:03}": value for n, value in enumerate(values)}, span, paired)
    return resampling({case: case for case in cell.values}).mean(cell)


# -- what always holds ------------------------------------------------------------------------


@settings(deadline=None)
@given(answers, st.booleans())
def test_the_interval_lies_within_the_range_around_the_mean(
    cases: dict[str, tuple[float, str]], paired: bool
) -> None:
    values, cluster_of = split(cases)
    estimate = resampling(cluster_of).mean(Cell(values, SHARE, paired))
    assert estimate.value is not None
    assert min(values.values()) <= estimate.value <= max(values.values())
    assert (estimate.n, estimate.clusters) == (len(values), len(set(cluster_of.values())))
    if estimate.clusters < 5:
        assert (estimate.ci, estimate.ci_method) == (None, NO_INTERVAL)
    else:
        assert estimate.ci is not None
        low, high = estimate.ci
        assert (-1 if paired else 0) <= low <= estimate.value <= high <= 1
        assert low < high, "no set of questions is so small that its mean is certain"


@settings(deadline=None)
@given(st.dictionaries(names, st.tuples(wild, groups), min_size=1, max_size=40))
def test_an_open_range_holds_any_number(cases: dict[str, tuple[float, str]]) -> None:
    values, cluster_of = split(cases)
    estimate = resampling(cluster_of).mean(Cell(values))
    assert estimate.value is not None
    if estimate.ci is not None:
        low, high = estimate.ci
        assert math.isfinite(low)
        assert math.isfinite(high)
        assert low <= estimate.value <= high


@settings(deadline=None)
@given(answers, st.randoms())
def test_the_order_of_cases_and_cells_changes_nothing(
    cases: dict[str, tuple[float, str]], random: object
) -> None:
    values, cluster_of = split(cases)
    shuffled = list(cases)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    other = resampling({case: cluster_of[case] for case in shuffled})
    half = {case: values[case] / 2 for case in shuffled}
    in_order = resampling(cluster_of).means([Cell(values, SHARE), Cell(half, SHARE)])
    again = [Cell(half, SHARE), Cell({case: values[case] for case in shuffled}, SHARE)]
    assert other.means(again) == in_order[::-1]


@settings(deadline=None)
@given(answers, groups)
def test_an_unscored_case_changes_nothing(
    cases: dict[str, tuple[float, str]], cluster: str
) -> None:
    values, cluster_of = split(cases)
    known = cluster_of | {f"cluster {name}": name for name in "abcdefghijklm"}
    more = known | {"unscored case": cluster}
    cell = Cell(values, SHARE)
    assert resampling(more).mean(cell) == resampling(known).mean(cell)


@settings(deadline=None)
@given(answers)
def test_a_difference_seen_from_the_other_side_is_the_same(
    cases: dict[str, tuple[float, str]],
) -> None:
    values, cluster_of = split(cases)
    signed = {case: 2 * value - 1 for case, value in values.items()}
    known = Resampling(cluster_of, seed=SEED, resamples=100)
    one = known.delta(Cell(signed, SHARE, paired=True))
    other = known.delta(Cell({case: -x for case, x in signed.items()}, SHARE, paired=True))
    assert other.p_value == one.p_value
    assert other.detectable == pytest.approx(one.detectable)
    if one.estimate.ci is not None:
        assert other.estimate.ci is not None
        low, high = one.estimate.ci
        assert other.estimate.ci == pytest.approx((-high, -low), abs=1e-9)


@settings(deadline=None)
@given(answers, st.floats(1e-3, 1e3), st.floats(-5, 5))
def test_units_do_not_matter(
    cases: dict[str, tuple[float, str]], unit: float, origin: float
) -> None:
    values, cluster_of = split({case: (round(x, 3), group) for case, (x, group) in cases.items()})
    known = resampling(cluster_of)
    one = known.mean(Cell(values, SHARE))
    moved = {case: origin + unit * value for case, value in values.items()}
    other = known.mean(Cell(moved, (origin, origin + unit)))
    assert (one.ci is None) == (other.ci is None)
    if one.ci is not None and one.ci_method == other.ci_method:
        assert other.ci == pytest.approx([origin + unit * end for end in one.ci], abs=1e-7 * unit)


def test_a_difference_is_paired_over_what_both_scored() -> None:
    system = {"a": 1.0, "b": 0.5, "only system": 0.0}
    baseline = {"b": 0.25, "a": 0.0, "only baseline": 1.0}
    assert differences(system, baseline) == {"a": 1.0, "b": 0.25}


def test_nothing_scored_has_no_value() -> None:
    nothing = Estimate(None, None, NOTHING_SCORED, 0, 0)
    known = resampling({"a": "x"})
    single = Estimate(1.0, None, NO_INTERVAL, 1, 1)
    assert known.means([Cell(), Cell({"a": 1.0})]) == [nothing, single]
    assert resampling({}).mean(Cell()) == nothing
    assert known.means([]) == []
    comparison = known.delta(Cell({}, SHARE, paired=True))
    assert (comparison.estimate, comparison.p_value) == (nothing, None)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e101])
def test_a_value_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="case 'bad'"):
        resampling({"good": "x", "bad": "y"}).mean(Cell({"good": 1.0, "bad": value}))


def test_repeats_are_averaged_without_leaving_their_range() -> None:
    assert mean_of_repeats([0.0, 1.0, 0.5]) == 0.5
    assert mean_of_repeats([0.1, 0.1, 0.1]) == 0.1


def test_the_point_estimate_is_the_mean_over_questions_not_over_clusters() -> None:
    cluster_of = {"a": "x", "b": "x", "c": "x", "d": "y"}
    cell = Cell({"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0})
    assert resampling(cluster_of).mean(cell).value == 0.75


# -- which interval ---------------------------------------------------------------------------

SPREAD_OUT = [n / 40 for n in range(40)]


@pytest.mark.parametrize(
    ("values", "span", "paired", "method"),
    [
        ([1.0] * 4, SHARE, False, NO_INTERVAL),
        ([1.0] * 30, SHARE, False, "unseen share, all values being equal"),
        ([0.0] * 30, SHARE, True, "unseen share, all values being equal"),
        ([0.002] * 30, OPEN, False, "all values are equal"),
        ([1.0] * 11 + [0.0], SHARE, False, "mid-P Clopper-Pearson"),
        ([5.0] * 11 + [1.0], (1.0, 5.0), False, "mid-P Clopper-Pearson"),
        ([0.0] * 20 + [1.0, -1.0], SHARE, True, "Bayesian bootstrap with unseen question"),
        ([1.0] * 25 + [0.9] * 5, SHARE, False, "Bayesian bootstrap with unseen question"),
        (SPREAD_OUT, SHARE, False, "studentized bootstrap, 100 resamples"),
        (SPREAD_OUT, SHARE, True, "t with 39 degrees of freedom"),
        (SPREAD_OUT, OPEN, False, "studentized bootstrap, short side halfway to t, 100 resamples"),
        (SPREAD_OUT, OPEN, True, "outer of t and studentized bootstrap, 100 resamples"),
        (SPREAD_OUT[:9], SHARE, True, "t with 8 degrees of freedom; may be too narrow: few que"),
        (SPREAD_OUT[:24], OPEN, True, "outer of t and studentized bootstrap, 100 resamples; may"),
    ],
)
def test_the_rule(values: list[float], span: Range, paired: bool, method: str) -> None:
    assert alone(values, span, paired=paired).ci_method.startswith(method)


def test_few_clusters_are_warned_of_and_alike_clusters_widen() -> None:
    alike = {f"c{n:02}": float(n % 6 != 0) for n in range(48)}
    few = resampling({case: f"g{n % 6}" for n, case in enumerate(alike)})
    many = resampling({case: case for case in alike})
    clustered, single = (known.mean(Cell(alike, SHARE)) for known in (few, many))
    assert clustered.ci_method.endswith("; may be too narrow: few clusters")
    assert "design effect" in clustered.ci_method
    assert clustered.ci is not None
    assert single.ci is not None
    assert clustered.ci[0] < single.ci[0] - 0.1


def test_clusters_of_equal_means_still_leave_doubt() -> None:
    halves = {f"c{n:02}": float(n % 2) for n in range(24)}
    estimate = resampling({case: f"g{int(case[1:]) // 2}" for case in halves}).mean(
        Cell(halves, SHARE)
    )
    assert estimate.ci_method == "t with 11 degrees of freedom"
    assert estimate.ci == pytest.approx((0.5 - 0.2295, 0.5 + 0.2295), abs=1e-3)


def test_types_are_strata_only_where_every_cluster_has_one() -> None:
    rng = np.random.default_rng(5)
    values = {f"c{n:02}": float(rng.random() / 4 + (n % 2) / 2) for n in range(60)}
    type_of = {case: "easy" if int(case[1:]) % 2 else "hard" for case in values}
    own = {case: case for case in values}
    mixed = {case: f"g{int(case[1:]) // 2}" for case in values}

    def width(cluster_of: dict[str, str], types: dict[str, str] | None) -> float:
        known = Resampling(cluster_of, seed=SEED, type_of=types)
        ci = known.mean(Cell(values, SHARE)).ci
        assert ci is not None
        return ci[1] - ci[0]

    assert width(own, type_of) < 0.4 * width(own, None), "what types differ by is no error"
    assert width(mixed, type_of) == width(mixed, None)
    rare = {case: "rare" if case in ("c00", "c01") else kind for case, kind in type_of.items()}
    assert width(own, rare) < 0.7 * width(own, None), "a rare type joins the smallest other one"


def test_strata_are_drawn_each_by_itself() -> None:
    strata = np.array([0, 1, 0, 1, 1, 0, 0])
    weights = draws.counts(SEED, 50, strata)
    assert weights[:, strata == 0].sum(axis=1).tolist() == [4.0] * 50
    assert weights[:, strata == 1].sum(axis=1).tolist() == [3.0] * 50


# -- the draws --------------------------------------------------------------------------------


def test_clusters_are_drawn_evenly() -> None:
    weights = draws.counts(SEED, 5000, np.zeros(7, dtype=np.intp))
    assert weights.sum(axis=1).tolist() == [7.0] * 5000
    assert scipy.stats.chisquare(weights.sum(axis=0)).pvalue > 0.001
    # The variance of one multinomial count: k * 1/k * (1 - 1/k).
    assert weights.var(axis=0).mean() == pytest.approx(6 / 7, rel=0.05)


def test_other_draws_have_their_distributions() -> None:
    weights = draws.exponentials(SEED, 3000, 2).ravel()
    assert scipy.stats.kstest(weights, "expon").pvalue > 0.001
    for half in draws.halves(SEED, 3000):
        assert scipy.stats.kstest(half, scipy.stats.gamma(0.5).cdf).pvalue > 0.001
    signs = np.concatenate(list(draws.signs(SEED, 2000, 70)))
    assert signs.shape == (2000, 70)
    assert set(signs.ravel().tolist()) == {-1.0, 1.0}
    assert np.abs(signs.mean(axis=0)).max() < 0.1


def test_more_draws_than_fit_in_one_block_are_still_one_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    strata = np.zeros(6, dtype=np.intp)

    def drawn() -> list[object]:
        parts = (
            draws.counts(SEED, 20, strata),
            draws.exponentials(SEED, 20, 6),
            np.concatenate(list(draws.signs(SEED, 20, 6))),
        )
        return [part.tolist() for part in parts]

    whole = drawn()
    monkeypatch.setattr("pytest_touchstone.estimate.draws._AT_ONCE", 13)
    assert drawn() == whole


_ELSEWHERE = """
import json
from pytest_touchstone.estimate import Cell, Resampling, seed_from
cluster_of = {f"c{n}": f"g{n % 15}" for n in set(range(60))}
known = Resampling(cluster_of, seed=seed_from("ab" * 32))
roots = {case: int(case[1:]) ** 0.5 / 8 for case in set(cluster_of)}
signs = {case: float(int(case[1:]) % 7 > 2) - (int(case[1:]) % 5 > 3) for case in set(cluster_of)}
score = known.mean(Cell(roots, (0.0, 1.0)))
delta = known.delta(Cell(signs, (0.0, 1.0), paired=True))
print(json.dumps([score.value, score.ci, delta.estimate.ci, delta.p_value]))
"""


def test_intervals_are_the_same_in_every_process_and_on_every_platform() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", _ELSEWHERE],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(printed) == 1
    value, score, delta, p_value = json.loads(printed.pop())
    assert value == pytest.approx(sum(n**0.5 for n in range(60)) / 480, abs=1e-12)
    # Written down once: every platform and every version of numpy must draw the same.
    assert score == pytest.approx(WRITTEN_DOWN["score"], abs=1e-11)
    assert delta == pytest.approx(WRITTEN_DOWN["delta"], abs=1e-11)
    assert p_value == WRITTEN_DOWN["p_value"]


WRITTEN_DOWN = {
    "score": [0.593610017008, 0.672698611232],
    "delta": [0.06112003745, 0.56696009859],
    "p_value": 0.0236,
}


def test_the_seed_comes_from_the_digest() -> None:
    assert seed_from("00000000000000ff" + "0" * 48) == 255
    with pytest.raises(ValueError, match="invalid literal"):
        seed_from("no digest")
