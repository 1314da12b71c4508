"""The offline judge's relevance: passages against a question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytest_touchstone.judge.offline.relevance import relevance

QUESTION = "What did the bridge in Mora cost in 2019?"


def same(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors that leave it to the words: each is as near to the others as any."""
    return np.ones((len(texts), 1), np.float32) * np.float32(0.84**0.5)


def labels(question: str, *passages: str) -> list[str]:
    return [each.label for each in relevance(question, passages, same).verdicts]


def test_what_answers_is_relevant_and_what_has_nothing_in_common_is_not() -> None:
    found = labels(
        QUESTION,
        "The bridge in Mora cost 4 million in 2019.",
        "Fish is sold in Falun on Mondays.",
    )
    assert found == ["relevant", "irrelevant"]


def test_another_year_than_asked_for_is_not_relevant() -> None:
    assert labels(QUESTION, "The bridge in Mora cost 9 million in 2012.") != ["relevant"]


def test_a_passage_that_names_others_says_so() -> None:
    found = relevance(QUESTION, ["The bridge in Falun cost 9 million in 2019."], same)
    assert "Mora" in found.verdicts[0].rationale


def test_a_question_that_leaves_its_subject_out_has_that_of_the_question_before() -> None:
    passages = [
        "The bridge in Mora cost 5 million in 2020.",
        "The bridge in Mora cost 4 million in 2019.",
        "Fish is sold in Falun on Mondays.",
    ]
    alone = relevance("And in 2020?", passages, same).verdicts
    assert alone[0].label != "relevant"
    told = relevance("And in 2020?", passages, same, before=("Fish?", QUESTION)).verdicts
    assert [each.label for each in told] == ["relevant", "partly", "irrelevant"]
    falun = relevance("And in Falun?", passages[1:2], same, before=(QUESTION,)).verdicts
    assert "does not name “Falun”" in falun[0].rationale


def test_a_year_that_spans_two_is_both() -> None:
    question = "What did roads cost in FY 2021/22?"
    passage = "Roads cost 4 million, with all costs counted, in the year 2022."
    assert labels(question, passage) == ["relevant"]


def test_each_passage_has_its_rank_and_a_reason() -> None:
    found = relevance(QUESTION, ["The bridge in Mora.", "Fish."], same).verdicts
    assert [each.rank for each in found] == [1, 2]
    assert all("%" in each.rationale for each in found)
    assert relevance(QUESTION, [], same).verdicts == ()


def test_the_same_passage_is_as_relevant_at_any_rank() -> None:
    passage = "The bridge in Mora cost 4 million in 2019."
    assert len(set(labels(QUESTION, passage, "Fish.", passage))) == 2


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=4))
def test_any_texts_have_a_verdict_each(question: str, passages: list[str]) -> None:
    found = relevance(question, passages, same)
    assert [each.rank for each in found.verdicts] == list(range(1, len(passages) + 1))
    assert all(len(each.rationale.splitlines()) == 1 for each in found.verdicts)
    assert relevance(question, passages, same) == found


@pytest.mark.parametrize("unit", ["a", "a b. ", "港。"])
def test_a_megabyte_is_read(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert len(relevance(text, [text], same).verdicts) == 1
