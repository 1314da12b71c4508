"""A second opinion: reckoned here, put beside the score, compared in the report."""

from __future__ import annotations

import asyncio
import json
import math
import re
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import runs
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from judged import judge, scores, verdict
from projects import Project
from servers.openai import OpenAIServer

from pytest_touchstone.flight import flight as flights
from pytest_touchstone.flight.judging import second_opinions, with_opinion
from pytest_touchstone.flight.observe import Work
from pytest_touchstone.flight.reading import Reading
from pytest_touchstone.gold import Case
from pytest_touchstone.judge.deepeval_metrics import open_deepeval
from pytest_touchstone.judge.second_opinion import (
    CALLS,
    CRITERIA,
    Criterion,
    SecondOpinionError,
    criterion,
    share_agreed,
    strict,
    within_range,
)
from pytest_touchstone.llm.prompts import Prompt, PromptError
from pytest_touchstone.measures import Caution, Faithfulness, Formality, KeyPointCoverage, parse
from pytest_touchstone.opening import judging
from pytest_touchstone.report import measure_info
from pytest_touchstone.report.index import Index, Unit
from pytest_touchstone.report.rows import ScoreRow
from pytest_touchstone.report.second_opinion import rank_correlation
from pytest_touchstone.report.second_opinion import second_opinions as compared
from pytest_touchstone.score import NOT_APPLICABLE, SECOND_OPINION, Score, unscored
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import Unit as StoredUnit
from pytest_touchstone.systems.loading import shipped_prompt
from pytest_touchstone.trace import Answer, Observation
from pytest_touchstone.verdicts import Claims, ClaimVerdict, NoVerdict, Opinion

ENGINE = "other 1.2"
labels = st.sampled_from(["yes", "no", "borderline"])


# What an engine may claim


@given(st.lists(labels, min_size=1, max_size=20))
def test_a_share_is_of_the_claims_asked(given_labels: list[str]) -> None:
    claims = [f"claim {n}" for n in range(len(given_labels))]
    result = share_agreed(claims, [(label, None) for label in given_labels])
    assert not isinstance(result, NoVerdict)
    assert result[0] == given_labels.count("yes") / len(claims)


@given(st.integers(1, 9), st.integers(0, 9))
def test_verdicts_of_another_number_are_no_opinion(claims: int, verdicts: int) -> None:
    result = share_agreed(["c"] * claims, [("yes", None)] * verdicts)
    if claims == verdicts:
        assert not isinstance(result, NoVerdict)
        assert result[0] == 1
    else:
        assert isinstance(result, NoVerdict)
        assert result.reason == "judge_unreadable"
        assert f"for {claims} claim" in result.why


def test_no_claim_is_not_a_full_score() -> None:
    result = share_agreed([], [])
    assert isinstance(result, NoVerdict)
    assert result.reason == NOT_APPLICABLE


def test_what_was_not_agreed_with_is_told() -> None:
    told = [("no", "it is blue"), ("borderline", None), ("yes", None), ("no", "x"), ("no", "y")]
    result = share_agreed(["a", "b", "c", "d", "e"], told)
    assert result == (
        0.2,
        "1 of 5 claims agreed with; no: 'a' (it is blue); borderline: 'b'; no: 'd' (x); and 1 more",
    )


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan, math.inf])
def test_a_score_out_of_range_is_no_opinion(score: float) -> None:
    result = within_range(score, "because")
    assert isinstance(result, NoVerdict)
    assert result.reason == "judge_unreadable"
    assert within_range(0.3, "because") == (0.3, "because")


def test_every_object_of_a_schema_is_closed_and_required() -> None:
    one: dict[str, Any] = {
        "type": "object",
        "required": ["verdict"],
        "properties": {"verdict": {"type": "string"}, "reason": {"default": None, "anyOf": []}},
    }
    many = {"all": {"items": {"$ref": "#/$defs/One"}}}
    given_schema: dict[str, Any] = {"$defs": {"One": one}, "properties": many}
    got = strict(given_schema)
    assert got == strict(got)
    assert got["required"] == ["all"]
    assert got["additionalProperties"] is False
    assert got["$defs"]["One"]["required"] == ["verdict", "reason"]
    assert got["$defs"]["One"]["additionalProperties"] is False
    assert "default" not in got["$defs"]["One"]["properties"]["reason"]
    assert given_schema["$defs"]["One"] is one
    assert one["required"] == ["verdict"]


