"""A finished run, read back from the store as the rows that its report is built from."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from sys import intern
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from pytest_touchstone.gold import case_from_json
from pytest_touchstone.report.model import BudgetEntry, CanaryEntry, EvaluationCost
from pytest_touchstone.report.rows import (
    CanaryRows,
    CaseRow,
    JsonText,
    PassageRef,
    PlanRow,
    QuestionRow,
    RunRecord,
    ScoreRow,
    StoredPassage,
)
from pytest_touchstone.store import tables
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.sessions import runs_begun

_ROUNDING = 1e-9
_AT_ONCE = 500  # parameters of one query; SQLite's limit is 999 in older versions


@dataclass(frozen=True, slots=True)
class RunRows:
    """Everything that the store holds of one run.

    :param notes: kind of note to (key to value): prices, notices, peaks in flight.
    """

    run: RunRecord
    cases: tuple[CaseRow, ...]
    plan: tuple[PlanRow, ...]
    questions: tuple[QuestionRow, ...]
    scores: tuple[ScoreRow, ...]
    passages: Mapping[str, StoredPassage]
    notes: Mapping[str, Mapping[str, Any]]


def read_run(store: Store, run_id: str) -> RunRows | None:
    """The rows of a run, or ``None`` where the store does not know it."""
    return store.read(lambda connection: _read(connection, run_id))


def run_ids(store: Store, beginning: str) -> list[str]:
    """Ids of runs that begin so, the last begun first."""
    return [run_id for run_id, _ in runs_begun(store, beginning)]


def _read(connection: Connection, run_id: str) -> RunRows | None:
    run = connection.execute(sa.select(tables.runs).where(tables.runs.c.id == run_id))
    row = run.mappings().first()
    if row is None:
        return None
    asked = _columns(connection, tables.questions, _QUESTION, run_id)
    questions = tuple(_question(*row) for row in asked)
    digests = {ref.digest for question in questions for ref in question.passages}
    notes: dict[str, dict[str, Any]] = {}
    for note in _all(connection, tables.notes, run_id):
        notes.setdefault(note["kind"], {})[note["key"]] = json.loads(note["value"])
    return RunRows(
        run=_run_record(
            row,
            notes,
            _canaries(list(_all(connection, tables.canaries, run_id))),
            _budget(next(_all(connection, tables.spending, run_id), None)),
        ),
        cases=_cases(_columns(connection, tables.cases, _CASE, run_id)),
        plan=tuple(
            PlanRow(intern(case_id), intern(system), intern(measure), repeat, intern(mode))
            for case_id, system, measure, repeat, mode in _columns(
                connection, tables.plan, _PLANNED, run_id
            )
        ),
        questions=questions,
        scores=tuple(_score(*row) for row in _columns(connection, tables.scores, _SCORE, run_id)),
        passages=_passages(connection, digests),
        notes=notes,
    )


def _run_record(
    row: RowMapping,
    notes: Mapping[str, Mapping[str, Any]],
    canaries: CanaryRows | None,
    budget: BudgetEntry | None,
) -> RunRecord:
    config = json.loads(row["config"])
    config["prices"] = dict(sorted(notes.get("price", {}).items()))
    # Which scorer it was, and on which scale, is known once it was asked.
    config["models"]["scorer"] |= notes.get("scorer", {}).get("identity", {})
    # Workers fly side by side: together they had at most the sum of their own peaks in flight.
    peaks = notes.get("peak_in_flight", {}).values()
    return RunRecord(
        id=row["id"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        config=config,
        label=row["label"],
        peak_in_flight=sum(peaks) if peaks else None,
        judging=_judging(notes),
        canaries=canaries,
        budget=budget,
    )


def _budget(row: RowMapping | None) -> BudgetEntry | None:
    if row is None:
        return None
    over = row["spent"] - row["budget"]
    return {
        "usd": row["budget"],
        "spent": row["spent"],
        "overshoot": over if over > _ROUNDING else 0.0,
        "stopped": bool(row["refused"]),
    }


def _judging(notes: Mapping[str, Mapping[str, Any]]) -> EvaluationCost:
    made = list(notes.get("judge_call", {}).values())
    known = [call["usd"] for call in made if call["usd"] is not None]
    usage = [call["usage"] for call in made if call["usage"] is not None]
    return {
        "usd": math.fsum(known) if known or not made else None,
        "calls": len(made),
        "cache_hits": sum(notes.get("judge_hits", {}).values()),
        "input_tokens": sum(one["input_tokens"] for one in usage),
        "output_tokens": sum(one["output_tokens"] for one in usage),
        "unknown": len(made) - len(known),
    }


def _canaries(rows: list[RowMapping]) -> CanaryRows | None:
    if not rows:
        return None
    entries: list[CanaryEntry] = [
        {
            "canary": row["canary"],
            "lang": row["lang"],
            "known": json.loads(row["known"]),
            "said": row["said"],
            "earlier": row["earlier"],
            "why": row["why"],
        }
        for row in sorted(rows, key=lambda row: row["canary"])
    ]
    first = rows[0]
    return CanaryRows(first["judge"], first["asked_at"], first["earlier_at"], entries)


def _cases(rows: Iterable[tuple[str, int]]) -> tuple[CaseRow, ...]:
    found = (CaseRow(case_from_json(json.loads(gold)), position) for gold, position in rows)
    return tuple(sorted(found, key=lambda case: case.position))


_CASE = ("gold", "position")
_PLANNED = ("case_id", "system", "measure", "repeat", "mode")
_QUESTION = (
    "case_id",
    "system",
    "question",
    "turn",
    "repeat",
    "mode",
    "answer",
    "sources",
    "filters",
    "behavior",
    "usage",
    "cost_usd",
    "cost_reason",
    "duration_ms",
    "error",
    "reused_from",
)
_SCORE = (
    "case_id",
    "system",
    "measure",
    "value",
    "why",
    "reason",
    "repeat",
    "mode",
    "origin",
    "engine",
    "detail",
)
"""Columns in the order in which the functions below take them."""


def _question(
    case_id: str,
    system: str,
    question: str,
    turn: int,
    repeat: int,
    mode: str,
    answer: str | None,
    sources: str | None,
    filters: str | None,
    behavior: str | None,
    usage: str | None,
    cost_usd: float | None,
    cost_reason: str | None,
    duration_ms: float | None,
    error: str | None,
    reused_from: str | None,
) -> QuestionRow:
    return QuestionRow(
        intern(case_id),  # the same words in thousands of rows
        intern(system),
        intern(question),
        turn,
        repeat,
        intern(mode),
        answer,
        _references(sources),
        _parsed(filters),
        _word(behavior),
        _parsed(usage),
        cost_usd,
        _word(cost_reason),
        duration_ms,
        _parsed(error),
        _word(reused_from),
    )


def _word(text: str | None) -> str | None:
    return None if text is None else intern(text)


def _references(text: str | None) -> tuple[PassageRef, ...]:
    return tuple(
        PassageRef(intern(source["id"]), source["score"], intern(source["digest"]))
        for source in json.loads(text or "[]")
    )


def _score(
    case_id: str,
    system: str,
    measure: str,
    value: float | None,
    why: str,
    reason: str | None,
    repeat: int,
    mode: str,
    origin: str,
    engine: str,
    detail: str,
) -> ScoreRow:
    return ScoreRow(
        intern(case_id),
        intern(system),
        intern(measure),
        value,
        why,
        _word(reason),
        repeat,
        intern(mode),
        intern(origin),
        intern(engine),
        JsonText(detail),
    )


def _passages(connection: Connection, digests: Iterable[str]) -> dict[str, StoredPassage]:
    """The passages with these digests, and no others: all runs of a store share the table."""
    wanted = sorted(digests)
    found = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        its = tables.passages.c
        query = sa.select(its.digest, its.text, its.metadata).where(its.digest.in_(some))
        for digest, text, metadata in connection.execute(query):
            found[intern(digest)] = StoredPassage(text, _metadata(metadata))
    return found


@lru_cache(maxsize=1024)
def _metadata(text: str) -> JsonText:
    return JsonText(text)  # many passages of a document have the same


def _all(connection: Connection, table: sa.Table, run_id: str) -> Iterator[RowMapping]:
    return iter(connection.execute(sa.select(table).where(table.c.run_id == run_id)).mappings())


def _columns(
    connection: Connection, table: sa.Table, names: Iterable[str], run_id: str
) -> Iterator[Any]:
    # Some after the others: there may be ten thousands of them.
    query = sa.select(*(table.c[name] for name in names)).where(table.c.run_id == run_id)
    return chain.from_iterable(connection.execute(query).partitions(_AT_ONCE))


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)
