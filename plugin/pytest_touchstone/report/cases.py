"""The cases of a report: what each system did with each gold question, and its scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, cast, overload

from pytest_touchstone.gold import Case, case_to_json
from pytest_touchstone.report.index import Index, Unit, json_data
from pytest_touchstone.report.model import (
    CaseEntry,
    ChatMessage,
    Gold,
    PassageText,
    Report,
    ReportError,
    Turn,
    TurnEntry,
)
from pytest_touchstone.report.rows import QuestionRow, StoredPassage

_NEVER_ASKED = QuestionRow("", "", "")


class Outcome(NamedTuple):
    """What came of a case of a report.

    :ivar failed: the system gave no usable answer.
    :ivar reasons: those of scores that have one.
    """

    system: str
    failed: bool
    reasons: frozenset[str]


class CaseEntries(Sequence[CaseEntry]):
    """One entry per planned case, system, mode and repeat, in the order of the index.

    Each is made when it is looked at: ten thousand of them would take more memory than all else of
    a run.  Whoever needs all goes through them once.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._units = tuple(index.units)

    @property
    def names(self) -> Iterator[str]:
        """The case of each entry."""
        return (unit.case for unit in self._units)

    @property
    def outcomes(self) -> Iterator[Outcome]:
        """What came of each entry."""
        for unit, names in self._index.units.items():
            turns = self._index.turns[unit]
            failed = bool(turns) and turns[-1].error is not None
            reasons = (self._index.score(unit, name).reason for name in names)
            yield Outcome(unit.system, failed, frozenset(filter(None, reasons)))

    @overload
    def __getitem__(self, place: int) -> CaseEntry: ...

    @overload
    def __getitem__(self, place: slice) -> list[CaseEntry]: ...

    def __getitem__(self, place: int | slice) -> CaseEntry | list[CaseEntry]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        unit = self._units[place]
        return _entry(self._index, unit, _gold(self._index.cases[unit.case]))

    def __iter__(self) -> Iterator[CaseEntry]:
        for name, units in groupby(self._units, key=lambda unit: unit.case):
            gold = _gold(self._index.cases[name])
            for unit in units:
                yield _entry(self._index, unit, gold)

    def __len__(self) -> int:
        return len(self._units)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)


class PassageTexts(Mapping[str, PassageText]):
    """Every passage that a case refers to, once, in order of its digest; made like the cases.

    :raises ReportError: where a passage is not among those given.
    """

    def __init__(self, index: Index, passages: Mapping[str, StoredPassage]) -> None:
        turns = (turn for unit in index.units for turn in index.turns[unit])
        self._used = sorted({ref.digest for turn in turns for ref in turn.passages})
        if missing := [digest for digest in self._used if digest not in passages]:
            raise ReportError(f"{len(missing)} passages have no text, the first is {missing[0]}")
        self._passages = passages

    def __getitem__(self, digest: str) -> PassageText:
        passage = self._passages[digest]
        return {"text": passage.text, "metadata": json_data(passage.metadata)}

    def __iter__(self) -> Iterator[str]:
        return iter(self._used)

    def __len__(self) -> int:
        return len(self._used)


def case_numbers(report: Report) -> dict[str, int]:
    """Each gold question that was asked to its number, from 0, in the order of the cases."""
    cases = report["cases"]
    names = cases.names if isinstance(cases, CaseEntries) else (case["case"] for case in cases)
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def outcomes(report: Report) -> Iterator[Outcome]:
    """What came of each case, in their order."""
    cases = report["cases"]
    if isinstance(cases, CaseEntries):
        return cases.outcomes
    return (
        Outcome(case["system"], case["error"] is not None, frozenset(case["reasons"].values()))
        for case in cases
    )


def _gold(case: Case) -> Gold:
    gold = case_to_json(case)
    for name in ("filters", "history"):  # all else is text, whole numbers and lists of them
        if name in gold:
            gold[name] = json_data(gold[name])
    return cast(Gold, gold)


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
        "details": {
            name: detail for name, row in scores.items() if (detail := json_data(row.detail))
        },
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
