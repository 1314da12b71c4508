"""What systems answered, as rows: written, and read back as the observations that they were."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from pytest_touchstone.gold import Case
from pytest_touchstone.store import tables
from pytest_touchstone.store.statements import as_text, insert_all_new, new_id
from pytest_touchstone.trace import Answer, Facts, Observation, Passage, SystemFault, Turn, Usage


class Place(NamedTuple):
    """Whose conversation over which case: the unit of a claim."""

    case_id: str
    system: str
    repeat: int
    mode: str

    def key(self, run_id: str) -> str:
        """Its content address within a run."""
        parts = ["answer", run_id, *self]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def passage_digest(passage: Passage) -> str:
    """Content address of a passage's text and metadata."""
    return hashlib.sha256(as_text([passage.text, passage.metadata]).encode()).hexdigest()


def insert_answers(
    connection: Connection,
    run_id: str,
    case: Case,
    seen: Observation,
    created_at: str,
    *,
    unfinished: bool = False,
) -> int:
    """Write one row per turn; the id of the last one, which is scored.

    :param unfinished: nobody has read the answers to the end yet.
    """
    passages: dict[str, Passage] = {}
    question_id = 0
    for turn in seen.turns:
        found = turn.answer.passages if turn.answer else ()
        digests = [passage_digest(passage) for passage in found]
        passages |= zip(digests, found, strict=True)
        row = {"run_id": run_id, "created_at": created_at, "unfinished": int(unfinished)}
        row |= _question_row(case, seen, turn, digests)
        question_id = new_id(connection.execute(_NEW_QUESTION, row))
    insert_all_new(connection, tables.passages, _passage_rows(passages))
    return question_id


def delete_unfinished(connection: Connection, run_id: str, place: Place) -> None:
    """Take back what was written of a conversation that nobody had read to the end."""
    here = {"its_run_id": run_id} | {f"its_{name}": it for name, it in place._asdict().items()}
    for question_id in connection.execute(_UNFINISHED, here).scalars().all():
        for delete in _DELETES:
            connection.execute(delete, here | {"its_question": question_id})


def unfinished_places(connection: Connection, run_id: str) -> set[Place]:
    """Conversations of a run that are there and not yet read to the end."""
    asked = tables.questions.c
    query = (
        sa.select(asked.case_id, asked.system, asked.repeat, asked.mode)
        .where(asked.run_id == run_id, asked.unfinished == 1)
        .distinct()
    )
    return {Place(*row) for row in connection.execute(query)}


def kept_answers(connection: Connection, run_id: str, place: Place) -> Observation | None:
    """What was kept of a conversation that nobody has read to the end; ``None`` where it is no
    answer: the system was not asked, for want of budget."""
    asked = tables.questions
    here = (*at_place(asked, run_id, place), asked.c.unfinished == 1)
    query = sa.select(asked).where(*here).order_by(asked.c.turn)
    rows = list(connection.execute(query).mappings())
    if not rows or any(row["error"] and _is_budget(row["error"]) for row in rows):
        return None
    return _observation(connection, rows)


def known_answers(connection: Connection, address: str) -> Observation | None:
    """The latest answers to what has this address, of any run, in which the system did not fail."""
    by_run: dict[str, list[RowMapping]] = {}
    for row in connection.execute(_BY_ADDRESS, {"its_address": address}).mappings():
        by_run.setdefault(row["run_id"], []).append(row)
    for run_id, rows in reversed(by_run.items()):
        if all(row["error"] is None for row in rows):
            rows.sort(key=lambda row: int(row["turn"]))
            return _observation(connection, rows, earlier=run_id)
    return None


def latest_answers(connection: Connection, place: Place, question: str) -> Observation | None:
    """The latest answers to a question of any run, whatever else has changed since."""
    asked = tables.questions.c
    query = (
        sa.select(asked.run_id)
        .where(
            asked.case_id == place.case_id,
            asked.system == place.system,
            asked.repeat == place.repeat,
            asked.mode == place.mode,
            asked.question == question,
            asked.error.is_(None),
        )
        .order_by(asked.id.desc())
        .limit(1)
    )
    run_id = connection.execute(query).scalar()
    if run_id is None:
        return None
    here = at_place(tables.questions, run_id, place)
    rows = connection.execute(sa.select(tables.questions).where(*here).order_by(asked.turn))
    return _observation(connection, list(rows.mappings()), earlier=run_id)


def mean_cost(connection: Connection, system: str) -> float | None:
    """US dollars of a turn of the system, over all runs; ``None`` where no cost is known."""
    asked = tables.questions.c
    query = sa.select(sa.func.avg(asked.cost_usd)).where(
        asked.system == system, asked.reused_from.is_(None)
    )
    mean: float | None = connection.execute(query).scalar()
    return mean


