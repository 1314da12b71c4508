"""What a scorer's values mean: decided once, from pairs whose answer is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from servers.scorer import logit

from pytest_touchstone.scorer.pairs import PAIRS
from pytest_touchstone.scorer.scale import (
    Decision,
    Probe,
    Scale,
    Unclear,
    coverage,
    decide,
    decide_asked,
    sigmoid,
    told_apart,
)

LOGITS = Probe((6.1, 7.5, 3.2, 8.8, 5.0, 2.4, 4.4, 6.6), (-9, -11, -8.5, -10, -7, -11, -9, -6))


def made(change: Callable[[float], float], probe: Probe = LOGITS) -> Probe:
    return Probe(tuple(map(change, probe.covering)), tuple(map(change, probe.unrelated)))


PROBABILITIES = made(sigmoid)
TWICE = made(sigmoid, PROBABILITIES)
COSINES = made(lambda value: 0.45 + value / 20)
MEAN_COSINES = made(lambda value: 0.3 + value / 20)
E5_COSINES = Probe(
    (0.920, 0.910, 0.926, 0.947, 0.923, 0.928, 0.937, 0.955),
    (0.723, 0.730, 0.736, 0.677, 0.764, 0.788, 0.770, 0.807),
)
SUMS = made(lambda value: 20 + value)


@given(st.floats(-1e6, 1e6))
def test_the_sigmoid(value: float) -> None:
    assert sigmoid(value) == pytest.approx(float(expit(value)), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("value", [-1e308, 1e308, 0.0, -745.2])
def test_the_sigmoid_at_the_ends(value: float) -> None:
    assert 0 <= sigmoid(value) <= 1


def test_the_pairs_are_many_and_in_both_languages() -> None:
    assert len(PAIRS) >= 8
    assert {pair.lang for pair in PAIRS} == {"en", "sv"}
    assert len({text for pair in PAIRS for text in pair[1:]}) == 3 * len(PAIRS)
    # Words in common alone tell them apart: so do the servers in these tests.
    assert all(logit(pair.paragraph, pair.covering) > 4 for pair in PAIRS)
    assert all(logit(pair.paragraph, pair.unrelated) < -4 for pair in PAIRS)


@pytest.mark.parametrize(
    ("probe", "scale"),
    [
        (LOGITS, "logit"),
        (PROBABILITIES, "probability"),
        # A model for English alone: half of the covering sources pass.
        (Probe((0.99, 0.99, 0.98, 0.99, 0.6, 0.4, 0.3, 0.2), (0.01,) * 8), "probability"),
        (Probe((6, 7, 5, 8, 1.5, -0.4, 0.3, -1), (-9.0,) * 8), "logit"),
    ],
)
def test_scales_that_are_recognised(probe: Probe, scale: Scale) -> None:
    assert decide(probe, None) == Decision(scale, "probe", None, probe)


@pytest.mark.parametrize(
    ("probe", "why"),
    [
        (TWICE, "sigmoid applied twice"),
        (COSINES, "cosines"),
        (MEAN_COSINES, "cosines"),
        (E5_COSINES, "cosines"),
        (SUMS, "sums without an upper end"),
        (made(lambda value: value - 20), "do not change sign"),
        (Probe((0.8,) * 8, (0.001,) * 8), "may be cosines"),
        (Probe((0.99,) * 8, (0.6,) * 8), "may be cosines"),
    ],
)
def test_scales_that_stay_unclear_say_what_to_set(probe: Probe, why: str) -> None:
    found = decide(probe, None)
    assert isinstance(found, Unclear)
    assert why in found.message
    assert "scorer.scale" in found.message
    assert "\n" not in found.message


@pytest.mark.parametrize("setting", [None, "probability", "logit"])
@pytest.mark.parametrize(
    "probe",
    [
        Probe((0.5,) * 8, (0.5,) * 8),
        Probe(LOGITS.unrelated, LOGITS.covering),
        Probe((1, -1, 1, -1, 1, -1, 1, -1), (-1, 1, -1, 1, -1, 1, -1, 1)),
    ],
)
def test_a_scorer_that_cannot_tell_is_refused_whatever_is_set(
    probe: Probe, setting: Scale | None
) -> None:
    found = decide(probe, setting)
    assert isinstance(found, Unclear)
    assert "does not tell" in found.message


@pytest.mark.parametrize("probe", [E5_COSINES, PROBABILITIES, Probe((0.8,) * 8, (0.1,) * 8)])
def test_the_setting_decides(probe: Probe) -> None:
    assert decide(probe, "probability") == Decision("probability", "setting", None, probe)


def test_the_setting_decides_on_logits_that_do_not_change_sign() -> None:
    probe = made(lambda value: value - 20)
    assert decide(probe, "logit") == Decision("logit", "setting", None, probe)


def test_no_setting_makes_a_sigmoid_applied_twice_a_probability() -> None:
    found = decide(TWICE, "probability")
    assert isinstance(found, Unclear)
    assert "a sigmoid applied twice" in found.message


def test_a_setting_that_cannot_be_is_refused() -> None:
    found = decide(LOGITS, "probability")
    assert isinstance(found, Unclear)
    assert "-11 to 8.8" in found.message
    found = decide(PROBABILITIES, "logit")
    assert isinstance(found, Unclear)
    assert "0.5 to 0.731" in found.message


def test_asked_with_and_without_the_sigmoid() -> None:
    assert decide_asked(PROBABILITIES, LOGITS) == Decision(
        "probability", "activation", "activated", PROBABILITIES
    )


def test_asked_a_weak_scorer_is_known_all_the_same() -> None:
    weak = made(lambda value: value / 4)
    found = decide_asked(made(sigmoid, weak), weak)
    assert isinstance(found, Decision)
    assert found.source == "activation"


def test_asked_a_server_that_ignores_it() -> None:
    assert decide_asked(COSINES, COSINES) is None
    assert decide_asked(made(lambda value: value / 2), LOGITS) is None


def test_asked_a_server_whose_raw_values_are_probabilities() -> None:
    """The activation that is asked for would be the second sigmoid."""
    assert decide_asked(TWICE, PROBABILITIES) == Decision(
        "probability", "probe", "raw", PROBABILITIES
    )


def test_asked_a_server_that_cannot_tell() -> None:
    flat = Probe((2.0,) * 8, (2.0,) * 8)
    assert isinstance(decide_asked(made(sigmoid, flat), flat), Unclear)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_coverage_lies_between_0_and_1_or_is_none(value: float) -> None:
    for scale in ("probability", "logit"):
        covered = coverage(value, scale)
        assert covered is None or 0 <= covered <= 1
    assert (coverage(value, "probability") is None) == (not -1e-3 <= value <= 1.001)


@given(st.floats(-30, 30))
def test_both_scales_agree(value: float) -> None:
    assert coverage(value, "logit") == coverage(sigmoid(value), "probability")


def test_told_apart_is_the_area_under_the_curve() -> None:
    assert told_apart(LOGITS) == 1.0
    assert told_apart(Probe((1.0, 3.0), (2.0, 0.0))) == 0.75
    assert told_apart(Probe((1.0,), (1.0,))) == 0.0
    assert math.isclose(told_apart(E5_COSINES), 1.0)
