"""Each measure over several runs: figures as the reports have them, and marks between them."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
from dataclasses import replace
from functools import cache
from typing import Any, cast

import pytest
from hostile import bare_report, hostile_report

from pytest_touchstone.forms import HISTORY_FORMS
from pytest_touchstone.history import RunFigures, csv_text, data, series_of, text_lines
from pytest_touchstone.report import Report

_report = cache(hostile_report)


def run(number: int, **snapshot: Any) -> RunFigures:
    """A run of the hostile report's kind, with a snapshot of its own."""
    report: Any = copy.deepcopy(_report())
    known = report["snapshot"]
    known["run"] |= {"id": f"run{number}", "started_at": f"2026-11-{number:02}T10:00:00Z"}
    known["run"]["finished_at"] = f"2026-11-{number:02}T10:01:00Z"
    for name, value in snapshot.items():
        known[name] = {**(known[name] or {}), **value} if isinstance(value, dict) else value
    return RunFigures.of(cast(Report, report))


def test_figures_are_those_of_the_reports() -> None:
    runs = [run(1), run(2)]
    found = series_of(runs)
    assert [series.measure for series in found] == [e["measure"] for e in runs[0].measures]
    for series, entry in zip(found, runs[0].measures, strict=True):
        result = entry["system"]
        assert result is not None
        for point in series.points:
            assert (point.estimate, point.n) == (result["estimate"], result["n"])
            assert (None if point.ci is None else list(point.ci)) == result["ci"]
        assert [point.run for point in series.points] == ["run1", "run2"]
        assert all(not point.changed for point in series.points)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"commit": "f" * 40}, "commit"),
        ({"dataset": {"sha256": "f" * 64}}, "dataset"),
        ({"roles": {"system": "other"}}, "roles system"),
        ({"models": {"generator": {"model": "new-model"}}}, "models generator"),
        ({"prompts": {"baseline_answer": "f" * 64}}, "prompts baseline_answer"),
        ({"corpus": {"points": 12345}}, "corpus"),
        ({"selection": {"sample": 3}}, "selection sample null → 3"),
    ],
)
def test_what_changed_is_marked_once_where_it_did(change: dict[str, Any], told: str) -> None:
    for series in series_of([run(1), run(2, **change), run(3, **change)]):
        first, second, third = series.points
        assert first.changed == third.changed == ()
        (mark,) = second.changed
        assert mark.startswith(told)


def test_who_gave_no_score_has_changed_nothing() -> None:
    changed = run(2, models={"judge": {"model": "another"}}, prompts={"judge_claims": "0" * 64})
    judged, computed = changed.measures[:2]
    for entry, origin in ((judged, "judge"), (computed, "computed")):
        assert entry["system"] is not None
        entry["system"]["origin"] = {origin: 1}
    first, second, *_ = series_of([run(1), changed])
    assert [mark.split(" ")[:2] for mark in first.points[1].changed] == [
        ["models", "judge.model"],
        ["prompts", "judge_claims"],
    ]
    assert second.points[1].changed == ()


def test_a_part_of_the_questions_is_named() -> None:
    whole, part = run(1), run(2)
    (entry, *_) = (e for e in part.measures if e["system"] is not None and e["system"]["n"])
    result = entry["system"]
    assert result is not None
    planned = result["n"] + sum(result["unscored"].values())
    part.snapshot["selection"]["applicable"] = {entry["measure"]: {"factual": planned + 3}}
    whole.snapshot["selection"]["applicable"] = {entry["measure"]: {"factual": planned}}
    (series,) = (s for s in series_of([whole, part]) if s.measure == entry["measure"])
    assert [p.part for p in series.points] == ["", f"{planned} of {planned + 3} questions"]
    lines = list(text_lines([series], width=200))
    assert lines[-1].endswith(f"≠ {planned} of {planned + 3} questions")
    sampled = run(3, selection={"sample": 5, "split": "dev"})
    assert series_of([sampled])[0].points[0].part.startswith("split dev, sample of 5")


def test_a_run_is_finished_when_all_of_it_was_asked() -> None:
    assert RunFigures.of(finished(bare_report())).finished
    report = finished(bare_report())
    report["snapshot"]["run"]["finished_at"] = None
    assert not RunFigures.of(report).finished
    report = finished(bare_report())
    system = report["measures"][0]["system"]
    assert system is not None
    system["unscored"] = {"budget": 1}
    assert not RunFigures.of(report).finished


def finished(report: Report) -> Report:
    found = copy.deepcopy(report)
    found["snapshot"]["run"]["finished_at"] = "2026-11-30T00:00:00Z"
    for entry in found["measures"]:
        if entry["system"] is not None:
            entry["system"]["unscored"].pop("not_run", None)
    return found


def test_all_forms_agree_and_no_text_does_anything() -> None:
    evil = "=cmd|'/C calc'!A0 </script><script>alert(1)</script>\x1b[31m\u202e"
    labelled = run(2, run={"label": evil}, roles={"system": evil})
    found = series_of([run(1), labelled])
    document = json.loads(HISTORY_FORMS["json"](found, []))
    assert document == json.loads(json.dumps(data(found)))
    rows = list(csv.DictReader(io.StringIO(csv_text(found).removeprefix("\ufeff"))))
    points = [(s, p) for s in found for p in s.points]
    assert len(rows) == len(points) > 0
    for row, (series, point) in zip(rows, points, strict=True):
        assert row["measure"] == series.measure
        assert row["estimate"] == ("" if point.estimate is None else repr(point.estimate))
        assert not row["label"].startswith("=")
    text = "\n".join(text_lines(found, width=10_000))
    assert "\x1b" not in text
    assert "\u202e" not in text
    page = HISTORY_FORMS["html"](found, [evil])
    assert "alert(1)</script>" not in page
    assert re.search("[\x00-\x08\x1b\u202a-\u202e]", page) is None
    shown = {float(value) for value in re.findall(r'<data value="([^"]+)"', page)}
    told = {p.estimate for _, p in points if p.estimate is not None}
    assert shown >= told


def test_a_unit_stands_once_in_a_heading() -> None:
    dear, timed = series_of([run(1)])[:2]
    dear = replace(dear, title="Cost per query (USD)", unit="USD", higher_is_better=False)
    timed = replace(timed, title="Latency", unit="s")
    titles = [line for line in text_lines([dear, timed], width=200) if line[:1].strip()]
    assert titles == ["Cost per query (USD), lower is better", "Latency (s)"]


def test_a_run_that_was_cut_short_is_marked() -> None:
    cut = run(2, run={"finished_at": None})
    (first, second), *_ = (series.points for series in series_of([run(1), cut]))
    assert (first.finished, second.finished) == (True, False)
    assert "cut short" not in first.part
    assert second.part.startswith("cut short")
