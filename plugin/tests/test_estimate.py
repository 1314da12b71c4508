"""Means and intervals: properties, and references from scipy and from the closed form."""

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
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.estimate import (
    NO_INTERVAL,
    NOTHING_SCORED,
    Estimate,
    Resampling,
    differences,
    mean_of_repeats,
    seed_from,
)

SEED = seed_from(hashlib.sha256(b"gold").hexdigest())

names = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=6)
numbers = st.floats(-1e100, 1e100, allow_nan=False)
scored = st.dictionaries(names, st.tuples(numbers, st.sampled_from("abcdefghij")), min_size=1)


def resampling(cluster_of: Mapping[str, str], resamples: int = 100) -> Resampling:
    return Resampling(cluster_of, seed=SEED, resamples=resamples)


def split(cases: Mapping[str, tuple[float, str]]) -> tuple[dict[str, float], dict[str, str]]:
    return (
        {case: value for case, (value, _) in cases.items()},
        {case: cluster for case, (_, cluster) in cases.items()},
    )


@given(scored)
def test_the_interval_lies_within_the_data_and_everything_is_finite(
    cases: dict[str, tuple[float, str]],
) -> None:
    values, cluster_of = split(cases)
    estimate = resampling(cluster_of).mean(values)
    assert estimate.value is not None
    assert min(values.values()) <= estimate.value <= max(values.values())
    assert estimate.n == len(values)
    assert estimate.clusters == len(set(cluster_of.values()))
    if estimate.clusters < 5:
        assert (estimate.ci, estimate.ci_method) == (None, NO_INTERVAL)
    else:
        assert estimate.ci is not None
        low, high = estimate.ci
        assert min(values.values()) <= low <= high <= max(values.values())
        assert estimate.ci_method == "cluster bootstrap, percentile, 100 resamples"


@given(numbers, st.integers(5, 40))
def test_constant_data_have_an_interval_of_no_width(value: float, cases: int) -> None:
    cluster_of = {f"c{n}": f"g{n % 7}" for n in range(cases)}
    estimate = resampling(cluster_of).mean(dict.fromkeys(cluster_of, value))
    assert (estimate.value, estimate.ci) == (value, (value, value))


@given(scored, st.randoms())
def test_the_order_of_cases_and_cells_changes_nothing(
    cases: dict[str, tuple[float, str]], random: object
) -> None:
    values, cluster_of = split(cases)
    shuffled = list(cases)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    other = resampling({case: cluster_of[case] for case in shuffled})
    one_case = {shuffled[0]: values[shuffled[0]]}
    in_order = resampling(cluster_of).means([values, one_case])
    assert other.means([one_case, {case: values[case] for case in shuffled}]) == in_order[::-1]


@given(scored, st.sampled_from("abcdefghij"))
def test_an_unscored_case_changes_nothing(
    cases: dict[str, tuple[float, str]], cluster: str
) -> None:
    values, cluster_of = split(cases)
    known = cluster_of | {f"cluster {name}": name for name in "abcdefghij"}
    more = known | {"unscored case": cluster}
    assert resampling(more).mean(values) == resampling(known).mean(values)


@given(scored)
def test_a_system_does_not_differ_from_itself(cases: dict[str, tuple[float, str]]) -> None:
    values, cluster_of = split(cases)
    delta = resampling(cluster_of).mean(differences(values, values))
    assert delta.value == 0
    assert delta.ci == (None if delta.clusters < 5 else (0, 0))


def test_a_difference_is_paired_over_what_both_scored() -> None:
    system = {"a": 1.0, "b": 0.5, "only system": 0.0}
    baseline = {"b": 0.25, "a": 0.0, "only baseline": 1.0}
    assert differences(system, baseline) == {"a": 1.0, "b": 0.25}
    delta = resampling({name: name for name in system}).mean(differences(system, baseline))
    assert (delta.value, delta.n) == (0.625, 2)


def test_resamples_without_a_scored_case_are_left_out() -> None:
    cluster_of = {f"c{n}": f"g{n}" for n in range(400)}
    values = {f"c{n}": float(n) for n in range(5)}
    estimate = resampling(cluster_of, 4000).mean(values)
    # About exp(-5), or 27 of 4000, draw none of the five; a 0/0 or a 0 in their place would
    # pull the lower end towards NaN or 0 for values this far from 0.
    shifted = resampling(cluster_of, 4000).mean({case: 1000 + x for case, x in values.items()})
    assert estimate.ci is not None
    assert shifted.ci is not None
    assert shifted.ci == pytest.approx([1000 + end for end in estimate.ci], abs=1e-8)


def test_nothing_scored_has_no_value() -> None:
    nothing = Estimate(None, None, NOTHING_SCORED, 0, 0)
    known = resampling({"a": "x"})
    assert known.means([{}, {"a": 1.0}]) == [nothing, Estimate(1.0, None, NO_INTERVAL, 1, 1)]
    assert resampling({}).mean({}) == nothing
    assert known.means([]) == []


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e101])
def test_a_value_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="case 'bad'"):
        resampling({"good": "x", "bad": "y"}).mean({"good": 1.0, "bad": value})


def test_repeats_are_averaged_without_leaving_their_range() -> None:
    assert mean_of_repeats([0.0, 1.0, 0.5]) == 0.5
    assert mean_of_repeats([0.1, 0.1, 0.1]) == 0.1


