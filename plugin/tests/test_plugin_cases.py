"""Gold questions as test cases: names, order, selection, outcomes; what a run leaves behind."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from projects import CASES, Project, case_of, gold, measure_of, question

IN_FILE_ORDER = [*CASES[4:], *CASES[:4]]


def test_a_run_shows_cases_table_and_report(project: Project) -> None:
    project.configure(floors={"FilterExactMatch": 1})
    result = project.run("-v")
    result.assert_outcomes(passed=24, skipped=6)
    assert result.ret == pytest.ExitCode.OK
    assert result.parseoutcomes()["low"] == 1

    ids = re.findall(r"::test_gold_chunks_are_retrieved\[(\w+)\] PASSED", text(result))
    assert ids == [case for case in IN_FILE_ORDER if case != "q04"], "in the order of the file"
    result.stdout.fnmatch_lines(
        [
            "*test_filters_are_those_of_the_question?q05? LOW *",
            "*test_nothing_matches_and_the_system_says_so?no-cases? SKIPPED*",
            "=* touchstone =*",
            'LOW tests/test_filters.py::*?q05?: FilterExactMatch 0 < 1: year: expected "2022",*',
            "Measure  *Score (95% CI) *Baseline *Δ (95% CI) *Detects *n",
            "Recall@5 *1.00 ?0.65, 1.00? *0.00 *+1.00 ?+0.30, +1.00? *0.62 *7",
            "Filter exact match *0.50 *n/a *n/a *2",
            "Cost per query (USD) *0.0012 *8",
            "Steps *plain *history *assistant",
            "note: system 'plain' is synchronous and is asked one question at a time *",
            f"report: {project.folder}/reports/*.json",
            "=* 24 passed, 6 skipped, 1 low in *",
        ]
    )
    (file,) = project.report_files()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d{6}Z_nocommit\.json", file.name)
    report = project.report()
    assert [c["case"] for c in report["cases"] if c["system"] == "assistant"] == IN_FILE_ORDER
    assert report["snapshot"]["dataset"]["path"] == "evaluation/gold.jsonl"
    assert [(low["case"], low["measure"]) for low in report["findings"]["low"]] == [
        ("q05", "FilterExactMatch")
    ]
    assert str(project.folder) not in file.read_text("utf-8"), "a path of this machine"


def test_low_is_a_letter_of_its_own_and_fails_when_strict(project: Project) -> None:
    project.configure(floors={"FilterExactMatch": 1, "CostPerQuery": 0.001})
    project.write(
        "conftest.py",
        "def pytest_runtest_logreport(report):\n"
        "    assert report.passed is (report.longrepr is None), 'as other plugins expect'\n",
    )
    result = project.run("-k", "not relaxation")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["tests/test_cost.py llllllll *", "tests/test_filters.py l. *"])
    result.stdout.fnmatch_lines(["LOW tests/test_cost.py::*?q05?: CostPerQuery 0.0012 > 0.001: *"])

    result = project.run("--touchstone-strict", "tests/test_filters.py")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            "_* test_filters_are_those_of_the_question?q05? _*",
            'FilterExactMatch 0 < 1: year: expected "2022", inferred "2021"',
            "question: What is q05?",
            "=* touchstone =*",
            "FAILED tests/test_filters.py::test_filters_are_those_of_the_question?q05? - *",
        ]
    )
    result.stdout.no_fnmatch_line("*floors.py*")
    result.stdout.no_fnmatch_line("LOW *")


def test_many_low_cases_are_cut_unless_verbose(project: Project) -> None:
    project.gold([question(f"n{number:02}") for number in range(25)])
    project.configure(floors={"CostPerQuery": 0})
    result = project.run("tests/test_cost.py")
    assert text(result).count("\nLOW ") == 20
    result.stdout.fnmatch_lines(["... and 5 more low cases (-v shows all)"])
    assert text(project.run("-v", "tests/test_cost.py")).count("\nLOW ") == 25


def test_a_selection_pays_only_for_itself(project: Project) -> None:
    result = project.run("-k", "retrieval and not q01")
    result.assert_outcomes(passed=6, deselected=25)
    asked = [case for case in CASES if case not in ("q01", "q04")]
    assert project.calls() == sorted(
        [f"assistant retrieve {case}" for case in asked]
        + [f"{system} ask {case}" for system in ("history", "plain") for case in asked]
    ), "a system without `retrieve` is asked"
    report = project.report()
    assert {entry["dimension"] for entry in report["measures"]} == {"retrieval"}
    assert {entry["case"] for entry in report["cases"]} == set(asked)
    assert measure_of(report, "Recall@5")["system"]["n"] == 6
    assert case_of(report, "q02", "assistant")["answer"] is None

    project.forget_calls()
    project.run("tests/test_filters.py::test_filters_are_those_of_the_question[q05]")
    assert project.calls() == ["assistant ask q05", "history ask q05", "plain ask q05"]
    assert {entry["dimension"] for entry in project.report()["measures"]} == {"filters"}


@pytest.mark.parametrize("arguments", [[], ["-n2"], ["--setup-plan"]])
def test_collecting_calls_nothing_and_writes_nothing(
    project: Project, arguments: list[str]
) -> None:
    before = project.tree()
    only = [] if "--setup-plan" in arguments else ["--collect-only"]
    result = project.run(*only, *arguments)
    assert result.ret == pytest.ExitCode.OK
    assert "q05" in text(result)
    assert project.calls() == []
    assert project.tree() == before


def test_options_beat_the_settings(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    gold = elsewhere / "other.jsonl"
    gold.write_text(json.dumps(question("q09")))
    result = project.run(
        f"--touchstone-dataset={gold}",
        "--touchstone-system=history",
        "--touchstone-baseline=none",
        "--touchstone-output=out/mine.json",
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR, "history is a variant already"
    project.configure(variants=[])
    result = project.run(
        f"--touchstone-dataset={gold}",
        "--touchstone-system=history",
        "--touchstone-baseline=none",
        "--touchstone-output=out/mine.json",
    )
    assert result.ret == pytest.ExitCode.OK
    assert project.calls() == ["history ask q09"]
    assert project.report_files() == []
    (project.folder / "reports").mkdir(exist_ok=True)
    (project.folder / "out/mine.json").rename(project.folder / "reports/mine.json")
    snapshot = project.report()["snapshot"]
    assert snapshot["roles"] == {"system": "history", "baseline": None, "variants": []}
    assert snapshot["dataset"]["path"] == "other.jsonl", "the name alone, outside the project"


def test_a_folder_for_the_report_gets_names_that_are_free(project: Project) -> None:
    folder = project.folder / "out"
    for _ in range(3):
        project.run("--touchstone-output=out", "tests/test_filters.py")
    reports = sorted(folder.glob("*.json"))
    assert len(reports) == 3, "no report over another"
    pages = [file.with_suffix(".html") for file in reports]
    assert sorted(folder.iterdir()) == sorted([*reports, *pages]), "nothing left half written"
    assert all(file.stat().st_size for file in folder.iterdir())


def test_the_mark_is_needed_and_takes_measures(project: Project) -> None:
    project.write(
        "tests/test_mine.py",
        """
        import pytest
        from pytest_touchstone import MRR, Recall

        def test_unmarked(scores): ...

        @pytest.mark.touchstone(MRR)
        def test_without_case(): ...

        @pytest.mark.touchstone(MRR)
        class TestMine:
            def test_scores(self, case, scores):
                assert scores[MRR].value == 1, case.id
                with pytest.raises(KeyError):
                    scores[Recall @ 3]

            @pytest.mark.touchstone(Recall @ 3)
            def test_the_nearest_mark_counts(self, scores):
                assert [measure.name for measure in scores] == ["Recall@3"]
        """.replace("\n        ", "\n"),
    )
    result = project.run("tests/test_mine.py")
    result.assert_outcomes(passed=15, errors=1)
    result.stdout.fnmatch_lines(["*`case` and `scores` need the mark `touchstone(...)`"])
    assert [entry["measure"] for entry in project.report()["measures"]] == ["MRR", "Recall@3"]

    for wrong, said in (("'MRR'", "'MRR'"), ("", "nothing"), ("types='all'", "types")):
        project.write(
            "tests/test_mine.py",
            f"import pytest\n\n@pytest.mark.touchstone({wrong})\ndef test_it(case): ...\n",
        )
        result = project.run("tests/test_mine.py")
        assert result.ret == pytest.ExitCode.INTERRUPTED
        result.stdout.fnmatch_lines(
            [f"*test_it: the mark `touchstone` takes measures such as `Recall @ 5`, not {said}"]
        )


def test_scores_stand_in_junit_xml(project: Project) -> None:
    project.run("--junitxml=junit.xml", "-o", "junit_family=xunit1", "tests/test_retrieval.py")
    xml = (project.folder / "junit.xml").read_text()
    assert xml.count('<property name="Recall@5" value="1.0"') == 7


def test_the_working_directory_may_be_any_folder_of_the_project(project: Project) -> None:
    inside = project.folder / "src" / "deep"
    inside.mkdir(parents=True)
    ended = project.spawn("-q", "../../tests/test_filters.py", cwd=inside)
    assert ended.code == 0, ended.text
    assert len(project.calls()) == 6
    assert Path(project.report_files()[0]).parent == project.folder / "reports"


def text(result: pytest.RunResult) -> str:
    return result.stdout.str()


def test_one_half_of_the_questions_is_asked_alone(project: Project) -> None:
    halves = {"q01": "dev", "q02": "test", "q03": "test"}
    project.gold([case | {"split": halves.get(case["id"], "dev")} for case in gold()])
    assert project.run("--touchstone-split=test", "-k", "retrieval").ret == 0
    assert {call.split()[-1] for call in project.calls()} == {"q02", "q03"}
    report = project.report()
    assert {case["case"] for case in report["cases"]} == {"q02", "q03"}
    assert report["snapshot"]["settings"]["split"] == "test"
    assert report["measures"][0]["system"]["n"] == 2
