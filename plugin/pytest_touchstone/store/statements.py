"""Statements that several parts of the store make."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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


def claimed(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Claim calls; whether each of them was free until now."""
    won = set(connection.execute(new_claim(connection.dialect.name), rows).scalars())
    mine = []
    for row in rows:
        mine.append(row["key"] in won)
        won.discard(row["key"])  # another claim of the same call came too late
    return mine


def insert_all_new(connection: Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Insert those of the rows that are not there yet."""
    if rows:
        connection.execute(insert_new(connection.dialect.name, table), rows)


_TEXT = json.JSONEncoder(ensure_ascii=True, allow_nan=False, sort_keys=True, default=dict)


def as_text(value: Any) -> str:
    """JSON text, the same for equal values."""
    return _TEXT.encode(value)
