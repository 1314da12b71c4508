"""The rows of paragraphs that cite: what a judge and a scorer said of them, and of each source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy.engine import Connection

from pytest_touchstone.citing import cited_paragraphs
from pytest_touchstone.measures.base import LIVE
from pytest_touchstone.storable import storable
from pytest_touchstone.store import tables
from pytest_touchstone.store.statements import insert_rows
from pytest_touchstone.trace import Answer, Observation
from pytest_touchstone.verdicts import (
    CitationCoverage,
    CitationVerdict,
    ParagraphCoverage,
    ParagraphSupport,
    ParagraphVerdict,
    SourceCoverage,
)


@dataclass(slots=True)
class _Citing:
    """One citing paragraph, and who said what of it."""

    text: str
    cited: tuple[int, ...]
    judged: ParagraphVerdict | None = None
    covered: ParagraphCoverage | None = None
    scored: CitationCoverage | None = field(default=None, repr=False)


class Judged(NamedTuple):
    """An answer in the store, with what was said of it.

    :ivar question_id: the row of its last turn.
    :ivar judge: the model whose verdicts the observation holds.
    """

    question_id: int
    seen: Observation
    judge: str
    created_at: str


def insert_judgments(connection: Connection, answers: Iterable[Judged]) -> None:
    """Write one row per citing paragraph of each answer, one more per source that it cites.

    They are there whether or not anybody judged or scored, but for a conversation that was played
    live; what nobody said is NULL.
    """
    rows: list[dict[str, Any]] = []
    sources: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for answer in answers:
        last = answer.seen.last
        if last.answer is None or last.error is not None:
            continue
        found = [passage.id for passage in last.answer.passages]
        for index, one in sorted(_citing(last.answer, answer.seen).items()):
            rows.append(_judgment_row(answer, index, one))
            sources[answer.question_id, index] = list(_sources(one, found))
    written = insert_rows(
        connection, tables.judgments, rows, returning=["question_id", "paragraph_idx", "id"]
    )
    ids = {(row.question_id, row.paragraph_idx): row.id for row in written}
    cited = [
        {"judgment_id": ids[place], **source} for place, own in sources.items() for source in own
    ]
    insert_rows(connection, tables.citations, cited)


def _judgment_row(answer: Judged, index: int, one: _Citing) -> dict[str, Any]:
    return {
        "question_id": answer.question_id,
        "paragraph_idx": index,
        "paragraph_text": storable(one.text),
        "cited_indices": json.dumps(one.cited),
        "verdict": one.judged.label if one.judged else None,
        "rationale": storable(one.judged.rationale) if one.judged else None,
        "judge_model": answer.judge if one.judged else None,
        "coverage_score": one.covered.best if one.covered else None,
        "created_at": answer.created_at,
    }


def _citing(answer: Answer, seen: Observation) -> dict[int, _Citing]:
    # Citations are measured on the recorded conversation, and nobody scores the other one later.
    cites = seen.mode != LIVE and (
        answer.citations or re.search(seen.citation_pattern, answer.text) is not None
    )
    parted = cited_paragraphs(answer, seen.citation_pattern) if cites else ()
    found = {each.index: _Citing(each.text, each.cited) for each in parted if each.cited}
    support = seen.verdicts.get("support")
    for judged in support.verdicts if isinstance(support, ParagraphSupport) else ():
        cited = tuple(each.source for each in judged.citations)
        found.setdefault(judged.index, _Citing(judged.text, cited)).judged = judged
    scored = seen.verdicts.get("citation_coverage")
    if isinstance(scored, CitationCoverage):
        for covered in scored.paragraphs:
            cited = tuple(each.source for each in covered.sources)
            one = found.setdefault(covered.index, _Citing(covered.text, cited))
            one.covered, one.scored = covered, scored
    return found


def _sources(one: _Citing, ids: list[str]) -> Iterator[dict[str, Any]]:
    labels: dict[int, CitationVerdict] = {}
    if one.judged is not None:
        labels = {each.source: each for each in one.judged.citations}
    coverage = {each.source: each for each in one.covered.sources} if one.covered else {}
    for number in one.cited:
        label = labels.get(number)
        yield {
            "source_index": number,
            "passage_id": ids[number - 1] if 1 <= number <= len(ids) else None,
            "verdict": label.label if label else None,
            **scored_columns(coverage.get(number), one.scored),
        }


def scored_columns(
    covered: SourceCoverage | None, scored: CitationCoverage | None
) -> dict[str, Any]:
    """The columns of one citation that a scorer fills; all NULL where it gave no score."""
    if covered is None or scored is None or covered.score is None:
        return {"coverage_score": None, "scorer": None, "scale": None, "windows": None}
    return {
        "coverage_score": covered.score,
        "scorer": scored.scorer,
        "scale": scored.scale,
        "windows": covered.windows,
    }
