"""`touchstone history`: the runs of a store one after another."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import sqlite3
from pathlib import Path

import pytest
from projects import Project, measure_of

from pytest_touchstone.shell.cli import main


@pytest.fixture
def ran(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Three runs: all questions, one of them missed with another system, and a part."""
    monkeypatch.chdir(project.folder)
    words = ("-q", "-k", "retrieval")
    assert project.end(*words).code == 0
    project.faults({"history q01": "raise"})
    project.configure(system="history", variants=[])
    assert project.end(*words).code == 0
    assert project.end(*words, "--touchstone-sample=3").code == 0
    return project


def test_figures_are_those_of_the_reports(ran: Project, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    assert main(["history", "--format=csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capfd.readouterr().out.removeprefix("\ufeff"))))
    reports = [json.loads(file.read_text("utf-8")) for file in ran.report_files()]
    for measure in ("Recall@5", "MRR"):
        found = [row for row in rows if row["measure"] == measure]
        results = [measure_of(report, measure)["system"] for report in reports]
        assert [float(row["estimate"]) for row in found] == [r["estimate"] for r in results]
        assert [int(row["n"]) for row in found] == [r["n"] for r in results]
        for row, result in zip(found, results, strict=True):
            ends = [row["ci_low"], row["ci_high"]]
            assert [float(e) for e in ends if e] == (result["ci"] or [])


def test_changes_and_parts_are_marked(ran: Project, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    assert main(["history", "--measure", "Recall@5"]) == 0
    title, header, first, changed, second, resampled, third = capfd.readouterr().out.splitlines()
    assert title == "Recall@5"
    assert header.split()[:3] == ["Started", "Score", "(95%"]
    assert "1.00 [0.65, 1.00]  7" in first
    assert 'roles system "assistant" → "history"' in changed
    assert "history" in second
    assert "selection sample null → 3" in resampled
    assert third.endswith("≠ sample of 3")


def test_what_did_not_come_to_its_end_is_left_out_and_named(
    ran: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    with contextlib.closing(sqlite3.connect("reports/touchstone.sqlite")) as store, store:
        store.execute(
            "UPDATE eval_runs SET finished_at = NULL"
            " WHERE started_at = (SELECT max(started_at) FROM eval_runs)"
        )
    capfd.readouterr()
    assert main(["history", "--measure", "MRR"]) == 0
    said = capfd.readouterr().out
    assert len(re.findall(r"^  \d{4}-", said, re.MULTILINE)) == 2
    (line,) = (line for line in said.splitlines() if "left out" in line)
    assert line.startswith("1 run left out, for not having come to the end (--all shows them): ")
    assert main(["history", "--measure", "MRR", "--all"]) == 0
    *_, whole, cut = re.findall(r"^  \d{4}-.*", capfd.readouterr().out, re.MULTILINE)
    assert "≠" not in whole
    assert cut.endswith("≠ cut short, sample of 3")
    for form in ("csv", "json", "html"):
        words = ["--measure", "MRR", "--all", f"--format={form}", f"--output=h.{form}"]
        assert main(["history", *words]) == 0
    rows = list(csv.DictReader(Path("h.csv").read_text("utf-8-sig").splitlines()))
    assert [row["finished"] for row in rows] == ["true", "true", "false"]
    assert rows[-1]["part"] == "cut short, sample of 3"
    points = json.loads(Path("h.json").read_text("utf-8"))["measures"][0]["points"]
    assert [point["finished"] for point in points] == [True, True, False]
    assert "≠ cut short, sample of 3" in Path("h.html").read_text("utf-8")


def test_the_page_is_one_file(ran: Project) -> None:
    assert main(["history", "--format=html", "--output=history.html"]) == 0
    page = (ran.folder / "history.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "default-src &#x27;none&#x27;" in page
    assert page.count("data-series=") == len(ran.report()["measures"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--measure", "Recall@6"), "--measure Recall@6: no run took it; did you mean `Recall@5`?"),
        (("--settings", "no.yaml"), "no.yaml: cannot be read: No such file or directory"),
        (("--store", "sqlite:///none.sqlite"), "none.sqlite"),
    ],
)
def test_what_is_not_there_is_said(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(project.folder)
    assert project.end("-q", "-k", "retrieval and q01").code == 0
    capfd.readouterr()
    assert main(["history", *words]) == 4
    assert said in capfd.readouterr().err
    assert not Path("none.sqlite").exists()


@pytest.mark.parametrize("other", ["empty", "a database"])
def test_what_is_read_is_not_changed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    other: str,
) -> None:
    """Neither a file with nothing in it nor the database of another program."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "x"
    file.touch()
    if other != "empty":
        with contextlib.closing(sqlite3.connect(file)) as database, database:
            database.execute("CREATE TABLE other (a)")
    before = file.read_bytes()
    assert main(["history", "--store", f"sqlite:///{file}"]) == 4
    assert "it holds no evaluation" in capfd.readouterr().err
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
