"""Statements that several parts of the store make."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.store import tables

_MARKS = MappingProxyType({"sqlite": "?", "postgresql": "%s"})
"""What stands for a parameter in the text of a statement."""
_MOST_ROWS = 100  # of one statement: SQLite keeps what it made of the last ones


def insert_rows(
    connection: Connection,
    table: sa.Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    new_only: bool = False,
    returning: Sequence[str] = (),
) -> list[sa.Row[Any]]:
    """Insert many rows with few statements; the columns asked for, in no particular order.

    Written as text, since SQLAlchemy takes as long for the parameters of a row as a database does
    to store it; and of many rows at once, since a thread that executes them one by one gives way
    to all others after each.

    :param rows: all with the same keys.
    :param new_only: leave alone rows that are already there.
    :param returning: columns of those that are written.
    """
    if not rows:
        return []
    dialect, names = connection.dialect, tuple(rows[0])
    values = itemgetter(*names)
    most = min(_MOST_ROWS, dialect.insertmanyvalues_max_parameters // len(names))
    found: list[sa.Row[Any]] = []
    for start in range(0, len(rows), most):
        part = rows[start : start + most]
        statement = _insert(dialect.name, table.name, names, len(part), new_only, tuple(returning))
        given = tuple(chain.from_iterable(map(values, part)))
        result = connection.exec_driver_sql(statement, given)
        if returning:
            found += result.all()
    return found


@lru_cache(maxsize=1024)
def _insert(
    dialect: str,
    table: str,
    names: tuple[str, ...],
    rows: int,
    new_only: bool,
    returning: tuple[str, ...],
) -> str:
    """The statement: names of our own tables and columns, and marks; no value stands in it."""
    marks = f"({', '.join([_MARKS[dialect]] * len(names))})"
    text = f"INSERT INTO {_quoted(table)} ({', '.join(map(_quoted, names))})"
    text += f" VALUES {', '.join([marks] * rows)}"
    if new_only:
        text += " ON CONFLICT DO NOTHING"
    if returning:
        text += f" RETURNING {', '.join(map(_quoted, returning))}"
    return text


def _quoted(name: str) -> str:
    return f'"{name}"'  # in both dialects


def claimed(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Claim calls; whether each of them was free until now."""
    new = insert_rows(connection, tables.calls, rows, new_only=True, returning=["key"])
    won = {key for (key,) in new}
    mine = []
    for row in rows:
        mine.append(row["key"] in won)
        won.discard(row["key"])  # another claim of the same call came too late
    return mine


def insert_all_new(connection: Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Insert those of the rows that are not there yet."""
    insert_rows(connection, table, rows, new_only=True)


_TEXT = json.JSONEncoder(ensure_ascii=True, allow_nan=False, sort_keys=True, default=dict)


def as_text(value: Any) -> str:
    """JSON text, the same for equal values."""
    return _TEXT.encode(value)
