"""Paragraphs: form of the first ten passages, relevance of the first five."""

from __future__ import annotations

import json
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone import verdicts
from pytest_touchstone.gold import Case
from pytest_touchstone.measures import Coherence, ParagraphRelevance
from pytest_touchstone.score import Score
from pytest_touchstone.trace import Answer, Observation, Passage, Turn

CASE = Case("c", "factual", "Who?")


def retrieved(count: int, **said: object) -> Observation:
    passages = tuple(Passage(f"p{i}", f"text {i}") for i in range(1, count + 1))
    turn = Turn(0, "Who?", Answer("", passages), retrieved_only=True)
    return Observation("c", "s", (turn,), verdicts=said)  # type: ignore[arg-type]


def forms(*labels: str, count: int | None = None) -> Score:
    said = tuple(verdicts.Coherence(label, f"a {label}") for label in labels)  # type: ignore[arg-type]
    seen = retrieved(len(labels) if count is None else count, coherence=said)
    return Coherence.score(CASE, seen)


def relevances(*labels: str, count: int | None = None) -> Score:
    said = tuple(
        verdicts.PassageVerdict(rank, label, "because")  # type: ignore[arg-type]
        for rank, label in enumerate(labels, start=1)
    )
    seen = retrieved(
        len(labels) if count is None else count, relevance=verdicts.Relevance(said[::-1])
    )
    return ParagraphRelevance.score(CASE, seen)


def test_coherence_is_the_share_of_paragraphs() -> None:
    score = forms("paragraph", "boilerplate", "table_debris", "cut", "paragraph")
    assert (score.value, score.origin) == (0.4, "judge")
    assert score.why == "2 of 5 passages a paragraph; 1 boilerplate; 1 cut; 1 table debris"
    assert score.detail["passages"][1] == {
        "rank": 2,
        "passage_id": "p2",
        "form": "boilerplate",
        "rationale": "a boilerplate",
    }
    json.dumps(score.detail, allow_nan=False)


def test_only_the_first_ten_passages_are_judged_for_coherence() -> None:
    assert forms(*["paragraph"] * 10, count=25).value == 1
    short = forms(*["paragraph"] * 9, count=25)
    assert (short.value, short.reason) == (None, "needs_judge")
    assert short.why == "9 verdicts for 10 passages"


def test_one_passage_without_a_verdict_leaves_coherence_unscored() -> None:
    said = (verdicts.Coherence("cut", "x"), verdicts.NoVerdict("judge_refused", "will not"))
    score = Coherence.score(CASE, retrieved(2, coherence=said))
    assert (score.value, score.reason, score.why) == (None, "judge_refused", "will not")


def test_relevance_is_the_mean_of_the_first_five() -> None:
    score = relevances("relevant", "partly", "irrelevant", "irrelevant", "irrelevant", count=20)
    assert (score.value, score.origin) == (0.3, "judge")
    assert score.why.startswith("rank 1 relevant; rank 2 partly; rank 3 irrelevant")
    assert score.detail["passages"][1] == {
        "rank": 2,
        "passage_id": "p2",
        "label": "partly",
        "rationale": "because",
    }
    json.dumps(score.detail, allow_nan=False)
    assert relevances("relevant").value == 1
    assert relevances("relevant", count=2).why == "1 verdict for 2 passages"


def test_without_passages_neither_applies() -> None:
    for score in (forms(), relevances()):
        assert (score.reason, score.why) == ("not_applicable", "no passage was retrieved")


def test_relevance_says_nothing_where_no_passage_can_be_right() -> None:
    nothing = Case("c", "edge_case", "?", filters={"year": 2031}, behavior=("admitted",))
    assert not ParagraphRelevance.applies(nothing)
    assert ParagraphRelevance.score(nothing, retrieved(1)).reason == "not_applicable"
    assert Coherence.applies(nothing)


@given(st.lists(st.sampled_from(get_args(verdicts.FormLabel)), min_size=1, max_size=10))
def test_coherence_is_within_its_range(labels: list[str]) -> None:
    assert forms(*labels).value == labels.count("paragraph") / len(labels)


@given(st.lists(st.sampled_from(get_args(verdicts.RelevanceLabel)), min_size=1, max_size=5))
def test_relevance_is_within_its_range(labels: list[str]) -> None:
    value = relevances(*labels).value
    assert value is not None
    assert 0 <= value <= 1
    assert (value == 1) == (set(labels) == {"relevant"})
    assert (value == 0) == (set(labels) == {"irrelevant"})
