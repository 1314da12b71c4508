"""`touchstone report`, the page beside the report, and the summary of a step on GitHub."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from projects import Project

from pytest_touchstone.shell.cli import main


@pytest.fixture
def ran(project: Project) -> Project:
    """A project with one finished run, which had a gate."""
    project.configure(gates=["MRR >= 0.5"])
    assert project.run().ret == 0
    return project


def printed(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str) -> str:
    capfdbinary.readouterr()
    assert main(["report", *arguments]) == 0
    return capfdbinary.readouterr().out.decode()


def test_a_run_writes_the_page_beside_the_report(ran: Project) -> None:
    (report,) = ran.report_files()
    page = report.with_suffix(".html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "How good is" in page
    assert not list(report.parent.glob(".*"))


def test_the_terminal_names_the_page(project: Project) -> None:
    result = project.run("--touchstone-output=out/mine.json")
    result.stdout.fnmatch_lines([f"page: {project.folder}/out/mine.html"])
    assert (project.folder / "out/mine.html").is_file()


def test_the_store_gives_the_report_of_the_run(
    ran: Project, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    written = ran.report()
    for name in ("latest", written["snapshot"]["run"]["id"], written["snapshot"]["run"]["id"][:8]):
        assert json.loads(printed(capfdbinary, name, "--format=json")) == written
    assert written["gates"][0]["outcome"] == "pass"


def test_a_file_needs_no_settings(
    ran: Project,
    capfdbinary: pytest.CaptureFixture[bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (report,) = ran.report_files()
    monkeypatch.chdir(tmp_path)
    page = report.with_suffix(".html").read_text("utf-8")
    assert printed(capfdbinary, str(report), "--format=html") == page
    assert "## assistant against plain" in printed(capfdbinary, str(report))


@pytest.mark.parametrize("form", ["json", "html", "md", "csv", "junit"])
def test_every_form_goes_to_a_file_as_to_the_terminal(
    ran: Project, capfdbinary: pytest.CaptureFixture[bytes], form: str
) -> None:
    shown = printed(capfdbinary, "latest", f"--format={form}")
    assert printed(capfdbinary, "latest", f"--format={form}", "--output=out.txt") == ""
    assert (ran.folder / "out.txt").read_bytes().decode() == shown
    assert len(shown) > 500


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("nothing.json", "nothing.json: cannot be read: No such file or directory"),
        ("gone", "gone: is no file, and the store holds no run whose id begins so"),
    ],
)
def test_what_is_not_there_is_said(
    ran: Project, capfd: pytest.CaptureFixture[str], run: str, said: str
) -> None:
    assert main(["report", run]) == 4
    assert capfd.readouterr().err == f"touchstone: {said}\n"


def test_an_id_must_tell_runs_apart(ran: Project, capfd: pytest.CaptureFixture[str]) -> None:
    ran.run()
    capfd.readouterr()
    assert main(["report", ""]) == 4
    assert "the ids of 2 runs begin so" in capfd.readouterr().err


def test_without_a_store_it_says_so(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "latest"]) == 4
    assert "touchstone.sqlite" in capfd.readouterr().err


# The summary on GitHub


@pytest.mark.parametrize("arguments", [(), ("-n2",)])
def test_the_summary_of_a_step_gets_the_report_once(
    project: Project, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    summary = project.folder / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert project.end(*arguments).code == 0
    text = summary.read_text("utf-8")
    assert text.startswith("before\n## assistant against plain\n")
    assert text.count("\n## ") == 1
    assert re.search(r"\| MRR \| \d", text)


def test_a_summary_that_cannot_be_written_is_a_note(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.folder / "no/such/folder"))
    result = project.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["note: GITHUB_STEP_SUMMARY: * cannot be written: *"])
