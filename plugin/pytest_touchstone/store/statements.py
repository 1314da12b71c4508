"""Statements that several parts of the store make."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from pytest_touchstone.store import tables


@cache
def insert_new(dialect: str, table: sa.Table) -> Any:
    """An insert that leaves alone rows that are already there."""
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    return insert(table).on_conflict_do_nothing()


@cache
def new_claim(dialect: str) -> Any:
    """An insert of a call that returns its key where the row was not there already."""
    return insert_new(dialect, tables.calls).returning(tables.calls.c.key)


def insert_all_new(connection: Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Insert those of the rows that are not there yet."""
    if rows:
        connection.execute(insert_new(connection.dialect.name, table), rows)


def new_id(inserted: sa.CursorResult[Any]) -> int:
    """The id of the row that was inserted."""
    (number,) = inserted.inserted_primary_key or (0,)
    return int(number)


_TEXT = json.JSONEncoder(ensure_ascii=True, allow_nan=False, sort_keys=True, default=dict)


def as_text(value: Any) -> str:
    """JSON text, the same for equal values."""
    return _TEXT.encode(value)
