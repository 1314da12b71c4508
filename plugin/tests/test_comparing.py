"""What a comparison finds: in snapshots, in questions, in scores, in cases."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from comparisons import SYSTEM, answers, by_people, hostile_pair, report
from gated import Scored, held
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_touchstone.comparing import case_words, compare, data
from pytest_touchstone.comparing.compare import letter
from pytest_touchstone.comparing.model import Against, MeasureDelta, OneSided
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


def test_a_digest_over_chunks_that_other_questions_name_is_no_other_collection() -> None:
    one, two = report({"MRR": EIGHT}), report({"MRR": EIGHT})
    before: Any = {"collection": "c", "points": 99, "chunks": 14, "sha256": "1" * 64}
    one["snapshot"]["corpus"] = before
    two["snapshot"]["corpus"] = before | {"chunks": 13, "sha256": "2" * 64}

    def told(**given: bool) -> list[str]:
        return [where(d) for d in snapshot_differences(one["snapshot"], two["snapshot"], **given)]

    assert told() == ["corpus chunks", "corpus sha256"]
    two["snapshot"]["dataset"] = {**one["snapshot"]["dataset"], "sha256": "3" * 64}
    assert told() == ["dataset sha256"]
    assert told(same_chunks=True) == ["dataset sha256", "corpus chunks", "corpus sha256"]
    two["snapshot"]["corpus"] = {"collection": "d", "points": 98}
    assert told() == ["dataset sha256", "corpus collection", "corpus points"]


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
    assert on(found, "Faithfulness").instrument == "the judge was asked with another judge_claims"
    assert "≠ the judge was asked with another judge_claims: Faith" in told(one, two)


@pytest.mark.parametrize(
    ("changed", "touched"),
    [
        ("judge_claim_verdicts", {"Faithfulness"}),
        ("judge_tone", {"Formality", "Caution"}),
        ("judge_again", {"Faithfulness", "Formality", "Caution"}),
        ("judge_of_another_version", set()),
    ],
)
def test_a_prompt_is_another_instrument_of_the_measures_that_rest_on_it(
    changed: str, touched: set[str]
) -> None:
    one_to_five = [1 + value for value in EIGHT]
    scores = {"Faithfulness": EIGHT, "Formality": one_to_five, "Caution": one_to_five}
    better = {name: [value + 0.3 for value in values] for name, values in scores.items()}
    one = report(scores, origin="judge", judge="one", prompts={changed: "a"})
    two = report(better, origin="judge", judge="one", prompts={changed: "b"})
    found = against(one, two)
    assert {m.measure for m in found.measures if m.instrument is not None} == touched
    for name in scores.keys() - touched:
        assert on(found, name).standing == "better"


def test_behind_a_measure_that_is_not_known_here_there_may_be_every_prompt() -> None:
    found = []
    for digest in "ab":
        made = report({"Faithfulness": EIGHT}, origin="judge", judge="one")
        made["snapshot"]["prompts"] = {"judge_tone": digest, "baseline_answer": digest}
        made["measures"][0]["measure"] = "Later"
        for case in made["cases"]:
            case["scores"] = {"Later": case["scores"]["Faithfulness"]}
        found.append(made)
    (entry,) = against(*found).measures
    assert entry.instrument == "the judge was asked with another judge_tone"


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


def test_cost_is_of_no_judge_that_moved_though_the_system_did_the_same() -> None:
    one = report({"CostPerQuery": [0.1] * 8, "MRR": EIGHT})
    two = report({"CostPerQuery": [0.2, *[0.1] * 7], "MRR": [0.9, *EIGHT[1:]]})
    found = against(one, two)
    assert (on(found, "CostPerQuery").same_output, on(found, "MRR").same_output) == (None, 1)
    assert "Moved though the system did the same: MRR 1 of 1" in told(one, two)
    assert "USD" not in told(one, two)


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
    assert (move.move, move.yardstick.times, move.other.times) == (0.5, 2, 2)
    assert (move.measures[0].yardstick, move.measures[0].other) == (0.25, 0.75)


def test_the_reason_is_that_of_the_instrument() -> None:
    one = report({"Faithfulness": [0.0] * 8}, origin="judge", judge="one")
    two = report({"Faithfulness": [0.5, *[0.0] * 7]}, origin="judge", judge="one")
    by_people(two, "Faithfulness", "q0", 1.0)
    (move,) = against(one, two).moves.better
    assert (move.measures[0].yardstick_why, move.measures[0].other_why) == ("so", "the judge's")
    assert move.measures[0].other == 0.5


def repeated(values: list[Any]) -> Report:
    """One question asked several times, with a text and a reason for each time."""
    made = report({"MRR": [values, *[[0.5] * len(values)] * 7]})
    for entry in made["cases"]:
        entry["answer"] = f"Answer {entry['repeat'] + 1}."
        entry["why"]["MRR"] = f"reason {entry['repeat'] + 1}"
    return made


@pytest.mark.parametrize(
    ("one", "two", "times", "shown", "about"),
    [
        (
            [0.5, 0.5, 0.5],
            [0.5, 0.0, 0.5],
            (3, 3),
            (2, 2),
            "Asked 3 times: scores are means, the answers those of time 2, and each",
        ),
        (
            [0.5, 0.5, 0.5],
            [0.5, 0.0],
            (3, 2),
            (2, 2),
            "Asked 3 times in A and 2 in B: scores are means, the answers those of time 2,",
        ),
        (
            [0.0, 0.5, 1.0],
            [0.0],
            (3, 1),
            (3, 1),
            "Asked 3 times in A and 1 in B: scores are means, the answers those of time 3 in A and"
            " 1 in B,",
        ),
        ([None, 0.5], [0.4, 0.5], (2, 2), (2, 1), "the answers those of time 2 in A and 1 in B"),
    ],
)
def test_of_several_times_one_is_shown_that_moved(
    one: list[Any], two: list[Any], times: tuple[int, int], shown: tuple[int, int], about: str
) -> None:
    found = compare(repeated(one), [repeated(two)])
    (move,) = found.others[0].moves.worse
    assert (move.yardstick.times, move.other.times) == times
    assert (move.yardstick.time, move.other.time) == shown
    assert (move.yardstick.answer, move.other.answer) == tuple(f"Answer {n}." for n in shown)
    (measure,) = move.measures
    assert (measure.yardstick_why, measure.other_why) == tuple(f"reason {n}" for n in shown)
    (line,) = [
        line
        for line in case_words.about(move, found.yardstick, found.others[0].run)
        if line.startswith("Asked")
    ]
    assert about in line


def test_each_measures_reasons_are_of_a_time_at_which_it_moved() -> None:
    values = {"Recall@5": [[0.5, 0.5], *[[0.5, 0.5]] * 7], "MRR": [[0.5, 0.5], *[[0.5, 0.5]] * 7]}
    moved = {"Recall@5": [[0.0, 0.5], *[[0.5, 0.5]] * 7], "MRR": [[0.5, 0.4], *[[0.5, 0.5]] * 7]}
    one, two = report(values), report(moved)
    for made in (one, two):
        for entry in made["cases"]:
            entry["why"] = {name: f"{name} {entry['repeat'] + 1}" for name in entry["scores"]}
    (move,) = against(one, two).moves.worse
    assert (move.yardstick.time, move.other.time) == (1, 1)
    assert [m.other_why for m in move.measures] == ["Recall@5 1", "MRR 2"]


# Scores that one run has and the other lacks


def test_lost_and_gained_scores_are_told_with_case_measure_and_reason() -> None:
    lost: list[Any] = ["judge_unreadable", *EIGHT[1:3], "judge_unreadable", *EIGHT[4:]]
    one = report({"Faithfulness": EIGHT, "Contradictions": [*EIGHT[:7], "judge_refused"]})
    two = report({"Faithfulness": lost, "Contradictions": [*lost[:7], 0.7]})
    found = compare(one, [two])
    against_one = found.others[0]
    assert verdict(against_one, found.yardstick) == (
        "B beside A: no score that both have moved, on 8 gold questions asked alike."
        " B lost 4 scores (judge_unreadable in B) and gained 1 score (judge_refused in A)."
    )
    assert against_one.one_sided == (
        OneSided("q0", ("Faithfulness", "Contradictions"), "yardstick", "judge_unreadable", "none"),
        OneSided("q3", ("Faithfulness", "Contradictions"), "yardstick", "judge_unreadable", "none"),
        OneSided("q7", ("Contradictions",), "other", "judge_refused", "none"),
    )
    assert on(against_one, "Faithfulness").only_yardstick == 2


def test_where_every_score_is_lost_it_is_said() -> None:
    lost: list[Any] = ["judge_refused", *["judge_unreachable"] * 7]
    one, two = report({"MRR": EIGHT}), report({"MRR": lost})
    found = compare(one, [two])
    assert "B lost 8 scores (judge_unreachable 7, judge_refused 1 in B)." in verdict(
        found.others[0], found.yardstick
    )
    assert len(found.others[0].one_sided) == 8


def test_a_value_that_cannot_be_reckoned_with_is_lost() -> None:
    one, two = report({"MRR": EIGHT}), report({"MRR": EIGHT})
    two["cases"][0]["scores"]["MRR"] = float("nan")
    (found,) = against(one, two).one_sided
    assert (found.case, found.reason) == ("q0", "unusable")


# Results that a digest says are the same


def test_the_same_results_are_those_whose_scores_are_the_same_too() -> None:
    one, two = report({"MRR": EIGHT}), report({"MRR": EIGHT})
    two["snapshot"]["results_sha256"] = one["snapshot"]["results_sha256"]
    found = compare(one, [two])
    assert verdict(found.others[0], found.yardstick) == (
        "B beside A: the same results, on 8 gold questions asked alike."
    )
    assert not found.others[0].file_changed


@pytest.mark.parametrize("score", [1.0, None])
def test_a_file_that_was_changed_is_told_from_the_same_results(score: float | None) -> None:
    one, two = report({"MRR": EIGHT}), report({"MRR": EIGHT})
    two["cases"][0]["scores"]["MRR"] = score
    assert one["snapshot"]["results_sha256"] == two["snapshot"]["results_sha256"]
    found = compare(one, [two])
    assert found.others[0].file_changed
    assert not found.others[0].same_results
    said = verdict(found.others[0], found.yardstick)
    assert "the same results," not in said
    assert said.endswith("scores are not: one of the files was changed after its run.")


def test_of_another_system_under_test_the_same_digest_says_nothing() -> None:
    made = Scored(values={"mine": {"MRR": EIGHT}, "plain": {"MRR": [0.5] * 8}}).report()
    made["cases"] = list(made["cases"])
    other = copy.deepcopy(made)
    other["snapshot"]["roles"] = {"system": "plain", "baseline": "mine", "variants": []}
    found = against(made, other)
    assert (found.same_results, found.file_changed) == (False, False)
    assert on(found, "MRR").better == 5


def test_what_people_say_alike_is_not_the_same_result() -> None:
    one = report({"Faithfulness": EIGHT}, origin="judge", judge="one")
    two = report({"Faithfulness": [0.5, *EIGHT[1:]]}, origin="judge", judge="one")
    for made in (one, two):
        by_people(made, "Faithfulness", "q0", 1.0)
        made["snapshot"]["results_sha256"] = "0" * 64
    found = against(one, two)
    assert (found.same_results, found.file_changed) == (False, False)


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
    other_side = {"yardstick": "other", "other": "yardstick"}
    assert sorted((o.case, o.titles, o.scored, o.reason) for o in there.one_sided) == sorted(
        (o.case, o.titles, other_side[o.scored], o.reason) for o in back.one_sided
    )
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
