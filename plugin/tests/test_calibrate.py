"""The calibrated estimate: `ppi-python`'s figures, what it covers, and when it holds its tongue."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_touchstone import student
from pytest_touchstone.calibrate import MIN_LABELS, Calibration, Item, calibrate

HERE = Path(__file__).parent
DATA: list[dict[str, Any]] = json.loads((HERE / "fixtures/ppi_python.json").read_text("utf-8"))[
    "data"
]
WIDE = (-100.0, 100.0)


def answers(data: dict[str, Any]) -> list[Item]:
    told = zip(data["judge"], data["people"], data["probability"], strict=True)
    return [
        Item(judge, str(index), people=people, probability=probability)
        for index, (judge, people, probability) in enumerate(told)
    ]


def drawn(
    judge: Sequence[float], people: Sequence[float], *, clusters: int | None = None
) -> list[Item]:
    """The first answers labelled, as many as there are labels."""
    share = len(people) / len(judge)
    return [
        Item(
            value,
            str(index if clusters is None else index % clusters),
            people=people[index] if index < len(people) else None,
            probability=share if index < len(people) else None,
        )
        for index, value in enumerate(judge)
    ]


@pytest.mark.parametrize("data", DATA, ids=[each["name"] for each in DATA])
def test_the_estimate_is_that_of_ppi_python(data: dict[str, Any]) -> None:
    found = calibrate(answers(data), bounds=WIDE)
    assert found.estimate == pytest.approx(data["estimate"], abs=1e-11)
    assert found.slope == pytest.approx(data["lam"], abs=1e-11)


@pytest.mark.parametrize(
    "data",
    [each for each in DATA if "published" in each],
    ids=[each["name"] for each in DATA if "published" in each],
)
def test_the_benchmark_computes_ppi_as_published(data: dict[str, Any]) -> None:
    judge = np.array(data["judge"])
    read = np.array([people is not None for people in data["people"]])
    said = np.array([people for people in data["people"] if people is not None])
    benchmark = _benchmark()
    given = benchmark.Drawn(said[None], judge[read][None], judge[~read][None])
    low, high = benchmark.ppi_plus_plus(given, student.quantile(0.975, math.inf))
    assert (low[0], high[0]) == pytest.approx(tuple(data["published"]["ci"]), abs=1e-9)


def _benchmark() -> ModuleType:
    path = HERE.parents[1] / "benchmarks/calibration.py"
    spec = importlib.util.spec_from_file_location("calibration_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_with_many_labels_it_is_ppi_as_published() -> None:
    data = next(each for each in DATA if each["name"].startswith("many"))
    found = calibrate(answers(data), bounds=WIDE)
    low, high = data["published"]["ci"]
    assert found.estimate == pytest.approx(data["published"]["estimate"], abs=2e-4)
    assert found.ci == pytest.approx((low, high), abs=3e-4)


def test_people_alone_are_a_t_interval() -> None:
    people = [0.2, 0.9, 0.4, 0.7, 0.5, 0.6, 0.8, 0.1, 0.3, 1.0, 0.55]
    found = calibrate(drawn([0.5, 0.4] * 30, people))
    expected = stats.t.interval(0.95, 10, np.mean(people), stats.sem(people))
    assert found.people is not None
    assert found.people.value == pytest.approx(np.mean(people))
    assert found.people.ci == pytest.approx(expected)
    judge = stats.t.interval(0.95, 59, 0.45, stats.sem([0.5, 0.4] * 30))
    assert found.judge.ci == pytest.approx(judge)


@pytest.mark.parametrize(
    ("truth", "labels", "least"),
    [("normal", 16, 0.92), ("normal", 40, 0.93), ("share", 16, 0.92), ("yes_or_no", 40, 0.92)],
)
def test_it_covers_and_is_narrower_than_people_alone(truth: str, labels: int, least: float) -> None:
    benchmark, times = _benchmark(), 600
    rng = np.random.default_rng(1)
    people, judge, mean = getattr(benchmark, truth)(rng, times, 0.7)
    given = benchmark.Drawn(people[:, :labels], judge[:, :labels], judge[:, labels:])
    low, high = benchmark.ours(given, people)
    alone = benchmark.people_alone(given, student.quantile(0.975, labels - 1))
    assert ((low <= mean) & (mean <= high)).mean() > least
    assert np.nanmean(high - low) < 0.9 * np.mean(alone.high - alone.low)
    assert (high - low <= (alone.high - alone.low) * (1 + 1e-9)).all()


def test_it_covers_in_clusters_drawn_unequally() -> None:
    rng = np.random.default_rng(2)
    inside = total = 0
    for _ in range(300):
        spread = np.repeat(rng.standard_normal((2, 40)), 4, axis=1) * 0.3**0.5
        truth, noise = spread + rng.standard_normal((2, 160)) * 0.7**0.5
        rare = np.arange(160) % 4 == 3
        people = 0.5 + 0.2 * truth + 0.2 * rare
        judge = 0.62 + 0.2 * (0.7 * truth + 0.714 * noise) + 0.2 * rare
        read = {
            *rng.choice(np.flatnonzero(rare), 20, False),
            *rng.choice(np.flatnonzero(~rare), 20, False),
        }
        items = [
            Item(
                float(judge[i]), str(i // 4), people=float(people[i]) if i in read else None,
                probability=(0.5 if rare[i] else 1 / 6) if i in read else None,
            )
            for i in range(160)
        ]  # fmt: skip
        found = calibrate(items, bounds=WIDE)
        assert found.ci is not None
        total += 1
        inside += found.ci[0] <= 0.55 <= found.ci[1]
    assert inside / total > 0.92


@st.composite
def populations(draw: st.DrawFn) -> list[Item]:
    values = st.floats(0, 1)
    items = []
    for _ in range(draw(st.integers(1, 40))):
        certain = draw(st.booleans()) and draw(st.booleans())
        read = not certain and draw(st.booleans())
        items.append(
            Item(
                draw(values),
                draw(st.sampled_from("abcdefghijklmnop")),
                draw(st.floats(0.1, 3)),
                draw(values) if read else None,
                draw(st.floats(0.05, 1)) if read else None,
                certain,
            )
        )
    return items


@given(populations())
def test_what_holds_of_any_calibration(items: list[Item]) -> None:
    found = calibrate(items)
    assert found.population == len(items)
    assert found.labels == sum(item.people is not None for item in items)
    assert (found.people is None) == (found.labels == 0)
    assert (found.slope is None) == (found.estimate is None)
    assert found.slope is None or 0 <= found.slope <= 1
    for value, ci in _means(found):
        assert 0 <= value <= 1
        if ci is not None:
            assert 0 <= ci[0] <= value <= ci[1] <= 1
    if found.ci is not None and found.people is not None:
        assert found.people.ci is not None
        assert _width(found.ci) <= _width(found.people.ci) + 1e-9
    turned = calibrate([*reversed(items)])
    assert turned.judge.value == pytest.approx(found.judge.value)
    assert turned.estimate == pytest.approx(found.estimate, abs=1e-6)


def _means(found: Calibration) -> list[tuple[float, tuple[float, float] | None]]:
    means = [(found.judge.value, found.judge.ci)]
    if found.people is not None:
        means.append((found.people.value, found.people.ci))
    if found.estimate is not None:
        means.append((found.estimate, found.ci))
    return means


def _width(ci: tuple[float, float]) -> float:
    return ci[1] - ci[0]


def test_repeats_share_the_weight_of_their_question() -> None:
    rng = np.random.default_rng(3)
    judge, people = rng.random(40).tolist(), rng.random(15).tolist()
    once = drawn(judge, people)
    thrice = [replace(item, weight=1 / 3) for item in once for _ in range(3)]
    one, three = calibrate(once), calibrate(thrice)
    assert three.estimate == pytest.approx(one.estimate)
    assert three.ci == pytest.approx(one.ci)


def test_failed_answers_are_known_and_lower_the_mean() -> None:
    rng = np.random.default_rng(5)
    judge = rng.uniform(0.5, 1, 60).tolist()
    people = [max(value - 0.1 * rng.random(), 0) for value in judge[:20]]
    answered = drawn(judge, people)
    failed = [Item(0.0, f"f{index}", certain=True) for index in range(20)]
    found, without = calibrate([*answered, *failed]), calibrate(answered)
    assert found.estimate == pytest.approx(0.75 * (without.estimate or 0))
    assert found.judge.value == pytest.approx(0.75 * np.mean(judge))
    assert found.ci is not None
    assert without.ci is not None
    assert _width(found.ci) > _width(without.ci)  # how often it fails is uncertain too


def test_too_few_labels_correct_nothing_and_it_says_so() -> None:
    judge = [0.1 * (index % 10) for index in range(80)]
    people = [0.9 * value for value in judge]
    none = calibrate(drawn(judge, []))
    assert (none.estimate, none.ci, none.people) == (None, None, None)
    assert none.method == "none: people labelled no answer that was drawn for them"
    few = calibrate(drawn(judge, people[: MIN_LABELS - 1]))
    assert (few.estimate, few.ci, few.slope) == (None, None, None)
    assert few.method == "none: too few labels (9, at least 10 needed)"
    assert few.people is not None
    lumped = calibrate(drawn(judge, people[:20], clusters=4))
    assert lumped.estimate is None
    assert lumped.method == "none: 20 labels that count for 4 clusters, at least 5 needed"
    enough = calibrate(drawn(judge, [p + 0.01 * (i % 3) for i, p in enumerate(people[:20])]))
    assert enough.ci is not None
    assert enough.method == "prediction-powered (PPI++), t, 18 degrees of freedom"


def test_labels_that_differ_nowhere_promise_nothing() -> None:
    judge = [float(index % 5 > 0) for index in range(100)]
    agreed = calibrate(drawn(judge, judge[:20]))
    assert agreed.slope == 0
    assert agreed.method == (
        "people alone, t, 19 degrees of freedom: judge and people never differed"
    )
    assert agreed.people is not None
    assert agreed.ci == agreed.people.ci
    same = calibrate(drawn(judge, [1.0] * 20))
    assert (same.estimate, same.ci, same.method) == (1, None, "none: all 20 labels are the same")
    failed = [Item(0.0, f"f{index}", certain=True) for index in range(10)]
    assert calibrate([*drawn(judge, [1.0] * 20), *failed]).ci is None


def test_a_judge_that_knows_nothing_is_left_out() -> None:
    rng = np.random.default_rng(6)
    found = calibrate(drawn([0.8] * 60, rng.random(20).tolist()))
    assert found.slope == 0
    assert found.method.endswith("the judge adds nothing")


@pytest.mark.parametrize(
    "item",
    [
        Item(math.nan, "a"),
        Item(0.5, "a", weight=0),
        Item(0.5, "a", people=0.5),
        Item(0.5, "a", people=0.5, probability=0),
        Item(0.5, "a", people=0.5, probability=1.5),
        Item(0.5, "a", people=0.5, probability=0.5, certain=True),
    ],
)
def test_what_is_no_answer(item: Item) -> None:
    with pytest.raises(ValueError, match=r"an answer has|a label has"):
        calibrate([item])


def test_nothing_is_no_population() -> None:
    with pytest.raises(ValueError, match="no answer"):
        calibrate([])
