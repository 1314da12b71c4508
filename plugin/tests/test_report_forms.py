"""Markdown, CSV, JUnit XML, data frames: the same numbers, and no text that does anything."""

from __future__ import annotations

import csv
import io
import json
import re
from functools import cache
from xml.etree import ElementTree as ET

import pytest
from hostile import BASELINE, MEASURES, STEP, SYSTEM, TEXTS, bare_report, hostile_report
from hypothesis import given
from hypothesis import strategies as st
from test_report_page import Page

from pytest_touchstone import forms, frames
from pytest_touchstone.report import Report, to_json, validate
from pytest_touchstone.report.figures import decimals
from pytest_touchstone.report.markdown import escaped, markdown
from pytest_touchstone.report.tidy import COLUMNS, tables
from pytest_touchstone.report.verdict import standing, verdict

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@cache
def report() -> Report:
    return hostile_report()


def cells(line: str) -> list[str]:
    """The cells of a row, without what only Markdown needs."""
    bare = line.strip().removeprefix("|").removesuffix("|")
    return [re.sub(r"\\(.)", r"\1", cell.strip()) for cell in re.split(r"(?<!\\)\|", bare)]


def rows_of(text: str, first: str) -> list[list[str]]:
    """The rows of the table whose header begins so."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {first} |"))
    body = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        body.append(cells(line))
    return body


# Markdown


def test_markdown_and_page_show_the_same_numbers() -> None:
    page = Page("".join(forms.page(report())))
    shown: dict[float, set[str]] = {}
    for value, text in page.shown:
        shown.setdefault(value, set()).add(text)
    rows = rows_of(markdown(report()), "Measure")
    assert [row[0] for row in rows] == [entry["title"] for entry in report()["measures"]]
    for row, entry in zip(rows, report()["measures"], strict=True):
        system, baseline, delta = entry["system"], entry["baseline"], entry["delta"]
        assert system is not None
        assert baseline is not None
        assert delta is not None
        expected = [system["estimate"], *(system["ci"] or ())]
        expected += [baseline["estimate"], *(baseline["ci"] or ())]
        expected += [delta["estimate"], *(delta["ci"] or ())]
        expected += [p for p in (delta["p_adjusted"], delta["detectable"]) if p is not None]
        expected.append(system["n"])
        found = _NUMBER.findall(" ".join(row[1:]))
        assert len(found) >= len(expected)
        for text, value in zip(found, expected, strict=False):
            assert value is not None
            assert text in shown[value], (entry["measure"], text, value)


def test_markdown_has_steps_types_and_gates() -> None:
    text = markdown(report())
    steps = rows_of(text, "Steps")
    assert [row[0] for row in steps] == [entry["title"] for entry in report()["measures"]]
    for row, entry in zip(steps, report()["measures"], strict=True):
        (variant,) = entry["variants"].values()
        results = (entry["baseline"], variant, entry["system"])
        means = [result["estimate"] for result in results if result]
        places = decimals(entry)
        assert [float(cell) for cell in row[1:]] == [
            round(m, places) for m in means if m is not None
        ]
    gates = rows_of(text, "Gate")
    assert [row[0] for row in gates] == [
        gate["expression"].replace(">", "&gt;") for gate in report()["gates"]
    ]
    assert all(row[2] == "0.5000 [0.2500, 0.7500]" for row in gates)


@pytest.mark.parametrize("text", TEXTS)
def test_markdown_shows_texts_as_they_stand(text: str) -> None:
    shown = escaped(text)
    assert "\n" not in shown
    assert not _HARMFUL.search(shown)
    assert not re.search(r"<(?!!-- -->)", shown)
    assert not re.search(r"(?<!\\)[|`*\[\]]", shown)
    assert "@someone" not in shown
    assert "https://" not in shown
    assert not re.match(r"\s*([-+*#>=] |\d+[.)] )", shown)


@given(st.text(max_size=300))
def test_any_text_keeps_its_row(text: str) -> None:
    row = f"| {escaped(text)} | next |"
    assert len(cells(row)) == 2
    assert "\n" not in row


def test_figures_are_readable_as_they_stand() -> None:
    assert escaped("0.77 (160, +3 unscored)") == "0.77 (160, +3 unscored)"
    assert escaped("Recall@5: no_scorer 3") == "Recall@5: no_scorer 3"


def test_markdown_of_a_bare_report() -> None:
    text = markdown(bare_report())
    assert "there is no baseline" in text
    assert "<details>" not in text


# The verdict


def test_the_verdict_counts_what_differs() -> None:
    said = verdict(report())
    kinds = [standing(entry, 0.95) for entry in report()["measures"]]
    assert f"better on {kinds.count('better')} (Recall@5, " in said.comparison
    assert f"undecided on {kinds.count('undecided')}" in said.comparison
    assert "worse" not in said.comparison
    assert said.gates == "Of 4 gates: 4 undecided."


def test_better_is_worse_where_lower_is_better() -> None:
    turned = hostile_report()
    for entry in turned["measures"]:
        entry["higher_is_better"] = not entry["higher_is_better"]
    for entry, other in zip(turned["measures"], report()["measures"], strict=True):
        found = {standing(entry, 0.95), standing(other, 0.95)}
        assert found in ({"better", "worse"}, {"undecided"})


# CSV


def table() -> list[dict[str, str]]:
    text = forms.FORMS["csv"](report())
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


def test_csv_has_every_score() -> None:
    found = table()
    scores = [(case, name) for case in report()["cases"] for name in case["scores"]]
    assert len(found) == len(scores) == len(TEXTS) * 3 * len(MEASURES)
    for row, (case, name) in zip(found, scores, strict=True):
        assert (row["case"], row["measure"]) == (case["case"], name)
        value = case["scores"][name]
        assert row["value"] == ("" if value is None else repr(value))
        assert row["reason"] == case["reasons"].get(name, "")


def test_no_cell_is_a_formula_or_moves_a_cursor() -> None:
    formulas = 0
    for row in table():
        for name, cell in row.items():
            assert not _HARMFUL.search(cell.replace("\n", "")), cell
            if name != "value":
                assert not re.match(r"\s*[=+\-@\t\r]", cell), cell
            formulas += cell.startswith("'")
    assert formulas > 100


# JUnit XML


def test_junit_has_every_case_and_gate() -> None:
    root = ET.fromstring(forms.FORMS["junit"](report()))  # noqa: S314 (our own text)
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["gates", SYSTEM, BASELINE, STEP.replace("\u202e", "\\u202e")]
    assert suites["gates"].get("skipped") == "4"
    own = suites[SYSTEM]
    assert own.get("tests") == str(len(TEXTS))
    errors = [case["error"] for case in report()["cases"] if case["system"] == SYSTEM]
    assert own.get("errors") == str(sum(error is not None for error in errors))
    lows = [out.text or "" for out in own.iter("system-out")]
    assert sum(text.count("LOW Recall@5") for text in lows) == len(report()["findings"]["low"])
    for test, case in zip(own.iter("testcase"), report()["cases"][::3], strict=True):
        values = {one.get("name"): one.get("value") for one in test.iter("property")}
        for name, value in case["scores"].items():
            shown = case["reasons"].get(name) if value is None else repr(value)
            assert values[name] == shown


def test_a_gate_that_fails_is_a_failure() -> None:
    failing = hostile_report(cases=2)
    failing["gates"][0]["outcome"] = "fail"
    failing["gates"][1]["outcome"] = "pass"
    suite = ET.fromstring(forms.FORMS["junit"](failing))[0]  # noqa: S314
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "2")


# JSON, data frames


def test_json_is_the_report_in_what_a_terminal_can_show() -> None:
    text = forms.FORMS["json"](report())
    assert not _HARMFUL.search(text.replace("\n", ""))
    assert json.loads(text) == json.loads(to_json(report()))
    validate(text)


def test_rows_have_the_columns_of_their_table() -> None:
    for name, rows in tables(report()).items():
        assert rows, name
        assert all(tuple(row) == COLUMNS[name] for row in rows), name
    empty = tables(bare_report())
    assert empty["gates"] == []
    assert set(empty) == set(COLUMNS)


def test_frames_are_tidy() -> None:
    pytest.importorskip("pandas")
    found = frames(report())
    scores = found["scores"]
    own = scores[(scores["system"] == SYSTEM) & (scores["measure"] == "Recall@5")]
    (entry,) = (one for one in report()["measures"] if one["measure"] == "Recall@5")
    assert entry["system"] is not None
    assert own["value"].mean() == pytest.approx(entry["system"]["estimate"])
    measures = found["measures"].set_index(["measure", "role"])
    assert measures.loc[("Recall@5", "system"), "estimate"] == entry["system"]["estimate"]
    assert entry["delta"] is not None
    assert measures.loc[("Recall@5", "system"), "delta"] == entry["delta"]["estimate"]
    assert found["passages"]["gold"].sum() == 3 * len(TEXTS)
    assert frames(bare_report())["gates"].empty


def test_what_says_that_pandas_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        frames(report())
