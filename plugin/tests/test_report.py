"""A report is a pure function of a run's rows: its content, its digest, its text, its table."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pytest_touchstone.report
from pytest_touchstone.gold import Case, CaseType, GoldChunk, GoldMessage
from pytest_touchstone.measures import parse
from pytest_touchstone.report import (
    Report,
    ReportError,
    RunConfig,
    build_report,
    measure_info,
    report_name,
    schema,
    table_lines,
    to_json,
    validate,
)
from pytest_touchstone.report.display import display_width
from pytest_touchstone.report.model import MeasureEntry
from pytest_touchstone.report.rows import (
    CaseRow,
    PassageRef,
    PlanRow,
    QuestionRow,
    RunRecord,
    ScoreRow,
    StoredPassage,
    nothing_judged,
)

SCHEMA_FILE = Path(pytest_touchstone.report.__file__).with_name("report.schema.json")
MEASURES = ("CostPerQuery", "Recall@5", "FilterExactMatch", "SilentFailure", "MRR")
SYSTEMS = ("assistant", "plain", "history")
TYPES: tuple[CaseType, ...] = (
    "factual",
    "multi_turn",
    "factual",
    "edge_case",
    "factual",
    "factual",
)


@dataclass
class Rows:
    """The rows of a run, to be changed before the report is built."""

    run: RunRecord
    cases: list[CaseRow]
    plan: list[PlanRow] = field(default_factory=list)
    questions: list[QuestionRow] = field(default_factory=list)
    scores: list[ScoreRow] = field(default_factory=list)
    passages: dict[str, StoredPassage] = field(default_factory=dict)

    def report(self) -> Report:
        return build_report(
            self.run,
            cases=self.cases,
            plan=self.plan,
            questions=self.questions,
            scores=self.scores,
            passages=self.passages,
        )

    def at(self, case: str, system: str, measure: str) -> int:
        """Place of a score among the rows."""
        wanted = (case, system, measure)
        return next(
            place
            for place, row in enumerate(self.scores)
            if (row.case_id, row.system, row.measure) == wanted
        )

    def asked(self, case: str, system: str) -> int:
        """Place of a question among the rows."""
        return next(
            place
            for place, row in enumerate(self.questions)
            if (row.case_id, row.system) == (case, system)
        )


def config() -> RunConfig:
    return {
        "plugin_version": "0.1.0",
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "dirty": False,
        "dataset": {"path": "gold.jsonl", "sha256": "ab" * 32, "counts": {"factual": 4}},
        "selection": {"split": None, "sample": None, "applicable": {}},
        "settings_sha256": "cd" * 32,
        "settings": {"floors": {"Recall@5": 0.5}},
        "roles": {"system": "assistant", "baseline": "plain", "variants": ["history"]},
        "systems": {name: {"ask": f"my.systems:{name}"} for name in SYSTEMS},
        "models": {"generator": {"model": "extractive"}},
        "prompts": {"answer": "ef" * 32},
        "corpus": {"collection": "demo", "points": 12},
        "prices": {},
        "seed": 7,
        "resamples": 200,
        "confidence": 0.95,
        "packages": {"numpy": "2.0"},
        "measures": [measure_info(parse(name)) for name in MEASURES],
    }


def sample() -> Rows:
    """Six questions, three systems; the system finds more, the baseline infers no filters."""
    cases = [
        Case(
            f"q{n}", kind, f"Question {n}?", gold_chunks=(GoldChunk(f"chunk{n}"),), cluster=f"c{n}"
        )
        for n, kind in enumerate(TYPES)
    ]
    history = (GoldMessage("user", "Before?", {"year": 2022}), GoldMessage("assistant", "Then."))
    cases[1] = replace(cases[1], history=history, filters={"year": 2022})
    run = RunRecord(
        "run-1", "2026-11-30T14:30:00Z", "2026-11-30T14:30:12.500Z", config(), peak_in_flight=8
    )
    rows = Rows(run, [CaseRow(case, n) for n, case in enumerate(cases)])
    for n, case in enumerate(cases):
        for system in SYSTEMS:
            rows.questions.append(_question(case, system, n))
            rows.plan += [PlanRow(case.id, system, name) for name in MEASURES]
            rows.scores += _scores(case, system, n)
    rows.passages = {f"d{n}": StoredPassage(f"Text {n}", {"year": n}) for n in range(9)}
    return rows


def _question(case: Case, system: str, n: int) -> QuestionRow:
    return QuestionRow(
        case.id,
        system,
        case.question,
        answer=f"Answer {n} of {system}",
        passages=[PassageRef(f"chunk{n}", 0.5, f"d{n}"), PassageRef("chunk0", 0.25, "d0")],
        filters=None if system == "plain" else {"year": 2022},
        usage=[
            {"model": "m", "input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2},
        ],
        cost_usd=0.001 * (n + 1),
        duration_ms=100.0 * (n + 1),
    )


def _scores(case: Case, system: str, n: int) -> Iterator[ScoreRow]:
    better = {"assistant": 1.0, "history": 0.75, "plain": 0.5}[system]
    yield ScoreRow(case.id, system, "Recall@5", better if n else 0.25, "found some")
    yield ScoreRow(case.id, system, "MRR", better, "rank", detail={"ranks": [1, None]})
    yield ScoreRow(case.id, system, "CostPerQuery", 0.001 * (n + 1), "one call")
    if system == "plain":
        for name in ("FilterExactMatch", "SilentFailure"):
            yield ScoreRow(
                case.id, system, name, None, "reported none", "no_filters",
                detail={"if_none_inferred": 0.0},
            )  # fmt: skip
    else:
        yield ScoreRow(case.id, system, "FilterExactMatch", float(n % 2), "compared")
        detail = {"observed": "failed_silently", "contradicted": n == 3} if n == 3 else {}
        yield ScoreRow(case.id, system, "SilentFailure", float(n == 3), "seen", detail=detail)


def entry(report: Report, measure: str) -> MeasureEntry:
    return next(item for item in report["measures"] if item["measure"] == measure)


# The format


def test_keys_stand_in_the_order_of_the_format() -> None:
    report = sample().report()
    assert list(report) == [
        "snapshot",
        "measures",
        "gates",
        "cases",
        "cost",
        "findings",
        "timing",
        "passages",
    ]
    assert list(report["snapshot"])[:2] == ["schema_version", "run"]
    assert list(json.loads(to_json(report))) == list(report)


def test_the_shipped_schema_is_generated_from_the_model() -> None:
    assert json.loads(SCHEMA_FILE.read_text("utf-8")) == schema(), (
        "write it anew: python -c 'import json; from pytest_touchstone.report import schema; "
        f"print(json.dumps(schema(), indent=2))' > {SCHEMA_FILE.name}"
    )
    jsonschema.Draft202012Validator.check_schema(schema())


def test_a_report_has_the_format_and_reads_back() -> None:
    report = sample().report()
    text = to_json(report)
    jsonschema.Draft202012Validator(schema()).validate(json.loads(text))
    assert validate(text) == report
    assert to_json(validate(text)) == text


def test_what_does_not_have_the_format_is_named_line_by_line() -> None:
    report: Any = json.loads(to_json(sample().report()))
    report["gates"] = [{"expression": "Recall@5 > 0.5", "outcome": "maybe"}]
    report["cases"][3]["gold"]["type"] = 3
    report["extra"] = 1
    with pytest.raises(ReportError) as caught:
        validate(json.dumps(report))
    faults = str(caught.value).splitlines()
    assert any(fault.startswith("gates.0.outcome: ") for fault in faults)
    assert any(fault.startswith("gates.0.why: ") for fault in faults)
    assert any(fault.startswith("cases.3.gold.type: ") for fault in faults)
    assert any(fault.startswith("extra: ") for fault in faults)
    with pytest.raises(ReportError, match="Invalid JSON"):
        validate("{")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
any_text = st.text(st.characters())


@given(any_text, any_text, st.dictionaries(any_text, json_values, max_size=3), st.floats())
def test_any_text_and_number_becomes_strict_json(
    answer: str, passage: str, data: dict[str, Any], number: float
) -> None:
    rows = sample()
    place = rows.asked("q2", "assistant")
    rows.questions[place] = rows.questions[place]._replace(
        answer=answer,
        filters=data,
        cost_usd=number,
        duration_ms=number,
        passages=[PassageRef(passage, number, "d1")],
    )
    rows.passages["d1"] = StoredPassage(passage, data)
    score = rows.at("q2", "assistant", "MRR")
    rows.scores[score] = rows.scores[score]._replace(value=number, why=answer, detail=data)
    report = rows.report()
    text = to_json(report)
    text.encode("utf-8")
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    validate(text)
    assert all(line.isprintable() for line in table_lines(report, width=100))


def test_half_surrogate_pairs_become_a_replacement_character() -> None:
    rows = sample()
    place = rows.asked("q0", "plain")
    rows.questions[place] = rows.questions[place]._replace(answer="å 中 \ud83d!")
    text = to_json(rows.report())
    assert '"answer": "å 中 \ufffd!"' in text


def test_a_report_is_named_by_its_start_and_commit() -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    assert (
        report_name("2026-11-30T16:30:00.250+02:00", commit)
        == "2026-11-30T143000Z_0123456789ab.json"
    )
    assert report_name("2026-11-30T14:30:00Z", None) == "2026-11-30T143000Z_nocommit.json"
    assert report_name("2026-11-30T14:30:00", "../../x") == "2026-11-30T143000Z_nocommit.json"


# Measures


def test_measures_stand_by_dimension_then_as_planned() -> None:
    names = [item["measure"] for item in sample().report()["measures"]]
    assert names == ["Recall@5", "MRR", "FilterExactMatch", "SilentFailure", "CostPerQuery"]


def test_a_measure_carries_result_baseline_delta_types_and_variants() -> None:
    recall = entry(sample().report(), "Recall@5")
    assert recall["system"] is not None
    assert recall["system"]["estimate"] == 0.875
    assert recall["system"]["ci"] is not None
    low, high = recall["system"]["ci"]
    assert low < 0.875 <= high
    assert (recall["system"]["n"], recall["system"]["clusters"]) == (6, 6)
    assert recall["system"]["origin"] == {"computed": 6}
    assert recall["baseline"] is not None
    assert recall["baseline"]["estimate"] == pytest.approx((0.25 + 5 * 0.5) / 6)
    assert recall["delta"] is not None
    assert recall["delta"]["estimate"] == pytest.approx(5 * 0.5 / 6)
    assert recall["delta"]["pairs"] == 6
    variant = recall["variants"]["history"]
    assert variant["delta"] is not None
    assert variant["delta"]["estimate"] == pytest.approx(5 * 0.25 / 6)
    assert list(recall["by_type"]) == ["factual", "multi_turn", "edge_case"]
    assert recall["by_type"]["factual"]["n"] == 4
    assert recall["by_type"]["multi_turn"]["ci"] is None


def test_what_cannot_apply_has_no_estimate_and_no_delta() -> None:
    exact = entry(sample().report(), "FilterExactMatch")
    assert exact["baseline"] is not None
    assert exact["baseline"]["estimate"] is None
    assert exact["baseline"]["unscored"] == {"not_applicable": 6}
    assert exact["delta"] is None
    assert exact["variants"]["history"]["delta"] is None


def test_planned_work_without_rows_is_not_run() -> None:
    rows = sample()
    rows.scores = [row for row in rows.scores if (row.case_id, row.system) != ("q1", "assistant")]
    rows.questions = [
        row for row in rows.questions if (row.case_id, row.system) != ("q1", "assistant")
    ]
    report = rows.report()
    recall = entry(report, "Recall@5")
    assert recall["system"] is not None
    assert recall["system"]["unscored"] == {"not_run": 1}
    assert recall["system"]["n"] == 5
    assert recall["delta"] is not None
    assert recall["delta"]["pairs"] == 5
    never = next(case for case in report["cases"] if case["case"] == "q1")
    assert (never["system"], never["answer"]) == ("assistant", None)
    assert never["scores"]["Recall@5"] is None
    assert never["reasons"]["Recall@5"] == "not_run"
    assert never["conversation"][-1] == {"role": "user", "content": "Question 1?"}


@settings(max_examples=30, deadline=None)
@given(st.sets(st.integers(0, 5 * 6 * 3 - 1)))
def test_scored_and_unscored_questions_add_up_to_the_plan(lost: set[int]) -> None:
    rows = sample()
    rows.scores = [row for place, row in enumerate(rows.scores) if place not in lost]
    for item in rows.report()["measures"]:
        results = [item["system"], item["baseline"], item["variants"]["history"]]
        for result in results:
            assert result is not None
            assert result["n"] + sum(result["unscored"].values()) == 6


def test_repeats_are_averaged_before_questions() -> None:
    rows = sample()
    rows.plan += [PlanRow("q1", "assistant", "MRR", repeat) for repeat in (1, 2)]
    first = rows.scores[rows.at("q1", "assistant", "MRR")]
    rows.scores += [first._replace(repeat=1, value=0.0), first._replace(repeat=2, value=0.5)]
    mrr = entry(rows.report(), "MRR")["system"]
    assert mrr is not None
    assert mrr["estimate"] == pytest.approx((0.5 + 5 * 1.0) / 6)
    assert (mrr["n"], mrr["origin"]) == (6, {"computed": 8})
    # A repeat that could not be scored leaves the question to the others.
    rows.scores[-1] = rows.scores[-1]._replace(value=None, reason="no_price")
    mrr = entry(rows.report(), "MRR")["system"]
    assert mrr is not None
    assert mrr["estimate"] == pytest.approx(5.5 / 6)
    assert (mrr["n"], mrr["unscored"]) == (6, {})


def test_few_clusters_get_no_interval() -> None:
    rows = sample()
    rows.cases = [row._replace(case=replace(row.case, cluster="one")) for row in rows.cases]
    recall = entry(rows.report(), "Recall@5")
    assert recall["system"] is not None
    assert (recall["system"]["ci"], recall["system"]["clusters"]) == (None, 1)
    assert recall["system"]["ci_method"] == "none: fewer than 5 clusters"
    assert recall["delta"] is not None
    assert recall["delta"]["ci"] is None


def test_each_system_s_measures_are_one_family_of_tests() -> None:
    report = sample().report()
    deltas = [one["delta"] for one in report["measures"] if one["delta"]]
    tested = sorted(
        (one["p_value"], one["p_adjusted"])
        for one in deltas
        if one["p_value"] is not None and one["p_adjusted"] is not None
    )
    # Of all 64 flips of six clusters, 2 are as far off as six that all differ one way.
    assert tested == [(2 / 64, 3 * 2 / 64), (4 / 64, 2 * 4 / 64), (1.0, 1.0)]
    variants = [one["variants"]["history"]["delta"] for one in report["measures"]]
    assert any(one is not None and one["p_adjusted"] is not None for one in variants)
    recall = entry(report, "Recall@5")["delta"]
    assert recall is not None
    assert recall["detectable"] == pytest.approx(0.56, abs=0.01)
    assert recall["ci_method"].startswith("Bayesian bootstrap with unseen question")


def test_a_system_is_not_compared_with_itself_or_with_nobody() -> None:
    rows = sample()
    for baseline in ("assistant", None):
        rows.run.config["roles"] = {"system": "assistant", "baseline": baseline, "variants": []}
        recall = entry(rows.report(), "Recall@5")
        assert (recall["delta"], recall["variants"]) == (None, {})
        assert recall["baseline"] == (recall["system"] if baseline else None)


def test_a_measure_of_a_user_is_described_by_the_config_alone() -> None:
    rows = sample()
    rows.plan.append(PlanRow("q1", "assistant", "Politeness"))
    rows.scores.append(ScoreRow("q1", "assistant", "Politeness", 4.0, "very"))
    with pytest.raises(ReportError, match=r"does not describe: Politeness"):
        rows.report()
    rows.run.config["measures"].append(
        {
            "measure": "Politeness",
            "title": "Politeness of tone",
            "dimension": "manners",
            "unit": "",
            "range": [1.0, 5.0],
            "higher_is_better": True,
        }
    )
    report = rows.report()
    assert report["measures"][-1]["measure"] == "Politeness"
    assert report["measures"][-1]["baseline"] is None
    assert any(line.startswith("Politeness of tone") for line in table_lines(report, width=120))


def test_infinite_and_absurd_values_are_unscored() -> None:
    rows = sample()
    for system, value in (("assistant", math.inf), ("plain", math.nan), ("history", 1e200)):
        place = rows.at("q1", system, "MRR")
        rows.scores[place] = rows.scores[place]._replace(value=value)
    mrr = entry(rows.report(), "MRR")
    for result in (mrr["system"], mrr["baseline"], mrr["variants"]["history"]):
        assert result is not None
        assert (result["n"], result["unscored"]) == (5, {"not_finite": 1})


# Cases, findings, cost, timing


def fail(rows: Rows, case: str, system: str, kind: str, message: str) -> None:
    """Let a system fail on a case, as the flight records it."""
    place = rows.asked(case, system)
    rows.questions[place] = QuestionRow(
        case,
        system,
        "Question?",
        error={"kind": kind, "message": message},
        cost_reason="system_error",
        duration_ms=9e9,
    )
    for measure in MEASURES:
        at = rows.at(case, system, measure)
        worst = {"CostPerQuery": None, "SilentFailure": 1.0}.get(measure, 0.0)
        rows.scores[at] = ScoreRow(case, system, measure, worst, kind, "system_error")


def test_a_failed_system_gets_the_worst_value_and_is_listed() -> None:
    rows = sample()
    fail(rows, "q1", "assistant", "timeout", "no answer in 120 s")
    fail(rows, "q1", "plain", "exception", "KeyError: 'x'")
    report = rows.report()
    recall = entry(report, "Recall@5")["system"]
    assert recall is not None
    assert recall["estimate"] == pytest.approx((0.25 + 0.0 + 4 * 1.0) / 6)
    cost = entry(report, "CostPerQuery")["system"]
    assert cost is not None
    assert cost["unscored"] == {"system_error": 1}
    found = report["findings"]
    assert found["system_errors"][0] == {
        "case": "q1",
        "system": "assistant",
        "repeat": 0,
        "mode": "recorded",
        "turn": 0,
        "kind": "timeout",
        "message": "no answer in 120 s",
    }
    assert found["faults"] == [
        {
            "source": "system",
            "system": "assistant",
            "kind": "timeout",
            "count": 1,
            "case": "q1",
            "message": "no answer in 120 s",
        },
        {
            "source": "system",
            "system": "plain",
            "kind": "exception",
            "count": 1,
            "case": found["faults"][1]["case"],
            "message": found["faults"][1]["message"],
        },
    ]
    # A crash is an error, not a silent failure to read.
    assert [item["case"] for item in found["silent_failures"]] == ["q3", "q3"]
    failed = next(case for case in report["cases"] if case["case"] == "q1")
    assert failed["error"] == {"kind": "timeout", "message": "no answer in 120 s"}
    assert failed["reasons"]["Recall@5"] == "system_error"


def test_low_cases_are_beyond_the_floor_on_the_worse_side() -> None:
    rows = sample()
    rows.run.config["settings"]["floors"] = {"Recall@5": 0.25, "MRR": 1.01, "CostPerQuery": 0.005}
    low = rows.report()["findings"]["low"]
    assert {item["system"] for item in low} == {"assistant"}
    assert [item["case"] for item in low if item["measure"] == "MRR"] == [f"q{n}" for n in range(6)]
    assert [item["case"] for item in low if item["measure"] == "CostPerQuery"] == ["q5"]
    assert not [item for item in low if item["measure"] == "Recall@5"]  # on the floor is not below


def test_silent_and_contradicted_cases_are_listed_once() -> None:
    rows = sample()
    rows.run.config["measures"].append(measure_info(parse("AcceptableBehaviour")))
    rows.plan.append(PlanRow("q3", "assistant", "AcceptableBehaviour"))
    silent = rows.scores[rows.at("q3", "assistant", "SilentFailure")]
    rows.scores.append(silent._replace(measure="AcceptableBehaviour", value=0.0))
    found = rows.report()["findings"]
    where = [(item["case"], item["system"]) for item in found["contradicted"]]
    assert where == [("q3", "assistant"), ("q3", "history")]
    assert found["silent_failures"] == found["contradicted"]


def test_earlier_turns_are_kept_and_paid_for() -> None:
    rows = sample()
    place = rows.asked("q1", "assistant")
    scored = rows.questions[place]
    rows.questions[place] = scored._replace(turn=1)
    rows.questions.append(scored._replace(question="Before?", answer="Own answer", cost_usd=0.5))
    report = rows.report()
    case = next(case for case in report["cases"] if case["case"] == "q1")
    assert case["answer"] == "Answer 1 of assistant"
    assert [turn["answer"] for turn in case["earlier_turns"]] == ["Own answer"]
    assert [message["content"] for message in case["conversation"]] == [
        "Before?",
        "Then.",
        "Question 1?",
    ]
    assert case["gold"]["history"][0]["filters"] == {"year": 2022}  # type: ignore[typeddict-item]
    cost = report["cost"]["systems"][0]
    assert cost["usd"] == pytest.approx(0.5 + 0.001 * 21)
    assert (cost["turns"], cost["calls"]) == (7, 7)


def test_a_live_conversation_holds_the_systems_own_answers() -> None:
    rows = sample()
    place = rows.asked("q1", "assistant")
    scored = rows.questions[place]._replace(mode="live", turn=1)
    rows.questions += [scored, scored._replace(turn=0, question="Before?", answer="My own.")]
    rows.plan.append(PlanRow("q1", "assistant", "MRR", mode="live"))
    live = next(case for case in rows.report()["cases"] if case["mode"] == "live")
    contents = [message["content"] for message in live["conversation"]]
    assert contents == ["Before?", "My own.", "Question 1?"]
    assert list(live["scores"]) == ["MRR"]


def test_cost_is_summed_per_system_with_what_is_unknown_beside_it() -> None:
    rows = sample()
    place = rows.asked("q0", "assistant")
    rows.questions[place] = rows.questions[place]._replace(
        cost_usd=None, cost_reason="no_price", usage=None
    )
    assistant, plain, history = rows.report()["cost"]["systems"]
    assert [item["system"] for item in (assistant, plain, history)] == list(SYSTEMS)
    assert assistant["usd"] == pytest.approx(0.001 * 20)
    assert assistant["unknown"] == {"no_price": 1}
    assert assistant["models"] == [
        {
            "model": "m",
            "calls": 5,
            "input_tokens": 50,
            "cached_input_tokens": 20,
            "output_tokens": 10,
        }
    ]
    rows.questions = [row._replace(cost_usd=None) for row in rows.questions]
    report = rows.report()
    assert report["cost"]["systems"][1]["usd"] is None
    assert report["cost"]["evaluation"] == nothing_judged()


def test_latency_is_that_of_answered_turns() -> None:
    rows = sample()
    fail(rows, "q5", "assistant", "timeout", "slow")
    timing = rows.report()["timing"]
    latency = {"system": "assistant", "p50_ms": 300, "p95_ms": 480, "n": 5, "reused": 0}
    assert timing["systems"][0] == latency
    assert (timing["wall_s"], timing["peak_in_flight"]) == (12.5, 8)
    rows.run = replace(rows.run, finished_at=None)
    rows.questions = []
    assert rows.report()["timing"] == {"systems": [], "wall_s": None, "peak_in_flight": 8}


def test_every_text_stands_once_in_the_file() -> None:
    rows = sample()
    rows.passages["d0"] = StoredPassage("A text of its own", {"year": 2022})
    report = rows.report()
    assert to_json(report).count("A text of its own") == 1
    assert list(report["passages"]) == [f"d{n}" for n in range(6)]
    assert report["cases"][0]["passages"][0] == {"id": "chunk0", "score": 0.5, "digest": "d0"}
    del rows.passages["d3"]
    with pytest.raises(ReportError, match="1 passages have no text, the first is d3"):
        rows.report()


def test_rows_that_do_not_fit_together_are_refused() -> None:
    rows = sample()
    rows.scores.append(rows.scores[0]._replace(value=0.125))
    with pytest.raises(ReportError, match="contradict"):
        rows.report()
    rows = sample()
    rows.scores.append(rows.scores[0])
    assert rows.report() == sample().report()
    rows.plan.append(PlanRow("nowhere", "assistant", "MRR"))
    with pytest.raises(ReportError, match=r"without gold question: \['nowhere'\]"):
        rows.report()
    rows = sample()
    del rows.run.config["prices"]  # type: ignore[misc]
    with pytest.raises(ReportError, match="run run-1: its config lacks prices"):
        rows.report()


def test_a_run_without_any_plan_still_has_a_report() -> None:
    rows = sample()
    rows.plan = []
    report = rows.report()
    assert (report["measures"], report["cases"], report["passages"]) == ([], [], {})
    validate(to_json(report))
    assert table_lines(report, width=80)[0].startswith("Measure")


# The digest of the results


def digest(rows: Rows) -> str:
    return rows.report()["snapshot"]["results_sha256"]


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_the_order_of_rows_changes_neither_report_nor_digest(seed: int) -> None:
    rows = sample()
    fail(rows, "q4", "history", "empty_answer", "nothing")
    expected = to_json(rows.report())
    order = random.Random(seed)
    for part in (rows.cases, rows.plan, rows.questions, rows.scores):
        order.shuffle(part)
    names = list(rows.passages)
    order.shuffle(names)
    rows.passages = {name: rows.passages[name] for name in names}
    assert to_json(rows.report()) == expected


def test_the_digest_ignores_machine_time_messages_and_last_bits() -> None:
    rows = sample()
    fail(rows, "q4", "history", "exception", "at 0x7f01")
    other = copy.deepcopy(rows)
    fail(other, "q4", "history", "exception", "at 0x7f99")
    other.run = replace(
        other.run,
        id="another",
        label="b",
        started_at="2027-01-01T00:00:00Z",
        finished_at=None,
        peak_in_flight=1,
    )
    other.run.config["packages"] = {"numpy": "9"}
    other.run.config["commit"] = None
    other.run.config["seed"] = 99
    other.questions = [
        row._replace(duration_ms=1.0, passages=row.passages[:1]) for row in other.questions
    ]
    other.scores = [
        row._replace(
            value=None if row.value is None else row.value * (1 + 1e-13) or -0.0,
            why="other words",
            engine="another",
        )
        for row in other.scores
    ]
    # Rows outside the plan belong to no result.
    other.scores.append(ScoreRow("q9", "assistant", "MRR", 1.0, "stray"))
    assert digest(other) == digest(rows)


def _other_answer(rows: Rows) -> None:
    rows.questions[0] = rows.questions[0]._replace(answer="another")


def _other_filters(rows: Rows) -> None:
    rows.questions[0] = rows.questions[0]._replace(filters={"year": "2022"})


def _other_score(rows: Rows) -> None:
    rows.scores[0] = rows.scores[0]._replace(value=0.250000001)


def _no_score(rows: Rows) -> None:
    del rows.scores[0]


def _smaller_plan(rows: Rows) -> None:
    del rows.plan[0]


def _other_error(rows: Rows) -> None:
    fail(rows, "q0", "plain", "timeout", "late")


def _other_dataset(rows: Rows) -> None:
    rows.run.config["dataset"]["sha256"] = "ff" * 32


@pytest.mark.parametrize(
    "change",
    [
        _other_answer,
        _other_filters,
        _other_score,
        _no_score,
        _smaller_plan,
        _other_error,
        _other_dataset,
    ],
)
def test_the_digest_follows_every_result(change: Any) -> None:
    rows = sample()
    change(rows)
    assert digest(rows) != digest(sample())


def test_the_digest_is_written_down() -> None:
    # Equal on every platform and version: a change of this value breaks every stored report.
    assert digest(sample()) == WRITTEN_DOWN


WRITTEN_DOWN = "7ef3e06c0ea0975d194026037c6906db32d7d1afcf11f71c9e6c76870f8ac294"


# The table


def test_the_table_is_made_from_the_report_alone() -> None:
    rows = sample()
    rows.scores = [
        row._replace(value=None, reason="no_price") if _unpriced(row) else row
        for row in rows.scores
    ]
    lines = table_lines(validate(to_json(rows.report())), width=120)
    assert lines == TABLE.strip("\n").splitlines()


def _unpriced(row: ScoreRow) -> bool:
    return (row.measure, row.system) == ("CostPerQuery", "assistant") and row.case_id < "q2"


TABLE = """
Measure               Score (95% CI)     Baseline  Δ (95% CI)            Detects  n
Recall@5              0.88 [0.51, 0.99]  0.46      +0.42 [0.00, +0.60]   0.56     6
MRR                   1.00 [0.61, 1.00]  0.50      +0.50 [-0.09, +0.70]  -        6
Filter exact match    0.50 [0.15, 0.85]  n/a       n/a                   -        6
Silent failure        0.17 [0.01, 0.59]  n/a       n/a                   -        6
Cost per query (USD)  0.0045             0.0035    0.0000                -        4 (+2 unscored)

