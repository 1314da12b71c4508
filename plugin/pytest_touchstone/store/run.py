"""What the processes of one run write to the store, claim from it and see of each other.

A claim is one ``INSERT ... ON CONFLICT DO NOTHING RETURNING``: it either made the row or did
not, with no moment in between.  A claim whose owner's beat stands still for ten seconds *of the
observer's own monotonic clock* may be taken over; wall clocks are trusted nowhere.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import compress
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.gold import Case, case_to_json
from pytest_touchstone.report.rows import PlanRow
from pytest_touchstone.score import Score
from pytest_touchstone.storable import storable
from pytest_touchstone.store import tables
from pytest_touchstone.store.answers import (
    Place,
    delete_unfinished,
    kept_answers,
    unfinished_places,
)
from pytest_touchstone.store.engine import Store, StoreError
from pytest_touchstone.store.keeping import Keeping, keep_answers
from pytest_touchstone.store.recording import Recording, closed, write_recordings
from pytest_touchstone.store.reservations import settle_left
from pytest_touchstone.store.sessions import agree, open_session
from pytest_touchstone.store.statements import as_text, claimed, insert_all_new
from pytest_touchstone.store.together import Row
from pytest_touchstone.trace import Observation

DEAD_AFTER_S = 10.0
GONE = -1
"""The beat of a process that said goodbye."""
PROGRESS = "progress"
"""The kind of note in which a process tells how far it is."""
_LONGEST_LOOK_S = 2.0
_CLAIMED, _DONE = "claimed", "done"


def now() -> str:
    """The present moment, ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class RunStart:
    """What is known of a run before its first call; equal in all of its processes.

    :param identity: what must not have changed where another process joins or resumes the run:
        what it is called, and a digest of what it is.
    :param session: one for all processes that were started together; the first of a later session
        reopens the run.
    """

    id: str
    started_at: str
    config: Mapping[str, Any]
    dataset_path: str
    dataset_sha256: str
    commit_sha: str | None
    label: str | None = None
    identity: Mapping[str, str] = field(default_factory=dict)
    session: str | None = None


class Unit(NamedTuple):
    """The unit of a claim: one system's whole conversation over one case."""

    case_id: str
    system: str
    repeat: int = 0
    mode: str = "recorded"

    def key(self, run_id: str) -> str:
        """The unit's content address within a run."""
        return self.place.key(run_id)

    @property
    def place(self) -> Place:
        """The same as the store's rows name it."""
        return Place(*self)


class LostClaim(Exception):  # noqa: N818 - not an error of anybody's making
    """Another process took this piece of work over, or it is done already."""