# The steps of G-Eval


@pytest.mark.parametrize("measure", CRITERIA)
def test_the_shipped_criteria_are_read(measure: str) -> None:
    prompt = shipped_prompt(CRITERIA[measure])
    found = criterion(prompt)
    assert prompt.params["temperature"] == 0
    assert len(found.steps) >= 3
    low, high = parse(measure).range
    assert high is not None
    if found.outcomes:
        assert sorted(found.outcomes) == list(range(int(low), int(high) + 1))
        ours = " ".join(shipped_prompt("judge_tone").body.split())
        assert all(f"- {score}: {text}." in ours for score, text in found.outcomes.items())
    else:
        assert (low, high) == (0, 1)


@pytest.mark.parametrize(
    "body",
    ["just text", "- a list", "steps: []", "steps: [1]", "steps: [a]\noutcomes: {x: y}",
     "steps: [a]\noutcomes: {1: 2}", "steps: 3", "steps: [a]\noutcomes: 3", "a: {", ""],
)  # fmt: skip
def test_other_criteria_are_refused(body: str) -> None:
    with pytest.raises(PromptError, match="prompt mine: "):
        criterion(Prompt("mine", "1", body, "0" * 64))


def test_a_criterion_may_have_no_outcomes() -> None:
    assert criterion(Prompt("mine", "1", "steps: [a, b]", "0" * 64)) == Criterion(("a", "b"), {})


# Which answers, and where it stands


CASE = Case("q1", "summary", "What?", key_points=("a",))
ALL = (Faithfulness, KeyPointCoverage, Formality, Caution, parse("Recall@5"))


def test_only_the_system_under_test_has_a_second_opinion() -> None:
    asked = second_opinions(Work(CASE, "mine", ALL), "mine")
    assert asked == ("Faithfulness", "KeyPointCoverage", "Formality")
    assert set(asked) == set(CALLS)
    assert second_opinions(Work(CASE, "baseline", ALL), "mine") == ()
    assert second_opinions(Work(CASE, "mine", ALL, mode="live"), "mine") == ()
    assert second_opinions(Work(CASE, "mine", ALL, judged=False), "mine") == ()


def test_an_opinion_changes_no_score() -> None:
    opinion = Opinion(ENGINE, 0.25, "one of four")
    for score in (Score(0.5, "half", detail={"claims": []}), unscored("judge_refused", "no")):
        beside = with_opinion(score, opinion)
        assert (beside.value, beside.reason, beside.why) == (score.value, score.reason, score.why)
        assert beside.detail == {
            **score.detail,
            SECOND_OPINION: {
                "engine": ENGINE, "value": 0.25, "why": "one of four", "reason": None,
            },
        }  # fmt: skip
        assert with_opinion(score, None) is score


# Agreement


def index(
    measure: str,
    pairs: Sequence[tuple[float | None, float | None]],
    *,
    origin: str = "judge",
    system: str = "mine",
) -> Index:
    """Answers of one system: the value here and the value there; ``None`` is unscored."""
    units = [Unit(f"q{n}", system, "recorded", 0) for n in range(len(pairs))]
    scored = {}
    for unit, (value, other) in zip(units, pairs, strict=True):
        reason = None if other is not None else "judge_refused"
        row = ScoreRow(
            unit.case,
            system,
            measure,
            value,
            "here",
            reason=None if value is not None else "judge_unreadable",
            origin=origin,
            detail={
                SECOND_OPINION: {
                    "engine": ENGINE, "value": other, "why": "there", "reason": reason,
                }
            },
        )  # fmt: skip
        scored[unit, measure] = row
    return Index(
        roles={"system": "mine", "baseline": None, "variants": []},
        cases={unit.case: Case(unit.case, "factual", "?") for unit in units},
        systems=(system,),
        measures=(measure_info(parse(measure)),),
        units={unit: frozenset({measure}) for unit in units},
        turns={},
        scored=scored,
    )


