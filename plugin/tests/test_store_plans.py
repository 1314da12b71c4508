"""What is asked again and again while a run goes on reads no more of SQLite's tables than it needs.

Its planner knows nothing of how many rows there are: an index of a column with two values may look
better to it than that of the keys.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from runs import PATIENCE_S, gold, join, store_url
from sqlalchemy import event
from sqlalchemy.engine import Engine

from pytest_touchstone.store.answers import known_answers
from pytest_touchstone.store.calls import CallStore
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import RunStore, Unit

CASES = gold(8)
UNITS = [Unit(case.id, "s") for case in CASES]
MANY = [str(number) * 64 for number in range(8)]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[tuple[Store, RunStore]]:
    store = Store(store_url(tmp_path))
    yield store, join(store, "a", CASES, ["s"])
    store.close()


@contextmanager
def queries() -> Iterator[list[tuple[str, Any]]]:
    """Statements with their parameters, of whatever is read or claimed within."""
    seen: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, given: Any, ___: Any, many: bool) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE")):
            seen.append((statement, given[0] if many else given))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def plans(folder: Path, seen: list[tuple[str, Any]]) -> list[str]:
    """How SQLite goes about each, without the names of its indexes."""
    (file,) = folder.glob("reports/*.sqlite")
    with sqlite3.connect(file) as connection:
        rows = [
            row[3].split("(")[-1].split(")")[0]
            for statement, given in seen
            for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", given)
            if not row[3].startswith("USE TEMP B-TREE")
        ]
    connection.close()
    return rows


def test_calls_are_found_by_their_keys(run: tuple[Store, RunStore], tmp_path: Path) -> None:
    store, _ = run
    calls = CallStore(store, "a", "judge")
    with queries() as seen:
        assert calls.results(MANY) == {}
        assert calls.holder(MANY[0]) is None
        calls.finish(MANY[0], {}).result(PATIENCE_S)
        calls.release(MANY[0]).result(PATIENCE_S)
    assert set(plans(tmp_path, seen)) == {"key=?", "owner=?"}, "owner: of its one worker"


def test_units_are_found_by_what_they_are(run: tuple[Store, RunStore], tmp_path: Path) -> None:
    store, own = run
    with queries() as seen:
        assert own.claim(UNITS).result(PATIENCE_S) == UNITS[0]
        assert own.scores(UNITS) == {}
    assert set(plans(tmp_path, seen)) == {
        "key=?",
        "run_id=? AND case_id=? AND system=? AND repeat=? AND mode=?",
    }
    with queries() as seen:
        assert store.read(lambda connection: known_answers(connection, MANY, "s")) == {}
    assert plans(tmp_path, seen) == ["address=?"]


def test_what_others_did_is_read_from_where_it_was_left(
    run: tuple[Store, RunStore], tmp_path: Path
) -> None:
    _, own = run
    with queries() as seen:
        own.done_after(0)
        own.done_after(7)
    assert plans(tmp_path, seen) == ["run_id=?", "rowid>?"]
