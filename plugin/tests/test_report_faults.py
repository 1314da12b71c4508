"""What went wrong, by kind: of judge, scorer and measures too."""

from __future__ import annotations

from gated import Scored, held

from pytest_touchstone.report.notes import notes

REASONS = ("judge_unreachable", "judge_unreachable", "judge_refused", "budget", 0.5, "no_price")


def scored() -> Scored:
    return Scored(
        {
            "mine": {
                "Faithfulness": REASONS,
                "CitationCoverage": ["scorer_unreachable"] * 2 + ["measure_error"] + [0.5] * 3,
            },
            "plain": {"Faithfulness": ["judge_unreachable", *[0.5] * 5]},
        }
    )


def test_each_kind_has_a_count_and_a_case() -> None:
    report = scored().report()
    faults = [
        (f["source"], f["system"], f["kind"], f["count"], f["case"])
        for f in report["findings"]["faults"]
    ]
    assert faults == [
        ("judge", "mine", "judge_refused", 1, "q2"),
        ("judge", "mine", "judge_unreachable", 2, "q0"),
        ("judge", "plain", "judge_unreachable", 1, "q0"),
        ("scorer", "mine", "scorer_unreachable", 2, "q0"),
        ("measure", "mine", "measure_error", 1, "q2"),
        ("budget", "mine", "budget", 1, "q3"),
    ]
    assert {f["message"] for f in report["findings"]["faults"]} == {"none"}


def test_they_are_told_beneath_the_table() -> None:
    lines = list(notes(scored().report()))
    assert "Faults of the judge: judge_unreachable on 2 scores of mine; q0: none" in lines, lines
    assert "Faults of the scorer: scorer_unreachable on 2 scores of mine; q0: none" in lines
    assert "Faults of the measure: measure_error on 1 score of mine; q2: none" in lines
    assert not any("no_price" in line for line in lines if line.startswith("Faults"))


def test_a_budget_that_took_questions_away_leaves_a_gate_not_run() -> None:
    gone = Scored({"mine": {"MRR": [1.0, 1.0, 1.0, "budget"]}, "plain": {"MRR": [0.5] * 4}})
    assert held("MRR >= 0.5", gone)["outcome"] == "not_run"
    assert "the budget was spent before 1 of 4" in held("MRR >= 0.5", gone)["why"]
    other = Scored({"mine": {"MRR": [1.0] * 4}, "plain": {"MRR": [0.5, 0.5, 0.5, "budget"]}})
    assert held("MRR >= 0.5", other)["outcome"] == "pass"
    entry = held("MRR >= baseline", other)
    assert (entry["outcome"], "1 answers of the baseline" in entry["why"]) == ("not_run", True)
