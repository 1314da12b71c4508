"""The offline judge's behaviour: what an answer says was done where nothing matched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.judge.offline.conduct import asks_back, behaviour, says_nothing_found
from pytest_touchstone.paragraphs import sentences
from pytest_touchstone.trace import Behavior

SET = Path(__file__).parents[2] / "evaluation" / "judge_fitting" / "behaviour.jsonl"
ROWS = [json.loads(line) for line in SET.read_text("utf-8").split("\n") if line]
QUESTION = "Vad byggdes i Mora 2031?"
FILTERS = {"place": "Mora", "year": "2031"}


# The examples of the judge's prompt, which say what each label means, and their neighbours.
@pytest.mark.parametrize(
    ("label", "answer"),
    [
        ("relaxed", "För 2031 finns inget; här är i stället uppgifter för 2030: …"),
        ("asked_follow_up", "Jag hittar inget för 2031. Menar du 2030?"),
        ("admitted", "There are no reports on Mora for 2031."),
        ("failed_silently", "I Mora byggdes en bro."),
        ("failed_silently", ""),
        ("failed_silently", QUESTION),
        ("admitted", "I found no reports for 2031. I can search other years if you like."),
        ("admitted", "Inga träffar för Mora 2031. Kan jag hjälpa dig med något annat?"),
        ("asked_follow_up", "No documents match. Would you like me to look at 2030?"),
        ("relaxed", "There is no record for 2031, but in 2030 a bridge was built [2]."),
        ("relaxed", "Jag tog bort filtret på år: 2030 byggdes en bro [1]."),
        ("admitted", "Nothing was found for 2031. The collection covers 2019 to 2023."),
        ("failed_silently", "The auditors found no evidence of fraud in Mora [1]."),
        ("failed_silently", "Revisorerna fann inga brister i Mora [1]."),
    ],
)
def test_the_first_label_that_fits(label: str, answer: str) -> None:
    found = behaviour(QUESTION, FILTERS, answer)
    assert found.label == label, found.rationale


def test_most_of_the_half_that_rules_were_made_with_agrees() -> None:
    rows = [row for row in ROWS if row["split"] == "tune"]
    agreed = [
        behaviour(row["question"], row["filters"], row["answer"]).label == row["label"]
        for row in rows
    ]
    assert sum(agreed) >= 0.95 * len(rows)


def test_the_quotation_is_the_sentence_that_says_so() -> None:
    found = behaviour(QUESTION, FILTERS, "Tack! Jag hittar inget för 2031. Hej då.")
    assert found.quotation is not None
    assert (found.quotation.text, found.quotation.found) == ("Jag hittar inget för 2031.", True)
    assert behaviour(QUESTION, FILTERS, "I Mora byggdes en bro.").quotation is None


def test_whether_a_text_admits_or_asks() -> None:
    assert says_nothing_found("Sorry. Nothing was found for 2031.")
    assert not says_nothing_found("A bridge was built.")
    assert asks_back("Which year do you mean?")
    assert not asks_back("Is there anything else I can help with?")


@given(st.text(max_size=300))
def test_any_text_has_a_label_and_quotes_itself(text: str) -> None:
    found = behaviour(text, {"year": [text, None, 3]}, text)
    assert found.label in get_args(Behavior)
    assert len(found.rationale.splitlines()) == 1
    assert found.quotation is None or found.quotation.text in sentences(text)
    assert (found.quotation is None) == (found.label == "failed_silently")
    assert behaviour(text, {"year": [text, None, 3]}, text) == found


@pytest.mark.parametrize("unit", ["a", "no ", "a b. ", "could not be "])
def test_a_megabyte_is_read(unit: str) -> None:
    assert behaviour(QUESTION, FILTERS, unit * (1_000_000 // len(unit))).rationale


@pytest.mark.parametrize(
    ("label", "answer"),
    [
        ("failed_silently", "The harbour had no crane and could not find a supplier."),
        ("failed_silently", "The report states that no information was provided by the builder."),
        ("admitted", "My search came back empty for Mora in 2031."),
        ("admitted", "I could not find a report."),
        ("relaxed", "Rapport för 2031 saknas. Året därpå byggdes 3 broar."),
    ],
)
def test_who_found_nothing_and_what_is_told_instead(label: str, answer: str) -> None:
    assert behaviour(QUESTION, FILTERS, answer).label == label
