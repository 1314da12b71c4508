"""Gates held to reports: what passes, fails, is left open, or was never run, and why."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from gated import Scored, Value, held
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_touchstone.annotations import REPLACED
from pytest_touchstone.gate import Previous, gate_entries, parse
from pytest_touchstone.report import to_json, validate
from pytest_touchstone.report_file import read_report

TWENTY = [1.0] * 14 + [0.0] * 6


def scored(mine: Any = TWENTY, plain: Any = None, name: str = "Recall@5", **given: Any) -> Scored:
    values = {"mine": {name: mine}}
    if plain is not None:
        values["plain"] = {name: plain}
    return Scored(values, **given)


def noisy(seed: int, number: int, mean: float = 0.0) -> list[float]:
    rng = random.Random(seed)
    return [min(max(0.5 + mean + rng.gauss(0, 0.1), 0), 1) for _ in range(number)]


# -- absolute ---------------------------------------------------------------------------------


def test_an_estimate_at_its_bound_passes_and_under_it_fails() -> None:
    at = held("Recall@5 >= 0.7", scored())
    assert (at["outcome"], at["value"], at["expression"]) == ("pass", 0.7, "Recall@5 >= 0.7")
    assert at["ci"] == scored().report()["measures"][0]["system"]["ci"]  # type: ignore[index]
    under = held("Recall@5 >= 0.71", scored())
    assert under["outcome"] == "fail"
    assert under["why"].startswith("0.7 [")
    assert under["why"].endswith("] over 20 questions is below 0.71")


def test_where_less_is_better_the_sides_are_turned() -> None:
    of = {"name": "Contradictions"}
    assert held("Contradictions <= 0.7", scored(**of))["outcome"] == "pass"
    over = held("Contradictions <= 0.6", scored(**of))
    assert over["outcome"] == "fail"
    assert over["why"].endswith(" is above 0.6")


def test_the_last_bits_of_a_mean_decide_nothing() -> None:
    assert held("Recall@5 >= 0.3", scored([0.1, 0.2, 0.6]))["outcome"] == "pass"
    nearly = held("Recall@5 >= 0.7", scored([0.699999] * 20))
    assert nearly["outcome"] == "fail"
    assert nearly["why"].startswith("0.699999 "), "not `0.7 is below 0.7`"


def test_an_end_of_the_interval_is_held_to_the_bound() -> None:
    low, high = scored().report()["measures"][0]["system"]["ci"]  # type: ignore[index,misc]
    for text, value, outcome in (
        (f"lower(Recall@5) >= {low}", low, "pass"),
        (f"lower(Recall@5) >= {low + 0.001}", low, "fail"),
        (f"upper(Recall@5) >= {high}", high, "pass"),
        (f"upper(Recall@5) >= {high + 0.001}", high, "fail"),
    ):
        entry = held(text, scored())
        assert (entry["value"], entry["outcome"]) == (value, outcome), text
        assert entry["ci"] == [low, high]
        assert entry["why"].startswith(f"the {text[:5]} end of 0.7 ")


def test_without_an_interval_its_end_is_left_open() -> None:
    entry = held("lower(Recall@5) >= 0.5", scored([1.0, 1.0, 0.9]))
    assert (entry["outcome"], entry["value"], entry["ci"]) == ("undecided", None, None)
    assert "over 3 questions has no interval: fewer than 5 clusters" in entry["why"]
    assert held("Recall@5 >= 0.5", scored([1.0, 1.0, 0.9]))["outcome"] == "pass"


def test_one_type_alone() -> None:
    mixed = scored(
        [1.0] * 8 + [0.25] * 6, types=["factual"] * 8 + ["multi_turn"] * 6, baseline=None
    )
    entry = held("Recall@5[multi_turn] >= 0.5", mixed)
    assert (entry["outcome"], entry["value"]) == ("fail", 0.25)
    assert "over 6 questions" in entry["why"]
    assert held("lower(Recall@5[factual]) >= 0.5", mixed)["outcome"] == "pass"
    none = held("Recall@5[summary] >= 0.5", mixed)
    assert (none["outcome"], none["why"]) == (
        "not_run",
        "no question of type summary was asked for Recall@5",
    )


# -- what is unscored -------------------------------------------------------------------------


def test_the_share_without_a_score_is_limited() -> None:
    values: list[Value] = [0.5] * 18 + ["judge_unreachable", "not_applicable"]
    entry = held("unscored(Recall@5) <= 0.05", scored(values))
    assert (entry["outcome"], entry["value"], entry["ci"]) == ("fail", 1 / 19, None)
    assert entry["why"] == "0.0526: 1 of 19 questions have no score"
    assert held("unscored(Recall@5) <= 0.06", scored(values))["outcome"] == "pass"


def test_of_a_dimension_the_worst_measure_counts() -> None:
    tone = Scored({"mine": {"Formality": [0.5] * 10, "Caution": [0.5] * 9 + ["judge_unreachable"]}})
    entry = held("unscored(Tone) <= 0.05", tone)
    assert (entry["outcome"], entry["value"]) == ("fail", 0.1)
    assert entry["why"] == "0.1: 1 of 10 questions of Caution have no score"
    assert held("unscored(Formality) <= 0", tone)["outcome"] == "pass"


def test_nothing_scored_is_not_run_rather_than_passed() -> None:
    away = held("Contradictions <= 0.5", scored(["judge_unreachable"] * 6, name="Contradictions"))
    assert (away["outcome"], away["value"]) == ("not_run", None)
    assert away["why"] == "0 of 6 questions have a score (judge_unreachable 6)"
    most = held("Recall@5 >= 0.5", scored([1.0] * 4 + ["judge_unreachable"] * 5))
    assert most["why"] == "4 of 9 questions have a score (judge_unreachable 5)"
    half = held("Recall@5 >= 0.5", scored([1.0] * 5 + ["judge_unreachable"] * 5))
    assert half["outcome"] == "pass"
    none = held("Recall@5 >= 0.5", scored(["not_applicable"] * 6))
    assert none["why"] == "the measure says nothing about what this system does"
    assert none["outcome"] == "not_run"
    assert held("unscored(Recall@5) <= 0", scored(["not_applicable"] * 6))["outcome"] == "not_run"


def test_a_failed_system_is_not_unscored() -> None:
    entry = held("Recall@5 >= 0.5", scored(["system_error"] * 6))
    assert (entry["outcome"], entry["value"]) == ("fail", 0)


# -- not the questions, not the judge ---------------------------------------------------------


def test_part_of_the_questions_is_another_figure() -> None:
    part = scored(applicable={"Recall@5": {"factual": 48}})
    for text in ("Recall@5 >= 0.1", "unscored(Recall@5) <= 1", "Recall@5[factual] >= 0.1"):
        entry = held(text, part)
        assert entry["outcome"] == "not_run"
        assert entry["why"].startswith("20 of 48 questions were selected for Recall@5")
    beside = scored(applicable={"Recall@5": {"factual": 20, "multi_turn": 8}})
    assert held("Recall@5 >= 0.1", beside)["outcome"] == "not_run"
    assert held("Recall@5[factual] >= 0.1", beside)["outcome"] == "pass", "these are all there"


def test_a_run_that_ended_early_is_not_gated() -> None:
    cut = scored([1.0] * 18 + [None, None], [1.0] * 20)
    entry = held("Recall@5 >= 0.1", cut)
    assert entry["outcome"] == "not_run"
    assert entry["why"] == "the run ended before 2 of 20 questions were scored"
    behind = scored([1.0] * 20, [1.0] * 19 + [None])
    assert held("Recall@5 >= 0.1", behind)["outcome"] == "pass"
    entry = held("Recall@5 >= baseline", behind)
    assert entry["why"] == "the run ended before 1 answers of the baseline were scored"
    assert entry["outcome"] == "not_run"


def test_what_was_not_measured_is_named() -> None:
    entry = held("Recall@50 >= 0.1", scored())
    assert entry["why"] == "Recall@50 was not measured in this run; Recall@5 was"
    entry = held("Faithfulness >= 0.1", scored())
    assert entry["why"] == "no judge is configured (setting `judge`)"
    entry = held("Faithfulness >= 0.1", scored(judge="a-model"))
    assert entry["why"] == "Faithfulness was not measured in this run"
    assert entry["outcome"] == "not_run"
    assert held("unscored(tone) <= 0.1", scored())["outcome"] == "not_run"


def test_another_judge_than_the_settings_name_is_none() -> None:
    of = {"name": "Faithfulness", "origin": "judge", "judge": "gpt-4.1"}
    assert held("Faithfulness >= 0.5", scored(**of))["outcome"] == "pass"
    entry = held("Faithfulness >= 0.5", scored(**of, judged_by="offline"))
    assert entry["outcome"] == "not_run"
    assert entry["why"] == "the settings name gpt-4.1 as judge, and offline was it"
    people = scored(name="Faithfulness", origin="human", judge="gpt-4.1", judged_by="offline")
    assert held("Faithfulness >= 0.5", people)["outcome"] == "pass"


# -- relative ---------------------------------------------------------------------------------


def test_the_interval_of_the_difference_decides() -> None:
    better = scored(noisy(1, 40, 0.2), noisy(2, 40))
    entry = held("Recall@5 >= baseline", better)
    delta = better.report()["measures"][0]["delta"]
    assert delta is not None
    assert (entry["value"], entry["ci"]) == (delta["estimate"], delta["ci"])
    assert entry["outcome"] == "pass"
    assert " over 40 pairs with plain: all of the interval meets 0" in entry["why"]
    assert held("Recall@5 >= baseline + 0.1", better)["outcome"] == "pass"
    within = f"{delta['estimate']:.3f}"
    unclear = held(f"Recall@5 >= baseline + {within}", better)
    assert unclear["outcome"] == "undecided"
    assert f"too few questions to tell: the interval holds {within}" in unclear["why"]
    worse = held("Recall@5 >= baseline + 0.5", better)
    assert worse["outcome"] == "fail"
    assert worse["why"].endswith("none of the interval meets 0.5")


def test_an_unchanged_system_passes() -> None:
    values = noisy(3, 12)
    for text in ("Recall@5 >= previous", "Recall@5 >= previous - 0.03"):
        entry = held(text, scored(values), scored(values))
        assert (entry["outcome"], entry["value"]) == ("pass", 0.0)
        assert entry["why"] == "no score differs over 12 pairs with main.json"
    few = held("Recall@5 >= previous", scored([0.5, 1.0]), scored([0.5, 1.0]))
    assert few["outcome"] == "pass"
    more = held("Recall@5 >= previous + 0.9", scored(values), scored(values))
    assert more["outcome"] == "fail", "unchanged is not better"


def test_too_few_clusters_leave_a_difference_open() -> None:
    entry = held("Recall@5 >= previous", scored([0.5, 1.0, 1.0]), scored([0.6, 1.0, 1.0]))
    assert (entry["outcome"], entry["ci"]) == ("undecided", None)
    assert "Δ -0.0333 over 3 pairs with main.json: fewer than 5 clusters" in entry["why"]


def test_only_what_was_asked_alike_is_paired() -> None:
    now = scored(noisy(4, 12), questions={0: "Asked otherwise?"}, chunks={1: "other"})
    entry = held("Recall@5 >= previous - 1", now, scored(noisy(5, 12)))
    assert entry["outcome"] == "pass"
    assert "over 10 pairs with main.json, 2 questions not asked alike there:" in entry["why"]
    moved = scored(noisy(4, 12), clusters=["a", "b", "c", "d", "e", "f"] * 2)
    entry = held("Recall@5 >= previous", moved, scored(noisy(5, 12)))
    assert "over 12 pairs with main.json:" in entry["why"], "a cluster is no part of the task"
    foreign = held("Recall@5 >= previous", now, scored(noisy(5, 12), prefix="z"))
    assert foreign["outcome"] == "not_run"
    assert foreign["why"] == "no question was scored both here and in main.json"
    unmeasured = held("Recall@5 >= previous", now, scored(name="MRR"))
    assert unmeasured["why"] == "main.json has no Recall@5"


def test_failures_count_on_both_sides_of_an_earlier_report() -> None:
    """Were they left out on one side, unchanged unreliability would look like a loss."""
    good: list[Value] = [1.0] * 30
    failing_now: list[Value] = ["system_error", *good[1:]]
    failing_then: list[Value] = [*good[1:], "system_error"]
    entry = held("Recall@5 >= previous", scored(failing_now), scored(failing_then))
    assert entry["value"] == 0
    assert "over 30 pairs with main.json, it failed on 1:" in entry["why"]


def test_a_failing_baseline_makes_no_system_look_better() -> None:
    broken = scored(noisy(1, 12), [*noisy(1, 6), *["system_error"] * 6])
    entry = held("Recall@5[factual] >= baseline", broken)
    assert entry["why"] == "no score differs over 6 pairs with plain"
    delta = broken.report()["measures"][0]["delta"]
    assert delta is not None
    assert delta["pairs"] == 6


def test_another_judge_then_compares_nothing() -> None:
    of = {"name": "Faithfulness", "origin": "judge"}
    now = scored(**of, judge="new")
    entry = held("Faithfulness >= previous", now, scored(**of, judge="old"))
    assert entry["outcome"] == "not_run"
    assert entry["why"] == (
        "the judge was old then and is new now (main.json): the scores cannot be compared"
    )
    asked = scored(**of, judge="new", prompts={"judge_claims": "one", "baseline_answer": "x"})
    again = scored(**of, judge="new", prompts={"judge_claims": "two", "baseline_answer": "x"})
    why = held("Faithfulness >= previous", asked, again)["why"]
    assert why.startswith("the judge was asked with other prompts then: judge_claims (main.json)")
    toned = scored(**of, judge="new", prompts=asked.prompts | {"judge_tone": "one"})
    assert held("Faithfulness >= previous", asked, toned)["outcome"] == "pass"
    again.prompts = {"judge_claims": "one", "baseline_answer": "y"}
    assert held("Faithfulness >= previous", asked, again)["outcome"] == "pass"


def test_without_something_to_compare_with_nothing_is_compared() -> None:
    alone = held("Recall@5 >= baseline", scored(baseline=None))
    assert (alone["outcome"], alone["why"]) == (
        "not_run",
        "the run has no baseline to compare with",
    )
    itself = held("Recall@5 >= baseline", scored(baseline="mine"))
    assert itself["outcome"] == "not_run"
    nowhere = held("Recall@5 >= previous", scored())
    assert "no earlier report was named" in nowhere["why"]


def test_one_type_is_compared_alone() -> None:
    types: Any = ["factual"] * 10 + ["multi_turn"] * 10
    now = scored([0.5] * 10 + [0.2 + n / 100 for n in range(10)], [0.5] * 20, types=types)
    fallen = held("Recall@5[multi_turn] >= baseline", now)
    assert fallen["outcome"] == "fail"
    assert fallen["value"] == pytest.approx(-0.255)
    assert held("Recall@5[factual] >= baseline", now)["outcome"] == "pass"
    # The type is that of this run: an earlier report may have called the question otherwise.
    before = scored([0.5] * 20)
    assert "over 10 pairs" in held("Recall@5[multi_turn] >= previous", now, before)["why"]


def test_repeats_are_averaged_before_they_are_compared() -> None:
    now = scored([[0.0, 1.0]] * 6)
    entry = held("Recall@5 >= previous", now, scored([0.5] * 6))
    assert entry["why"] == "no score differs over 6 pairs with main.json"


def test_a_report_read_back_is_gated_alike() -> None:
    run = scored(noisy(1, 20, 0.1), noisy(2, 20), applicable={"MRR": {"factual": 3}})
    gates = [parse(text) for text in ("Recall@5 >= 0.5", "Recall@5 >= baseline + 0.1")]
    report = run.report()
    assert gate_entries(gates, validate(to_json(report))) == gate_entries(gates, report)


# One minus any of these is exact.
VALUES = st.lists(st.integers(0, 64).map(lambda n: n / 64), min_size=5, max_size=12)


@settings(max_examples=40)
@given(VALUES, st.randoms(use_true_random=False), st.floats(-1, 1))
def test_a_mirrored_measure_has_the_mirrored_outcome(
    mine: list[float], rng: random.Random, margin: float
) -> None:
    """`Contradictions <= previous + d` is `Recall@5 >= previous - d` of one minus the scores."""
    then = [rng.randint(0, 64) / 64 for _ in mine]
    down = held(
        f"Contradictions <= previous + {abs(margin)}",
        scored(mine, name="Contradictions"),
        scored(then, name="Contradictions"),
    )
    up = held(
        f"Recall@5 >= previous - {abs(margin)}",
        scored([1 - x for x in mine]),
        scored([1 - x for x in then]),
    )
    assert down["value"] == pytest.approx(-(up["value"] or 0), abs=1e-9)
    assert down["ci"] is not None
    assert up["ci"] is not None
    assert down["ci"] == pytest.approx([-up["ci"][1], -up["ci"][0]], abs=1e-9)
    if all(abs(end - abs(margin)) > 1e-6 for end in down["ci"]):
        assert down["outcome"] == up["outcome"]


@settings(max_examples=40)
@given(VALUES, VALUES, st.floats(0, 1), st.floats(0, 1))
def test_a_looser_bound_never_turns_a_gate_worse(
    mine: list[float], then: list[float], one: float, other: float
) -> None:
    number = min(len(mine), len(then))
    now, before = scored(mine[:number]), scored(then[:number])
    order = ("fail", "undecided", "pass")
    loose, strict = sorted((one, other))
    for template in ("Recall@5 >= {}", "lower(Recall@5) >= {}"):
        outcomes = [held(template.format(b), now)["outcome"] for b in (strict, loose)]
        assert order.index(outcomes[0]) <= order.index(outcomes[1])
    outcomes = [
        held(f"Recall@5 >= previous - {b}", now, before)["outcome"] for b in (loose, strict)
    ]
    assert order.index(outcomes[0]) <= order.index(outcomes[1])


def test_an_earlier_report_over_part_of_the_questions_compares_nothing() -> None:
    part = scored(TWENTY[:5], applicable={"Recall@5": {"factual": 20}})
    entry = held("Recall@5 >= previous", scored(TWENTY), part)
    assert entry["outcome"] == "not_run"
    assert entry["why"].startswith("main.json: 5 of 20 questions were selected for Recall@5")


def test_peoples_words_on_one_side_are_no_difference() -> None:
    """Two runs with the same answers, of which people read some in the later one."""
    own = noisy(1, 20)
    before = scored(own, name="Faithfulness", origin="judge", judge="m")
    now = before.report()
    now["cases"] = list(now["cases"])
    for case in now["cases"][:10]:
        replaced = {"value": case["scores"]["Faithfulness"], "origin": "judge"}
        case["details"]["Faithfulness"] = {REPLACED: replaced}
        case["scores"]["Faithfulness"] = 0.0
    (entry,) = gate_entries(
        [parse("Faithfulness >= previous")], now, Previous(before.report(), "main.json")
    )
    assert (entry["outcome"], entry["value"]) == ("pass", 0.0)


def test_the_embedded_scorer_is_what_the_settings_name() -> None:
    report = read_report(Path(__file__).parents[2] / "reports" / "sample.json")
    assert report["snapshot"]["settings"]["scorer"]["model"] == "embedded"
    (entry,) = gate_entries([parse("CitationCoverage >= 0.1")], report)
    assert entry["outcome"] == "pass"
    report["snapshot"]["settings"]["scorer"]["model"] = "bge-reranker-v2-m3"
    (other,) = gate_entries([parse("CitationCoverage >= 0.1")], report)
    assert other["outcome"] == "not_run"
    assert "the settings name bge-reranker-v2-m3 as scorer" in other["why"]
