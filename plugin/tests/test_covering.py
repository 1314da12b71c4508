"""`touchstone coverage`: what a store already holds is scored, once or again."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import PATIENCE_S, gold, join, store_url
from servers.scorer import NewVLLM

from pytest_touchstone.measures import CitationCoverage, CoverageRecall, Uncited
from pytest_touchstone.shell.cli import main
from pytest_touchstone.shell.commands import coverage as command
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import Unit
from pytest_touchstone.trace import Answer, Observation, Passage, Turn
from pytest_touchstone.verdicts import CitationVerdict, ParagraphSupport, ParagraphVerdict

FIRST, SECOND = gold(2)
TEXT = "The bridge is röd [1, 9].\n\nThe moon is far away tonight [1][2].\n\nNobody knows it [8]."
PASSAGES = (Passage("c1", "So the bridge is röd."), Passage("c2", "Bees dance."))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with two cases, judged and not scored, and no settings beside it."""
    store = Store(store_url(tmp_path))
    run = join(store, "a", [FIRST, SECOND], ["s"])
    supported = ParagraphVerdict(
        1, "text", "supported", "so", (CitationVerdict(1, "partial"), CitationVerdict(2, "partial"))
    )
    for case, text in ((FIRST, TEXT), (SECOND, "Nothing is cited.")):
        turn = Turn(0, case.question, Answer(text, PASSAGES))
        said = {"support": ParagraphSupport((supported,))} if case is FIRST else {}
        seen = Observation(case.id, "s", (turn,), verdicts=said)
        measures = (CitationCoverage, CoverageRecall, Uncited)
        scores = {measure.name: measure.score(case, seen) for measure in measures}
        run.claim([Unit(case.id, "s")]).result(PATIENCE_S)
        run.record(case, seen, scores, "gpt-4.1").result(PATIENCE_S)
    store.close()
    monkeypatch.chdir(tmp_path)
    for name in ("SCORER_ENDPOINT", "SCORER_MODEL", "SCORER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def rows(folder: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(folder / "reports/touchstone.sqlite")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def coverage(folder: Path, *arguments: str) -> int:
    return main(["coverage", "--store", store_url(folder), *arguments])


JUDGMENTS = "SELECT paragraph_text, verdict, coverage_score FROM eval_judgments ORDER BY id"
SCORES = "SELECT case_id, measure, value, reason, origin, engine FROM eval_scores ORDER BY id"


def test_what_lacks_coverage_is_scored_and_measured(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = rows(folder, SCORES)
    with NewVLLM() as server:
        monkeypatch.setenv("SCORER_ENDPOINT", server.url)
        assert coverage(folder) == 0
        asked = len(server.scored)
        assert capsys.readouterr().out == (
            "coverage: 3 citations of 3 paragraphs scored\n"
            "coverage: 2 citations without: unresolved\n"
        )
        (bridge, moon, nobody) = rows(folder, JUDGMENTS)
        assert bridge[0] == "The bridge is röd [1, 9]."
        assert bridge[2] > 0.99
        assert moon[1] == "supported"
        assert moon[2] < 0.4
        assert nobody[2] is None
        assert rows(
            folder, "SELECT source_index, passage_id, scorer, scale, windows FROM eval_citations"
        ) == [
            (1, "c1", "BAAI/bge-reranker-v2-m3", "probability", 1),
            (9, None, None, None, None),
            (1, "c1", "BAAI/bge-reranker-v2-m3", "probability", 1),
            (2, "c2", "BAAI/bge-reranker-v2-m3", "probability", 1),
            (8, None, None, None, None),
        ]
        after = rows(folder, SCORES)
        assert after[0][2] == pytest.approx((bridge[2] + moon[2] + 0) / 3)
        assert after[0][3:] == (None, "scorer", "BAAI/bge-reranker-v2-m3")
        assert after[1][2] == 1 / 3
        assert after[2] == before[2]
        assert after[3][:4] == (SECOND.id, "CitationCoverage", None, "not_applicable")
        assert before[0][3] == "no_scorer"
        # The reading list has the judge's verdict beside it.
        detail = rows(folder, "SELECT detail FROM eval_scores ORDER BY id")[0][0]
        assert '"verdict": "supported"' in detail

        # What has coverage is left alone, unless all is asked for.
        assert coverage(folder) == 0
        assert len(server.scored) - asked == _probe(asked)
        assert coverage(folder, "--all", "--run", "run") == 0
        assert rows(folder, SCORES) == after


def _probe(asked: int) -> int:
    """Requests of the probe alone: all but those of the two paragraphs that have sources."""
    return asked - 2


def test_a_faulty_call_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert coverage(folder) == 4
    assert "no scorer is configured: set SCORER_ENDPOINT" in capsys.readouterr().err
    monkeypatch.setenv("SCORER_ENDPOINT", "localhost:8005")
    assert coverage(folder) == 4
    assert "is a URL that starts with http://" in capsys.readouterr().err
    with NewVLLM() as server:
        monkeypatch.setenv("SCORER_ENDPOINT", server.url)
        assert main(["coverage"]) == 4
        assert "name the store with --store URL" in capsys.readouterr().err
        assert coverage(folder, "--run", "other") == 4
        assert "holds no run 'other'" in capsys.readouterr().err
        assert main(["coverage", "--store", f"sqlite:///{folder}/none.sqlite"]) == 4
        assert "none.sqlite" in capsys.readouterr().err


def test_a_scorer_that_is_away_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with NewVLLM() as server:
        url = server.url
    before = rows(folder, JUDGMENTS)
    monkeypatch.setenv("SCORER_ENDPOINT", url)
    assert coverage(folder) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("touchstone: scorer switched off: ")
    assert rows(folder, JUDGMENTS) == before


def test_the_settings_name_scorer_and_store(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with NewVLLM() as server:
        (folder / "evaluation").mkdir()
        (folder / "evaluation/settings.yaml").write_text(
            f"dataset: gold.jsonl\nscorer: {{url: '{server.url}'}}\n"
        )
        assert main(["coverage"]) == 0
    assert capsys.readouterr().out.startswith("coverage: 3 citations")


def test_scores_that_nobody_planned_are_not_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = sqlite3.connect(folder / "reports/touchstone.sqlite")
    with connection:
        connection.execute("DELETE FROM eval_scores WHERE measure <> 'Uncited'")
    connection.close()
    with NewVLLM() as server:
        monkeypatch.setenv("SCORER_ENDPOINT", server.url)
        assert coverage(folder) == 0
    assert [row[1] for row in rows(folder, SCORES)] == ["Uncited", "Uncited"]


def test_the_embedded_scorer_is_a_proxy_here_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Offline:
        identity = "one direction"

        def passages(self, texts: list[str]) -> Any:
            return np.ones((len(texts), 1), np.float32)

    monkeypatch.setattr(command, "open_embedder", lambda settings: Offline())
    (folder / "evaluation").mkdir()
    (folder / "evaluation/settings.yaml").write_text(
        "dataset: gold.jsonl\nscorer: {model: embedded}\n"
    )
    assert main(["coverage"]) == 0, capsys.readouterr().err
    scales = rows(folder, "SELECT DISTINCT scale FROM eval_citations WHERE coverage_score NOT NULL")
    assert scales == [("proxy",)]