class RunStore:
    """One process's view of one run.  Whatever returns a future fails with ``StoreError``.

    :param owner: unique to this process; its beat keeps the process's claims alive.
    """

    def __init__(self, store: Store, run_id: str, owner: str) -> None:
        self._store = store
        self.run_id = run_id
        self.owner = owner
        self._unfinished: set[Unit] = set()
        self._kept: dict[Unit, Future[bool]] = {}

    # -- the run as a whole ---------------------------------------------------------------

    def begin(
        self, start: RunStart, cases: Sequence[Case], plan: Iterable[PlanRow]
    ) -> Future[None]:
        """Write the run, its gold questions and its plan, and show that this process lives.

        A second process of the run changes nothing of what the first wrote; the future fails
        with :class:`StoreError` where it brings other gold questions, or another identity.
        """
        run = asdict(start) | {"config": as_text(start.config), "num_questions": len(cases)}
        del run["identity"], run["session"]
        case_rows = [
            {
                "run_id": self.run_id,
                "case_id": case.id,
                "position": position,
                "gold": as_text(case_to_json(case)),
            }
            for position, case in enumerate(cases)
        ]
        plan_rows = [
            {
                "run_id": self.run_id,
                "case_id": row.case_id,
                "system": row.system,
                "repeat": row.repeat,
                "mode": row.mode,
                "measure": row.measure,
            }
            for row in plan
        ]

        def job(connection: Connection) -> None:
            worker = {"owner": self.owner, "run_id": self.run_id, "beat": 0}
            runs = tables.runs.c
            query = sa.select(runs.dataset_sha256, runs.num_questions).where(runs.id == self.run_id)
            if (first := connection.execute(query).first()) is None:
                connection.execute(sa.insert(tables.runs), run | {"stop": 0})
                insert_all_new(connection, tables.cases, case_rows)
                insert_all_new(connection, tables.plan, plan_rows)
            elif tuple(first) != (start.dataset_sha256, len(cases)):
                raise StoreError(
                    f"run {self.run_id}: this process has other gold questions than the run's"
                    f" first one ({start.dataset_path} changed meanwhile?)"
                )
            agree(connection, self.run_id, start.identity)
            if start.session is not None:
                open_session(connection, self.run_id, start.session, now())
            insert_all_new(connection, tables.workers, [worker])

        return self._store.write(job)

    def look_for_unfinished(self) -> None:
        """See what an earlier session of the run left unread: :meth:`kept` gives it out."""
        places = self._store.read(lambda connection: unfinished_places(connection, self.run_id))
        self._unfinished |= {Unit(*place) for place in places}

    def note(self, kind: str, key: str, value: Any) -> Future[None]:
        """Keep something that the run learned; the first process to say it is believed."""
        row = {"run_id": self.run_id, "kind": kind, "key": storable(key), "value": as_text(value)}
        return self._store.write(Row(_note_rows, row))

    def note_again(self, kind: str, key: str, value: Any) -> Future[None]:
        """Keep something that changes; the last word is believed."""
        row = {"run_id": self.run_id, "kind": kind, "key": storable(key), "value": as_text(value)}
        notes = tables.notes.c
        same = (getattr(notes, name) == row[name] for name in ("run_id", "kind", "key"))
        earlier = sa.delete(tables.notes).where(*same)

        def job(connection: Connection) -> None:
            connection.execute(earlier)
            insert_all_new(connection, tables.notes, [row])

        return self._store.write(job)

    def all_noted(self, kind: str) -> dict[str, Any]:
        """Everything of one kind that was noted, by key."""
        notes = tables.notes.c
        query = sa.select(notes.key, notes.value).where(
            notes.run_id == self.run_id, notes.kind == kind
        )
        rows = self._store.read(lambda connection: connection.execute(query).all())
        return {row.key: json.loads(row.value) for row in rows}

    def noted(self, kind: str, key: str) -> Any:
        """What was noted under this key, or ``None``."""
        notes = tables.notes.c
        query = sa.select(notes.value).where(
            notes.run_id == self.run_id, notes.kind == kind, notes.key == storable(key)
        )
        text = self._store.read(lambda connection: connection.execute(query).scalar())
        return None if text is None else json.loads(text)

    def request_stop(self) -> Future[None]:
        """Ask all processes of the run to end early."""
        statement = sa.update(tables.runs).where(tables.runs.c.id == self.run_id).values(stop=1)
        return self._set(statement)

    def stop_requested(self) -> bool:
        """Whether somebody asked the run to end early."""
        query = sa.select(tables.runs.c.stop).where(tables.runs.c.id == self.run_id)
        return bool(self._store.read(lambda connection: connection.execute(query).scalar()))

    def finish(self) -> Future[None]:
        """Stamp the run as finished; a stamp stays unless something was recorded after it."""
        runs, asked = tables.runs.c, tables.questions.c
        last = sa.select(sa.func.max(asked.created_at)).where(asked.run_id == self.run_id)
        early = sa.or_(runs.finished_at.is_(None), runs.finished_at < last.scalar_subquery())
        return self._set(
            sa.update(tables.runs).where(runs.id == self.run_id, early).values(finished_at=now())
        )

    # -- claims ---------------------------------------------------------------------------

    def claim(self, units: Sequence[Unit]) -> Future[Unit | None]:
        """Claim the first of the units that nobody has or had, and no other.

        ``None`` where there is none: all of them are other processes' work.
        """
        rows = self._claims(units, _CLAIMED)
        if len(rows) == 1:  # is simply tried
            return self._store.write(Row(_claim_units, *rows.items()))

        def job(connection: Connection) -> Unit | None:
            keys = [row["key"] for row in rows.values()]
            taken = set(connection.execute(_TAKEN, {"its_keys": keys}).scalars())
            for unit, row in rows.items():
                if row["key"] not in taken and claimed(connection, [row])[0]:
                    return unit
            return None

        return self._store.write(job)

    def _claims(self, units: Iterable[Unit], state: str) -> dict[Unit, dict[str, Any]]:
        moment = now()
        return {
            unit: {
                "key": unit.key(self.run_id),
                "kind": "answer",
                "owner": self.owner,
                "state": state,
                "created_at": moment,
            }
            for unit in units
        }

    def beat(self) -> Future[None]:
        """Show that this process lives."""
        return self._set(_BEAT, its_owner=self.owner)

    def farewell(self) -> Future[None]:
        """Say that this process does no more: what it still holds may be taken over at once."""
        workers = tables.workers

        def job(connection: Connection) -> None:
            mine = workers.c.owner == self.owner
            connection.execute(sa.update(workers).where(mine).values(beat=GONE))
            settle_left(connection, self.run_id, [self.owner])

        return self._store.write(job)

    def beats(self) -> dict[str, int]:
        """The beat counter of every process of the run."""
        workers = tables.workers.c
        query = sa.select(workers.owner, workers.beat).where(workers.run_id == self.run_id)
        return self._store.read(
            lambda connection: {row.owner: row.beat for row in connection.execute(query)}
        )

    def orphans(self, units: Collection[Unit], dead: Collection[str]) -> dict[Unit, str]:
        """Those of the units that a dead process still holds, with its name."""
        calls = tables.calls.c
        query = sa.select(calls.key, calls.owner).where(
            calls.state == _CLAIMED, calls.owner.in_(dead)
        )
        held = self._store.read(
            lambda connection: {row.key: row.owner for row in connection.execute(query)}
        )
        if not held:
            return {}
        keys = ((unit, unit.key(self.run_id)) for unit in units)
        return {unit: held[key] for unit, key in keys if key in held}

    def take_over(self, unit: Unit, dead: str) -> Future[bool]:
        """Claim the unit of a process that died; ``False`` where somebody was faster."""
        row = {"its_key": unit.key(self.run_id), "its_owner": dead, "new_owner": self.owner}
        # The dead may have kept an answer before they could read it.
        self._unfinished.add(unit)

        def job(connection: Connection) -> bool:
            settle_left(connection, self.run_id, [dead])
            return _update(connection, _TAKE_OVER, **row)

        return self._store.write(job)

    # -- results --------------------------------------------------------------------------

    def keep(self, case: Case, seen: Observation) -> Future[bool]:
        """Store what a system answered before anybody reads it: it is there whatever comes.

        ``False`` where the claim is no longer this process's.
        """
        unit = _of(seen)
        replaces = unit in self._unfinished
        row = Keeping(self.run_id, unit.key(self.run_id), self.owner, case, seen, now(), replaces)
        self._unfinished.add(unit)
        self._kept[unit] = self._store.write(Row(keep_answers, row))
        return self._kept[unit]

    def may_have_kept(self, unit: Unit) -> bool:
        """Whether :meth:`kept` is worth asking."""
        return unit in self._unfinished

    def kept(self, unit: Unit) -> Observation | None:
        """What a process kept of a unit that it did not come to read."""
        return self._store.read(
            lambda connection: kept_answers(connection, self.run_id, unit.place)
        )

    def record(
        self,
        case: Case,
        seen: Observation,
        scores: Mapping[str, Score],
        judge: str = "",
        *,
        uses: Mapping[str, Any] | None = None,
        unfinished: bool = False,
    ) -> Future[None]:
        """Store an observation with its scores, all or nothing, and close its claim.

        :param judge: the model whose verdicts the observation holds.
        :param uses: keys of the calls that they rest on, each with its result where the call is
            not kept for others.
        :param unfinished: not all of it could be read: whoever resumes the run goes on with it.

        The future fails with :class:`LostClaim` where the claim is no longer this process's.
        """
        unit = _of(seen)
        keeping = self._kept.pop(unit, None)
        replaces = unit in self._unfinished
        self._unfinished.discard(unit)
        row = Recording(
            self.run_id,
            unit.key(self.run_id),
            self.owner,
            case,
            seen,
            scores,
            judge,
            now(),
            unfinished,
            kept=keeping is not None and keeping.done() and _held(keeping),
            uses=uses or {},
        )
        if not unfinished and (row.kept or not replaces):
            return self._store.write(Row(_record_rows, row))

        def job(connection: Connection) -> None:
            claim = {"its_key": row.key, "its_owner": self.owner}
            if not _update(connection, _LET_GO if unfinished else _CLOSE, **claim):
                raise LostClaim(unit)
            kept = keeping is not None and _held(keeping)
            if replaces and not kept:
                delete_unfinished(connection, self.run_id, unit.place)
            write_recordings(connection, [row._replace(kept=kept)])

        return self._store.write(job)

    def record_new(
        self, found: Sequence[tuple[Case, Observation, Mapping[str, Score]]], judge: str = ""
    ) -> Future[list[Unit]]:
        """Store observations with their scores, of those units that nobody has or had, all or
        nothing; which these are.

        They are claimed and done in one go: their answers were stored by earlier runs, so that
        nothing is lost where another process does the same.
        """
        claims = self._claims((_of(seen) for _, seen, _ in found), _DONE)
        run_id, owner, moment = self.run_id, self.owner, now()
        rows = [
            Recording(run_id, claims[_of(seen)]["key"], owner, case, seen, scored, judge, moment)
            for case, seen, scored in found
        ]

        def job(connection: Connection) -> list[Unit]:
            mine = list(compress(rows, claimed(connection, list(claims.values()))))
            write_recordings(connection, mine)
            return [_of(row.seen) for row in mine]

        return self._store.write(job)

    def done_after(self, last_id: int) -> tuple[int, list[Unit]]:
        """Units whose results any process stored since, and what to ask with next time.

        :param last_id: 0, or what the call before returned.
        """
        asked = tables.questions.c
        # As an expression it is in no index: the run's would be read from its beginning each time.
        run_id = asked.run_id if last_id == 0 else asked.run_id + ""
        query = (
            sa.select(asked.id, asked.case_id, asked.system, asked.repeat, asked.mode)
            .where(run_id == self.run_id, asked.id > last_id, asked.unfinished == 0)
            .order_by(asked.id)
        )
        rows = self._store.read(lambda connection: list(connection.execute(query)))
        units = dict.fromkeys(Unit(*row[1:]) for row in rows)
        return (rows[-1].id if rows else last_id), list(units)

    def scores(self, units: Sequence[Unit]) -> dict[Unit, dict[str, Score]]:
        """The scores of units by measure, for those that are done.

        :param units: at least one; of one system, repeat and mode.
        """
        first = units[0]
        here = {
            "its_run": self.run_id,
            "its_cases": [unit.case_id for unit in units],
            "its_system": first.system,
            "its_repeat": first.repeat,
            "its_mode": first.mode,
        }
        rows = self._store.read(lambda connection: connection.execute(_SCORES, here).all())
        found: dict[Unit, dict[str, Score]] = {}
        for row in rows:
            unit = first._replace(case_id=row.case_id)
            found.setdefault(unit, {})[row.measure] = _score(row)
        return found

    def _set(self, statement: sa.Executable, **values: Any) -> Future[None]:
        def job(connection: Connection) -> None:
            _update(connection, statement, **values)

        return self._store.write(job)