def test_the_point_estimate_is_the_mean_over_questions_not_over_clusters() -> None:
    cluster_of = {"a": "x", "b": "x", "c": "x", "d": "y"}
    assert resampling(cluster_of).mean({"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0}).value == 0.75


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_every_case_its_own_cluster_is_the_plain_bootstrap_of_scipy(confidence: float) -> None:
    sample = np.random.default_rng(3).beta(0.6, 0.4, size=50)
    values = {f"c{n:02}": float(x) for n, x in enumerate(sample)}
    ours = Resampling(
        {case: case for case in values}, seed=SEED, resamples=40_000, confidence=confidence
    ).mean(values)
    theirs = scipy.stats.bootstrap(
        (sample,),
        np.mean,
        n_resamples=40_000,
        confidence_level=confidence,
        method="percentile",
        random_state=np.random.default_rng(4),
    )
    assert ours.ci is not None
    # Monte-Carlo error of a quantile: sqrt(p (1 - p) / resamples) / density, for both sides.
    se = float(theirs.standard_error)
    tail = (1 - confidence) / 2
    density = scipy.stats.norm.pdf(scipy.stats.norm.ppf(tail)) / se
    error = math.sqrt(2 * tail * (1 - tail) / 40_000) / density
    assert ours.ci == pytest.approx(tuple(theirs.confidence_interval), abs=4 * error)


def test_the_spread_of_a_cluster_mean_is_that_of_the_linearised_ratio() -> None:
    rng = np.random.default_rng(11)
    values: dict[str, float] = {}
    cluster_of: dict[str, str] = {}
    sums, counts = [], []
    for cluster in range(120):
        size = int(rng.integers(1, 9))
        inside = np.clip(rng.normal(rng.normal(0.6, 0.2), 0.1, size), 0, 1)
        sums.append(inside.sum())
        counts.append(size)
        for n, value in enumerate(inside):
            values[f"c{cluster}-{n}"] = float(value)
            cluster_of[f"c{cluster}-{n}"] = f"g{cluster}"
    mean = sum(sums) / sum(counts)
    # Taylor linearisation of a ratio of cluster totals (Cochran 1977, section 2.11), with the
    # divisor of the bootstrap.
    residuals = np.array(sums) - mean * np.array(counts)
    closed_form = math.sqrt(float((residuals**2).sum())) / sum(counts)
    one_sigma = 2 * scipy.stats.norm.cdf(1) - 1
    estimate = Resampling(
        cluster_of, seed=SEED, resamples=20_000, confidence=float(one_sigma)
    ).mean(values)
    assert estimate.ci is not None
    assert (estimate.ci[1] - estimate.ci[0]) / 2 == pytest.approx(closed_form, rel=0.04)
    # Questions taken one by one would look far more certain than the clusters are.
    alone = Resampling(
        {case: case for case in values}, seed=SEED, resamples=20_000, confidence=float(one_sigma)
    ).mean(values)
    assert alone.ci is not None
    assert alone.ci[1] - alone.ci[0] < 0.7 * (estimate.ci[1] - estimate.ci[0])


def test_clusters_are_drawn_evenly() -> None:
    cluster_of = {f"c{n}": f"g{n}" for n in range(7)}
    drawn = resampling(cluster_of, 5000)
    weights = drawn._weights
    assert weights.sum(axis=1).tolist() == [7.0] * 5000
    assert scipy.stats.chisquare(weights.sum(axis=0)).pvalue > 0.001
    # The variance of one multinomial count: k * 1/k * (1 - 1/k).
    assert weights.var(axis=0).mean() == pytest.approx(6 / 7, rel=0.05)


def test_more_draws_than_fit_in_one_block_are_still_one_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster_of = {f"c{n}": f"g{n}" for n in range(6)}
    values = {case: float(n) for n, case in enumerate(cluster_of)}
    whole = resampling(cluster_of).mean(values)
    monkeypatch.setattr("pytest_touchstone.estimate._DRAWS_AT_ONCE", 13)
    assert resampling(cluster_of).mean(values) == whole


_ELSEWHERE = """
import json
from pytest_touchstone.estimate import Resampling, seed_from
cluster_of = {f"c{n}": f"g{n % 6}" for n in set(range(30))}
values = {case: int(case[1:]) ** 0.5 for case in set(cluster_of)}
estimate = Resampling(cluster_of, seed=seed_from("ab" * 32)).mean(values)
print(json.dumps([estimate.value, estimate.ci]))
"""


def test_intervals_are_the_same_in_every_process_and_on_every_platform() -> None:
    answers = {
        subprocess.run(
            [sys.executable, "-c", _ELSEWHERE],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(answers) == 1
    value, ci = json.loads(answers.pop())
    assert value == pytest.approx(sum(n**0.5 for n in range(30)) / 30, abs=1e-12)
    # Written down once: every platform and every version of numpy must draw the same.
    assert ci == pytest.approx(WRITTEN_DOWN, abs=1e-12)


WRITTEN_DOWN = [3.31005818323, 3.80030241014]


def test_the_seed_comes_from_the_digest() -> None:
    assert seed_from("00000000000000ff" + "0" * 48) == 255
    with pytest.raises(ValueError, match="invalid literal"):
        seed_from("no digest")
