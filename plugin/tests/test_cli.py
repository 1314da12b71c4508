"""`touchstone run`: the same evaluation from outside pytest's vocabulary."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from projects import CASES, Project, measure_of

from pytest_touchstone.shell.cli import main


def touchstone(project: Project, *arguments: str, cwd: Path | None = None) -> tuple[int, str]:
    ended = project.spawn("run", *arguments, module="pytest_touchstone.shell.cli", cwd=cwd)
    return ended.code, ended.text


def test_options_are_those_of_the_plugin(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    settings = elsewhere / "mine.yaml"
    shutil.copy(project.folder / "evaluation/gold.jsonl", elsewhere)
    (project.folder / "evaluation/settings.yaml").replace(settings)
    project.write("tests/test_unit.py", "def test_it(): assert not 'an evaluation'\n")
    code, text = touchstone(
        project,
        *("--settings", str(settings), "--dataset", str(elsewhere / "gold.jsonl")),
        *("--output", str(elsewhere / "out.json"), "--system", "plain", "--baseline", "none"),
        "--strict",
    )
    assert code == 0, text
    assert project.calls() == sorted(
        f"{system} ask {case}" for system in ("history", "plain") for case in CASES
    )
    assert f"report: {elsewhere}/out.json" in text
    assert f"rootdir: {project.folder}" in text
    assert "1 deselected" in text, "only what is marked is run"


@pytest.mark.parametrize("own", [True, False], ids=["own modules", "shipped modules"])
def test_a_test_that_is_named_is_run_alone(project: Project, own: bool) -> None:
    if not own:
        shutil.rmtree(project.folder / "tests")
    case = CASES[0]
    named = f"tests/test_retrieval.py::test_gold_chunks_are_retrieved[{case}]"
    code, text = touchstone(project, "--baseline", "none", "--", "-q", named)
    assert code == 0, text
    assert "1 passed" in text
    assert {call.split()[-1] for call in project.calls()} == {case}


def test_a_project_needs_no_modules_of_its_own(project: Project) -> None:
    shutil.rmtree(project.folder / "tests")
    project.write("tests/test_cost.py", "def test_of_the_cost_module(): assert 0\n")
    project.write(
        "conftest.py",
        "import app\n\n\n"
        "def pytest_touchstone_systems(config, resources):\n"
        "    return {'mine': app.assistant}\n",
    )
    project.configure(system="mine")
    code, text = touchstone(project)
    assert code == 0, text
    assert "25 passed, 6 skipped" in text
    assert len(project.calls()) == 24
    assert "configfile: pytest.ini" in text
    assert [file.parent for file in project.report_files()] == [project.folder / "reports"]

    (project.folder / "pytest.ini").unlink()
    (project.folder / "conftest.py").unlink()
    project.configure(system="assistant")
    code, text = touchstone(project)
    assert code == 0, text
    assert "configfile: pyproject.toml" not in text, "that of the plugin's checkout is not ours"


def test_outside_a_project_it_says_what_is_missing(project: Project) -> None:
    folder = project.folder / "tests"
    code, text = touchstone(project, cwd=folder)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert text == (
        f"touchstone: {folder} has no evaluation/settings.yaml: start from the project's folder,"
        " name the file with --settings, or do without: --dataset gold.jsonl"
        " --system package.module:function --baseline none\n"
    )


@pytest.mark.parametrize("ways", [[], ["--", "-n2"]], ids=["serial", "workers"])
def test_a_function_and_gold_questions_are_enough(project: Project, ways: list[str]) -> None:
    (project.folder / "evaluation/settings.yaml").unlink()
    shutil.rmtree(project.folder / "tests")
    chosen = ["--dataset=evaluation/gold.jsonl", "--system=app:plain", "--baseline=none"]
    code, text = touchstone(project, *chosen, *ways)
    assert code == 0, text
    report = project.report()
    assert report["snapshot"]["roles"]["system"] == "app:plain"
    seen = report["snapshot"]["systems"]["app:plain"]
    assert seen == {"ask": "app:plain", "source_sha256": seen["source_sha256"]}
    assert len(seen["source_sha256"]) == 64
    assert measure_of(report, "Recall@5")["system"]["n"] == len(CASES) - 1  # q04 has no labels


def test_without_settings_there_is_no_collection_to_search(project: Project) -> None:
    (project.folder / "evaluation/settings.yaml").unlink()
    code, text = touchstone(project, "--dataset=evaluation/gold.jsonl", "--system=app:plain")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "take the system out of the run (`baseline: none`, --baseline none)" in text


def test_wrong_usage_is_told_by_the_parser(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (([], "COMMAND"), (["run", "--fast"], "--fast"), (["walk"], "walk")):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        assert said in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["run", "--help"])
    assert ended.value.code == 0
    assert "evaluation/settings.yaml" in capsys.readouterr().out