class Watch:
    """Which processes of a run stand still, by this process's own monotonic clock.

    Only time that was watched counts: between two looks at most two seconds.  A process that was
    itself suspended, together with all others, must not find them dead when it wakes up.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looked = clock()
        self._seen: dict[str, tuple[int, float]] = {}

    def dead(self, beats: Mapping[str, int]) -> frozenset[str]:
        """Owners whose beat has not moved for :data:`DEAD_AFTER_S` seconds of watching, or who
        said goodbye."""
        moment = self._clock()
        watched = min(moment - self._looked, _LONGEST_LOOK_S)
        self._looked = moment
        for owner, beat in beats.items():
            before, still = self._seen.get(owner, (None, 0.0))
            self._seen[owner] = (beat, still + watched if beat == before else 0.0)
        return frozenset(
            owner
            for owner, beat in beats.items()
            if beat <= GONE or self._seen[owner][1] >= DEAD_AFTER_S
        )


_BEAT = (
    sa.update(tables.workers)
    .where(tables.workers.c.owner == sa.bindparam("its_owner"))
    .values(beat=tables.workers.c.beat + 1)
)
_HELD = (
    tables.calls.c.key == sa.bindparam("its_key"),
    tables.calls.c.owner == sa.bindparam("its_owner"),
    tables.calls.c.state == _CLAIMED,
)
_TAKEN = sa.select(tables.calls.c.key).where(
    tables.calls.c.key.in_(sa.bindparam("its_keys", expanding=True))
)
_TAKE_OVER = sa.update(tables.calls).where(*_HELD).values(owner=sa.bindparam("new_owner"))
_CLOSE = sa.update(tables.calls).where(*_HELD).values(state=_DONE)
_LET_GO = sa.delete(tables.calls).where(*_HELD)


_SCORES = sa.select(
    *(
        tables.scores.c[name]
        for name in ("case_id", "measure", "value", "why", "reason", "origin", "engine", "detail")
    )
).where(
    tables.scores.c.run_id == sa.bindparam("its_run"),
    tables.scores.c.case_id.in_(sa.bindparam("its_cases", expanding=True)),
    tables.scores.c.system == sa.bindparam("its_system"),
    tables.scores.c.repeat == sa.bindparam("its_repeat"),
    tables.scores.c.mode == sa.bindparam("its_mode"),
)


def _of(seen: Observation) -> Unit:
    return Unit(seen.case_id, seen.system, seen.repeat, seen.mode)


def _claim_units(
    connection: Connection, rows: Sequence[tuple[Unit, Mapping[str, Any]]]
) -> list[Unit | None]:
    mine = claimed(connection, [row for _, row in rows])
    return [unit if free else None for (unit, _), free in zip(rows, mine, strict=True)]


def _record_rows(connection: Connection, rows: Sequence[Recording]) -> list[None]:
    if not closed(connection, rows):
        # Whose it was shows when each is written alone.
        raise LostClaim(rows[0].key)
    write_recordings(connection, rows)
    return [None] * len(rows)


def _note_rows(connection: Connection, rows: Sequence[dict[str, Any]]) -> list[None]:
    insert_all_new(connection, tables.notes, list(rows))
    return [None] * len(rows)


def _held(keeping: Future[bool]) -> bool:
    """Whether an answer was kept before, or is in the transaction that is under way."""
    if not keeping.done():
        return True  # it is repeated alone, and before this one, where the transaction fails
    return not keeping.cancelled() and keeping.exception() is None and keeping.result()


def _score(row: sa.Row[Any]) -> Score:
    return Score(row.value, row.why, row.reason, row.origin, row.engine, json.loads(row.detail))


def _update(connection: Connection, statement: sa.Executable, **values: Any) -> bool:
    """Execute an update; whether it changed a row."""
    return connection.execute(statement, values).rowcount > 0
