"""What the processes of one run write to the store, claim from it and see of each other.

A claim is one ``INSERT ... ON CONFLICT DO NOTHING RETURNING``: it either made the row or did
not, with no moment in between.  A claim whose owner's beat stands still for ten seconds *of the
observer's own monotonic clock* may be taken over; wall clocks are trusted nowhere.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, RowMapping

from pytest_touchstone.gold import Case, case_to_json
from pytest_touchstone.report.rows import PlanRow
from pytest_touchstone.score import Score
from pytest_touchstone.storable import storable
from pytest_touchstone.store import tables
from pytest_touchstone.store.engine import Store, StoreError
from pytest_touchstone.store.judgments import insert_judgments
from pytest_touchstone.trace import Observation, Passage, Turn

DEAD_AFTER_S = 10.0
_LONGEST_LOOK_S = 2.0
_CLAIMED, _DONE = "claimed", "done"


def now() -> str:
    """The present moment, ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class RunStart:
    """What is known of a run before its first call; equal in all of its processes."""

    id: str
    started_at: str
    config: Mapping[str, Any]
    dataset_path: str
    dataset_sha256: str
    commit_sha: str | None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a claim: one system's whole conversation over one case."""

    case_id: str
    system: str
    repeat: int = 0
    mode: str = "recorded"

    def key(self, run_id: str) -> str:
        """The unit's content address within a run."""
        parts = ["answer", run_id, self.case_id, self.system, self.repeat, self.mode]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


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

    # -- the run as a whole ---------------------------------------------------------------

    def begin(
        self, start: RunStart, cases: Sequence[Case], plan: Iterable[PlanRow]
    ) -> Future[None]:
        """Write the run, its gold questions and its plan, and show that this process lives.

        A second process of the run changes nothing of what the first wrote; the future fails
        with :class:`StoreError` where it brings other gold questions.
        """
        run = asdict(start) | {"config": _json(start.config), "num_questions": len(cases)}
        case_rows = [
            {
                "run_id": self.run_id,
                "case_id": case.id,
                "position": position,
                "gold": _json(case_to_json(case)),
            }
            for position, case in enumerate(cases)
        ]
        plan_rows = [{"run_id": self.run_id, **asdict(planned)} for planned in plan]

        def job(connection: Connection) -> None:
            worker = {"owner": self.owner, "run_id": self.run_id, "beat": 0}
            runs = tables.runs.c
            query = sa.select(runs.dataset_sha256, runs.num_questions).where(runs.id == self.run_id)
            if (first := connection.execute(query).first()) is None:
                connection.execute(sa.insert(tables.runs), run | {"stop": 0})
                _insert_new(connection, tables.cases, case_rows)
                _insert_new(connection, tables.plan, plan_rows)
            elif tuple(first) != (start.dataset_sha256, len(cases)):
                raise StoreError(
                    f"run {self.run_id}: this process has other gold questions than the run's"
                    f" first one ({start.dataset_path} changed meanwhile?)"
                )
            _insert_new(connection, tables.workers, [worker])

        return self._store.write(job)

    def note(self, kind: str, key: str, value: Any) -> Future[None]:
        """Keep something that the run learned; the first process to say it is believed."""
        row = {"run_id": self.run_id, "kind": kind, "key": storable(key), "value": _json(value)}
        return self._store.write(lambda connection: _insert_new(connection, tables.notes, [row]))

    def request_stop(self) -> Future[None]:
        """Ask all processes of the run to end early."""
        statement = sa.update(tables.runs).where(tables.runs.c.id == self.run_id).values(stop=1)
        return self._set(statement)

    def stop_requested(self) -> bool:
        """Whether somebody asked the run to end early."""
        query = sa.select(tables.runs.c.stop).where(tables.runs.c.id == self.run_id)
        return bool(self._store.read(lambda connection: connection.execute(query).scalar()))

    def finish(self) -> Future[None]:
        """Stamp the run as finished; the first stamp stays."""
        runs = tables.runs.c
        statement = (
            sa.update(tables.runs)
            .where(runs.id == self.run_id, runs.finished_at.is_(None))
            .values(finished_at=now())
        )
        return self._set(statement)

    # -- claims ---------------------------------------------------------------------------

    def claim(self, units: Sequence[Unit]) -> Future[Unit | None]:
        """Claim the first of the units that nobody has or had, and no other.

        ``None`` where there is none: all of them are other processes' work.
        """
        keys = {unit.key(self.run_id): unit for unit in units}

        def job(connection: Connection) -> Unit | None:
            calls = tables.calls
            query = sa.select(calls.c.key).where(calls.c.key.in_(keys))
            # One unit alone is simply tried.
            taken = set(connection.execute(query).scalars()) if len(keys) > 1 else set()
            claim = insert_new(connection.dialect.name, calls).returning(calls.c.key)
            for key, unit in keys.items():
                if key in taken:
                    continue
                row = {"key": key, "kind": "answer", "owner": self.owner}
                row |= {"state": _CLAIMED, "created_at": now()}
                if connection.execute(claim, row).first() is not None:
                    return unit
            return None

        return self._store.write(job)

    def beat(self) -> Future[None]:
        """Show that this process lives."""
        return self._set(_BEAT, its_owner=self.owner)

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
        return self._store.write(lambda connection: _update(connection, _TAKE_OVER, **row))

    # -- results --------------------------------------------------------------------------

    def record(
        self, case: Case, seen: Observation, scores: Mapping[str, Score], judge: str = ""
    ) -> Future[None]:
        """Store an observation with its scores, all or nothing, and close its claim.

        :param judge: the model whose verdicts the observation holds.

        The future fails with :class:`LostClaim` where the claim is no longer this process's.
        """
        unit = Unit(seen.case_id, seen.system, seen.repeat, seen.mode)
        claim = {"its_key": unit.key(self.run_id), "its_owner": self.owner}

        def job(connection: Connection) -> None:
            if not _update(connection, _CLOSE, **claim):
                raise LostClaim(unit)
            passages: dict[str, Passage] = {}
            question_id = 0
            for turn in seen.turns:
                found = turn.answer.passages if turn.answer else ()
                digests = [passage_digest(passage) for passage in found]
                passages |= zip(digests, found, strict=True)
                row = {"run_id": self.run_id, **_question_row(case, seen, turn, digests)}
                inserted = connection.execute(sa.insert(tables.questions), row)
                question_id = _new_id(inserted)
            _insert_new(connection, tables.passages, _passage_rows(passages))
            insert_judgments(connection, question_id, seen, judge, now())
            rows = [
                {"run_id": self.run_id, "question_id": question_id}
                | _score_row(unit, measure, score)
                for measure, score in scores.items()
            ]
            if rows:
                connection.execute(sa.insert(tables.scores), rows)

        return self._store.write(job)

    def done_after(self, last_id: int) -> tuple[int, list[Unit]]:
        """Units whose results any process stored since, and what to ask with next time.

        :param last_id: 0, or what the call before returned.
        """
        asked = tables.questions.c
        query = (
            sa.select(asked.id, asked.case_id, asked.system, asked.repeat, asked.mode)
            .where(asked.run_id == self.run_id, asked.id > last_id)
            .order_by(asked.id)
        )
        rows = self._store.read(lambda connection: list(connection.execute(query)))
        units = dict.fromkeys(Unit(*row[1:]) for row in rows)
        return (rows[-1].id if rows else last_id), list(units)

    def scores(self, unit: Unit) -> dict[str, Score]:
        """The scores of a unit by measure; empty before it is done."""
        scores = tables.scores.c
        query = sa.select(tables.scores).where(
            scores.run_id == self.run_id,
            scores.case_id == unit.case_id,
            scores.system == unit.system,
            scores.repeat == unit.repeat,
            scores.mode == unit.mode,
        )
        rows = self._store.read(lambda connection: list(connection.execute(query).mappings()))
        return {str(row["measure"]): _score(row) for row in rows}

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
        """Owners whose beat has not moved for :data:`DEAD_AFTER_S` seconds of watching."""
        moment = self._clock()
        watched = min(moment - self._looked, _LONGEST_LOOK_S)
        self._looked = moment
        for owner, beat in beats.items():
            before, still = self._seen.get(owner, (None, 0.0))
            self._seen[owner] = (beat, still + watched if beat == before else 0.0)
        return frozenset(owner for owner in beats if self._seen[owner][1] >= DEAD_AFTER_S)


