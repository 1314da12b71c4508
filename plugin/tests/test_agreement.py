"""Agreement: the coefficients of scikit-learn and `krippendorff`, and what must always hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (  # type: ignore[import-untyped]
    cohen_kappa_score,
    confusion_matrix,
)

from pytest_touchstone.agreement import (
    MIN_CLUSTERS,
    Coefficient,
    Level,
    Weights,
    agreement,
    cohen_kappa,
    confusion,
    krippendorff_alpha,
    raw_agreement,
)

MARKS = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0])
PAIRS = st.lists(st.tuples(MARKS, MARKS), min_size=2, max_size=40)
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


@given(PAIRS, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_is_that_of_scikit_learn(
    pairs: list[tuple[float, float]], weights: Weights | None
) -> None:
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    names = [1.0, 2.0, 3.0, 4.0, 5.0]
    ours = cohen_kappa(first, second, categories=names, weights=weights)
    if len({*first, *second}) == 1:
        assert ours is None
        return
    theirs = cohen_kappa_score(
        np.array(first).astype(int), np.array(second).astype(int), labels=[1, 2, 3, 4, 5],
        weights=weights,
    )  # fmt: skip
    assert ours == pytest.approx(theirs, abs=1e-12)
    table = confusion_matrix(np.array(first).astype(int), np.array(second).astype(int),
                             labels=[1, 2, 3, 4, 5])  # fmt: skip
    assert confusion(first, second, names) == tuple(map(tuple, table.tolist()))


@given(
    st.lists(
        st.lists(st.one_of(st.none(), MARKS), min_size=3, max_size=3), min_size=1, max_size=25
    ),
    st.sampled_from(LEVELS),
)
def test_alpha_is_that_of_krippendorff_with_what_was_not_read(
    units: list[list[float | None]], level: Level
) -> None:
    read = [[value for value in unit if value is not None] for unit in units]
    paired = [value for unit in read if len(unit) > 1 for value in unit]
    ours = krippendorff_alpha(read, level)
    if len(set(paired)) < 2:
        assert ours is None
        return
    data = np.array([[math.nan if v is None else v for v in unit] for unit in units]).T
    theirs = krippendorff.alpha(reliability_data=data, level_of_measurement=level)
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_alpha_of_shares_is_that_of_krippendorff() -> None:
    rng = np.random.default_rng(1)
    judge = rng.random(60)
    people = np.clip(judge + rng.normal(0, 0.2, 60), 0, 1)
    theirs = krippendorff.alpha(
        reliability_data=np.stack([judge, people]), level_of_measurement="interval"
    )
    pairs = np.stack([judge, people], axis=1).tolist()
    assert krippendorff_alpha(pairs, "interval") == pytest.approx(theirs, abs=1e-12)


def test_cohens_own_example() -> None:
    # Fleiss, Cohen and Everitt 1969, table 1: kappa 0.429 of counts in three categories.
    counts = [[53, 5, 2], [11, 14, 5], [1, 6, 3]]
    cells = [(i, j) for i in range(3) for j in range(3) for _ in range(counts[i][j])]
    first, second = ([float(cell[side]) for cell in cells] for side in (0, 1))
    assert cohen_kappa(first, second) == pytest.approx(0.429, abs=5e-4)
    assert raw_agreement(first, second) == 0.7


@given(PAIRS, st.sampled_from(LEVELS), st.integers(1, 9))
def test_what_holds_of_any_agreement(
    pairs: list[tuple[float, float]], level: Level, size: int
) -> None:
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    clusters = [f"c{index % size}" for index in range(len(pairs))]
    found = agreement(first, second, clusters, level=level)
    turned = agreement(second, first, clusters, level=level)
    assert 0 <= found.raw <= 1
    assert (found.raw, found.pairs) == (turned.raw, len(pairs))
    assert found.difference == pytest.approx(-turned.difference)
    assert (found.kappa is None) == (level == "interval")
    for one, other in ((found.alpha, turned.alpha), (found.kappa, turned.kappa)):
        if one is None or one.value is None:
            continue
        assert other is not None
        assert one.value == pytest.approx(other.value)
        assert one.value <= 1 + 1e-12
        if found.raw == 1:
            assert one.value == pytest.approx(1)
        if one.ci is not None:
            assert len(set(clusters)) >= MIN_CLUSTERS
            assert -1 <= one.ci[0] <= one.value <= one.ci[1] <= 1


def test_an_interval_needs_clusters_and_some_disagreement() -> None:
    first = [0.0, 1.0] * 10
    some = [1 - first[0], *first[1:5], 1 - first[5], *first[6:]]
    apart = [str(index) for index in range(20)]
    assert agreement(first, first, apart, level="nominal").alpha.ci is None
    kappa = agreement(first, some, apart, level="nominal").kappa
    assert kappa is not None
    assert kappa.value == pytest.approx(0.8)
    assert kappa.ci is not None
    assert kappa.ci[0] < 0.8 < kappa.ci[1]
    few = [str(index % 4) for index in range(20)]
    assert agreement(first, some, few, level="nominal").alpha.ci is None
    # One answer alone makes the difference between chance and agreement: that tells no spread.
    lone = agreement([1.0, *[0.0] * 9], [1.0, *[0.0] * 9], apart[:10], level="nominal")
    assert lone.alpha.value == 1
    assert lone.alpha.ci is None


def test_a_judge_who_always_says_the_same_shows_nothing_either_way() -> None:
    people = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0]
    found = agreement([1.0] * 8, people, [f"c{n}" for n in range(8)], level="nominal")
    assert found.kappa == Coefficient(0.0, None)
    assert found.alpha.value is not None


def test_answers_of_one_cluster_do_not_count_as_many() -> None:
    rng = np.random.default_rng(4)
    truth = np.repeat(rng.integers(0, 2, 12), 5).astype(float)
    same_slip = np.repeat(rng.random(12) < 0.25, 5)
    other = np.where(same_slip, 1 - truth, truth)
    clustered = [str(index // 5) for index in range(60)]
    apart = [str(index) for index in range(60)]
    assert _width(truth, other, clustered) > 1.5 * _width(truth, other, apart)


def _width(first: Any, second: Any, clusters: Sequence[str]) -> float:
    ci = agreement(first.tolist(), second.tolist(), clusters, level="nominal").alpha.ci
    assert ci is not None
    return ci[1] - ci[0]


def test_intervals_cover() -> None:
    rng = np.random.default_rng(9)
    inside = total = 0
    for _ in range(400):
        truth = rng.integers(1, 6, 40)
        other = np.clip(truth + rng.choice([-1, 0, 0, 0, 1], 40), 1, 5)
        found = agreement(
            truth.astype(float).tolist(), other.astype(float).tolist(), [str(i) for i in range(40)],
            level="ordinal", categories=[1, 2, 3, 4, 5],
        ).kappa  # fmt: skip
        assert found is not None
        assert found.ci is not None
        total += 1
        inside += found.ci[0] <= _TRUE_KAPPA <= found.ci[1]
    assert inside / total > 0.91


# Of the joint distribution that the simulation draws from.
_JOINT = {
    (t, min(max(t + d, 1), 5)): 0.0 for t in range(1, 6) for d in (-1, 0, 1)
}  # fmt: skip
for _t in range(1, 6):
    for _d, _p in ((-1, 0.2), (0, 0.6), (1, 0.2)):
        _JOINT[_t, min(max(_t + _d, 1), 5)] += _p / 5
_LEFT = {t: sum(p for (a, _), p in _JOINT.items() if a == t) for t in range(1, 6)}
_RIGHT = {t: sum(p for (_, b), p in _JOINT.items() if b == t) for t in range(1, 6)}
_TRUE_KAPPA = 1 - sum(p * (a - b) ** 2 for (a, b), p in _JOINT.items()) / sum(
    _LEFT[a] * _RIGHT[b] * (a - b) ** 2 for a in _LEFT for b in _RIGHT
)


@pytest.mark.parametrize(
    ("first", "second"), [([], []), ([1.0], []), ([1.0, 2.0], [1.0])]
)  # fmt: skip
def test_readers_are_compared_in_pairs(first: list[float], second: list[float]) -> None:
    with pytest.raises(ValueError, match="in pairs"):
        raw_agreement(first, second)


def test_a_value_outside_the_categories_is_named() -> None:
    with pytest.raises(ValueError, match=r"2\.5 is none of the categories 1, 2"):
        cohen_kappa([1, 2.5], [1, 2], categories=[1, 2])
