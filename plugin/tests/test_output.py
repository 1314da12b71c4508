"""Outputs of commands: none destroys what the command reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from projects import Project

from pytest_touchstone.bundling.file import read_bundle
from pytest_touchstone.shell.cli import main
from pytest_touchstone.shell.output import NotReplaced, put, refuse_to_replace


def link(make: Callable[[Path, Path], None]) -> Callable[[Path], Path]:
    """Another name for a file, made so."""

    def named(file: Path) -> Path:
        other = file.with_name("other-name")
        make(file, other)
        return other

    return named


@pytest.mark.parametrize(
    "reached",
    [
        lambda file: file,
        lambda file: file.parent / ".." / file.parent.name / file.name,
        link(lambda file, other: other.symlink_to(file)),
        link(os.link),
    ],
)
def test_an_input_is_not_replaced_by_whatever_name(
    tmp_path: Path, reached: Callable[[Path], Path]
) -> None:
    file = tmp_path / "a.json"
    file.write_text("kept", "utf-8")
    with pytest.raises(NotReplaced, match="is read from, so it is not replaced; name another"):
        put("new", reached(file), ["latest", file])
    assert file.read_text("utf-8") == "kept"


def test_what_nobody_reads_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "latest"
    assert put("one", file, [file]) == 0, "a run of the store, and no file"
    assert put("two", file) == 0
    assert file.read_text("utf-8") == "two"


@pytest.mark.parametrize("name", ["a.sqlite", "a.sqlite-wal", "a.sqlite-shm", "a.sqlite-journal"])
def test_a_database_is_not_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.sqlite").write_bytes(b"SQLite format 3\0 and more")
    with pytest.raises(NotReplaced, match="belongs to a store or cache; name another file"):
        refuse_to_replace(tmp_path / name, ())


@pytest.fixture
def ran(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The report of a project that was evaluated once."""
    monkeypatch.chdir(project.folder)
    assert project.end("-q", "-k", "retrieval and q01").code == 0
    return project.report_files()[-1]


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("history", "--format", "csv"), "reports/touchstone.sqlite"),
        (("history",), "evaluation/settings.yaml"),
        (("history",), "evaluation/gold.jsonl"),
        (("report", "latest"), "reports/touchstone.sqlite"),
        (("report", "A", "--format", "md"), "A"),
        (("report", "A", "--case", "q01"), "A"),
        (("compare", "A", "latest", "--format", "json"), "A"),
        (("compare", "latest", "A"), "A"),
        (("compare", "A", "A"), "reports/touchstone.sqlite"),
        (("bundle", "A"), "A"),
        (("bundle", "A"), "reports/touchstone.sqlite"),
        (("bundle", "A"), "pytest.ini"),
    ],
)
def test_no_command_destroys_what_it_reads(
    ran: Path, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], output: str
) -> None:
    kept = ran if output == "A" else Path(output)
    before = kept.read_bytes()
    named = [str(ran) if word == "A" else word for word in words]
    capfd.readouterr()
    assert main([*named, "--output", str(kept)]) == 4
    assert f"{kept}: " in capfd.readouterr().err
    assert kept.read_bytes() == before


def test_a_bundle_takes_the_place_of_an_older_one_and_of_nothing_else(
    ran: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    default = ran.with_suffix(".bundle.zip")
    default.write_bytes(b"PK of somebody else")
    assert main(["bundle", str(ran)]) == 4
    assert "a bundle replaces nothing but a bundle: name another" in capfd.readouterr().err
    assert default.read_bytes() == b"PK of somebody else"
    default.unlink()
    for _ in range(2):
        assert main(["bundle", str(ran)]) == 0
        assert read_bundle(default).tables["eval_runs"]
