"""What judges said of canaries, run by run: the latest round of a judge, and this run's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.store import tables
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import now
from pytest_touchstone.store.statements import insert_all_new

_RECENT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Answered:
    """One canary of this run.

    :param known: labels that are right.
    :param said: the judge's label, or ``None`` where it gave no verdict.
    :param why: why it gave none.
    """

    canary: str
    lang: str
    known: tuple[str, ...]
    said: str | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """The latest round of a judge, of any run.

    :param asked_at: ISO 8601; ``None`` where there never was one.
    :param labels: canary to what was said of it, where anything was.
    """

    asked_at: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_recent(self) -> bool:
        """Whether it is at most 24 hours old; one from the future, after a clock was set back, is
        not."""
        if self.asked_at is None:
            return False
        age = datetime.now(UTC) - datetime.fromisoformat(self.asked_at)
        return timedelta() <= age < _RECENT


class CanaryStore:
    """One judge's canaries in the store.  Whatever returns a future fails with ``StoreError``.

    :param judge: server and model.
    :param form: digest of canaries and prompts; rounds of another form are another matter.
    """

    def __init__(self, store: Store, run_id: str, judge: str, form: str) -> None:
        self._store = store
        self._run_id = run_id
        self._judge = judge
        self._form = form

    def latest(self) -> Round:
        """The latest round, of this run or an earlier one."""
        its = tables.canaries.c
        same = (its.judge == self._judge, its.form == self._form)
        last = sa.select(sa.func.max(its.asked_at)).where(*same).scalar_subquery()
        query = sa.select(its.asked_at, its.canary, its.said).where(*same, its.asked_at == last)
        rows = self._store.read(lambda connection: list(connection.execute(query)))
        if not rows:
            return Round()
        said = {row.canary: row.said for row in rows if row.said is not None}
        return Round(rows[0].asked_at, said)

    def keep(self, answers: Sequence[Answered], earlier: Round) -> Future[None]:
        """Store this run's round beside what was said before."""
        asked_at = now()
        rows = [
            {
                "run_id": self._run_id,
                "canary": one.canary,
                "judge": self._judge,
                "form": self._form,
                "lang": one.lang,
                "known": json.dumps(one.known, ensure_ascii=False),
                "said": one.said,
                "earlier": earlier.labels.get(one.canary),
                "earlier_at": earlier.asked_at,
                "why": one.why,
                "asked_at": asked_at,
            }
            for one in answers
        ]
        return self._insert(lambda _: rows)

    def repeat(self, recent: Round) -> Future[None]:
        """Take a recent round for this run's; without effect where it is this run's own."""
        its = tables.canaries.c
        query = sa.select(tables.canaries).where(
            its.judge == self._judge, its.form == self._form, its.asked_at == recent.asked_at
        )

        def rows(connection: Connection) -> list[dict[str, Any]]:
            found = {row.canary: dict(row._mapping) for row in connection.execute(query)}
            return [row | {"run_id": self._run_id} for row in found.values()]

        return self._insert(rows)

    def _insert(self, rows: Any) -> Future[None]:
        def job(connection: Connection) -> None:
            insert_all_new(connection, tables.canaries, rows(connection))

        return self._store.write(job)
