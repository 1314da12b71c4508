"""Calls by their content: made once, by whichever process comes first, and kept for all runs.

A key covers everything that can change a call's result.  A row is claimed like a unit of a run and
holds the result when it is done; a call that failed lets go of its claim.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.store import tables
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import insert_new, now

_CLAIMED, _DONE = "claimed", "done"


class CallStore:
    """One process's view of the calls.  Whatever returns a future fails with ``StoreError``.

    :param owner: unique to this process; the beat of its run keeps its claims alive.
    :param kind: what the calls are for, such as ``judge``.
    """

    def __init__(self, store: Store, owner: str, kind: str) -> None:
        self._store = store
        self.owner = owner
        self._kind = kind

    def result(self, key: str) -> Mapping[str, Any] | None:
        """The result of a call that some process made, or ``None``."""
        calls = tables.calls.c
        query = sa.select(calls.result).where(calls.key == key, calls.state == _DONE)
        text = self._store.read(lambda connection: connection.execute(query).scalar())
        return None if text is None else dict(json.loads(text))

    def claim(self, key: str) -> Future[bool]:
        """Whether the call is now this process's to make."""
        row = {"key": key, "kind": self._kind, "owner": self.owner, "state": _CLAIMED}
        row["created_at"] = now()

        def job(connection: Connection) -> bool:
            claim = insert_new(connection.dialect.name, tables.calls).returning(tables.calls.c.key)
            return connection.execute(claim, row).first() is not None

        return self._store.write(job)

    def finish(self, key: str, result: Mapping[str, Any]) -> Future[None]:
        """Keep the result; without effect where the claim was taken over and finished."""
        text = json.dumps(result, allow_nan=False, sort_keys=True)
        return self._change(key, self.owner, state=_DONE, result=text)

    def release(self, key: str) -> Future[None]:
        """Let go of the claim of a call that came to nothing."""
        calls = tables.calls
        held = self._held(key, self.owner)

        def job(connection: Connection) -> None:
            connection.execute(sa.delete(calls).where(*held))

        return self._store.write(job)

    def holder(self, key: str) -> tuple[str, int | None] | None:
        """Who claimed the call, and that process's beat (``None``: it has none)."""
        calls, workers = tables.calls, tables.workers
        query = (
            sa.select(calls.c.owner, workers.c.beat)
            .select_from(calls.outerjoin(workers, workers.c.owner == calls.c.owner))
            .where(calls.c.key == key, calls.c.state == _CLAIMED)
        )
        row = self._store.read(lambda connection: connection.execute(query).first())
        return None if row is None else (row.owner, row.beat)

    def take_over(self, key: str, dead: str) -> Future[bool]:
        """Claim the call of a process that died; ``False`` where somebody was faster."""
        statement = sa.update(tables.calls).where(*self._held(key, dead)).values(owner=self.owner)
        return self._store.write(lambda connection: connection.execute(statement).rowcount > 0)

    def _change(self, key: str, owner: str, **values: Any) -> Future[None]:
        statement = sa.update(tables.calls).where(*self._held(key, owner)).values(**values)

        def job(connection: Connection) -> None:
            connection.execute(statement)

        return self._store.write(job)

    def _held(self, key: str, owner: str) -> Collection[sa.ColumnElement[bool]]:
        calls = tables.calls.c
        return (calls.key == key, calls.owner == owner, calls.state == _CLAIMED)
