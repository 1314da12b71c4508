"""Calls by their content: made once, by whichever process comes first, and kept for all runs.

A key covers everything that can change a call's result.  A row is claimed like a unit of a run and
holds the result when it is done; a call that failed lets go of its claim.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.store import tables
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import now
from pytest_touchstone.store.statements import claimed
from pytest_touchstone.store.together import Row

_CLAIMED, _DONE = "claimed", "done"


class CallStore:
    """One process's view of the calls.  Whatever returns a future fails with ``StoreError``.

    :param owner: unique to this process; the beat of its run keeps its claims alive.
    :param kind: what the calls are for, such as ``judge``.
    """

    def __init__(self, store: Store, owner: str, kind: str) -> None:
        self._store = store
        self.owner = owner
        self.kind = kind

    def results(self, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """The results of those of the calls that some process made, by key."""
        rows = self._store.read(
            lambda connection: connection.execute(_RESULTS, {"its_keys": keys}).all()
        )
        return {row.key: dict(json.loads(row.result)) for row in rows}

    def claim(self, key: str) -> Future[bool]:
        """Whether the call is now this process's to make."""
        row = {"key": key, "kind": self.kind, "owner": self.owner, "state": _CLAIMED}
        row["created_at"] = now()
        return self._store.write(Row(claimed, row))

    def finish(self, key: str, result: Mapping[str, Any]) -> Future[None]:
        """Keep the result; without effect where the claim was taken over and finished."""
        text = json.dumps(result, allow_nan=False, sort_keys=True)
        row = {"its_key": key, "its_owner": self.owner, "its_result": text}
        return self._store.write(Row(_finished, row))

    def release(self, key: str) -> Future[None]:
        """Let go of the claim of a call that came to nothing."""
        row = {"its_key": key, "its_owner": self.owner}

        def job(connection: Connection) -> None:
            connection.execute(_RELEASE, row)

        return self._store.write(job)

    def holder(self, key: str) -> tuple[str, int | None] | None:
        """Who claimed the call, and that process's beat (``None``: it has none)."""
        row = self._store.read(
            lambda connection: connection.execute(_HOLDER, {"its_key": key}).first()
        )
        return None if row is None else (row.owner, row.beat)

    def take_over(self, key: str, dead: str) -> Future[bool]:
        """Claim the call of a process that died; ``False`` where somebody was faster."""
        row = {"its_key": key, "its_owner": dead, "new_owner": self.owner}
        return self._store.write(
            lambda connection: connection.execute(_TAKE_OVER, row).rowcount > 0
        )


def _finished(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[None]:
    connection.execute(_FINISH, rows)
    return [None] * len(rows)


_CALLS, _WORKERS = tables.calls.c, tables.workers.c
_HELD = (
    _CALLS.key == sa.bindparam("its_key"),
    _CALLS.owner == sa.bindparam("its_owner"),
    _CALLS.state == _CLAIMED,
)
# By what they have, not by their state: SQLite would look through all that were ever made, for it
# takes the index of states to be better than that of keys where it is asked for three or more.
_RESULTS = sa.select(_CALLS.key, _CALLS.result).where(
    _CALLS.key.in_(sa.bindparam("its_keys", expanding=True)), _CALLS.result.is_not(None)
)
_HOLDER = (
    sa.select(_CALLS.owner, _WORKERS.beat)
    .select_from(tables.calls.outerjoin(tables.workers, _WORKERS.owner == _CALLS.owner))
    .where(_CALLS.key == sa.bindparam("its_key"), _CALLS.state == _CLAIMED)
)
_FINISH = (
    sa.update(tables.calls).where(*_HELD).values(state=_DONE, result=sa.bindparam("its_result"))
)
_RELEASE = sa.delete(tables.calls).where(*_HELD)
_TAKE_OVER = sa.update(tables.calls).where(*_HELD).values(owner=sa.bindparam("new_owner"))
