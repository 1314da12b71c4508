"""What a comparison finds: in snapshots, in questions, in scores, in cases."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from comparisons import SYSTEM, answers, by_people, hostile_pair, report
from gated import Scored, held
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_touchstone.comparing import compare, data
from pytest_touchstone.comparing.compare import letter
from pytest_touchstone.comparing.model import Against, MeasureDelta
from pytest_touchstone.comparing.snapshots import snapshot_differences
from pytest_touchstone.comparing.words import remarks, summary, values, verdict, where
from pytest_touchstone.report import Report

MIRRORED = {"▲": "▼", "▼": "▲"}
EIGHT = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]


def against(one: Report, two: Report, **given: int) -> Against:
    (found,) = compare(one, [two], **given).others
    return found


def on(found: Against, measure: str) -> MeasureDelta:
    (entry,) = (one for one in found.measures if one.measure == measure)
    return entry


def told(one: Report, two: Report) -> str:
    found = compare(one, [two])
    return "\n".join(remarks(found.others[0], found.yardstick))


# Snapshots


def differing(part: str, one: Any, two: Any) -> list[tuple[str, str, str]]:
    before, after = report({"MRR": EIGHT}), report({"MRR": EIGHT})
    before["snapshot"][part] = one  # type: ignore[literal-required]
    after["snapshot"][part] = two  # type: ignore[literal-required]
    found = snapshot_differences(before["snapshot"], after["snapshot"])
    return [(where(difference), *values(difference)) for difference in found]


@pytest.mark.parametrize(
    ("part", "one", "two", "said"),
    [
        ("commit", "a" * 40, None, [("commit", "aaaaaaaaaaaa", "null")]),
        ("dirty", False, True, [("dirty", "false", "true")]),
        ("prompts", {"a": "1", "b": "2"}, {"a": "1", "b": "3"}, [("prompts b", '"2"', '"3"')]),
        ("corpus", {"points": 5}, {"points": 6}, [("corpus points", "5", "6")]),
        ("corpus", None, {"points": 6}, [("corpus", "null", '{"points": 6}')]),
        (
            "settings",
            {"systems": {"a.b": {"top": 5, "same": [1, {"x": None}]}}},
            {"systems": {"a.b": {"top": 6, "same": [1, {"x": None}]}}},
            [('settings systems["a.b"].top', "5", "6")],
        ),
        ("settings", {"year": "2022"}, {"year": 2022}, [("settings year", '"2022"', "2022")]),
        ("settings", {"on": 1}, {"on": True}, [("settings on", "1", "true")]),
        ("settings", {"s": [1, 2]}, {"s": [2, 1]}, [("settings s", "[1, 2]", "[2, 1]")]),
        ("settings", {"s": 1}, {"s": 1.0}, []),
        ("settings", {"s": None}, {}, [("settings s", "null", "absent")]),
        ("models", {}, {"judge": {"model": "m"}}, [("models judge", "absent", '{"model": "m"}')]),
        ("settings", {"s": float("nan")}, {"s": 1}, [("settings s", "null", "1")]),
        ("seed", 1, 2, []),
    ],
)
def test_what_differs_is_named_with_both_values(
    part: str, one: Any, two: Any, said: list[tuple[str, str, str]]
) -> None:
    assert differing(part, one, two) == said


def test_how_many_questions_a_measure_applies_to_is_no_difference_of_its_own() -> None:
    one = report({"MRR": EIGHT})
    two = report({"MRR": EIGHT}, applicable={"MRR": {"factual": 99}})
    assert against(one, two).snapshot == ()


def test_a_summary_names_parts_and_prompts() -> None:
    one, two = report({"MRR": EIGHT}), report({"MRR": EIGHT})
    assert summary(against(one, two).snapshot) == "Both were made of the same."
    two["snapshot"]["prompts"] = {"judge_tone": "ab", "baseline_answer": "cd"}
    two["snapshot"]["packages"] = {"numpy": "3", "scipy": "4"}
    said = summary(against(one, two).snapshot)
    assert said == "They differ in prompts (baseline_answer, judge_tone), packages (2)."


# Questions


def test_only_what_both_asked_alike_is_paired() -> None:
    one = report({"MRR": [0.0] * 8, "Recall@5": [0.5] * 8})
    two = report(
        {"MRR": [1.0] * 8, "Recall@5": [0.5] * 8},
        questions={2: "Another question?"},
        chunks={2: "another", 5: "another"},
    )
    one["cases"] = [case for case in one["cases"] if case["case"] != "q7"]
    two["cases"] = [case for case in two["cases"] if case["case"] not in ("q0", "q1")]
    found = against(one, two)
    assert found.questions.alike == 3
    assert found.questions.only_yardstick == ("q0", "q1")
    assert found.questions.only_other == ("q7",)
    assert [(change.case, change.labels) for change in found.questions.changed] == [
        ("q2", ("gold_chunks", "question")),
        ("q5", ("gold_chunks",)),
    ]
    assert on(found, "MRR").delta["pairs"] == 3
    assert told(one, two).splitlines()[0] == (
        "Paired by case: 3 questions asked alike; 2 only in A (q0, q1); 1 only in B (q7);"
        " 2 asked otherwise and not paired (q2, q5; gold_chunks 2, question 1)."
    )


def test_nothing_in_common_is_said() -> None:
    one, two = report({"MRR": EIGHT}), report({"MRR": EIGHT}, prefix="other")
    found = compare(one, [two])
    assert found.others[0].measures == ()
    assert found.others[0].moves.better == ()
    assert "no question that both asked alike has a score in both: MRR" in told(one, two)
    assert verdict(found.others[0], found.yardstick) == (
        "B beside A on 0 gold questions asked alike: no measure could be compared."
    )


def test_labels_that_change_nothing_in_the_task_do_not_part_a_pair() -> None:
    one = report({"MRR": EIGHT})
    two = report({"MRR": EIGHT}, types=["summary"] * 8, clusters=["c"] * 8)
    assert against(one, two).questions.alike == 8


def test_a_run_that_was_cut_short_says_so() -> None:
    one, two = report({"MRR": EIGHT}), report({"MRR": [0.1, None, *EIGHT[2:]]})
    two["snapshot"]["run"]["finished_at"] = None
    assert "B was cut short" in told(one, two)
    assert on(against(one, two), "MRR").only_yardstick == 1


# Scores


def test_a_difference_is_that_of_a_gate_against_the_earlier_report() -> None:
    values = {"Recall@5": [0.1, 0.9, 0.4, 0.4, 0.2, 0.7, 0.3, 0.6]}
    later = {"Recall@5": [0.3, 0.8, 0.9, 0.4, 0.5, 0.9, 0.3, 0.9]}
    gate = held(
        "Recall@5 >= previous - 0.05",
        Scored(values={SYSTEM: dict(later)}, baseline=None),
        Scored(values={SYSTEM: dict(values)}, baseline=None),
    )
    delta = on(against(report(values), report(later)), "Recall@5").delta
    assert delta["estimate"] == gate["value"]
    assert delta["ci"] == gate["ci"]


def test_p_is_adjusted_over_the_measures_of_a_comparison() -> None:
    better = [value + 0.3 for value in EIGHT]
    one = report({"Recall@5": EIGHT, "MRR": EIGHT, "nDCG@10": EIGHT})
    two = report({"Recall@5": better, "MRR": better, "nDCG@10": EIGHT})
    found = against(one, two)
    delta = on(found, "MRR").delta
    assert delta["p_value"] == pytest.approx(2 / 2**8)
    assert delta["p_adjusted"] == pytest.approx(3 * 2 / 2**8)
    assert (on(found, "MRR").standing, on(found, "nDCG@10").standing) == ("better", "undecided")
    assert verdict(found, compare(one, [two]).yardstick) == (
        "B beside A on 8 gold questions asked alike, over 3 measures and corrected for their"
        " number: better on 2 (Recall@5, MRR), undecided on 1 (nDCG@10)."
    )


def test_a_few_questions_decide_nothing() -> None:
    one, two = report({"MRR": [0.2, 0.3, 0.4]}), report({"MRR": [0.5, 0.3, 0.4]})
    found = compare(one, [two])
    assert verdict(found.others[0], found.yardstick) == (
        "B beside A on 3 gold questions asked alike: scores moved on 1 measure, and so few"
        " questions tell nothing from chance."
    )


def test_each_of_several_is_compared_with_the_first() -> None:
    reports = [report({"MRR": [value] * 8}) for value in (0.2, 0.5, 0.1)]
    found = compare(reports[0], reports[1:])
    assert [one.run.letter for one in found.others] == ["B", "C"]
    deltas = [on(one, "MRR").delta["estimate"] for one in found.others]
    assert deltas == pytest.approx([0.3, -0.1])
    assert deltas[1] == on(against(reports[0], reports[2]), "MRR").delta["estimate"]


def test_letters_go_on_behind_z() -> None:
    assert [letter(place) for place in (0, 25, 26, 51, 52, 702)] == [
        "A", "Z", "AA", "AZ", "BA", "AAA",
    ]  # fmt: skip


def test_measures_that_are_not_in_both_are_left_out() -> None:
    one, two = report({"MRR": EIGHT, "Recall@5": EIGHT}), report({"MRR": EIGHT, "nDCG@10": EIGHT})
    found = against(one, two)
    assert [(left.title, left.why) for left in found.left_out] == [
        ("nDCG@10", "the yardstick does not have it"),
        ("Recall@5", "only the yardstick has it"),
    ]
    two["measures"][0]["range"] = [0, 5]
    assert against(one, two).left_out[0].why == "its range is another"


def test_other_judges_prompts_and_scorers_are_other_instruments() -> None:
    scores = {"Faithfulness": EIGHT}
    one = report(scores, origin="judge", judge="one", prompts={"judge_claims": "a", "x": "b"})
    two = report(scores, origin="judge", judge="two", prompts={"judge_claims": "a", "x": "c"})
    assert on(against(one, two), "Faithfulness").instrument == "the judge was one and is two"
    two["snapshot"]["models"] = one["snapshot"]["models"]
    assert on(against(one, two), "Faithfulness").instrument is None
    two["snapshot"]["prompts"] = {"judge_claims": "b", "judge_tone": "b", "x": "b"}
    found = compare(one, [two]).others[0]
    assert on(found, "Faithfulness").instrument == (
        "the judge was asked with another judge_claims, judge_tone"
    )
    assert "≠ the judge was asked with another judge_claims, judge_tone: Faith" in told(one, two)


def test_computed_measures_know_no_judge() -> None:
    one, two = report({"MRR": EIGHT}, judge="one"), report({"MRR": EIGHT}, judge="two")
    assert on(against(one, two), "MRR").instrument is None


def test_what_other_instruments_say_is_no_verdict() -> None:
    better = [value + 0.3 for value in EIGHT]
    one = report({"Faithfulness": EIGHT}, origin="judge", judge="one")
    two = report({"Faithfulness": better}, origin="judge", judge="two")
    found = compare(one, [two])
    assert verdict(found.others[0], found.yardstick) == (
        "B beside A on 8 gold questions asked alike: no measure could be compared."
        " One measure was read by different instruments: what moved may be theirs."
    )


def test_values_are_the_instruments_own_not_peoples() -> None:
    one = report({"Faithfulness": EIGHT}, origin="judge", judge="one")
    two = report({"Faithfulness": EIGHT}, origin="judge", judge="one")
    two = by_people(two, "Faithfulness", "q0", 1.0)
    found = on(against(one, two), "Faithfulness")
    assert (found.delta["estimate"], found.better, found.worse) == (0, 0, 0)


def test_a_judge_whose_every_word_people_replaced_is_an_instrument_all_the_same() -> None:
    one = report({"Faithfulness": EIGHT}, origin="human", judge="one")
    two = report({"Faithfulness": EIGHT}, origin="human", judge="two")
    for n in range(8):
        by_people(one, "Faithfulness", f"q{n}", 1.0)
        by_people(two, "Faithfulness", f"q{n}", 1.0)
    assert on(against(one, two), "Faithfulness").instrument == "the judge was one and is two"


def test_failures_of_either_side_count_with_the_worst_value() -> None:
    one = report({"Recall@5": ["system_error", *EIGHT[1:]]})
    two = report({"Recall@5": [1.0, *EIGHT[1:-1], "system_error"]})
    error: Any = {"kind": "raised", "message": "no luck"}
    one["cases"][0] |= {"answer": None, "error": error}
    two["cases"][7] |= {"answer": None, "error": error}
    found = on(against(one, two), "Recall@5")
    assert (found.delta["pairs"], found.better, found.worse) == (8, 1, 1)
    assert "System errors: A failed on 1 question, B on 1; they count" in told(one, two)


def test_values_that_no_mean_can_hold_are_left_out() -> None:
    one, two = report({"MRR": EIGHT}), report({"MRR": EIGHT})
    two["cases"][0]["scores"]["MRR"] = float("nan")
    two["cases"][1]["scores"]["MRR"] = 1e300
    assert on(against(one, two), "MRR").delta["pairs"] == 6


# Cases


def test_a_case_moves_by_dimension_not_by_measure() -> None:
    one = report({"Recall@5": [0.5] * 8, "MRR": [0.5] * 8, "Faithfulness": [0.5] * 8})
    two = report(
        {
            "Recall@5": [1.0, 0.5, *[0.5] * 6],
            "MRR": [0.75, 0.5, *[0.5] * 6],
            "Faithfulness": [0.5, 1.0, 0.25, *[0.5] * 5],
        }
    )
    moves = against(one, two).moves
    assert [(move.case, move.move) for move in moves.better] == [("q1", 0.5), ("q0", 0.375)]
    assert [(move.case, move.move) for move in moves.worse] == [("q2", -0.25)]
    assert [(m.measure, m.move) for m in moves.better[1].measures] == [
        ("Recall@5", 0.5), ("MRR", 0.25),
    ]  # fmt: skip


def test_lower_can_be_better_and_cost_moves_no_case() -> None:
    one = report({"Contradictions": [1.0] * 8, "CostPerQuery": [0.1] * 8})
    two = report({"Contradictions": [0.0, *[1.0] * 7], "CostPerQuery": [0.1, 9.0, *[0.1] * 6]})
    found = against(one, two)
    assert [(move.case, move.move) for move in found.moves.better] == [("q0", 1.0)]
    assert found.moves.worse == ()
    assert (on(found, "CostPerQuery").worse, on(found, "Contradictions").better) == (1, 1)


def test_only_a_handful_is_shown_and_all_are_counted() -> None:
    one, two = report({"MRR": [0.0] * 8}), report({"MRR": [*EIGHT[1:], 0.8]})
    moves = against(one, two, shown=2).moves
    assert [move.case for move in moves.better] == ["q7", "q6"]
    assert (moves.all_better, moves.all_worse) == (8, 0)
    assert against(one, two, shown=0).moves.better == ()


def test_a_verdict_that_moved_alone_is_told_from_an_answer_that_did() -> None:
    one, two = report({"MRR": [0.0] * 8}), report({"MRR": [1.0, 0.9, 0.8, *[0.0] * 5]})
    answers(two, q1="Another answer.")
    two["cases"][2]["filters"] = {"year": "2022"}
    found = against(one, two)
    assert [(move.case, move.same) for move in found.moves.better] == [
        ("q0", "output"), ("q1", None), ("q2", "answer"),
    ]  # fmt: skip
    assert found.moves.better[1].yardstick.answer == "The answer to q1."
    assert found.moves.better[1].other.answer == "Another answer."
    assert on(found, "MRR").same_output == 1
    assert "Moved though the system did the same: MRR 1 of 3" in told(one, two)


def test_a_case_that_was_asked_several_times_moves_by_its_means() -> None:
    one = report({"MRR": [[0.0, 0.5], *[[0.0, 0.0]] * 7]})
    two = report({"MRR": [[1.0, 0.5], *[[0.0, 0.0]] * 7]})
    (move,) = against(one, two).moves.better
    assert (move.move, move.repeats) == (0.5, 2)
    assert (move.measures[0].yardstick, move.measures[0].other) == (0.25, 0.75)


def test_the_reason_is_that_of_the_instrument() -> None:
    one = report({"Faithfulness": [0.0] * 8}, origin="judge", judge="one")
    two = report({"Faithfulness": [0.5, *[0.0] * 7]}, origin="judge", judge="one")
    by_people(two, "Faithfulness", "q0", 1.0)
    (move,) = against(one, two).moves.better
    assert (move.measures[0].yardstick_why, move.measures[0].other_why) == ("so", "the judge's")
    assert move.measures[0].other == 0.5


# What holds of any two reports

value = st.one_of(
    st.none(),
    st.just("judge_unreachable"),
    st.just("system_error"),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.5, 1.0]),
)


@st.composite
def reports(draw: st.DrawFn, number: int = 1) -> list[Report]:
    cases = draw(st.integers(1, 9))
    clusters = draw(st.lists(st.sampled_from("abcdefgh"), min_size=cases, max_size=cases))
    made = []
    for _ in range(number):
        scores = {
            name: draw(st.lists(value, min_size=cases, max_size=cases))
            for name in ("Recall@5", "Contradictions")
        }
        found = report(scores, clusters=clusters)
        for entry in found["cases"]:
            entry["answer"] = draw(st.sampled_from([None, "yes", "no"]))
        made.append(found)
    return made


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_a_report_beside_itself_shows_nothing(made: list[Report]) -> None:
    (one,) = made
    found = against(one, copy.deepcopy(one))
    assert found.snapshot == ()
    assert found.same_results
    assert (found.questions.only_yardstick, found.questions.only_other) == ((), ())
    assert found.questions.changed == ()
    assert (found.moves.all_better, found.moves.all_worse) == (0, 0)
    for entry in found.measures:
        assert entry.delta["estimate"] == 0
        assert entry.yardstick == entry.other
        assert (entry.better, entry.worse, entry.same_output) == (0, 0, 0)
        assert (entry.only_yardstick, entry.only_other) == (0, 0)
        assert entry.delta["p_value"] in (None, 1.0)
        assert entry.standing == "undecided"
        assert entry.instrument is None


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(reports(number=2))
def test_changing_places_changes_signs(made: list[Report]) -> None:
    one, two = made
    there, back = against(one, two), against(two, one)
    assert [m.measure for m in there.measures] == [m.measure for m in back.measures]
    for entry, mirror in zip(there.measures, back.measures, strict=True):
        assert entry.delta["estimate"] == -mirror.delta["estimate"]
        assert entry.delta["p_value"] == mirror.delta["p_value"]
        assert entry.delta["p_adjusted"] == mirror.delta["p_adjusted"]
        assert entry.delta["pairs"] == mirror.delta["pairs"]
        if entry.delta["ci"] is None or mirror.delta["ci"] is None:
            assert entry.delta["ci"] == mirror.delta["ci"]
        else:
            mirrored = [-end for end in reversed(mirror.delta["ci"])]
            assert entry.delta["ci"] == pytest.approx(mirrored, abs=1e-9)
        assert (entry.yardstick, entry.other) == (mirror.other, mirror.yardstick)
        assert (entry.better, entry.worse) == (mirror.worse, mirror.better)
        assert entry.same_output == mirror.same_output
    for mine, other in (
        (there.moves.better, back.moves.worse),
        (there.moves.worse, back.moves.better),
    ):
        assert [(move.case, move.move) for move in mine] == [(m.case, -m.move) for m in other]
        assert [move.yardstick for move in mine] == [move.other for move in other]


def test_data_hold_whole_texts() -> None:
    one, two = hostile_pair(cases=4, longest=100_000)
    told = data(compare(one, [two]))
    texts = [move["yardstick"]["answer"] for move in told["others"][0]["moves"]["worse"]]
    assert any(len(text or "") > 100_000 for text in texts)