def test_agreement_of_two_engines() -> None:
    pairs = [(1.0, 1.0), (0.5, 0.9), (0.0, 0.2), (None, 1.0), (1.0, None), (0.8, 0.4)]
    [found] = compared(index("Faithfulness", pairs), {"Faithfulness": 0.6})
    assert found["engine"] == ENGINE
    assert found["n"] == 4
    assert found["mean"] == pytest.approx(2.3 / 4)
    assert found["other_mean"] == pytest.approx(2.5 / 4)
    assert found["difference"] == pytest.approx((0 + 0.4 + 0.2 + 0.4) / 4)
    assert found["threshold"] == 0.6
    assert found["agreement"] == 0.5
    assert found["apart"] == 0.25
    assert found["far_apart"] == 2
    assert found["no_opinion"] == {"judge_refused": 1}
    assert [one["case"] for one in found["most_apart"]] == ["q1", "q5", "q2"]
    assert found["most_apart"][0]["why"] == "here"
    assert found["most_apart"][0]["other_why"] == "there"
    expected = scipy.stats.spearmanr([1, 0.5, 0, 0.8], [1, 0.9, 0.2, 0.4]).statistic
    assert found["correlation"] == pytest.approx(expected)


def test_a_scale_of_marks_is_compared_in_marks() -> None:
    [found] = compared(index("Formality", [(4.0, 2.9), (3.0, 4.0), (5.0, 5.0)]), {})
    assert found["threshold"] == 3
    assert found["apart"] == 1
    assert found["far_apart"] == 1
    assert found["agreement"] == pytest.approx(2 / 3)


def test_at_most_ten_answers_are_shown_and_equal_distances_stay_in_order() -> None:
    [found] = compared(index("Faithfulness", [(1.0, 0.5)] * 12), {})
    assert [one["case"] for one in found["most_apart"]] == [f"q{n}" for n in range(10)]
    assert found["far_apart"] == 12


def test_without_a_pair_there_is_no_figure() -> None:
    [found] = compared(index("Faithfulness", [(None, 1.0), (1.0, None)]), {})
    assert found["n"] == 0
    figures = ("mean", "other_mean", "difference", "agreement", "correlation")
    assert [found[name] for name in figures] == [None] * 5  # type: ignore[literal-required]


def test_people_and_other_systems_are_not_compared() -> None:
    [found] = compared(index("Faithfulness", [(1.0, 0.5)], origin="human"), {})
    assert found["n"] == 0
    assert compared(index("Faithfulness", [(1.0, 0.5)], system="baseline"), {}) == []


