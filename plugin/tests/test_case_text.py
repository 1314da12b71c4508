"""One case as text: everything that the report holds of it, and nothing that a terminal obeys."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest
from hostile import SYSTEM, bare_report, hostile_report
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.report import Report
from pytest_touchstone.report.case_text import UnknownCase, case_lines, unknown_case
from pytest_touchstone.report.cases import case_numbers
from pytest_touchstone.report.display import display_width, printable, wrapped

_SAMPLE = Path(__file__).parents[2] / "reports/sample.json"
_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
WIDTH = 90


@cache
def sample() -> Report:
    found: Report = json.loads(_SAMPLE.read_text("utf-8"))
    return found


def plain(text: str) -> str:
    """A text without its breaks."""
    return re.sub(r"\s+", " ", text)


def test_everything_of_a_case_is_there() -> None:
    case = next(c for c in sample()["cases"] if c["details"].get("Faithfulness"))
    text = plain("\n".join(case_lines(sample(), case["case"], width=WIDTH)))
    plays = [c for c in sample()["cases"] if c["case"] == case["case"]]
    assert len({play["system"] for play in plays}) > 1
    wanted = [case["gold"]["question"], str(case["gold"].get("answer"))]
    for play in plays:
        wanted += [play["system"], *filter(None, [play["answer"]]), *play["why"].values()]
        wanted += [passage["id"] for passage in play["passages"]]
        wanted += [sample()["passages"][p["digest"]]["text"] for p in play["passages"]]
        for claim in play["details"].get("Faithfulness", {}).get("claims", ()):
            wanted += [f"{claim['label']}: {claim['claim']}", claim["rationale"]]
            wanted += [f"“{claim['quotation']}”"] if claim["quotation"] else []
        for paragraph in play["details"].get("CitationCoverage", {}).get("paragraphs", ()):
            wanted += [paragraph["verdict"] or "", paragraph["text"]]
    missing = [each for each in wanted if plain(each).strip() not in text]
    assert not missing


def test_gold_passages_are_marked_and_texts_stand_once() -> None:
    case = next(c for c in sample()["cases"] if c["scores"].get("Recall@5") == 1.0)
    lines = case_lines(sample(), case["case"], width=200)
    gold = case["gold"]["gold_chunks"][0]  # type: ignore[typeddict-item]
    name = gold if isinstance(gold, str) else gold["id"]
    assert any(re.match(rf"  ★ \d+\. {re.escape(name)}, ", line) for line in lines)
    assert any(line.endswith("(text above)") for line in lines)


def test_the_system_under_test_comes_first() -> None:
    for case in case_numbers(sample()):
        heads = [x for x in case_lines(sample(), case, width=WIDTH) if x.startswith("--- ")]
        assert "(system under test)" in heads[0]
        assert all(display_width(head) <= WIDTH for head in heads)


def test_lines_fit_and_nothing_in_them_is_obeyed() -> None:
    report = hostile_report()
    for case in list(case_numbers(report))[:8]:
        for line in case_lines(report, case, width=WIDTH):
            assert not _HARMFUL.search(line), repr(line[:200])
            assert display_width(line) <= WIDTH or line.startswith(" "), line[:200]
            assert display_width(line) <= 4 * WIDTH


def test_an_endless_text_is_cut_and_its_length_told() -> None:
    report = bare_report()
    case = next(iter(case_numbers(report)))
    entries = [dict(c) for c in report["cases"]]
    for entry in entries:
        entry["answer"] = "word " * 200_000
    report["cases"] = entries  # type: ignore[typeddict-item]
    text = "\n".join(case_lines(report, case, width=WIDTH))
    assert "(cut here: 1,000,000 characters in all)" in plain(text)
    assert len(text) < 100_000


def test_a_system_that_failed_says_how() -> None:
    report = hostile_report()
    case = next(c for c in report["cases"] if c["error"] and c["system"] == SYSTEM)
    error = case["error"]
    assert error is not None
    text = plain("\n".join(case_lines(report, case["case"], width=2000)))
    assert f"ERROR {error['kind']}: {printable(plain(error['message']), 2000)}"[:60] in text


def test_who_asks_for_another_case_is_told_the_nearest() -> None:
    with pytest.raises(UnknownCase, match="did you mean `sv-f01` or `"):
        case_lines(sample(), "SV-F01x", width=WIDTH)
    known = [f"q{number}" for number in range(500)]
    assert str(unknown_case("\x1b[2Jzz", known, "a file")) == (
        "no case '\\x1b[2Jzz' in a file; known: q0, q1, q2, and 497 more"
    )


@given(st.text().map(lambda text: printable(text, 10_000)), st.integers(2, 50))
def test_wrapping_loses_only_spaces(text: str, width: int) -> None:
    lines = list(wrapped(text, width))
    assert all(display_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_wrapping_breaks_at_spaces_where_it_can() -> None:
    assert list(wrapped("one two three", 7)) == ["one two", "three"]
    assert list(wrapped("one two three", 6)) == ["one", "two", "three"]
    assert list(wrapped("seventeen", 4)) == ["seve", "ntee", "n"]
    assert list(wrapped("問題です", 5)) == ["問題", "です"]
    assert list(wrapped("", 5)) == [""]
