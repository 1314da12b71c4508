"""Gates in a session: exit codes, what is shown and written, serial and in several processes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from projects import CASES, Ended, Project

from pytest_touchstone.shell.cli import main

WAYS = pytest.mark.parametrize("ways", [[], ["-n2"]], ids=["serial", "workers"])
FOUND = "Recall@5 >= 0.9"
"""What the system under test meets: it finds every gold chunk."""
CHEAP = "CostPerQuery <= 0.000001"
"""What it does not."""
QUICK = ("tests/test_retrieval.py", "tests/test_cost.py")


def gates(report: dict[str, Any]) -> dict[str, str]:
    return {gate["expression"]: gate["outcome"] for gate in report["gates"]}


def gate_line(ended: Ended, outcome: str) -> str:
    (line,) = (line for line in ended.out.splitlines() if line.startswith(f"GATE {outcome}: "))
    return line


def option(*texts: str) -> list[str]:
    return [f"--touchstone-gate={text}" for text in texts]


def test_a_gate_that_fails_fails_the_run(project: Project) -> None:
    project.configure(gates=[FOUND])
    passed = project.end("-q")
    assert passed.code == 0, passed.text
    assert gates(project.report()) == {FOUND: "pass"}
    assert gate_line(passed, "PASS").startswith(f"GATE PASS: {FOUND}: 1")
    failed = project.end("-q", *option(CHEAP, FOUND))
    assert failed.code == 1, failed.text
    assert not re.search(r"\d (failed|error)", failed.out), "no test did"
    assert gates(project.report()) == {FOUND: "pass", "CostPerQuery <= 1e-06": "fail"}
    assert gate_line(failed, "FAIL").endswith(" questions is above 1e-06")


@WAYS
def test_other_exit_codes_stay(project: Project, ways: list[str]) -> None:
    project.write("tests/test_a.py", "def test_it(): raise KeyboardInterrupt\n")
    ended = project.spawn("-q", *option(CHEAP), *ways)
    assert ended.code == 2, ended.text


def test_faulty_gates_end_it_before_anything_runs(project: Project) -> None:
    project.configure(gates=[FOUND, "Recall@5 = 0.7"])
    result = project.run(*option("Recall@5 >= 70%"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = result.stderr.str()
    assert "settings.yaml: gates.1: 'Recall@5 = 0.7' is no gate: `=` is no comparison" in said
    assert "command line: gates.2: 'Recall@5 >= 70%' is no gate: scores are no perc" in said
    assert "given:" not in said
    assert project.calls() == []


def test_a_gate_without_what_it_compares_with_is_refused(project: Project) -> None:
    result = project.run(*option("MRR >= previous"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the gate `MRR >= previous` needs the earlier report: name*"])
    result = project.run("--touchstone-baseline=none", *option("MRR >= baseline"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the gate `MRR >= baseline` needs a baseline, and the run has*"])
    project.write("old.json", "{}")
    for file, fault in (("nowhere.json", "cannot be read: No such file"), ("old.json", "is no re")):
        result = project.run(f"--touchstone-previous={file}", *option("MRR >= previous"))
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*{file}: {fault}*"])
    assert project.calls() == []
    result = project.run("--touchstone-previous=nowhere.json", *QUICK, *option(FOUND))
    assert result.ret == 0, "what nobody compares with need not be there"


def test_an_earlier_report_is_compared_with(project: Project) -> None:
    project.configure(gates=["MRR >= baseline"])
    project.run(*QUICK, "--touchstone-output=main.json")
    texts = ("MRR >= previous", "MRR >= previous + 0.5", "CostPerQuery <= previous")
    same = project.end(
        *("-q", "--touchstone-previous=main.json", *option(texts[0], texts[2])), *QUICK
    )
    assert same.code == 0, same.text
    assert "no score differs over 7 pairs with main.json" in same.out
    assert "PASS: MRR >= baseline: Δ +" in same.out
    assert set(gates(project.report()).values()) == {"pass"}
    project.faults({f"assistant {case}": "empty" for case in CASES[1:]})
    worse = project.end("-q", "--touchstone-previous=main.json", *option(*texts), *QUICK)
    assert worse.code == 1, worse.text
    outcomes = gates(project.report())
    assert (outcomes["MRR >= previous"], outcomes["MRR >= previous + 0.5"]) == ("fail", "fail")


@WAYS
def test_part_of_the_questions_is_not_gated(project: Project, ways: list[str]) -> None:
    part = project.end("-q", *QUICK, "-k", "q01 or q02", *option(FOUND, CHEAP), *ways)
    assert part.code == 0, part.text
    assert set(gates(project.report()).values()) == {"not_run"}
    assert "2 of 7 questions were selected for Recall@5" in part.out
    project.configure(not_run="fail")
    part = project.end("-q", *QUICK, "-k", "q01 or q02", *option(FOUND))
    assert part.code == 1, part.text
    assert gate_line(part, "NOT RUN").endswith("(`not_run: fail` makes this a failure)")
    one_dimension = project.end("-q", "-k", "retrieval", *option(FOUND))
    assert one_dimension.code == 0, one_dimension.text
    assert gates(project.report()) == {FOUND: "pass"}, "none of its questions is missing"


def test_node_ids_and_an_early_end_take_questions_away(project: Project) -> None:
    node = "tests/test_retrieval.py"
    ended = project.end("--collect-only", "-q", node)
    first = next(line for line in ended.out.splitlines() if line.startswith(node))
    project.end("-q", first, *option(FOUND))
    assert gates(project.report()) == {FOUND: "not_run"}
    project.faults({f"assistant {case}": "hang" for case in CASES[:4]})
    project.configure(floors={"CostPerQuery": 0})
    early = option("CostPerQuery <= 1")
    ended = project.spawn("tests/test_cost.py", "-x", "--touchstone-strict", *early)
    assert ended.code == 1, ended.text
    assert "GATE NOT RUN: CostPerQuery <= 1: the run ended before " in ended.out


@WAYS
def test_a_sample_and_a_split_are_gated(project: Project, ways: list[str]) -> None:
    ended = project.end("-q", *QUICK, "--touchstone-sample=4", *option(FOUND), *ways)
    assert ended.code == 0, ended.text
    report = project.report()
    assert gates(report) == {FOUND: "pass"}
    assert report["snapshot"]["selection"]["sample"] == 4
    asked = {case["case"] for case in report["cases"]}
    assert len(asked) == 4
    kinds = {case["gold"]["type"] for case in report["cases"]}
    assert kinds == {"factual", "summary", "comparative", "edge_case"}
    counts = report["snapshot"]["selection"]["applicable"]["CostPerQuery"]
    assert counts == dict.fromkeys(("factual", "comparative", "summary", "edge_case"), 1)
    again = project.end("-q", *QUICK, "--touchstone-sample=2", *option(FOUND))
    assert again.code == 0, again.text
    assert {case["case"] for case in project.report()["cases"]} < asked
    part = project.end("-q", *QUICK, "--touchstone-sample=4", "-k", min(asked), *option(FOUND))
    assert gates(project.report()) == {FOUND: "not_run"}, part.text


def test_a_sample_is_a_whole_number_of_questions(project: Project) -> None:
    for given, fault in (("0", "greater than or equal to 1"), ("many", "a valid integer")):
        result = project.run(f"--touchstone-sample={given}")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*command line: sample: *{fault}*(given: '{given}')*"])
    result = project.run("--touchstone-repeats=0")
    result.stderr.fnmatch_lines(["*command line: repeats: *greater than or equal to 1*"])


def test_what_the_data_leave_open_warns_or_fails(project: Project) -> None:
    text = "MRR[factual] >= baseline"  # two questions
    ended = project.end("-q", *QUICK, *option(text))
    assert ended.code == 0, ended.text
    assert gates(project.report()) == {text: "undecided"}
    assert "fewer than 5 clusters" in gate_line(ended, "UNDECIDED")
    project.configure(undecided="fail")
    ended = project.end("-q", *QUICK, *option(text))
    assert ended.code == 1, ended.text
    assert gate_line(ended, "UNDECIDED").endswith("(`undecided: fail` makes this a failure)")


def test_a_missing_judge_is_not_a_pass(project: Project) -> None:
    ended = project.end("-q", *option("Faithfulness >= 0.1"))
    assert ended.code == 0
    assert gate_line(ended, "NOT RUN").endswith("no judge is configured (setting `judge`)")


@WAYS
def test_a_run_of_nothing_is_no_pass(project: Project, ways: list[str]) -> None:
    """All tests of the judge's measures are skipped where there is no judge."""
    project.configure(gates=["Faithfulness >= 0.1"], not_run="fail")
    ended = project.end("-q", "tests/test_faithfulness.py", *ways)
    assert ended.code == 1, ended.text
    assert gate_line(ended, "NOT RUN").startswith(
        "GATE NOT RUN: Faithfulness >= 0.1: nothing was evaluated"
    )
    assert project.report_files() == []


