"""What each process of a run has reserved of its budget: among the run's notes.

A process that died, or left without settling a call, may have spent what it had reserved: that
counts as spent, and a notice says so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.store import tables
from pytest_touchstone.store.statements import insert_all_new

_RESERVED, _NOTICE = "reserved", "notice"
_LEAST = 1e-9


def reserved(connection: Connection, run_id: str) -> dict[str, float]:
    """US dollars by process, of those that have reserved any."""
    notes = tables.notes.c
    query = sa.select(notes.key, notes.value).where(notes.run_id == run_id, notes.kind == _RESERVED)
    return {row.key: float(json.loads(row.value)) for row in connection.execute(query)}


def change(connection: Connection, run_id: str, owner: str, by: float) -> None:
    """Reserve so much more for a process, or so much less; never less than nothing."""
    amount = reserved(connection, run_id).get(owner, 0.0) + by
    notes = tables.notes
    here = (notes.c.run_id == run_id, notes.c.kind == _RESERVED, notes.c.key == owner)
    connection.execute(sa.delete(notes).where(*here))
    if amount > _LEAST:
        row = {"run_id": run_id, "kind": _RESERVED, "key": owner, "value": json.dumps(amount)}
        insert_all_new(connection, notes, [row])
    _write(connection, run_id, reserved=math.fsum(reserved(connection, run_id).values()))


def settle_left(connection: Connection, run_id: str, owners: Collection[str]) -> None:
    """Count what processes that are gone had reserved as spent."""
    held = reserved(connection, run_id)
    for owner in held.keys() & set(owners):
        usd = held[owner]
        change(connection, run_id, owner, -usd)
        _write(connection, run_id, spent=tables.spending.c.spent + usd)
        said = (
            f"budget: up to {usd:.4f} USD count as spent for calls under way in a process that"
            " ended before they did: what they cost is not known"
        )
        row = {"run_id": run_id, "kind": _NOTICE, "key": f"reserved by {owner}"}
        insert_all_new(connection, tables.notes, [row | {"value": json.dumps(said)}])


def beats(connection: Connection, run_id: str) -> dict[str, int | None]:
    """The beat of every process that has reserved anything; ``None``: it has none."""
    workers = tables.workers.c
    query = sa.select(workers.owner, workers.beat).where(workers.run_id == run_id)
    known = {row.owner: row.beat for row in connection.execute(query)}
    return {owner: known.get(owner) for owner in reserved(connection, run_id)}


def _write(connection: Connection, run_id: str, **values: object) -> None:
    its = tables.spending
    connection.execute(sa.update(its).where(its.c.run_id == run_id).values(**values))