Steps                 plain   history  assistant
Recall@5              0.46    0.67     0.88
MRR                   0.50    0.75     1.00
Filter exact match    n/a     0.50     0.50
Silent failure        n/a     0.17     0.17
Cost per query (USD)  0.0035  0.0035   0.0045

Low: 1 score beyond a floor (Recall@5 1)
Silent failures: 1, the first: q3 (beside it: history 1)
Contradicted behaviours: 1, the first: q3 (beside it: history 1)
Unscored: Cost per query (USD): no_price 2; q0: one call
No interval (fewer than 5 clusters): Cost per query (USD)
"""


def test_costs_show_their_digits_and_rates_two() -> None:
    rows = sample()
    rows.scores = [
        row._replace(value=row.value / 1000)
        if row.measure == "CostPerQuery" and row.value is not None
        else row
        for row in rows.scores
    ]
    line = next(line for line in table_lines(rows.report(), width=120) if "Cost" in line)
    assert "0.0000035 [0.00000" in line
    assert "e-" not in line


def test_unscored_differs_from_not_applicable_and_from_nothing_to_compare() -> None:
    rows = sample()
    rows.scores = [row for row in rows.scores if (row.measure, row.system) != ("MRR", "assistant")]
    rows.plan = [row for row in rows.plan if (row.measure, row.system) != ("Recall@5", "plain")]
    lines = table_lines(rows.report(), width=120)
    cells = {line.split("  ")[0]: line.split() for line in lines[1:6]}
    assert cells["MRR"] == ["MRR", "unscored", "0.50", "-", "-", "0", "(+6", "unscored)"]
    assert cells["Recall@5"][-4:] == ["-", "-", "-", "6"]
    exact = next(line.split() for line in lines if line.startswith("Filter exact match"))
    assert exact[-4:] == ["n/a", "n/a", "-", "6"]
    assert any(line.startswith("Unscored: MRR: not_run 6; q0: planned, but") for line in lines)


def test_without_a_baseline_nothing_is_compared() -> None:
    rows = sample()
    rows.run.config["roles"] = {"system": "assistant", "baseline": None, "variants": []}
    rows.run.config["confidence"] = 0.9
    lines = table_lines(rows.report(), width=120)
    assert lines[0].split() == ["Measure", "Score", "(90%", "CI)", "n"]
    assert not any(line.startswith("Steps") for line in lines)


def test_findings_for_a_person_are_below_the_table() -> None:
    rows = sample()
    for case in ("q0", "q1", "q2", "q3"):
        fail(rows, case, "assistant", "exception", f"\x1b[2J{case}\nboom \u202e" + "x" * 5000)
    fail(rows, "q0", "plain", "timeout", "late")
    rows.cases = [row._replace(case=replace(row.case, cluster="one")) for row in rows.cases]
    lines = table_lines(rows.report(), width=100)
    at = lines.index("System errors: 5 (assistant 4, plain 1)")
    assert lines[at + 1].startswith(r"  q0 (assistant): exception: \x1b[2Jq0 boom \u202exxx")
    assert lines[at + 1].endswith("x…")
    assert [line[:5] for line in lines[at + 1 : at + 4]] == ["  q0 ", "  q1 ", "  q2 "]
    assert lines[at + 4] == "  and 2 more in the report"
    assert "Low: 4 scores beyond a floor (Recall@5 4)" in lines
    assert any(line.startswith("No interval (fewer than 5 clusters): Recall@5, ") for line in lines)
    assert all(display_width(line) <= 1000 for line in lines)  # messages are cut for sanity alone


def test_columns_align_by_display_width_and_titles_give_way() -> None:
    rows = sample()
    infos = rows.run.config["measures"]
    infos[1]["title"] = "検索の再現率 at five, with a very long title indeed"
    report = rows.report()
    for width in (120, 100):
        lines = table_lines(report, width=width)[:6]
        score_column = display_width(lines[0][: lines[0].index("Score")])
        for line in lines[1:]:
            title = line[
                : next(n for n in range(len(line)) if display_width(line[:n]) == score_column)
            ]
            assert title.endswith("  ")
        assert max(map(display_width, lines)) <= width
    assert "…" in table_lines(report, width=100)[1]


def test_a_system_without_filters_is_not_applicable_whatever_it_fails_on() -> None:
    rows = sample()
    rows.scores = [
        row._replace(value=0.0, reason="system_error")
        if (row.case_id, row.system, row.measure) == ("q1", "plain", "FilterExactMatch")
        else row
        for row in rows.scores
    ]
    exact: Any = entry(rows.report(), "FilterExactMatch")["baseline"]
    assert (exact["estimate"], exact["unscored"]) == (None, {"not_applicable": 6})


def test_filters_left_out_here_and_there_are_filters_not_inferred() -> None:
    """Else a system could drop its misses from the mean by reporting nothing."""
    rows = sample()
    own = [r for r in rows.scores if (r.system, r.measure) == ("assistant", "FilterExactMatch")]
    left_out = {row.case_id for row in own[2:]}
    rows.scores = [
        row._replace(value=None, reason="no_filters", detail={"if_none_inferred": 0.0})
        if row in own and row.case_id in left_out
        else row
        for row in rows.scores
    ]
    exact: Any = entry(rows.report(), "FilterExactMatch")["system"]
    assert (exact["n"], exact["unscored"]) == (6, {})
    assert exact["estimate"] == pytest.approx(sum(row.value or 0 for row in own[:2]) / 6)


def test_a_broken_baseline_makes_no_system_look_better() -> None:
    rows = sample()
    before: Any = entry(rows.report(), "Recall@5")
    rows.scores = [
        row._replace(value=0.0, reason="system_error")
        if (row.case_id, row.system, row.measure) == ("q0", "plain", "Recall@5")
        else row
        for row in rows.scores
    ]
    after: Any = entry(rows.report(), "Recall@5")
    assert after["delta"]["pairs"] == before["delta"]["pairs"] - 1
    assert after["baseline"]["estimate"] <= before["baseline"]["estimate"]
    assert any(line.endswith("6 (5 pairs)") for line in table_lines(rows.report(), width=120))


def test_the_sample_in_the_repository_has_the_format() -> None:
    sample_file = Path(__file__).parents[2] / "reports/sample.json"
    text = sample_file.read_text("utf-8")
    report = validate(text)
    jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text("utf-8"))).validate(
        json.loads(text)
    )
    assert report["measures"][0]["measure"] == "Recall@5"
