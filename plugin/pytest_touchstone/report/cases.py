"""The cases of a report: what each system did with each gold question, and its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from pytest_touchstone.gold import Case, case_to_json
from pytest_touchstone.report.index import Index, Unit, json_data
from pytest_touchstone.report.model import (
    CaseEntry,
    ChatMessage,
    Gold,
    PassageText,
    ReportError,
    Turn,
    TurnEntry,
)
from pytest_touchstone.report.rows import QuestionRow, StoredPassage

_NEVER_ASKED = QuestionRow("", "", "")


def case_entries(index: Index) -> list[CaseEntry]:
    """One entry per planned case, system, mode and repeat, in the order of the index."""
    gold = {name: cast(Gold, json_data(case_to_json(case))) for name, case in index.cases.items()}
    return [_entry(index, unit, gold[unit.case]) for unit in index.units]


def passage_texts(index: Index, passages: Mapping[str, StoredPassage]) -> dict[str, PassageText]:
    """Every passage that a case refers to, once, in order of its digest.

    :raises ReportError: where a passage is not among those given.
    """
    turns = (turn for unit in index.units for turn in index.turns[unit])
    used = sorted({ref.digest for turn in turns for ref in turn.passages})
    if missing := [digest for digest in used if digest not in passages]:
        raise ReportError(f"{len(missing)} passages have no text, the first is {missing[0]}")
    return {
        digest: {
            "text": passages[digest].text,
            "metadata": json_data(passages[digest].metadata),
        }
        for digest in used
    }


def _entry(index: Index, unit: Unit, gold: Gold) -> CaseEntry:
    *earlier, last = index.turns[unit] or (_NEVER_ASKED,)
    names = [info["measure"] for info in index.measures if info["measure"] in index.units[unit]]
    scores = {name: index.score(unit, name) for name in names}
    return {
        "case": unit.case,
        "system": unit.system,
        "repeat": unit.repeat,
        "mode": unit.mode,
        "gold": gold,
        "conversation": _conversation(index.cases[unit.case], unit.mode, earlier, last),
        "earlier_turns": [_earlier(turn) for turn in earlier],
        **_turn(last),
        "scores": {name: row.value for name, row in scores.items()},
        "reasons": {name: row.reason for name, row in scores.items() if row.reason},
        "why": {name: row.why for name, row in scores.items()},
        "details": {name: json_data(row.detail) for name, row in scores.items() if row.detail},
    }


def _conversation(
    case: Case, mode: str, earlier: Sequence[QuestionRow], last: QuestionRow
) -> list[ChatMessage]:
    """The messages that the system was sent: the recorded history, or its own answers live."""
    messages: list[ChatMessage]
    if mode == "recorded":
        messages = [{"role": item.role, "content": item.content} for item in case.history]
    else:
        messages = []
        for turn in earlier:
            messages.append({"role": "user", "content": turn.question})
            messages.append({"role": "assistant", "content": turn.answer or ""})
    question = case.question if last is _NEVER_ASKED else last.question
    return [*messages, {"role": "user", "content": question}]


def _earlier(row: QuestionRow) -> TurnEntry:
    return {"turn": row.turn, "question": row.question, **_turn(row)}


def _turn(row: QuestionRow) -> Turn:
    return {
        "answer": row.answer,
        "passages": [
            {"id": ref.id, "score": json_data(ref.score), "digest": ref.digest}
            for ref in row.passages
        ],
        "filters": json_data(row.filters),
        "behavior": row.behavior,
        "usage": None if row.usage is None else [json_data(call) for call in row.usage],
        "cost_usd": json_data(row.cost_usd),
        "cost_reason": row.cost_reason,
        "error": None
        if row.error is None
        else {"kind": row.error["kind"], "message": row.error["message"]},
    }
