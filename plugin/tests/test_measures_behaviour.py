"""Behaviour where filters match nothing: facts first, and a claim does not beat them."""

from __future__ import annotations

import itertools
import json
from typing import Any, get_args

import pytest

from pytest_touchstone.gold import Case
from pytest_touchstone.measures import AcceptableBehaviour, SilentFailure, observed_behaviour
from pytest_touchstone.trace import Answer, Behavior, Facts, Observation, Passage, Turn
from pytest_touchstone.verdicts import BehaviourVerdict, NoVerdict, Quotation

SOME = (Passage("a", "text"), Passage("b", "text"))
FILTERS = {"district": "Gulu"}


@pytest.mark.parametrize(
    ("declared", "passages", "filters", "found", "observed", "contradicted", "why"),
    [
        ("relaxed", SOME, {}, 7, "relaxed", False, "its filters match 7 chunks"),
        ("relaxed", SOME, FILTERS, 1, "relaxed", False, "its filters match 1 chunk"),
        ("relaxed", SOME, None, None, "relaxed", False, "filters not counted"),
        ("relaxed", SOME, FILTERS, None, "relaxed", False, "filters not counted"),
        ("relaxed", SOME, FILTERS, 0, "relaxed", False, "its inferred filters match nothing"),
        ("relaxed", (), FILTERS, 7, "failed_silently", True, "returned no passages"),
        ("relaxed", (), None, None, "failed_silently", True, "returned no passages"),
        ("admitted", (), FILTERS, 0, "admitted", False, "says `admitted`"),
        ("admitted", SOME, FILTERS, 0, "admitted", False, "says `admitted`"),
        ("admitted", (), FILTERS, 7, "admitted", False, "says `admitted`"),
        ("admitted", SOME, None, None, "admitted", False, "says `admitted`"),
        ("admitted", SOME, FILTERS, 7, "failed_silently", True, "match 7 chunks and it returned 2"),
        ("asked_follow_up", (), {}, 7, "asked_follow_up", False, "says `asked_follow_up`"),
        ("asked_follow_up", SOME, {}, 7, "failed_silently", True, "says `asked_follow_up`, but"),
        ("failed_silently", (), FILTERS, 0, "failed_silently", False, "says itself"),
        (None, SOME, FILTERS, 0, "failed_silently", False, "answered from 2 passages without"),
        (None, SOME[:1], None, None, "failed_silently", False, "answered from 1 passage without"),
        (None, (), FILTERS, 0, None, False, "only the text can tell"),
        (None, (), None, None, None, False, "only the text can tell"),
    ],
)
def test_what_was_observed(
    declared: Any,
    passages: tuple[Passage, ...],
    filters: dict[str, Any] | None,
    found: int | None,
    observed: str | None,
    contradicted: bool,
    why: str,
) -> None:
    answer = Answer("x", passages, filters, declared)
    result = observed_behaviour(answer, Facts(0, found))
    assert (result.behaviour, result.contradicted) == (observed, contradicted)
    assert why in result.why


def test_a_contradiction_is_always_a_silent_failure() -> None:
    for declared, passages, found in itertools.product(
        (None, "relaxed", "asked_follow_up", "admitted", "failed_silently"),
        ((), SOME),
        (None, 0, 3),
    ):
        result = observed_behaviour(Answer("x", passages, FILTERS, declared), Facts(0, found))  # type: ignore[arg-type]
        if result.contradicted:
            assert result.behaviour == "failed_silently"
            assert f"says `{declared}`, but" in result.why
        else:
            assert result.behaviour in (declared, None, "failed_silently")


CASE = Case(
    "c", "edge_case", "Gulu in 2031?", filters=FILTERS, behavior=("admitted", "asked_follow_up")
)


def seen(
    answer: Answer, found: int | None, said: BehaviourVerdict | NoVerdict | None = None
) -> Observation:
    verdicts = {} if said is None else {"behaviour": said}
    turn = Turn(0, CASE.question, answer)
    return Observation("c", "s", (turn,), facts=Facts(0, found), verdicts=verdicts)


@pytest.mark.parametrize(
    ("answer", "found", "acceptable", "silent"),
    [
        (Answer("No.", (), FILTERS, "admitted"), 0, 1.0, 0.0),
        (Answer("Which?", (), FILTERS, "asked_follow_up"), 0, 1.0, 0.0),
        (Answer("Wider:", SOME, {}, "relaxed"), 9, 0.0, 0.0),
        (Answer("Wider:", (), FILTERS, "relaxed"), 0, 0.0, 1.0),
        (Answer("Sure:", SOME, {}), 9, 0.0, 1.0),
    ],
)
def test_acceptable_or_not_and_silent_failure(
    answer: Answer, found: int, acceptable: float, silent: float
) -> None:
    score = AcceptableBehaviour.score(CASE, seen(answer, found))
    assert score.value == acceptable
    assert SilentFailure.score(CASE, seen(answer, found)).value == silent
    assert score.why == observed_behaviour(answer, Facts(0, found)).why
    assert score.detail["acceptable"] == ["admitted", "asked_follow_up"]
    assert (score.detail["gold_matches"], score.detail["found_matches"]) == (0, found)
    json.dumps(score.detail, allow_nan=False)