def passage_digest(passage: Passage) -> str:
    """Content address of a passage's text and metadata."""
    return hashlib.sha256(_json([passage.text, passage.metadata]).encode()).hexdigest()


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
_TAKE_OVER = sa.update(tables.calls).where(*_HELD).values(owner=sa.bindparam("new_owner"))
_CLOSE = sa.update(tables.calls).where(*_HELD).values(state=_DONE)


def _score(row: RowMapping) -> Score:
    return Score(
        row["value"],
        row["why"],
        row["reason"],
        row["origin"],
        row["engine"],
        json.loads(row["detail"]),
    )


def _passage_rows(passages: Mapping[str, Passage]) -> list[dict[str, Any]]:
    return [
        {"digest": digest, "text": passage.text, "metadata": _json(passage.metadata)}
        for digest, passage in passages.items()
    ]


def _question_row(
    case: Case, seen: Observation, turn: Turn, digests: Sequence[str]
) -> dict[str, Any]:
    answer = turn.answer
    row: dict[str, Any] = {
        "case_id": case.id,
        "system": seen.system,
        "repeat": seen.repeat,
        "mode": seen.mode,
        "turn": turn.index,
        "question": turn.question,
        "question_type": case.type,
        "cost_usd": turn.cost_usd,
        "cost_reason": turn.cost_reason,
        "duration_ms": turn.duration_ms,
        "error": _json(asdict(turn.error)) if turn.error else None,
        "facts": _json(asdict(seen.facts)) if turn is seen.last else None,
        "retrieved_only": int(turn.retrieved_only),
        "created_at": now(),
    }
    if answer is not None:
        row |= {
            "answer": None if turn.retrieved_only else answer.text,
            "sources": _json(
                [
                    {"id": passage.id, "score": passage.score, "digest": digest}
                    for passage, digest in zip(answer.passages, digests, strict=True)
                ]
            ),
            "filters": None if answer.filters is None else _json(answer.filters),
            "behavior": answer.behavior,
            "usage": None if answer.usage is None else _json([asdict(u) for u in answer.usage]),
            "citations": None if answer.citations is None else _json(answer.citations),
        }
    return row


def _score_row(unit: Unit, measure: str, score: Score) -> dict[str, Any]:
    return {
        **asdict(unit),
        "measure": measure,
        "value": score.value,
        "reason": score.reason,
        "origin": score.origin,
        "engine": score.engine,
        "detail": _json(score.detail),
        "why": storable(score.why),
        "created_at": now(),
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, sort_keys=True, default=dict)


@cache
def insert_new(dialect: str, table: sa.Table) -> Any:
    """An insert that leaves alone rows that are already there."""
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    return insert(table).on_conflict_do_nothing()


def _insert_new(connection: Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert_new(connection.dialect.name, table), rows)


def _new_id(inserted: sa.CursorResult[Any]) -> int:
    (new_id,) = inserted.inserted_primary_key or (0,)
    return int(new_id)


def _update(connection: Connection, statement: sa.Executable, **values: Any) -> bool:
    """Execute an update; whether it changed a row."""
    return connection.execute(statement, values).rowcount > 0
