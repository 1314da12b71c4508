"""`-v`: the score and its first reason beside each case."""

from __future__ import annotations

import re

import pytest
from projects import Project

from pytest_touchstone.floors import CaseScores
from pytest_touchstone.measures import MRR, CostPerQuery, Recall
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.score import NOT_APPLICABLE, Score, unscored
from pytest_touchstone.shell.beside import told

_RETRIEVAL = "tests/test_retrieval.py::test_gold_chunks_are_retrieved"
RECALL = Recall @ 5


@pytest.fixture
def low(project: Project) -> Project:
    """`plain` is under test, which finds the gold chunk at rank 7."""
    project.configure(
        system="plain", baseline=None, variants=[], floors={"MRR": 0.5, "Recall@10": 1}
    )
    return project


def test_a_score_beyond_its_floor_comes_first() -> None:
    scores: dict[Measure, Score] = {RECALL: Score(1.0, "1 of 1"), MRR: Score(1 / 3, "at rank 3")}
    assert told(CaseScores(scores, {"MRR": 0.5})) == ("0.33", "at rank 3")
    assert told(CaseScores(scores, {})) == ("1.00", "1 of 1")


def test_a_score_with_a_value_comes_before_one_without() -> None:
    scores: dict[Measure, Score] = {
        RECALL: unscored(NOT_APPLICABLE, "no gold chunks"),
        MRR: Score(1.0, "at rank 1"),
    }
    assert told(CaseScores(scores, {})) == ("1.00", "at rank 1")
    assert told(CaseScores({RECALL: scores[RECALL]}, {})) == ("n/a", "no gold chunks")
    missing = unscored("judge_unreachable", "refused")
    assert told(CaseScores({RECALL: missing}, {})) == ("unscored", "refused")
    assert told(CaseScores({}, {})) is None


def test_what_has_no_upper_end_has_digits() -> None:
    assert told(CaseScores({CostPerQuery: Score(0.00123, "1 call")}, {})) == ("0.00123", "1 call")


def test_a_reason_is_made_safe_and_short() -> None:
    score = Score(0.5, "\x1b[2J\x9b\u202eharm\nnext" + "x" * 10_000)
    found = told(CaseScores({MRR: score}, {}))
    assert found is not None
    assert found[1].startswith("\\x1b[2J\\x9b\\u202eharm next")
    assert len(found[1]) == 1000


def test_one_process_and_several_show_the_same(
    low: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    word = "LOW 0.14 (1 of 1 gold chunks; found c01 at rank 7)"
    alone = low.run("-v", "tests/test_retrieval.py", "-k", "q01 or q02")
    alone.stdout.re_match_lines([re.escape(f"{_RETRIEVAL}[q01] {word}") + r" +\[ *\d+%\]"])
    several = low.spawn("-v", "-n2", "tests/test_retrieval.py", "-k", "q01 or q02")
    assert re.search(r"\[gw\d\] \[ *\d+%\] " + re.escape(f"{word} {_RETRIEVAL}[q01]"), several.out)


def test_it_is_cut_to_the_width(low: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    low.configure(floors={"Recall@5": 0.5})
    whole = "0 of 1 gold chunks in the top 5; below the cutoff c01 at rank 7"

    def told_at(columns: int, *arguments: str) -> tuple[str, int]:
        monkeypatch.setenv("COLUMNS", str(columns))
        result = low.run(*arguments, "tests/test_retrieval.py", "-k", "q01")
        (line,) = (line for line in result.outlines if line.startswith(_RETRIEVAL))
        found = re.search(r"LOW 0\.00 \((.*)\)", line)
        assert found is not None, line
        return found[1], len(line)

    reason, columns = told_at(130, "-v")
    assert whole.startswith(reason.removesuffix("…"))
    assert columns <= 130
    assert len(reason) > 40, "as much as there is room for"
    assert told_at(80, "-v")[0] == f"{whole[:39]}…"
    assert told_at(80, "-vv")[0] == whole


def test_a_failure_has_it_once(low: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    strict = low.run("-v", "--touchstone-strict", "tests/test_retrieval.py", "-k", "q01")
    strict.stdout.fnmatch_lines([f"{_RETRIEVAL.replace('[', '[[]')}[[]q01] FAILED 0.14 (1 of 1*"])
    strict.stdout.re_match_lines([re.escape(f"FAILED {_RETRIEVAL}[q01] - MRR 0.1429 < 0.5")])


def test_without_v_nothing_is_told(low: Project) -> None:
    result = low.run("tests/test_retrieval.py", "-k", "q01")
    result.stdout.fnmatch_lines(["tests/test_retrieval.py l*"])
    result.stdout.no_fnmatch_line("*LOW 0.14*")


def test_other_tests_look_as_always(low: Project) -> None:
    low.write("tests/test_other.py", "def test_it(): pass\n")
    result = low.run("-v", "tests/test_other.py")
    result.stdout.re_match_lines([r"tests/test_other.py::test_it PASSED +\[100%\]"])
