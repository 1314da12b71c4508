"""Claims that stand word for word in a passage, and what stands around them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.judge.offline.verbatim import standing

CLOSED = "The bridge was closed in 2030."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (CLOSED, CLOSED),
        (CLOSED, "It is not surprising that the bridge was closed in 2030."),
        (CLOSED, "The report found that the bridge was closed in 2030, not in 2031."),
        (CLOSED, "The road is not safe. The bridge was closed in 2030. No boat went."),
        (CLOSED, "If no money comes, the bridge was closed in 2030."),
        ("The road is not safe.", "It is true that the road is not safe."),
        ("Bron stängdes 2030.", "Det visar att bron stängdes 2030."),
    ],
)
def test_stated(claim: str, passage: str) -> None:
    assert standing(claim, [passage]) == "stated"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (CLOSED, "It isn't true that the bridge was closed in 2030."),
        (CLOSED, "They denied the claim that the bridge was closed in 2030."),
        (CLOSED, "There is no evidence that the bridge was closed in 2030."),
        (CLOSED, "That the bridge was closed in 2030 is not true."),
        (CLOSED, "The auditor did not find that the bridge was closed in 2030."),
        ("Payments were made.", "No payments were made."),
        ("All schools had water.", "Not all schools had water."),
        ("The schools had water.", "None of the schools had water."),
        ("Bron stängdes.", "Bron stängdes inte."),
        ("Bron stängdes 2030.", "Det stämmer inte att bron stängdes 2030."),
        ("Bron stängdes 2030.", "Borgmästaren förnekade att bron stängdes 2030."),
        ("Bron stängdes 2030.", "Det finns inga belägg för att bron stängdes 2030."),
    ],
)
def test_denied_from_outside(claim: str, passage: str) -> None:
    assert standing(claim, [passage]) == "denied"
    assert standing(claim, [passage, claim]) == "stated"


def test_neither() -> None:
    assert standing(CLOSED, ["The bridge was open in 2030."]) is None
    assert standing("...", [CLOSED]) is None
    assert standing(CLOSED, []) is None


def test_over_the_end_of_a_sentence() -> None:
    claim = "Officers 1 Arua 6 Source: reports."
    assert standing(claim, ["No. Entity | Officers 1 Arua 6", "Source: reports."]) == "stated"


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_any_text_stands_in_itself(text: str, others: list[str]) -> None:
    assert standing(text, [*others, text]) == (standing(text, [text]) or standing(text, others))


def test_many_denied_places_are_read_in_one_go() -> None:
    assert standing("water", ["no water " * 3000]) == "denied"