def at_place(asked: sa.Table, run_id: str, place: Place) -> tuple[sa.ColumnElement[bool], ...]:
    """The rows of one conversation of a run."""
    return (
        asked.c.run_id == run_id,
        asked.c.case_id == place.case_id,
        asked.c.system == place.system,
        asked.c.repeat == place.repeat,
        asked.c.mode == place.mode,
    )


# Made once: building a statement costs more than executing it.
_NEW_QUESTION = sa.insert(tables.questions)


def _at_its(table: sa.Table) -> list[sa.ColumnElement[bool]]:
    return [table.c[name] == sa.bindparam(f"its_{name}") for name in ("run_id", *Place._fields)]


_UNFINISHED = sa.select(tables.questions.c.id).where(
    *_at_its(tables.questions), tables.questions.c.unfinished == 1
)
_ITS: sa.BindParameter[int] = sa.bindparam("its_question")
_JUDGED = sa.select(tables.judgments.c.id).where(tables.judgments.c.question_id == _ITS)
_DELETES = (
    sa.delete(tables.citations).where(tables.citations.c.judgment_id.in_(_JUDGED)),
    sa.delete(tables.judgments).where(tables.judgments.c.question_id == _ITS),
    sa.delete(tables.scores).where(*_at_its(tables.scores), tables.scores.c.question_id == _ITS),
    sa.delete(tables.questions).where(tables.questions.c.id == _ITS),
)


def _is_budget(error: str) -> bool:
    return bool(json.loads(error)["kind"] == "budget")


def _observation(
    connection: Connection, rows: Sequence[RowMapping], earlier: str | None = None
) -> Observation:
    """
    :param earlier: the run that the rows are of, where they are to be used in another one.
    """
    sources = [json.loads(row["sources"] or "[]") for row in rows]
    texts = _passages(connection, {source["digest"] for found in sources for source in found})
    last = rows[-1]
    return Observation(
        last["case_id"],
        last["system"],
        tuple(_turn(row, found, texts) for row, found in zip(rows, sources, strict=True)),
        last["repeat"],
        last["mode"],
        Facts(**json.loads(last["facts"])) if last["facts"] else Facts(),
        address=last["address"] or "",
        reused_from=last["reused_from"] or earlier,
    )


def _turn(
    row: RowMapping, sources: Sequence[Mapping[str, Any]], texts: Mapping[str, RowMapping]
) -> Turn:
    answer = None
    # An answer that is empty, or only passages, has an empty text; a system that failed has none.
    if row["sources"] is not None:
        passages = (
            Passage(
                source["id"],
                texts[source["digest"]]["text"],
                source["score"],
                json.loads(texts[source["digest"]]["metadata"]),
            )
            for source in sources
        )
        usage, citations = _parsed(row["usage"]), _parsed(row["citations"])
        answer = Answer(
            row["answer"] or "",
            tuple(passages),
            _parsed(row["filters"]),
            row["behavior"],
            None if usage is None else tuple(Usage(**one) for one in usage),
            None if citations is None else tuple(citations),
        )
    error = _parsed(row["error"])
    return Turn(
        row["turn"],
        row["question"],
        answer,
        None if error is None else SystemFault(**error),
        bool(row["retrieved_only"]),
        row["duration_ms"],
        row["cost_usd"],
        row["cost_reason"],
    )


def _passages(connection: Connection, digests: set[str]) -> dict[str, RowMapping]:
    if not digests:
        return {}
    found = connection.execute(_PASSAGES, {"its_digests": sorted(digests)})
    return {row["digest"]: row for row in found.mappings()}


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _passage_rows(passages: Mapping[str, Passage]) -> list[dict[str, Any]]:
    return [
        {"digest": digest, "text": passage.text, "metadata": as_text(passage.metadata)}
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
        "error": as_text(asdict(turn.error)) if turn.error else None,
        "facts": as_text(asdict(seen.facts)) if turn is seen.last else None,
        "retrieved_only": int(turn.retrieved_only),
        "address": seen.address or None,
        "reused_from": seen.reused_from,
    }
    if answer is not None:
        row |= {
            "answer": None if turn.retrieved_only else answer.text,
            "sources": as_text(
                [
                    {"id": passage.id, "score": passage.score, "digest": digest}
                    for passage, digest in zip(answer.passages, digests, strict=True)
                ]
            ),
            "filters": None if answer.filters is None else as_text(answer.filters),
            "behavior": answer.behavior,
            "usage": None if answer.usage is None else as_text([asdict(u) for u in answer.usage]),
            "citations": None if answer.citations is None else as_text(answer.citations),
        }
    return row


_BY_ADDRESS = (
    sa.select(tables.questions)
    .where(tables.questions.c.address == sa.bindparam("its_address"))
    .order_by(tables.questions.c.id)
)
_PASSAGES = sa.select(tables.passages).where(
    tables.passages.c.digest.in_(sa.bindparam("its_digests", expanding=True))
)