def test_gates_of_the_settings_do_not_trouble_other_tests(project: Project) -> None:
    project.configure(gates=[FOUND], not_run="fail")
    project.write("tests/test_unit.py", "def test_it(): pass\n")
    ended = project.end("-q", "tests/test_unit.py")
    assert (ended.code, "GATE" in ended.out) == (0, False)
    ended = project.end("-q", "tests/test_unit.py", *option(FOUND))
    assert (ended.code, "GATE NOT RUN" in ended.out) == (1, True), "it was asked for"
    ended = project.end("--collect-only", "-q", *option(FOUND))
    assert (ended.code, "GATE" in ended.out) == (0, False)


@WAYS
def test_a_junit_file_has_the_gates_of_the_suite(project: Project, ways: list[str]) -> None:
    ended = project.end("-q", *QUICK, "--junitxml=out.xml", *option(FOUND, CHEAP), *ways)
    assert ended.code == 1, ended.text
    assert gates(project.report()) == {FOUND: "pass", "CostPerQuery <= 1e-06": "fail"}
    suite = ET.parse(project.folder / "out.xml").getroot()[0]  # noqa: S314 - pytest's own
    properties = {
        str(p.get("name")): str(p.get("value")) for p in suite.iterfind("./properties/property")
    }
    assert list(properties) == [f"touchstone gate {g}" for g in gates(project.report())]
    assert [value.split(":")[0] for value in properties.values()] == ["pass", "fail"]


