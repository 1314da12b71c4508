"""The rows of paragraphs that cite: one each, whoever said something of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from runs import PATIENCE_S, gold, join, store_url

from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import RunStore, Unit
from pytest_touchstone.trace import Answer, Observation, Passage, SystemFault, Turn
from pytest_touchstone.verdicts import (
    CitationCoverage,
    CitationVerdict,
    ParagraphCoverage,
    ParagraphSupport,
    ParagraphVerdict,
    SourceCoverage,
)

(CASE,) = gold(1)
TEXT = "Får å, ä, ö 👩‍🔬 [1, 9].\n\nIt is so.\n\nהיא אדומה [2]."
PASSAGES = (Passage("c1", "en"), Passage("c2", "två"))
SUPPORT = ParagraphSupport(
    (
        ParagraphVerdict(
            0,
            "Får å, ä, ö 👩‍🔬 [1, 9].",
            "supported",
            "so",
            (CitationVerdict(1, "supported"), CitationVerdict(9, "unsupported")),
        ),
        ParagraphVerdict(2, "היא אדומה [2].", "partial", "half", (CitationVerdict(2, "partial"),)),
    )
)
COVERAGE = CitationCoverage(
    (
        ParagraphCoverage(
            0,
            "Får å, ä, ö 👩‍🔬 [1, 9].",
            (SourceCoverage(1, 0.25, 3), SourceCoverage(9, None, 0, "unresolved")),
        ),
        ParagraphCoverage(2, "היא אדומה [2].", (SourceCoverage(2, None, 1, "scorer_refused"),)),
    ),
    "bge",
    "probability",
)
READING_LIST = """
   SELECT q.question, j.paragraph_text, j.coverage_score
   FROM eval_judgments j JOIN eval_questions q ON q.id = j.question_id
   WHERE j.coverage_score < 0.4 AND j.verdict = 'supported'
   ORDER BY j.coverage_score LIMIT 20;
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunStore]:
    store = Store(store_url(tmp_path))
    yield join(store, "a", [CASE], ["s"])
    store.close()


def rows(tmp_path: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(tmp_path / "reports/touchstone.sqlite")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def record(run: RunStore, text: str = TEXT, **said: object) -> None:
    run.claim([Unit(CASE.id, "s")]).result(PATIENCE_S)
    turn = Turn(0, CASE.question, Answer(text, PASSAGES))
    seen = Observation(CASE.id, "s", (turn,), verdicts=said)  # type: ignore[arg-type]
    run.record(CASE, seen, {}, "gpt-4.1").result(PATIENCE_S)


JUDGMENTS = (
    "SELECT paragraph_idx, cited_indices, verdict, rationale, judge_model, coverage_score"
    " FROM eval_judgments ORDER BY id"
)
CITATIONS = (
    "SELECT j.paragraph_idx, c.source_index, c.passage_id, c.verdict, c.coverage_score, c.scorer,"
    " c.scale, c.windows FROM eval_citations c JOIN eval_judgments j ON j.id = c.judgment_id"
    " ORDER BY c.id"
)


def test_one_row_holds_what_judge_and_scorer_said(run: RunStore, tmp_path: Path) -> None:
    record(run, support=SUPPORT, citation_coverage=COVERAGE)
    assert rows(tmp_path, JUDGMENTS) == [
        (0, "[1, 9]", "supported", "so", "gpt-4.1", 0.25),
        (2, "[2]", "partial", "half", "gpt-4.1", None),
    ]
    assert rows(tmp_path, CITATIONS) == [
        (0, 1, "c1", "supported", 0.25, "bge", "probability", 3),
        (0, 9, None, "unsupported", None, None, None, None),
        (2, 2, "c2", "partial", None, None, None, None),
    ]
    assert rows(tmp_path, READING_LIST) == [(CASE.question, "Får å, ä, ö 👩‍🔬 [1, 9].", 0.25)]


def test_a_scorer_alone_makes_rows(run: RunStore, tmp_path: Path) -> None:
    record(run, citation_coverage=COVERAGE)
    assert rows(tmp_path, JUDGMENTS)[0] == (0, "[1, 9]", None, None, None, 0.25)
    assert rows(tmp_path, CITATIONS)[0] == (0, 1, "c1", None, 0.25, "bge", "probability", 3)
    assert rows(tmp_path, READING_LIST) == []


def test_a_judge_alone_makes_rows(run: RunStore, tmp_path: Path) -> None:
    record(run, support=SUPPORT)
    assert [row[-1] for row in rows(tmp_path, JUDGMENTS)] == [None, None]
    assert rows(tmp_path, CITATIONS)[0] == (0, 1, "c1", "supported", None, None, None, None)


def test_rows_are_there_for_who_scores_later(run: RunStore, tmp_path: Path) -> None:
    record(run)
    assert rows(tmp_path, JUDGMENTS) == [
        (0, "[1, 9]", None, None, None, None),
        (2, "[2]", None, None, None, None),
    ]
    assert rows(tmp_path, "SELECT paragraph_text FROM eval_judgments ORDER BY id") == [
        ("Får å, ä, ö 👩‍🔬 [1, 9].",),
        ("היא אדומה [2].",),
    ]
    assert len(rows(tmp_path, CITATIONS)) == 3


def test_a_failed_system_cites_nothing(run: RunStore, tmp_path: Path) -> None:
    run.claim([Unit(CASE.id, "s")]).result(PATIENCE_S)
    turn = Turn(0, CASE.question, None, SystemFault("timeout", "late"))
    run.record(CASE, Observation(CASE.id, "s", (turn,)), {}).result(PATIENCE_S)
    assert rows(tmp_path, JUDGMENTS) == []
    assert json.loads(rows(tmp_path, "SELECT error FROM eval_questions")[0][0])["kind"] == "timeout"


def test_a_conversation_played_live_is_for_nobody_to_score(run: RunStore, tmp_path: Path) -> None:
    run.claim([Unit(CASE.id, "s", mode="live")]).result(PATIENCE_S)
    seen = Observation(CASE.id, "s", (Turn(0, CASE.question, Answer(TEXT, PASSAGES)),), mode="live")
    run.record(CASE, seen, {}).result(PATIENCE_S)
    assert rows(tmp_path, JUDGMENTS) == []
