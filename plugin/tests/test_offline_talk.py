"""The offline judge's conversations: the gold answer's facts, and the topic of each turn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytest_touchstone.judge.offline.talk import conversation

SET = Path(__file__).parents[2] / "evaluation" / "judge_fitting" / "conversations.jsonl"
ROWS = [json.loads(line) for line in SET.read_text("utf-8").split("\n") if line]
BRIDGE = ("Vad kostade bron?", "4 miljoner.")


def unlike(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.eye(len(texts), dtype=np.float32)


def judged(turns: Sequence[tuple[str, str]], gold: str) -> tuple[str, list[bool]]:
    found = conversation(turns, gold, unlike)
    assert [turn.turn for turn in found.turns] == list(range(len(turns)))
    return found.label, [turn.on_topic for turn in found.turns]


def test_the_example_of_the_prompt() -> None:
    turns = [BRIDGE, ("Och när öppnades den?", "Den är röd.")]
    assert judged(turns, "1998.") == ("failed", [True, False])


@pytest.mark.parametrize(
    ("answer", "label", "on_topic"),
    [
        ("Bron öppnades 1998.", "completed", True),
        ("Bron öppnades 2004.", "failed", True),
        ("", "failed", False),
        ("4 miljoner.", "failed", False),
        ("Menar du den nya bron?", "failed", True),
    ],
)
def test_the_last_answer_decides(answer: str, label: str, on_topic: bool) -> None:
    turns = [BRIDGE, ("Och när öppnades bron?", answer)]
    assert judged(turns, "Bron öppnades 1998.") == (label, [True, on_topic])


def test_earlier_turns_count_where_the_last_does_not_take_them_back() -> None:
    first = ("When was the bridge opened?", "The bridge in Mora was opened in 1998.")
    gold = "The bridge in Mora was opened in 1998."
    kept = [first, ("Thank you. Was the bridge repaired?", "The bridge was not repaired.")]
    back = [first, ("Is that sure?", "The bridge in Mora was opened in 2004.")]
    assert judged(kept, gold)[0] != "failed"
    assert judged(back, gold)[0] == "failed"


def test_where_nothing_can_be_found_saying_so_completes() -> None:
    gold = "Nothing can be found for 2040."
    assert judged([("And 2040?", "I found no reports for 2040.")], gold)[0] == "completed"
    assert judged([("And 2040?", "It cost 12 billion in 2040.")], gold)[0] == "failed"


def test_most_of_the_half_that_rules_were_made_with_agrees() -> None:
    rows = [row for row in ROWS if row["split"] == "tune"]
    found = [judged([(turn[0], turn[1]) for turn in row["turns"]], row["gold"]) for row in rows]
    agreed = sum(label == row["label"] for (label, _), row in zip(found, rows, strict=True))
    assert agreed >= 0.8 * len(rows)


@given(
    st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), min_size=1, max_size=4),
    st.text(max_size=80),
)
def test_any_conversation_has_a_verdict_for_each_turn(
    turns: list[tuple[str, str]], gold: str
) -> None:
    found = conversation(turns, gold, unlike)
    assert [turn.turn for turn in found.turns] == list(range(len(turns)))
    reasons = [found.rationale, *(turn.rationale for turn in found.turns)]
    assert all(len(reason.splitlines()) == 1 for reason in reasons)
    assert conversation(turns, gold, unlike) == found


@pytest.mark.parametrize("unit", ["a", "a b. ", "港。"])
def test_a_megabyte_is_read(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert len(conversation([(text, text), (text, text)], text, unlike).turns) == 2
