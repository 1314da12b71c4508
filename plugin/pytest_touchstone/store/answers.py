"""What systems answered, as rows: written, and read back as the observations that they were."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from json.encoder import encode_basestring_ascii as _quoted
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from pytest_touchstone.gold import Case
from pytest_touchstone.store import tables
from pytest_touchstone.store.statements import as_text, insert_all_new, insert_rows
from pytest_touchstone.trace import Answer, Facts, Observation, Passage, SystemFault, Turn, Usage

_AT_ONCE = 500  # parameters of one query; SQLite's limit is 999 in older versions


class Place(NamedTuple):
    """Whose conversation over which case: the unit of a claim."""

    case_id: str
    system: str
    repeat: int
    mode: str

    def key(self, run_id: str) -> str:
        """Its content address within a run."""
        # The JSON text of a list of all; piece by piece, which is three times as fast.
        case_id, system, mode = map(_quoted, (self.case_id, self.system, self.mode))
        text = f'["answer", {_quoted(run_id)}, {case_id}, {system}, {self.repeat}, {mode}]'
        return hashlib.sha256(text.encode()).hexdigest()


def passage_digest(passage: Passage) -> str:
    """Content address of a passage's text and metadata: of the JSON text of both."""
    # Piece by piece, which is twice as fast as a list of the two.
    text = f"[{_quoted(passage.text)}, {as_text(passage.metadata)}]"
    return hashlib.sha256(text.encode()).hexdigest()


class Answered(Protocol):
    """A conversation to be written.

    :ivar unfinished: it was not read to the end.
    :ivar kept: it was written before, and its passages are there.
    """

    @property
    def run_id(self) -> str: ...
    @property
    def case(self) -> Case: ...
    @property
    def seen(self) -> Observation: ...
    @property
    def created_at(self) -> str: ...
    @property
    def unfinished(self) -> bool: ...
    @property
    def kept(self) -> bool: ...


def insert_answers(connection: Connection, answers: Sequence[Answered]) -> list[int]:
    """Write one row per turn; the ids of the last ones, which are scored."""
    rows: list[dict[str, Any]] = []
    last: list[int] = []
    passages: dict[str, Passage] = {}
    for one in answers:
        own, found = _answer_rows(
            one.run_id, one.case, one.seen, one.created_at, unfinished=one.unfinished
        )
        rows += own
        last.append(len(rows) - 1)
        # Where an answer is from, its passages are.
        if not one.kept and one.seen.reused_from is None:
            passages |= found
    written = insert_rows(connection, tables.questions, rows, returning=["id", *_OF_A_TURN])
    ids: dict[tuple[Any, ...], int] = {tuple(row[1:]): row[0] for row in written}
    insert_all_new(connection, tables.passages, _passage_rows(passages))
    return [ids[_of_a_turn(rows[place])] for place in last]


def insert_unread(
    connection: Connection, answers: Iterable[tuple[str, Case, Observation, str]]
) -> None:
    """Write the turns of conversations that nobody has read yet.

    :param answers: each with the run that it belongs to, and when it was given.
    """
    rows: list[dict[str, Any]] = []
    passages: dict[str, Passage] = {}
    for run_id, case, seen, created_at in answers:
        own, found = _answer_rows(run_id, case, seen, created_at, unfinished=True)
        rows += own
        passages |= found
    insert_rows(connection, tables.questions, rows)
    insert_all_new(connection, tables.passages, _passage_rows(passages))


def _answer_rows(
    run_id: str, case: Case, seen: Observation, created_at: str, *, unfinished: bool
) -> tuple[list[dict[str, Any]], dict[str, Passage]]:
    """A row per turn, and the passages that they name, by digest."""
    rows: list[dict[str, Any]] = []
    passages: dict[str, Passage] = {}
    for turn in seen.turns:
        found = turn.answer.passages if turn.answer else ()
        digests = [passage_digest(passage) for passage in found]
        passages |= zip(digests, found, strict=True)
        row = {"run_id": run_id, "created_at": created_at, "unfinished": int(unfinished)}
        rows.append(row | _question_row(case, seen, turn, digests))
    return rows, passages


def delete_kept(connection: Connection, answers: Sequence[Answered]) -> None:
    """Take back conversations of which nothing but the answers was written, unread."""
    if answers:
        connection.execute(_DELETE_KEPT, [_here(one.run_id, _place(one.seen)) for one in answers])


def delete_unfinished(connection: Connection, run_id: str, place: Place) -> None:
    """Take back what was written of a conversation that nobody had read to the end."""
    here = _here(run_id, place)
    for question_id in connection.execute(_UNFINISHED, here).scalars().all():
        for delete in _DELETES:
            connection.execute(delete, here | {"its_question": question_id})


def _here(run_id: str, place: Place) -> dict[str, Any]:
    return {"its_run_id": run_id} | {f"its_{name}": it for name, it in place._asdict().items()}


def _place(seen: Observation) -> Place:
    return Place(seen.case_id, seen.system, seen.repeat, seen.mode)


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
    here = (*at_place(tables.questions, run_id, place), tables.questions.c.unfinished == 1)
    return _answers_where(connection, here)


def answers_of_run(connection: Connection, run_id: str, place: Place) -> Observation | None:
    """A conversation of a run, read or not; ``None`` where it is not there or was not asked, for
    want of budget."""
    return _answers_where(connection, at_place(tables.questions, run_id, place))


def _answers_where(
    connection: Connection, here: tuple[sa.ColumnElement[bool], ...]
) -> Observation | None:
    query = sa.select(tables.questions).where(*here).order_by(tables.questions.c.turn)
    rows = list(connection.execute(query).mappings())
    if not rows or any(row["error"] and _is_budget(row["error"]) for row in rows):
        return None
    return _observation(rows, _texts(connection, rows))