def test_a_contradiction_stands_in_why_and_detail() -> None:
    score = SilentFailure.score(CASE, seen(Answer("No.", SOME, FILTERS, "admitted"), 4))
    assert score.value == 1.0
    assert score.why == (
        "says `admitted`, but its own filters match 4 chunks and it returned 2 passages"
    )
    assert score.detail["contradicted"] is True
    assert (score.detail["declared"], score.detail["observed"]) == ("admitted", "failed_silently")


@pytest.mark.parametrize("measure", [AcceptableBehaviour, SilentFailure])
def test_what_facts_cannot_decide_waits_for_a_judge(measure: Any) -> None:
    score = measure.score(CASE, seen(Answer("Nothing found."), None))
    assert (score.value, score.reason) == (None, "needs_judge")
    assert score.detail["observed"] is None


@pytest.mark.parametrize("measure", [AcceptableBehaviour, SilentFailure])
def test_without_labelled_behaviours_it_does_not_apply(measure: Any) -> None:
    unlabelled = Case("c", "edge_case", "?", filters=FILTERS)
    assert measure.applies(CASE)
    assert not measure.applies(unlabelled)
    assert measure.score(unlabelled, seen(Answer("x"), 0)).reason == "not_applicable"


def test_a_claim_that_could_not_be_checked_is_unscored() -> None:
    answer = Answer("Wider:", SOME, FILTERS, "relaxed")
    case = Case("q", "edge_case", "?", filters={"year": "2022"}, behavior=("relaxed",))
    seen = Observation("q", "s", (Turn(0, "?", answer),), facts=Facts(failed="no connection"))
    for measure in (AcceptableBehaviour, SilentFailure):
        score = measure.score(case, seen)
        assert (score.value, score.reason) == (None, "not_counted")
        assert "no connection" in score.why


# With a judge


@pytest.mark.parametrize("passages", [(), SOME])
@pytest.mark.parametrize("label", get_args(Behavior))
def test_where_nothing_is_declared_the_judge_decides(
    label: Behavior, passages: tuple[Passage, ...]
) -> None:
    said = BehaviourVerdict(label, "it says\nso", Quotation("No match", True))
    observed = seen(Answer("No match.", passages, FILTERS), 0, said)
    acceptable, silent = (m.score(CASE, observed) for m in (AcceptableBehaviour, SilentFailure))
    assert acceptable.value == float(label in CASE.behavior)
    assert silent.value == float(label == "failed_silently")
    assert (acceptable.origin, acceptable.why) == ("judge", f"the text says `{label}`: it says so")
    assert (acceptable.detail["observed"], acceptable.detail["declared"]) == (label, None)
    assert acceptable.detail["judge"] == {
        "label": label,
        "rationale": "it says\nso",
        "quotation": "No match",
        "quotation_found": True,
    }
    json.dumps(acceptable.detail, allow_nan=False)


def test_where_facts_decide_the_judge_does_not() -> None:
    said = BehaviourVerdict("relaxed", "it widens")
    for declared, found, value in (("admitted", 0, 0.0), ("admitted", 4, 1.0)):
        answer = Answer("No.", SOME, FILTERS, declared)  # type: ignore[arg-type]
        with_judge = SilentFailure.score(CASE, seen(answer, found, said))
        assert with_judge == SilentFailure.score(CASE, seen(answer, found))
        assert (with_judge.value, with_judge.origin) == (value, "computed")
    # What is declared and contradicted stays so, and is listed.
    assert with_judge.detail["contradicted"] is True


@pytest.mark.parametrize("passages", [(), SOME])
def test_a_judge_that_failed_leaves_what_is_open_unscored(passages: tuple[Passage, ...]) -> None:
    down = NoVerdict("judge_unreachable", "no connection")
    score = SilentFailure.score(CASE, seen(Answer("Hm.", passages, FILTERS), 0, down))
    assert (score.value, score.reason, score.why) == (None, "judge_unreachable", "no connection")
    assert score.detail["declared"] is None
    declared = Answer("No.", passages, FILTERS, "admitted")
    assert SilentFailure.score(CASE, seen(declared, 0, down)).value == 0.0


def test_what_is_open_is_what_nobody_declared() -> None:
    for declared, passages in itertools.product((None, *get_args(Behavior)), ((), SOME)):
        observed = observed_behaviour(Answer("x", passages, FILTERS, declared), Facts(0, 3))
        assert observed.open == (declared is None)
