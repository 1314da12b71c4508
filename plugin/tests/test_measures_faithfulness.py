"""Faithfulness: shares of the claims that were asked, and the evidence beside them."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.gold import Case
from pytest_touchstone.measures import Contradictions, Faithfulness
from pytest_touchstone.score import Score
from pytest_touchstone.trace import Answer, Observation, Passage, Turn
from pytest_touchstone.verdicts import ClaimLabel, Claims, ClaimVerdict, NoVerdict, Quotation

CASE = Case("c", "factual", "Who?")
PASSAGES = (Passage("p1", "Gulu spent 7."), Passage("p2", "Lira spent 9."))


def claim(
    label: ClaimLabel, passage: int | None = None, text: str = "Gulu spent 7"
) -> ClaimVerdict:
    return ClaimVerdict(text, label, f"it is {label}", passage, Quotation("spent 7", True))


def seen(verdict: Claims | NoVerdict) -> Observation:
    turn = Turn(0, "Who?", Answer("Gulu spent 7.", PASSAGES))
    return Observation("c", "s", (turn,), verdicts={"claims": verdict})


def both(*claims: ClaimVerdict) -> tuple[Score, Score]:
    observed = seen(Claims(claims))
    return Faithfulness.score(CASE, observed), Contradictions.score(CASE, observed)


def test_shares_of_all_claims() -> None:
    faithful, against = both(
        claim("supported"), claim("supported"), claim("not_found"), claim("contradicted", 2)
    )
    assert (faithful.value, against.value) == (0.5, 0.25)
    assert faithful.why == "2 of 4 claims supported, 1 contradicted, 1 not found"
    assert against.why == "1 of 4 claims contradicted; 'Gulu spent 7': it is contradicted"
    assert (faithful.origin, against.origin) == ("judge", "judge")


def test_no_contradiction() -> None:
    faithful, against = both(claim("supported"))
    assert (faithful.value, faithful.why) == (1.0, "1 of 1 claim supported")
    assert (against.value, against.why) == (0.0, "0 of 1 claim contradicted")
    assert against.detail == {"claims": []}


def test_an_answer_without_a_claim_is_not_applicable() -> None:
    for score in both():
        assert (score.value, score.reason) == (None, "not_applicable")
        assert score.why == "the answer makes no claim"


def test_evidence_stands_in_the_detail() -> None:
    missing = ClaimVerdict("Lira spent 8", "contradicted", "it spent 9", 2, Quotation("x", False))
    bare = ClaimVerdict("Arua spent 1", "not_found", "nothing", 3)
    faithful, against = both(claim("supported", 1), missing, bare)
    assert faithful.detail["claims"] == [
        {
            "claim": "Gulu spent 7",
            "label": "supported",
            "rationale": "it is supported",
            "passage": 1,
            "passage_id": "p1",
            "quotation": "spent 7",
            "quotation_found": True,
        },
        {
            "claim": "Lira spent 8",
            "label": "contradicted",
            "rationale": "it spent 9",
            "passage": 2,
            "passage_id": "p2",
            "quotation": "x",
            "quotation_found": False,
        },
        {
            "claim": "Arua spent 1",
            "label": "not_found",
            "rationale": "nothing",
            "passage": 3,
            "passage_id": None,
            "quotation": None,
        },
    ]
    assert against.detail["claims"] == faithful.detail["claims"][1:2]
    json.dumps(faithful.detail, allow_nan=False)


@pytest.mark.parametrize(
    ("number", "name"), [(0, None), (1, "p1"), (2, "p2"), (3, None), (-1, None)]
)
def test_a_passage_that_is_not_there_has_no_id(number: int, name: str | None) -> None:
    faithful, _ = both(claim("supported", number))
    assert faithful.detail["claims"][0]["passage_id"] == name


def test_one_line_tells_at_most_three_contradictions() -> None:
    _, against = both(*(claim("contradicted", text=f"claim\n{i}") for i in range(5)))
    assert against.why.endswith("'claim\\n2': it is contradicted; and 2 more")
    assert "\n" not in against.why


@given(st.lists(st.sampled_from(get_args(ClaimLabel)), min_size=1, max_size=30))
def test_shares_are_within_their_range_and_exclude_each_other(labels: list[ClaimLabel]) -> None:
    faithful, against = both(*map(claim, labels))
    assert faithful.value is not None
    assert against.value is not None
    assert 0 <= faithful.value + against.value <= 1
    rest = labels.count("not_found") / len(labels)
    assert faithful.value + against.value + rest == pytest.approx(1)


def test_it_applies_to_every_type() -> None:
    for kind in ("factual", "comparative", "summary", "multi_turn", "edge_case"):
        assert Faithfulness.applies(Case("c", kind, "?"))
