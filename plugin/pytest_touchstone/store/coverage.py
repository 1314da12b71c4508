"""The coverage of paragraphs that a store already holds: read, and written beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from pytest_touchstone.gold import Case
from pytest_touchstone.measures import parse
from pytest_touchstone.paragraphs import CITATION, citations
from pytest_touchstone.score import Score
from pytest_touchstone.storable import json_data
from pytest_touchstone.store import tables
from pytest_touchstone.store.engine import Store, StoreError
from pytest_touchstone.store.judgments import scored_columns
from pytest_touchstone.trace import Answer, Observation, Passage, Turn
from pytest_touchstone.verdicts import (
    UNRESOLVED,
    CitationCoverage,
    ParagraphCoverage,
    ParagraphSupport,
    ParagraphVerdict,
    SourceCoverage,
)

_AT_ONCE = 500  # parameters of one query


@dataclass(frozen=True, slots=True)
class StoredParagraph:
    """A citing paragraph in the store.

    :param cited: numbers of its sources, from its own markers; where it has none, as stored.
    :param sources: the passages of its answer, in their order.
    """

    judgment: int
    question: int
    index: int
    text: str
    cited: tuple[int, ...]
    sources: tuple[Passage, ...]


def stored_paragraphs(
    store: Store, run_id: str | None, *, every: bool, pattern: str = CITATION
) -> list[StoredParagraph]:
    """The citing paragraphs without coverage, of one run or of all.

    :param every: those with coverage too.
    :raises StoreError: where the store does not know the run.
    """

    def job(connection: Connection) -> list[StoredParagraph]:
        if run_id is not None and not _knows(connection, run_id):
            raise StoreError(f"store: it holds no run {run_id!r}")
        query = (
            sa.select(tables.judgments, tables.questions.c.sources)
            .join(tables.questions, tables.questions.c.id == tables.judgments.c.question_id)
            .order_by(tables.judgments.c.id)
        )
        if run_id is not None:
            query = query.where(tables.questions.c.run_id == run_id)
        if not every:
            query = query.where(tables.judgments.c.coverage_score.is_(None))
        rows = list(connection.execute(query).mappings())
        texts = _texts(connection, [row["sources"] for row in rows])
        return [_paragraph(row, texts, pattern) for row in rows]

    return store.read(job)


def write_coverage(
    store: Store, paragraph: StoredParagraph, covered: ParagraphCoverage, said: CitationCoverage
) -> Future[None]:
    """Write what a scorer said of a paragraph; what it could not score keeps what was there."""

    def job(connection: Connection) -> None:
        table = tables.citations
        for source in covered.sources:
            if source.score is None:
                continue
            columns = scored_columns(source, said)
            row = {"judgment_id": paragraph.judgment, "source_index": source.source}
            update = sa.update(table).where(*(table.c[name] == row[name] for name in row))
            if not connection.execute(update.values(columns)).rowcount:
                passage = paragraph.sources[source.source - 1].id
                connection.execute(sa.insert(table), row | {"passage_id": passage} | columns)
        if covered.best is not None:
            judgments = tables.judgments
            mine = judgments.c.id == paragraph.judgment
            values = {"coverage_score": covered.best}
            connection.execute(sa.update(judgments).where(mine).values(values))

    return store.write(job)


def measure_again(
    store: Store, question: int, said: CitationCoverage, pattern: str = CITATION
) -> Future[None]:
    """Make the scores of coverage anew that a question's run had planned, from what is stored.

    :param said: names the scorer; its paragraphs are those scored just now.
    """

    def job(connection: Connection) -> None:
        asked = tables.questions
        row = connection.execute(sa.select(asked).where(asked.c.id == question)).mappings().one()
        scores = tables.scores
        planned = connection.execute(
            sa.select(scores.c.id, scores.c.measure).where(scores.c.question_id == question)
        )
        needing = {
            score: measure
            for score, name in planned
            if "citation_coverage" in (measure := parse(name)).needs
        }
        if not needing:
            return
        seen = _observation(connection, row, said, pattern)
        case = Case(row["case_id"], row["question_type"], row["question"])
        for score, measure in needing.items():
            values = _columns(measure.score(case, seen))
            connection.execute(sa.update(scores).where(scores.c.id == score).values(values))

    return store.write(job)


def _knows(connection: Connection, run_id: str) -> bool:
    query = sa.select(tables.runs.c.id).where(tables.runs.c.id == run_id)
    return connection.execute(query).first() is not None


def _texts(connection: Connection, listed: Sequence[str | None]) -> dict[str, str]:
    digests = sorted({one["digest"] for text in listed for one in json.loads(text or "[]")})
    found: dict[str, str] = {}
    for start in range(0, len(digests), _AT_ONCE):
        table = tables.passages
        some = table.c.digest.in_(digests[start : start + _AT_ONCE])
        found |= {
            row.digest: row.text
            for row in connection.execute(sa.select(table.c.digest, table.c.text).where(some))
        }
    return found


def _passages(listed: str | None, texts: Mapping[str, str]) -> tuple[Passage, ...]:
    return tuple(Passage(one["id"], texts[one["digest"]]) for one in json.loads(listed or "[]"))


def _paragraph(row: RowMapping, texts: Mapping[str, str], pattern: str) -> StoredParagraph:
    return StoredParagraph(
        row["id"],
        row["question_id"],
        row["paragraph_idx"],
        row["paragraph_text"],
        citations(row["paragraph_text"], pattern) or tuple(json.loads(row["cited_indices"])),
        _passages(row["sources"], texts),
    )


def _observation(
    connection: Connection, row: RowMapping, said: CitationCoverage, pattern: str
) -> Observation:
    """What the measures of coverage read, from a question's rows."""
    texts = _texts(connection, [row["sources"]])
    answer = Answer(row["answer"] or "", _passages(row["sources"], texts))
    reported = json.loads(row["citations"] or "null")
    if reported is not None:
        answer = replace(answer, citations=tuple(reported))
    judgments, cited = tables.judgments, tables.citations
    mine = sa.select(judgments).where(judgments.c.question_id == row["id"])
    paragraphs, judged = [], []
    for one in connection.execute(mine.order_by(judgments.c.id)).mappings().all():
        sources = connection.execute(
            sa.select(cited).where(cited.c.judgment_id == one["id"]).order_by(cited.c.id)
        ).mappings()
        covered = tuple(_source(source) for source in sources)
        paragraphs.append(ParagraphCoverage(one["paragraph_idx"], one["paragraph_text"], covered))
        if one["verdict"] is not None:
            verdict = ParagraphVerdict(
                one["paragraph_idx"], one["paragraph_text"], one["verdict"], one["rationale"] or ""
            )
            judged.append(verdict)
    return Observation(
        row["case_id"],
        row["system"],
        (Turn(row["turn"], row["question"], answer),),
        row["repeat"],
        row["mode"],
        verdicts={
            "citation_coverage": replace(said, paragraphs=tuple(paragraphs)),
            "support": ParagraphSupport(tuple(judged)),
        },
        citation_pattern=pattern,
    )


def _source(row: RowMapping) -> SourceCoverage:
    if row["passage_id"] is None:
        return SourceCoverage(row["source_index"], None, 0, UNRESOLVED)
    reason = "scorer_unreadable" if row["coverage_score"] is None else None
    return SourceCoverage(row["source_index"], row["coverage_score"], row["windows"] or 1, reason)


def _columns(score: Score) -> dict[str, Any]:
    return {
        "value": score.value,
        "reason": score.reason,
        "origin": score.origin,
        "engine": score.engine,
        "why": score.why,
        "detail": json.dumps(json_data(score.detail), sort_keys=True),
    }
