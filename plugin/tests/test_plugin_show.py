"""`--touchstone-show` and `touchstone report --case`: one case whole."""

from __future__ import annotations

import re

import pytest
from projects import Project

from pytest_touchstone.shell.cli import main


@pytest.mark.parametrize("arguments", [(), ("-n2",)])
def test_a_case_is_printed_behind_the_summary(project: Project, arguments: tuple[str, ...]) -> None:
    ended = project.end("--touchstone-show=q05", "-k", "q05 or q06", *arguments)
    assert ended.code == 0, ended.text
    _, _, shown = ended.out.partition("= touchstone: q05 =")
    for said in ("What is q05?", "--- assistant (system under test) -", "--- plain (baseline) -"):
        assert said in shown
    assert "★ 1. c05" in shown
    assert "What is q06?" not in shown
    assert {call.split()[-1] for call in project.calls()} == {"q05", "q06"}, "it selects nothing"


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("q5", "no case 'q5' in {gold}; did you mean `q05`"),
        ("q06", "q06: no test that is selected here asks about it, so it cannot be shown"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_it_is_paid_for(
    project: Project, case: str, said: str
) -> None:
    result = project.run(f"--touchstone-show={case}", "-k", "q05")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    wanted = said.format(gold=project.folder / "evaluation/gold.jsonl")
    assert f"ERROR: --touchstone-show: {wanted}" in result.stderr.str()
    assert not project.calls()
    assert not project.report_files()


def test_several_cases_are_printed_in_the_order_they_are_named(project: Project) -> None:
    words = ("q06", "q05", "q06")
    ended = project.end(*(f"--touchstone-show={case}" for case in words), "-k", "q05 or q06")
    assert ended.code == 0, ended.text
    before, q06, q05 = re.split("=+ touchstone: q0[56] =+\n", ended.out)
    assert "What is q05?" not in before
    assert "What is q06?" in q06
    assert "What is q05?" not in q06
    assert "What is q05?" in q05
    result = project.run(*("--touchstone-show=q05", "--touchstone-show=q06"), "-k", "q05")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "q06: no test that is selected here asks about it" in result.stderr.str()


def test_a_finished_run_shows_it_without_a_call(
    project: Project, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert project.run("--touchstone-show=q05").ret == 0
    project.forget_calls()
    capfd.readouterr()
    assert main(["report", "latest", "--case", "q05"]) == 0
    stored = capfd.readouterr().out
    assert "What is q05?" in stored
    assert main(["report", str(project.report_files()[-1]), "--case", "q05"]) == 0
    assert capfd.readouterr().out == stored
    assert main(["report", "latest", "--case", "q99"]) == 4
    assert "no case 'q99' in this report" in capfd.readouterr().err
    assert not project.calls()


def test_a_case_is_text_and_no_other_form(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["report", "latest", "--case", "q05", "--format", "csv"])
    assert "not allowed with argument" in capfd.readouterr().err
