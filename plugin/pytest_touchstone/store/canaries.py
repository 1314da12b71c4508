"""What judges said of canaries, run by run: the latest round of a judge, and this run's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

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
    """One round of a judge's canaries, which may have been completed by several runs.

    :param asked_at: ISO 8601, when it began; ``None`` where there never was one.
    :param labels: canary to what was said of it, where anything was.
    :param earlier_at: when the round before it began.
    :param earlier: what was said in that.
    """

    asked_at: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    earlier_at: str | None = None
    earlier: Mapping[str, str] = field(default_factory=dict)

    def current(self) -> Round:
        """The round that counts today: this one, or where it is too old, a new one after it."""
        return self if self.is_recent else Round(now(), {}, self.asked_at, self.labels)

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
        query = sa.select(tables.canaries).where(*same, its.asked_at == last)
        rows = self._store.read(lambda connection: list(connection.execute(query)))
        if not rows:
            return Round()
        said = {row.canary: row.said for row in rows if row.said is not None}
        earlier = {row.canary: row.earlier for row in rows if row.earlier is not None}
        return Round(rows[0].asked_at, said, rows[0].earlier_at, earlier)

    def keep(self, answers: Sequence[Answered], of: Round) -> Future[None]:
        """Store what was said in a round as this run's.

        Of what the run has already, only what it lacks a verdict for is replaced, and an earlier
        round, by the one that followed it.
        """
        rows = [
            {
                "run_id": self._run_id,
                "canary": one.canary,
                "judge": self._judge,
                "form": self._form,
                "lang": one.lang,
                "known": json.dumps(one.known, ensure_ascii=False),
                "said": one.said,
                "earlier": of.earlier.get(one.canary),
                "earlier_at": of.earlier_at,
                "why": one.why,
                "asked_at": of.asked_at,
            }
            for one in answers
        ]
        its = tables.canaries.c
        asked = its.canary.in_([one.canary for one in answers])
        incomplete = sa.and_(its.asked_at == of.asked_at, its.said.is_(None), asked)
        replaced = sa.or_(incomplete, its.asked_at == of.earlier_at)

        def job(connection: Connection) -> None:
            connection.execute(
                sa.delete(tables.canaries).where(its.run_id == self._run_id, replaced)
            )
            insert_all_new(connection, tables.canaries, rows)

        return self._store.write(job)
