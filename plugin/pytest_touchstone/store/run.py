"""What the processes of one run write to the store, claim from it and see of each other.

A claim is one ``INSERT ... ON CONFLICT DO NOTHING RETURNING``: it either made the row or did
not, with no moment in between.  A claim whose owner's beat stands still for ten seconds *of the
observer's own monotonic clock* may be taken over; wall clocks are trusted nowhere.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, RowMapping

from pytest_touchstone.gold import Case, case_to_json
from pytest_touchstone.report.rows import PlanRow
from pytest_touchstone.score import Score
from pytest_touchstone.store import tables
from pytest_touchstone.store.engine import Store
from pytest_touchstone.trace import Observation, Passage, Turn

DEAD_AFTER_S = 10.0


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
    """Another process took this piece of work over and has its result."""


class RunStore:
    """One process's view of one run.

    :param owner: unique to this process; its beat keeps the process's claims alive.
    """

    def __init__(self, store: Store, run_id: str, owner: str) -> None:
        self._store = store
        self.run_id = run_id
        self.owner = owner

    def begin(
        self, start: RunStart, cases: Sequence[Case], plan: Iterable[PlanRow]
    ) -> Future[None]:
        """Write the run, its gold questions and its plan; a second process changes nothing."""
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
            run = asdict(start) | {"config": _json(start.config), "num_questions": len(cases)}
            _insert_new(connection, tables.runs, [run | {"stop": 0}])
            _insert_new(connection, tables.cases, case_rows)
            _insert_new(connection, tables.plan, plan_rows)
            worker = {"owner": self.owner, "run_id": self.run_id, "beat": 0}
            _insert_new(connection, tables.workers, [worker])

        return self._store.write(job)

    def beat(self) -> Future[None]:
        """Show that this process lives."""
        statement = (
            sa.update(tables.workers)
            .where(tables.workers.c.owner == self.owner)
            .values(beat=tables.workers.c.beat + 1)
        )
        return self._store.write(lambda connection: _run(connection, statement))

    def claim(self, unit: Unit) -> Future[bool]:
        """Whether the unit is now this process's to do (``False``: another has or had it)."""
        row = {
            "key": unit.key(self.run_id),
            "kind": "answer",
            "owner": self.owner,
            "state": "claimed",
            "created_at": now(),
        }

        def job(connection: Connection) -> bool:
            insert = _insert(connection, tables.calls).values(row).on_conflict_do_nothing()
            return connection.execute(insert.returning(tables.calls.c.key)).first() is not None

        return self._store.write(job)

    def take_over(self, unit: Unit, dead: str) -> Future[bool]:
        """Claim the unit of a process that died; ``False`` where somebody was faster."""
        calls = tables.calls.c
        statement = (
            sa.update(tables.calls)
            .where(
                calls.key == unit.key(self.run_id), calls.owner == dead, calls.state == "claimed"
            )
            .values(owner=self.owner)
        )
        return self._store.write(lambda connection: connection.execute(statement).rowcount == 1)

    def record(self, case: Case, seen: Observation, scores: Mapping[str, Score]) -> Future[None]:
        """Store an observation with its scores, all or nothing, and close its claim.

        The future fails with :class:`LostClaim` where another process took the unit over.
        """
        unit = Unit(seen.case_id, seen.system, seen.repeat, seen.mode)

        def job(connection: Connection) -> None:
            calls = tables.calls.c
            closed = connection.execute(
                sa.update(tables.calls)
                .where(calls.key == unit.key(self.run_id), calls.owner == self.owner)
                .values(state="done")
            )
            if closed.rowcount != 1:
                raise LostClaim(unit)
            _insert_new(connection, tables.passages, _passage_rows(seen))
            question_id = 0
            for turn in seen.turns:
                row = {"run_id": self.run_id, **_question_row(case, seen, turn)}
                insert = sa.insert(tables.questions).values(row)
                question_id = connection.execute(
                    insert.returning(tables.questions.c.id)
                ).scalar_one()
            rows = [
                {"run_id": self.run_id, "question_id": question_id}
                | _score_row(unit, measure, score)
                for measure, score in scores.items()
            ]
            if rows:
                connection.execute(sa.insert(tables.scores), rows)

        return self._store.write(job)

    def scores_after(self, last_id: int) -> tuple[int, list[tuple[Unit, str, Score]]]:
        """Scores that any process stored since ``last_id``, and the new last id."""
        scores = tables.scores
        query = (
            sa.select(scores)
            .where(scores.c.run_id == self.run_id, scores.c.id > last_id)
            .order_by(scores.c.id)
        )
        rows = self._store.read(lambda connection: list(connection.execute(query).mappings()))
        found = [
            (
                Unit(row["case_id"], row["system"], row["repeat"], row["mode"]),
                str(row["measure"]),
                score_from_row(row),
            )
            for row in rows
        ]
        return (rows[-1]["id"] if rows else last_id), found

    def owners(self, units: Sequence[Unit]) -> dict[Unit, tuple[str, str]]:
        """Owner and state of each unit that somebody claimed."""
        keys = {unit.key(self.run_id): unit for unit in units}
        calls = tables.calls.c

        def job(connection: Connection) -> dict[Unit, tuple[str, str]]:
            found: dict[Unit, tuple[str, str]] = {}
            for chunk in _chunks(list(keys), 500):
                query = sa.select(calls.key, calls.owner, calls.state).where(calls.key.in_(chunk))
                found |= {
                    keys[row.key]: (row.owner, row.state) for row in connection.execute(query)
                }
            return found

        return self._store.read(job)

    def beats(self) -> dict[str, int]:
        """The beat counter of every process of the run."""
        workers = tables.workers.c
        query = sa.select(workers.owner, workers.beat).where(workers.run_id == self.run_id)
        return self._store.read(
            lambda connection: {row.owner: row.beat for row in connection.execute(query)}
        )

    def request_stop(self) -> Future[None]:
        """Ask all processes of the run to end early."""
        statement = sa.update(tables.runs).where(tables.runs.c.id == self.run_id).values(stop=1)
        return self._store.write(lambda connection: _run(connection, statement))

    def stop_requested(self) -> bool:
        """Whether somebody asked the run to end early."""
        query = sa.select(tables.runs.c.stop).where(tables.runs.c.id == self.run_id)
        return bool(self._store.read(lambda connection: connection.execute(query).scalar()))

    def note(self, kind: str, key: str, value: Any) -> Future[None]:
        """Keep something that the run learned; the first process to say it is believed."""
        row = {"run_id": self.run_id, "kind": kind, "key": key, "value": _json(value)}
        return self._store.write(lambda connection: _insert_new(connection, tables.notes, [row]))

    def finish(self) -> Future[None]:
        """Stamp the run as finished; the first stamp stays."""
        runs = tables.runs.c
        statement = (
            sa.update(tables.runs)
            .where(runs.id == self.run_id, runs.finished_at.is_(None))
            .values(finished_at=now())
        )
        return self._store.write(lambda connection: _run(connection, statement))


