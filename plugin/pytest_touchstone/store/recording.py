"""Observations with their scores, many in one go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.gold import Case
from pytest_touchstone.score import Score
from pytest_touchstone.storable import storable
from pytest_touchstone.store import tables
from pytest_touchstone.store.answers import delete_kept, insert_answers
from pytest_touchstone.store.judgments import Judged, insert_judgments
from pytest_touchstone.store.statements import as_text, insert_all_new, insert_rows
from pytest_touchstone.trace import Observation


class Recording(NamedTuple):
    """An observation to be stored.

    :ivar key: that of the claim which ``owner`` has on it.
    :ivar judge: the model whose verdicts the observation holds.
    :ivar unfinished: not all of it could be read.
    :ivar kept: its answers were written before, and their passages are there.
    :ivar uses: keys of the calls that it rests on, each with its result where the call is not kept
        for others.
    """

    run_id: str
    key: str
    owner: str
    case: Case
    seen: Observation
    scores: Mapping[str, Score]
    judge: str
    created_at: str
    unfinished: bool = False
    kept: bool = False
    uses: Mapping[str, Any] = MappingProxyType({})


def closed(connection: Connection, rows: Sequence[Recording]) -> bool:
    """Close the claims of one process; whether all of them were still its own."""
    claims = {"its_keys": [row.key for row in rows], "its_owner": rows[0].owner}
    return connection.execute(_CLOSE, claims).rowcount == len(rows)


def write_recordings(connection: Connection, rows: Sequence[Recording]) -> None:
    """Write answers, what was read of them, scores, and the calls that they rest on."""
    delete_kept(connection, [row for row in rows if row.kept])
    numbers = insert_answers(connection, rows)
    insert_judgments(
        connection,
        (
            Judged(number, row.seen, row.judge, row.created_at)
            for row, number in zip(rows, numbers, strict=True)
        ),
    )
    scores = [
        _score_row(row, number, measure, score)
        for row, number in zip(rows, numbers, strict=True)
        for measure, score in row.scores.items()
    ]
    insert_rows(connection, tables.scores, scores)
    insert_all_new(connection, tables.call_uses, [use for row in rows for use in _use_rows(row)])


def _use_rows(row: Recording) -> Iterator[dict[str, Any]]:
    for key, result in row.uses.items():
        text = None if result is None else as_text(result)
        yield {"run_id": row.run_id, "key": key, "result": text}


def _score_row(row: Recording, question_id: int, measure: str, score: Score) -> dict[str, Any]:
    seen = row.seen
    return {
        "run_id": row.run_id,
        "question_id": question_id,
        "case_id": seen.case_id,
        "system": seen.system,
        "repeat": seen.repeat,
        "mode": seen.mode,
        "measure": measure,
        "value": score.value,
        "reason": score.reason,
        "origin": score.origin,
        "engine": score.engine,
        "detail": as_text(score.detail),
        "why": storable(score.why),
        "created_at": row.created_at,
    }


_CLOSE = (
    sa.update(tables.calls)
    .where(
        tables.calls.c.key.in_(sa.bindparam("its_keys", expanding=True)),
        tables.calls.c.owner == sa.bindparam("its_owner"),
        tables.calls.c.state == "claimed",
    )
    .values(state="done")
)
