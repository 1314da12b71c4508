"""A run's account: what was spent, and what is reserved for calls under way."""

from __future__ import annotations

import math
from concurrent.futures import Future

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.store import reservations, tables
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import GONE, Watch
from pytest_touchstone.store.statements import insert_all_new

_ROUNDING = 1e-9


class SpendingStore:
    """One process's view of its run's account.  Whatever returns a future fails with
    ``StoreError``.

    What a process that died had reserved is seen by those who wait for it: it counts as spent.

    :param owner: unique to this process; its beat keeps what it reserves alive.
    :param budget: US dollars that the run may spend.
    """

    def __init__(self, store: Store, run_id: str, owner: str, budget: float) -> None:
        self._store = store
        self._run_id = run_id
        self._owner = owner
        self._budget = budget
        self._watch = Watch()

    def reserve(self, usd: float) -> Future[bool | None]:
        """``True`` where the amount is set aside; ``None`` where it may be once calls under way
        are settled; ``False`` where it never will.

        Who is refused stops nobody else: a cheaper call may fit.  But a call of which nothing is
        known, so that it is expected to cost nothing, is not made any more.
        """
        row = {"run_id": self._run_id, "budget": self._budget}
        row |= {"spent": 0.0, "reserved": 0.0, "refused": 0}
        its = tables.spending.c

        def job(connection: Connection) -> bool | None:
            insert_all_new(connection, tables.spending, [row])
            query = sa.select(its.spent, its.refused).where(its.run_id == self._run_id)
            spent, refused = connection.execute(query).one()
            if refused and usd <= _ROUNDING:
                return False
            reserved = math.fsum(reservations.reserved(connection, self._run_id).values())
            if spent + reserved + usd <= self._budget + _ROUNDING:
                reservations.change(connection, self._run_id, self._owner, usd)
                self._change(connection, budget=self._budget)
                return True
            if reserved > _ROUNDING:
                reservations.settle_left(connection, self._run_id, self._dead(connection))
                return None
            self._change(connection, refused=1, budget=self._budget)
            return False

        return self._store.write(job)

    def settle(self, reserved: float, spent: float) -> Future[None]:
        """Give a reservation back, and say what was spent."""
        its = tables.spending.c

        def job(connection: Connection) -> None:
            reservations.change(connection, self._run_id, self._owner, -reserved)
            self._change(connection, spent=its.spent + spent)

        return self._store.write(job)

    def _dead(self, connection: Connection) -> frozenset[str]:
        """Those others who have reserved something and live no more."""
        known = reservations.beats(connection, self._run_id)
        beats = {owner: GONE if beat is None else beat for owner, beat in known.items()}
        return self._watch.dead(beats) - {self._owner}

    def _change(self, connection: Connection, **values: object) -> None:
        its = tables.spending
        connection.execute(sa.update(its).where(its.c.run_id == self._run_id).values(**values))