def known_answers(
    connection: Connection, addresses: Collection[str], system: str
) -> dict[str, Observation]:
    """To each address the latest answers of any run in which the system did not fail, if any.

    :param addresses: some hundreds: what is read together stands in memory together.
    :param system: whose answers they are.  Two that are configured alike share addresses, and not
        answers: whoever compares a system with itself wants to see how far it varies.
    """
    by_run: dict[tuple[str, str], list[tuple[int, bool]]] = {}
    for number, address, run_id, failed in connection.execute(
        _BY_ADDRESS, {"its_addresses": list(addresses), "its_system": system}
    ):
        by_run.setdefault((address, run_id), []).append((number, bool(failed)))
    chosen: dict[str, list[int]] = {}
    for (address, _), found in by_run.items():  # the latest comes last
        if not any(failed for _, failed in found):
            chosen[address] = [number for number, _ in found]
    numbers = [number for found in chosen.values() for number in found]
    rows: dict[str, list[RowMapping]] = {address: [] for address in chosen}
    for row in _in_parts(connection, _BY_ID, "its_ids", numbers):
        rows[row["address"]].append(row)
    for conversation in rows.values():
        conversation.sort(key=lambda row: int(row["turn"]))
    texts = _texts(connection, [row for conversation in rows.values() for row in conversation])
    return {
        address: _observation(conversation, texts, earlier=conversation[-1]["run_id"])
        for address, conversation in rows.items()
    }


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
    query = sa.select(tables.questions).where(*here).order_by(asked.turn)
    rows = connection.execute(query).mappings().all()
    return _observation(rows, _texts(connection, rows), earlier=run_id)


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


_OF_A_TURN = ("run_id", "case_id", "system", "repeat", "mode", "turn")
_of_a_turn = itemgetter(*_OF_A_TURN)


def _at_its(table: sa.Table) -> list[sa.ColumnElement[bool]]:
    return [table.c[name] == sa.bindparam(f"its_{name}") for name in ("run_id", *Place._fields)]


_UNFINISHED = sa.select(tables.questions.c.id).where(
    *_at_its(tables.questions), tables.questions.c.unfinished == 1
)
_DELETE_KEPT = sa.delete(tables.questions).where(
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


_Texts = Mapping[str, tuple[str, dict[str, Any]]]
"""Digest to a passage's text and metadata."""


def _observation(
    rows: Sequence[RowMapping], texts: _Texts, earlier: str | None = None
) -> Observation:
    """
    :param rows: the turns of one conversation, in order.
    :param texts: of all passages that they name.
    :param earlier: the run that the rows are of, where they are to be used in another one.
    """
    last = rows[-1]
    return Observation(
        last["case_id"],
        last["system"],
        tuple(_turn(row, texts) for row in rows),
        last["repeat"],
        last["mode"],
        Facts(**json.loads(last["facts"])) if last["facts"] else Facts(),
        address=last["address"] or "",
        reused_from=last["reused_from"] or earlier,
    )


def _turn(row: RowMapping, texts: _Texts) -> Turn:
    answer = None
    # An answer that is empty, or only passages, has an empty text; a system that failed has none.
    if row["sources"] is not None:
        passages = (
            Passage(
                source["id"],
                texts[source["digest"]][0],
                source["score"],
                texts[source["digest"]][1],
            )
            for source in _sources(row["sources"])
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


@lru_cache(maxsize=_AT_ONCE)  # twice of each: which texts are needed, and in which order
def _sources(text: str | None) -> Sequence[Mapping[str, Any]]:
    sources: list[dict[str, Any]] = json.loads(text or "[]")
    return sources


def _texts(connection: Connection, rows: Sequence[RowMapping]) -> _Texts:
    """All passages that the rows name."""
    digests = {source["digest"] for row in rows for source in _sources(row["sources"])}
    found = _in_parts(connection, _PASSAGES, "its_digests", sorted(digests))
    return {row["digest"]: (row["text"], json.loads(row["metadata"])) for row in found}


def _in_parts(
    connection: Connection, query: sa.Select[Any], name: str, values: Sequence[Any]
) -> Iterator[RowMapping]:
    """The rows of a query that is given a list, which databases bound."""
    for start in range(0, len(values), _AT_ONCE):
        some = values[start : start + _AT_ONCE]
        yield from connection.execute(query, {name: some}).mappings()


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
        "facts": _facts_text(seen.facts) if turn is seen.last else None,
        "retrieved_only": int(turn.retrieved_only),
        "address": seen.address or None,
        "reused_from": seen.reused_from,
        **_NO_ANSWER,
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


@lru_cache
def _facts_text(facts: Facts) -> str:
    return as_text(asdict(facts))  # the same of most answers


_NO_ANSWER = dict.fromkeys(("answer", "sources", "filters", "behavior", "usage", "citations"))


_BY_ADDRESS = (
    sa.select(
        tables.questions.c.id,
        tables.questions.c.address,
        tables.questions.c.run_id,
        tables.questions.c.error.is_not(None),
    )
    .where(
        tables.questions.c.address.in_(sa.bindparam("its_addresses", expanding=True)),
        tables.questions.c.system == sa.bindparam("its_system"),
    )
    .order_by(tables.questions.c.id)
)
_BY_ID = sa.select(tables.questions).where(
    tables.questions.c.id.in_(sa.bindparam("its_ids", expanding=True))
)
_PASSAGES = sa.select(tables.passages).where(
    tables.passages.c.digest.in_(sa.bindparam("its_digests", expanding=True))
)
