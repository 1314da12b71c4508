"""The rows of paragraphs that cite: what a judge and a scorer said of them, and of each source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pytest_touchstone.citing import cited_paragraphs
from pytest_touchstone.measures.base import LIVE
from pytest_touchstone.storable import storable
from pytest_touchstone.store import tables
from pytest_touchstone.trace import Answer, Observation
from pytest_touchstone.verdicts import (
    CitationCoverage,
    CitationVerdict,
    ParagraphCoverage,
    ParagraphSupport,
    ParagraphVerdict,
    SourceCoverage,
)

_NEW_JUDGMENT, _NEW_CITATIONS = sa.insert(tables.judgments), sa.insert(tables.citations)


@dataclass(slots=True)
class _Citing:
    """One citing paragraph, and who said what of it."""

    text: str
    cited: tuple[int, ...]
    judged: ParagraphVerdict | None = None
    covered: ParagraphCoverage | None = None
    scored: CitationCoverage | None = field(default=None, repr=False)


def insert_judgments(
    connection: Connection, question_id: int, seen: Observation, judge: str, created_at: str
) -> None:
    """Write one row per citing paragraph of the answer, one more per source that it cites.

    They are there whether or not anybody judged or scored, but for a conversation that was played
    live; what nobody said is NULL.

    :param judge: the model whose verdicts the observation holds.
    """
    answer = seen.last.answer
    if answer is None or seen.last.error is not None:
        return
    ids = [passage.id for passage in answer.passages]
    sources: list[dict[str, Any]] = []
    for index, one in sorted(_citing(answer, seen).items()):
        row = {
            "question_id": question_id,
            "paragraph_idx": index,
            "paragraph_text": storable(one.text),
            "cited_indices": json.dumps(one.cited),
            "verdict": one.judged.label if one.judged else None,
            "rationale": storable(one.judged.rationale) if one.judged else None,
            "judge_model": judge if one.judged else None,
            "coverage_score": one.covered.best if one.covered else None,
            "created_at": created_at,
        }
        inserted = connection.execute(_NEW_JUDGMENT, row)
        (judgment_id,) = inserted.inserted_primary_key or (0,)
        sources += ({"judgment_id": judgment_id, **source} for source in _sources(one, ids))
    if sources:
        connection.execute(_NEW_CITATIONS, sources)


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
