"""A run's account: what was spent, and what is reserved for calls under way."""

from __future__ import annotations

from concurrent.futures import Future

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.store import tables
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.statements import insert_all_new

_ROUNDING = 1e-9


class SpendingStore:
    """The account of one run.  Whatever returns a future fails with ``StoreError``.

    :param budget: US dollars that the run may spend.
    """

    def __init__(self, store: Store, run_id: str, budget: float) -> None:
        self._store = store
        self._run_id = run_id
        self._budget = budget

    def reserve(self, usd: float) -> Future[bool | None]:
        """``True`` where the amount is set aside; ``None`` where it may be once calls under way
        are settled; ``False`` where it never will: then nothing more is granted to anybody."""
        row = {"run_id": self._run_id, "budget": self._budget}
        row |= {"spent": 0.0, "reserved": 0.0, "refused": 0}
        its = tables.spending.c

        def job(connection: Connection) -> bool | None:
            insert_all_new(connection, tables.spending, [row])
            query = sa.select(its.spent, its.reserved, its.refused).where(
                its.run_id == self._run_id
            )
            spent, reserved, refused = connection.execute(query).one()
            if refused:
                return False
            if spent + reserved + usd <= self._budget + _ROUNDING:
                self._change(connection, reserved=its.reserved + usd, budget=self._budget)
                return True
            if reserved > _ROUNDING:
                return None
            self._change(connection, refused=1)
            return False

        return self._store.write(job)

    def settle(self, reserved: float, spent: float) -> Future[None]:
        """Give a reservation back, and say what was spent."""
        its = tables.spending.c
        back = sa.case((its.reserved > reserved, its.reserved - reserved), else_=0.0)
        return self._store.write(
            lambda connection: self._change(connection, reserved=back, spent=its.spent + spent)
        )

    def _change(self, connection: Connection, **values: object) -> None:
        its = tables.spending
        connection.execute(sa.update(its).where(its.c.run_id == self._run_id).values(**values))