class Watch:
    """Which processes of a run stand still, by this process's own monotonic clock."""

    def __init__(self, clock: Any = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[int, float]] = {}

    def dead(self, beats: Mapping[str, int]) -> frozenset[str]:
        """Owners whose beat has not moved for :data:`DEAD_AFTER_S` seconds of watching."""
        moment = self._clock()
        for owner, beat in beats.items():
            if self._seen.get(owner, (None, 0.0))[0] != beat:
                self._seen[owner] = (beat, moment)
        return frozenset(
            owner for owner, (_, since) in self._seen.items() if moment - since >= DEAD_AFTER_S
        )


def passage_digest(passage: Passage) -> str:
    """Content address of a passage's text and metadata."""
    content = [passage.text, passage.metadata]
    return hashlib.sha256(_json(content).encode("utf-8", "surrogatepass")).hexdigest()


def score_from_row(row: RowMapping) -> Score:
    """The score that a row of ``eval_scores`` holds."""
    return Score(
        row["value"],
        row["why"],
        row["reason"],
        row["origin"],
        row["engine"],
        json.loads(row["detail"]),
    )


def _passage_rows(seen: Observation) -> list[dict[str, Any]]:
    rows = {}
    for turn in seen.turns:
        for passage in turn.answer.passages if turn.answer else ():
            digest = passage_digest(passage)
            rows[digest] = {
                "digest": digest,
                "text": passage.text,
                "metadata": _json(passage.metadata),
            }
    return list(rows.values())


def _question_row(case: Case, seen: Observation, turn: Turn) -> dict[str, Any]:
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
                    {"id": p.id, "score": p.score, "digest": passage_digest(p)}
                    for p in answer.passages
                ]
            ),
            "filters": None if answer.filters is None else _json(answer.filters),
            "behavior": answer.behavior,
            "usage": None if answer.usage is None else _json([asdict(u) for u in answer.usage]),
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
        "why": score.why,
        "created_at": now(),
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, sort_keys=True, default=dict)


def _insert(connection: Connection, table: sa.Table) -> Any:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table)


def _insert_new(connection: Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Insert rows, leaving alone those that are already there."""
    if rows:
        connection.execute(_insert(connection, table).on_conflict_do_nothing(), rows)


def _run(connection: Connection, statement: sa.Executable) -> None:
    connection.execute(statement)


def _chunks(items: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))