def test_on_github_what_did_not_pass_is_a_remark(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    texts = option(FOUND, CHEAP, "Faithfulness >= 0.1")
    assert "::error" not in project.end("-q", *QUICK, *texts).out
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    lines = project.end("-q", *QUICK, *texts).out.splitlines()
    remarks = [line for line in lines if line.startswith("::")]
    assert [line.split("::")[1] for line in remarks] == [
        "error title=Gate fail",
        "warning title=Gate not run",
    ]
    assert remarks[0].startswith("::error title=Gate fail::CostPerQuery <= 1e-06: 0.0012 ")


def test_nothing_is_shown_where_there_are_no_gates(project: Project) -> None:
    assert "GATE" not in project.end("-q", *QUICK).out


def test_touchstone_run_takes_the_same_options(project: Project) -> None:
    project.run(*QUICK, "--touchstone-output=main.json")
    ended = project.spawn(
        *("run", "--gate", FOUND, "--gate", "MRR >= previous", "--previous", "main.json"),
        *("--sample", "4", "--repeats", "2", "--", "-q", "-k", "retrieval"),
        module="pytest_touchstone.shell.cli",
    )
    assert ended.code == 0, ended.text
    report = project.report()
    assert gates(report) == {FOUND: "pass", "MRR >= previous": "pass"}
    assert {case["repeat"] for case in report["cases"]} == {0, 1}


# -- afterwards -------------------------------------------------------------------------------


@pytest.fixture
def file(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run's report, with one gate of each outcome."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    project.end("-q", *QUICK, *option(*ALL), "--touchstone-output=report.json")
    return project.folder / "report.json"


ALL = (FOUND, CHEAP, "MRR[factual] >= baseline", "Faithfulness >= 0.1")


def gate(*arguments: str | Path) -> int:
    return main(["gate", *map(str, arguments)])


def test_a_report_is_gated_afterwards_as_it_was(
    project: Project, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = project.calls()
    capsys.readouterr()
    shown = project.end("-q", *QUICK, *option(*ALL)).out.splitlines()
    project.forget_calls()
    capsys.readouterr()
    assert gate(file, *ALL) == 1
    assert capsys.readouterr().out.splitlines() == [
        line for line in shown if line.startswith("GATE ")
    ]
    assert gate(file, FOUND, ALL[2], ALL[3]) == 0
    assert gate(file, FOUND, ALL[2], "--undecided=fail") == 1
    assert gate(file, FOUND, ALL[3], "--not-run=fail") == 1
    assert calls
    assert project.calls() == [], "nothing is asked again"


def test_part_of_a_run_is_not_gated_afterwards_either(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.configure(not_run="fail")
    project.end("-q", *QUICK, "-k", "q01", "--touchstone-output=part.json")
    capsys.readouterr()
    part = project.folder / "part.json"
    assert gate(part, FOUND) == 1, "the report's own settings say what becomes of it"
    assert "GATE NOT RUN: Recall@5 >= 0.9: 1 of 7 questions" in capsys.readouterr().out
    assert gate(part, FOUND, "--not-run=warn") == 0


def test_two_reports_are_compared_afterwards(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(file, "MRR >= previous", "--previous", file) == 0
    assert "no score differs over 7 pairs with report.json" in capsys.readouterr().out


def test_what_cannot_be_gated_is_a_wrong_use(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = file.parent
    (folder / "broken.json").write_bytes(b"\xff")
    (folder / "other.json").write_text('{"a": 1}')
    for arguments, fault in (
        ((file,), "nothing to hold the report to: write gates behind its name"),
        ((file, "MRR => 1"), "'MRR => 1' is no gate: `=>` is no comparison of gates; write `>=`"),
        ((file, "MRR >= previous"), "the gate `MRR >= previous` needs --previous=FILE, the earl"),
        ((folder / "none.json", "MRR >= 1"), f"{folder}/none.json: cannot be read: No such file"),
        ((folder / "broken.json", "MRR >= 1"), "broken.json: is not UTF-8, so it is no report"),
        ((folder / "other.json", "MRR >= 1"), "other.json: is no report of this version: snapsh"),
        ((folder / "other.json", "MRR >= 1"), "other.json: and "),
    ):
        capsys.readouterr()
        assert gate(*arguments) == pytest.ExitCode.USAGE_ERROR
        said = capsys.readouterr()
        assert said.out == ""
        assert fault in said.err
        assert said.err.startswith("touchstone: ")
        assert len(said.err.splitlines()) <= 4


def test_remarks_are_made_afterwards_too(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    capsys.readouterr()
    assert gate(file, *ALL) == 1
    starts = [line.split(" ")[0] for line in capsys.readouterr().out.splitlines()]
    assert starts == ["GATE"] * 4 + ["::error"] + ["::warning"] * 2
