"""Several sessions of one run: shells that share it, or one that resumes what was cut short."""

from __future__ import annotations

import json
from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.score import BUDGET, JUDGE_UNREACHABLE
from pytest_touchstone.store import reservations, tables
from pytest_touchstone.store.answers import Place, at_place
from pytest_touchstone.store.engine import Store, StoreError
from pytest_touchstone.store.statements import insert_all_new, insert_rows
from pytest_touchstone.unusable import Unusable

LATEST = "latest"
_IDENTITY, _SESSION = "identity", "session"
_SHOWN = 12
_CUT_OFF = (BUDGET, JUDGE_UNREACHABLE)


class RunNotFound(Unusable):
    """No run, or more than one, is meant by a name."""


def find_run(store: Store, name: str) -> tuple[str, str]:
    """Id and start of the run that is meant: by its id, the beginning of it, or `latest`.

    :raises RunNotFound: where it is none or more than one.
    """
    found = runs_begun(store, "" if name == LATEST else name)
    exact = [one for one in found if one[0] == name]
    if name == LATEST or exact:
        found = exact or found[:1]
    if not found:
        last = ", ".join(one[0][:_SHOWN] for one in runs_begun(store, "")[:3])
        raise RunNotFound(
            f"the store holds no run {name!r}; the last ones are {last}"
            if last
            else "there is nothing to resume: the store holds no run"
        )
    if len(found) > 1:
        ids = ", ".join(one[0][:_SHOWN] for one in found[:3])
        raise RunNotFound(f"{len(found)} runs begin with {name!r}: {ids}; write more of the id")
    return found[0]


def runs_begun(store: Store, beginning: str) -> list[tuple[str, str]]:
    """Id and start of the runs whose ids begin so, the last begun first.

    Their first answers tell the order, since a clock may have been set back between two runs; one
    without an answer stands where its clock puts it.
    """
    runs, asked = tables.runs.c, tables.questions.c
    first = sa.select(sa.func.min(asked.id)).where(asked.run_id == runs.id).scalar_subquery()
    query = (
        sa.select(runs.id, runs.started_at, first)
        .where(runs.id.startswith(beginning, autoescape=True))
        .order_by(runs.started_at, runs.id.desc())
    )
    last, placed = 0, []
    for run_id, started_at, answered in store.read(lambda one: one.execute(query).all()):
        last = max(last, answered or 0)
        placed.append((answered or last, run_id, started_at))
    placed.sort(key=lambda run: run[0])
    return [(run_id, started_at) for _, run_id, started_at in reversed(placed)]


def has_begun(connection: Connection, run_id: str) -> bool:
    """Whether the store holds this run."""
    query = sa.select(tables.runs.c.id).where(tables.runs.c.id == run_id)
    return connection.execute(query).first() is not None


def agree(connection: Connection, run_id: str, identity: Mapping[str, str]) -> None:
    """Say what the run is, or see that it is still that.

    :raises StoreError: naming what is not what it was when the run began.
    """
    if not identity:
        return
    notes = tables.notes.c
    rows = [
        {"run_id": run_id, "kind": _IDENTITY, "key": key, "value": json.dumps(value)}
        for key, value in identity.items()
    ]
    query = sa.select(notes.key, notes.value).where(notes.run_id == run_id, notes.kind == _IDENTITY)
    known = {row.key: json.loads(row.value) for row in connection.execute(query)}
    if not known:
        insert_all_new(connection, tables.notes, rows)
        return
    names = dict.fromkeys([*identity, *known])
    if other := [name for name in names if identity.get(name) != known.get(name)]:
        raise StoreError(
            f"run {run_id[:_SHOWN]}: cannot be gone on with: not what it began with:"
            f" {', '.join(other)}. Set that back, or start a new run"
        )


def open_session(connection: Connection, run_id: str, session: str, moment: str) -> None:
    """The first process of a later session undoes what ended the one before."""
    row = {"run_id": run_id, "kind": _SESSION, "key": session, "value": json.dumps(moment)}
    if not insert_rows(connection, tables.notes, [row], new_only=True, returning=["key"]):
        return
    _reopen(connection, run_id)
    runs, spending = tables.runs, tables.spending
    connection.execute(sa.update(runs).where(runs.c.id == run_id).values(stop=0, finished_at=None))
    # Others of another session may be at work: what they reserved stays theirs.
    gone = [
        owner
        for owner, beat in reservations.beats(connection, run_id).items()
        if beat is None or beat < 0
    ]
    reservations.settle_left(connection, run_id, gone)
    connection.execute(sa.update(spending).where(spending.c.run_id == run_id).values(refused=0))


def _reopen(connection: Connection, run_id: str) -> None:
    """What the budget or a judge out of reach cut off is to be gone on with: the claims on it are
    let go."""
    asked, scores, calls = tables.questions, tables.scores.c, tables.calls
    cut = sa.select(scores.question_id).where(scores.run_id == run_id, scores.reason.in_(_CUT_OFF))
    query = (
        sa.select(asked.c.case_id, asked.c.system, asked.c.repeat, asked.c.mode)
        .where(asked.c.id.in_(cut))
        .distinct()
    )
    for row in connection.execute(query).all():
        place = Place(*row)
        connection.execute(sa.delete(calls).where(calls.c.key == place.key(run_id)))
        connection.execute(
            sa.update(asked).where(*at_place(asked, run_id, place)).values(unfinished=1)
        )
