"""Answers that are kept before anybody has read them, many in one go."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.gold import Case
from pytest_touchstone.store import tables
from pytest_touchstone.store.answers import Place, delete_unfinished, insert_unread
from pytest_touchstone.trace import Observation


class Keeping(NamedTuple):
    """An answer to be kept.

    :ivar key: that of the claim which ``owner`` has on it.
    :ivar replaces: whether there may be earlier rows of it.
    """

    run_id: str
    key: str
    owner: str
    case: Case
    seen: Observation
    created_at: str
    replaces: bool


def keep_answers(connection: Connection, rows: Sequence[Keeping]) -> list[bool]:
    """Store the answers; whether the claim of each was still its process's."""
    found = connection.execute(_HELD, {"its_keys": [row.key for row in rows]})
    owners = {row.key: row.owner for row in found}
    mine = [owners.get(row.key) == row.owner for row in rows]
    kept = list(itertools.compress(rows, mine))  # with the others somebody else goes on
    for row in kept:
        if row.replaces:
            seen = row.seen
            place = Place(seen.case_id, seen.system, seen.repeat, seen.mode)
            delete_unfinished(connection, row.run_id, place)
    insert_unread(connection, ((row.run_id, row.case, row.seen, row.created_at) for row in kept))
    return mine


_HELD = sa.select(tables.calls.c.key, tables.calls.c.owner).where(
    tables.calls.c.key.in_(sa.bindparam("its_keys", expanding=True)),
    tables.calls.c.state == "claimed",
)
