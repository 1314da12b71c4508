"""A run's rows out of a store, and into one that has no other run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.score import BUDGET
from pytest_touchstone.store import tables
from pytest_touchstone.store.answers import Place
from pytest_touchstone.store.engine import Store, StoreError

Rows = dict[str, list[dict[str, Any]]]
_OF_A_RUN = (
    tables.cases,
    tables.plan,
    tables.questions,
    tables.scores,
    tables.notes,
    tables.canaries,
    tables.spending,
)
# What was so of the processes that made the run, and is not of those that make it again.
_PASSING = ("identity", "session", "peak_in_flight", "progress")
_OWNER = "bundle"
_AT_ONCE = 500


def rows_of_run(store: Store, run_id: str) -> tuple[Rows, int] | None:
    """Every row that the run's report rests on, by table, in a fixed order; and how many calls
    the store does not hold any more.  ``None`` where the store does not know the run."""
    return store.read(lambda connection: _read(connection, run_id))


def _read(connection: Connection, run_id: str) -> tuple[Rows, int] | None:
    runs = _dicts(connection, sa.select(tables.runs).where(tables.runs.c.id == run_id))
    if not runs:
        return None
    found: Rows = {"eval_runs": runs}
    for table in _OF_A_RUN:
        query = sa.select(table).where(table.c.run_id == run_id).order_by(*table.primary_key)
        found[table.name] = _dicts(connection, query)
    sources = (json.loads(row["sources"] or "[]") for row in found["eval_questions"])
    digests = sorted({source["digest"] for several in sources for source in several})
    its = tables.passages
    found["eval_passages"] = [
        row
        for some in _parts(digests)
        for row in _dicts(connection, sa.select(its).where(its.c.digest.in_(some)))
    ]
    found["eval_passages"].sort(key=lambda row: str(row["digest"]))
    found["eval_calls"], missing = _calls(connection, run_id)
    return found, missing


def _calls(connection: Connection, run_id: str) -> tuple[list[dict[str, Any]], int]:
    uses, calls = tables.call_uses.c, tables.calls.c
    query = (
        sa.select(uses.key, uses.result, calls.kind, calls.result.label("kept"))
        .select_from(tables.call_uses.outerjoin(tables.calls, calls.key == uses.key))
        .where(uses.run_id == run_id)
        .order_by(uses.key)
    )
    found, missing = [], 0
    for row in connection.execute(query):
        result = row.kept if row.result is None else row.result
        if result is None:
            missing += 1
        else:
            found.append({"key": row.key, "kind": row.kind or "judge", "result": result})
    return found, missing


def fill(
    store: Store, rows: Mapping[str, Sequence[Mapping[str, Any]]], *, read: bool = False
) -> None:
    """Make the store hold the run as if its answers were there and nobody had read them yet.

    What the budget cut off stays as it was.

    :param read: as if they had been: with the scores that they got.
    :raises StoreError: for rows that are none of these tables'.
    """

    def job(connection: Connection) -> None:
        run_id = rows["eval_runs"][0]["id"]
        _insert(connection, tables.runs, [{**row, "stop": 0} for row in rows["eval_runs"]])
        asked = rows["eval_questions"]
        unpaid = {_place(row) for row in asked if row["error"] and _is_budget(row["error"])}
        settled = {_place(row) for row in asked} if read else unpaid
        questions = [{**row, "unfinished": int(_place(row) not in settled)} for row in asked]
        scores = [row for row in rows["eval_scores"] if read or _place(row) in unpaid]
        notes = [row for row in rows["eval_notes"] if row["kind"] not in _PASSING]
        done = {"owner": _OWNER, "state": "done", "created_at": rows["eval_runs"][0]["started_at"]}
        claims = [
            {"key": place.key(run_id), "kind": "answer", "result": None} for place in sorted(unpaid)
        ]
        calls = [{**row, **done} for row in (*rows["eval_calls"], *claims)]
        for table, some in (
            (tables.cases, rows["eval_cases"]),
            (tables.plan, rows["eval_plan"]),
            (tables.passages, rows["eval_passages"]),
            (tables.questions, questions),
            (tables.scores, scores),
            (tables.notes, notes),
            (tables.canaries, rows["eval_canaries"]),
            (tables.spending, rows["eval_spending"]),
            (tables.calls, calls),
        ):
            _insert(connection, table, some)

    try:
        store.write(job).result()
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise StoreError(f"bundle: its rows are faulty: {type(error).__name__}: {error}") from None


def _insert(connection: Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        if odd := sorted(row.keys() - table.columns.keys()):
            raise ValueError(f"{table.name} has no column {odd[0]!r:.80}")
    if rows:
        connection.execute(sa.insert(table), [dict(row) for row in rows])


def _place(row: Mapping[str, Any]) -> Place:
    return Place(row["case_id"], row["system"], row["repeat"], row["mode"])


def _is_budget(error: str) -> bool:
    return bool(json.loads(error)["kind"] == BUDGET)


def _parts(values: Sequence[str]) -> list[Sequence[str]]:
    return [values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE)]


def _dicts(connection: Connection, query: sa.Select[Any]) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(query).mappings()]
