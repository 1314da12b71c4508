"""Summarisation: words in common, key points, and sentences that serve none."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]

from pytest_touchstone.gold import Case
from pytest_touchstone.measures import KeyPointCoverage, Padding, RougeL, RougeLsum
from pytest_touchstone.measures.summarisation import points_asked
from pytest_touchstone.score import Score
from pytest_touchstone.trace import Answer, Observation, Turn
from pytest_touchstone.verdicts import Coverage, PointLabel, PointVerdict, Quotation

GOLD = "Funds came late. The roads were not built."


def rouge(answer: str, gold: str = GOLD) -> tuple[Score, Score]:
    case = Case("c", "summary", "Sum up.", gold)
    seen = Observation("c", "s", (Turn(0, "Sum up.", Answer(answer)),))
    return RougeL.score(case, seen), RougeLsum.score(case, seen)


def test_the_gold_answer_itself_scores_1() -> None:
    for text in (GOLD, "审计署长的报告。", "تقرير المراجع العام.", "Får i länet."):
        for score in rouge(text, text):
            assert (score.value, score.origin) == (1.0, "computed")
            assert score.why == "precision 1.000, recall 1.000"


def test_sentences_in_another_order() -> None:
    whole, sentences = rouge("The roads were not built. Funds came late.")
    assert whole.value == pytest.approx(5 / 8)
    assert sentences.value == 1.0


def test_sentences_are_lines_to_rouge_score() -> None:
    answer = "Roads were late. The funds came! Nothing was built, in 2.5 years."
    theirs = RougeScorer(["rougeL", "rougeLsum"]).score(
        "Funds came late.\nThe roads were not built.",
        "Roads were late.\nThe funds came!\nNothing was built, in 2.5 years.",
    )
    whole, sentences = rouge(answer)
    assert whole.value == theirs["rougeL"].fmeasure
    assert sentences.value == theirs["rougeLsum"].fmeasure
    assert sentences.detail == {
        "precision": theirs["rougeLsum"].precision,
        "recall": theirs["rougeLsum"].recall,
    }


def test_citation_markers_are_no_words() -> None:
    for score in rouge("Funds came late [1]. The roads [2, 3] were not built. [Doc 1, Doc 2]"):
        assert score.value == 1.0


def test_an_answer_without_words_has_nothing_in_common() -> None:
    for score in rouge("???"):
        assert score.value == 0.0


@pytest.mark.parametrize(
    "case",
    [
        Case("c", "factual", "?", GOLD),
        Case("c", "summary", "?", ""),
        Case("c", "summary", "?", "... [1]"),
    ],
)
def test_rouge_needs_a_summary_in_words(case: Case) -> None:
    seen = Observation("c", "s", (Turn(0, "?", Answer("x")),))
    for measure in (RougeL, RougeLsum):
        assert not measure.applies(case)
        assert measure.score(case, seen).reason == "not_applicable"


# Key points


def coverage(labels: list[PointLabel], sentences: int, *padding: int) -> tuple[Score, Score]:
    points = tuple(f"point {i}" for i in range(len(labels)))
    case = Case("c", "factual", "?", key_points=points)
    found = Coverage(
        tuple(
            PointVerdict(point, label, "because", Quotation("late", True))
            for point, label in zip(points, labels, strict=True)
        ),
        tuple(f"Sentence {i}." for i in range(sentences)),
        padding,
    )
    seen = Observation("c", "s", (Turn(0, "?", Answer("x")),), verdicts={"coverage": found})
    return KeyPointCoverage.score(case, seen), Padding.score(case, seen)


def test_key_points_by_hand() -> None:
    covered, padding = coverage(["present", "partly", "absent", "present"], 4, 3)
    assert (covered.value, padding.value) == (0.625, 0.25)
    assert (covered.origin, padding.origin) == ("judge", "judge")
    assert covered.why == "2 of 4 key points present; partly: point 1; absent: point 2"
    assert padding.why == "1 of 4 sentences serve no key point"
    assert padding.detail == {
        "sentences": 4,
        "padding": [{"sentence": 4, "text": "Sentence 3."}],
    }
    assert covered.detail["points"][0] == {
        "point": "point 0",
        "label": "present",
        "rationale": "because",
        "quotation": "late",
        "quotation_found": True,
    }
    json.dumps([covered.detail, padding.detail], allow_nan=False)


def test_a_sentence_counts_once_and_only_where_there_is_one() -> None:
    assert coverage(["present"], 4, 1, 1, 9, -1)[1].value == 0.25
    covered, padding = coverage(["absent"], 0)
    assert covered.value == 0
    assert (padding.reason, padding.why) == ("not_applicable", "the answer has no sentence")


def test_fewer_verdicts_than_key_points_are_no_score() -> None:
    case = Case("c", "summary", "?", key_points=("a", "b"))
    found = Coverage((PointVerdict("a", "present", ""),), ("One.",), ())
    seen = Observation("c", "s", (Turn(0, "?", Answer("x")),), verdicts={"coverage": found})
    for measure in (KeyPointCoverage, Padding):
        score = measure.score(case, seen)
        assert (score.value, score.why) == (None, "1 verdict for 2 key points")


def test_a_summary_that_lists_no_key_points_is_asked_for_the_sentences_of_its_answer() -> None:
    case = Case("c", "summary", "?", "It rained. It snowed.")
    points = tuple(PointVerdict(text, "present", "Yes.") for text in points_asked(case))
    assert [point.point for point in points] == ["It rained.", "It snowed."]
    said = {"coverage": Coverage(points, ("It rained and snowed.",), ())}
    seen = Observation("c", "s", (Turn(0, "?", Answer("It rained and snowed.")),), verdicts=said)
    assert KeyPointCoverage.applies(case)
    assert KeyPointCoverage.score(case, seen).value == 1


def test_an_engine_that_grades_is_taken_at_its_grades() -> None:
    case = Case("c", "summary", "?", GOLD, key_points=("a", "b"))
    points = tuple(
        PointVerdict(p, "partly", "Yes.", support=s) for p, s in (("a", 0.4), ("b", 0.7))
    )
    seen = Observation(
        "c", "s", (Turn(0, "?", Answer("x")),), verdicts={"coverage": Coverage(points, ("x",), ())}
    )
    assert KeyPointCoverage.score(case, seen).value == pytest.approx(0.55)


def test_without_key_points_neither_applies() -> None:
    case = Case("c", "factual", "?", GOLD)
    seen = Observation("c", "s", (Turn(0, "?", Answer("x")),))
    for measure in (KeyPointCoverage, Padding):
        assert not measure.applies(case)
        assert measure.score(case, seen).reason == "not_applicable"


@given(
    st.lists(st.sampled_from(get_args(PointLabel)), min_size=1, max_size=9),
    st.integers(1, 20),
    st.sets(st.integers(-3, 30)),
)
def test_both_are_within_their_range(
    labels: list[PointLabel], sentences: int, padding: set[int]
) -> None:
    for score in coverage(labels, sentences, *padding):
        assert score.value is not None
        assert 0 <= score.value <= 1