@given(
    st.lists(
        st.tuples(st.integers(0, 4).map(float), st.integers(0, 4).map(float)),
        max_size=30,
    )
)
def test_rank_correlation_is_spearmans(pairs: list[tuple[float, float]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    got = rank_correlation(left, right)
    if len(pairs) < 3 or np.ptp(left) == 0 or np.ptp(right) == 0:
        assert got is None
    else:
        assert got is not None
        assert -1 <= got <= 1
        assert got == pytest.approx(scipy.stats.spearmanr(left, right).statistic, abs=1e-9)


# In a run


class Other:
    """An engine that has no opinion of the summary's claims."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def opinions(
        self, measures: Sequence[str], case: Case, answer: Answer
    ) -> Mapping[str, Opinion]:
        self.asked += [(case.id, name) for name in measures]
        assert answer.text == "The bridge is red [1]."
        found = {
            "Faithfulness": Opinion(ENGINE, 0.25, "one of four \ud800"),
            "KeyPointCoverage": Opinion(ENGINE, None, "no text", "judge_refused"),
            "Formality": Opinion(ENGINE, 4.5, "fine"),
        }
        return {name: found[name] for name in measures}


def test_a_run_reports_how_far_the_engines_agree(
    judged: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Other()

    def opened(ask: Any, model: str, prompts: Mapping[str, Prompt]) -> Other:
        assert model == "gpt-4.1"
        assert set(prompts) == set(CRITERIA.values())
        return other

    monkeypatch.setattr(judging, "open_deepeval", opened)
    with OpenAIServer(verdict) as server:
        judge(judged, server)
        alone = judged.run("-q")
        assert other.asked == []
        plain = judged.report()
        assert plain["findings"]["second_opinion"] == []
        judge(judged, server, second_opinion="deepeval")
        result = judged.run("-q")
    assert result.ret == 0, result.stdout.str()
    report = judged.report()
    assert sorted(other.asked) == [
        ("m1", "Faithfulness"), ("m1", "Formality"), ("s1", "Faithfulness"), ("s1", "Formality"),
        ("s1", "KeyPointCoverage"),
    ]  # fmt: skip
    # Three calls for claims and their verdicts on each answer, one for a mark.
    expected = [
        int(re.findall(r"judging: at most (\d+) calls", run.stdout.str())[0])
        for run in (alone, result)
    ]
    assert expected[1] - expected[0] == 2 * 3 + 2 * 1 + 1

    assert scores(judged)["s1 Faithfulness"] == 1
    assert report["snapshot"]["results_sha256"] == plain["snapshot"]["results_sha256"]
    assert set(CRITERIA.values()) <= set(report["snapshot"]["prompts"])
    assert not set(CRITERIA.values()) & set(plain["snapshot"]["prompts"])
    found = {one["measure"]: one for one in report["findings"]["second_opinion"]}
    assert set(found) == {"Faithfulness", "KeyPointCoverage", "Formality"}
    assert (found["Faithfulness"]["n"], found["Faithfulness"]["far_apart"]) == (2, 2)
    assert found["KeyPointCoverage"]["no_opinion"] == {"judge_refused": 1}
    case = next(c for c in report["cases"] if (c["case"], c["system"]) == ("s1", "assistant"))
    assert case["details"]["Faithfulness"][SECOND_OPINION] == {
        "engine": ENGINE, "value": 0.25, "why": "one of four \ufffd", "reason": None,
    }  # fmt: skip
    baseline = next(c for c in report["cases"] if (c["case"], c["system"]) == ("s1", "plain"))
    assert SECOND_OPINION not in json.dumps(baseline)
    result.stdout.fnmatch_lines(
        [
            "Second opinion (other 1.2): Faithfulness 1.00 here, 0.25 there, 2 answers, differ by"
            " more than 0.25 in 2",
            "Second opinion (other 1.2): Key point coverage: no answer that both scored; no opinion"
            " on judge_refused 1",
            "Second opinion (other 1.2): Formality (1-5) 4.00 here, 4.50 there, 2 answers, differ"
            " by more than 1 in 0",
        ]
    )


def test_an_end_costs_no_verdict_that_is_there_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = threading.Event()

    class Slow(Reading):
        engine = "judge"

        def reads(self, _: Any) -> bool:
            return True

        async def read(self, _: Any, seen: Observation) -> Observation:
            said = Claims((ClaimVerdict("c", "supported", "r"),))
            return replace(seen, verdicts={"claims": said})

        async def opinions(self, *_: Any) -> Any:
            waiting.set()
            await asyncio.sleep(3600)

    monkeypatch.setattr(flights, "_FINISH_WITHIN_S", 0.1)
    store = Store(runs.store_url(tmp_path))
    cases = runs.gold(1)
    run = runs.join(store, "one", cases, ["s"])
    slow: Any = Slow()
    plan = runs.works(cases, measures=[Faithfulness])
    flight = runs.flight(run, cases, runs.loaded(runs.Assistant().ask), plan=plan, reading=slow)
    flight.start()
    assert waiting.wait(runs.PATIENCE_S)
    flight.stop()
    found = run.scores([StoredUnit("q0", "s")])[StoredUnit("q0", "s")]
    store.close()
    assert found["Faithfulness"].value == 1
    assert SECOND_OPINION not in found["Faithfulness"].detail


def test_an_engine_that_nobody_knows_is_refused(judged: Project) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server, second_opinion="ragas")
        ended = judged.spawn()
    assert ended.code == 4
    assert "judge.second_opinion" in ended.text
    assert "'deepeval'" in ended.text


def test_an_engine_that_is_not_installed_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in list(sys.modules):
        if name.split(".")[0] == "deepeval":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "deepeval", None)
    prompts = {name: shipped_prompt(name) for name in CRITERIA.values()}

    async def ask(_: Any) -> Any:
        raise AssertionError

    with pytest.raises(SecondOpinionError, match=r"pip install 'pytest-touchstone\[deepeval\]'"):
        open_deepeval(ask, "gpt-4.1", prompts)


def test_an_engine_that_does_not_start_ends_the_run_before_it_begins(judged: Project) -> None:
    judged.write("broken/deepeval/__init__.py", "raise OSError('no such disk')\n")
    with OpenAIServer(verdict) as server:
        judge(judged, server, second_opinion="deepeval")
        ended = judged.spawn(PYTHONPATH=str(judged.folder / "broken"))
        assert ended.code == 4
        assert "deepeval does not start: OSError: no such disk" in ended.text
        assert server.requests == []


def test_the_other_engine_is_not_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, pytest_touchstone.run, pytest_touchstone.judge.deepeval_metrics;"
        "sys.exit('deepeval' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
