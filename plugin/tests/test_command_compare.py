"""`touchstone compare`: runs of real projects, by file and from the store."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from judged import judge, verdict
from projects import Project
from servers.openai import OpenAIServer

from pytest_touchstone.shell.cli import main
from pytest_touchstone.shipped import shipped
from pytest_touchstone.systems import loading

STRICT = "Be strict about bridges."


def printed(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str) -> str:
    capfdbinary.readouterr()
    assert main(["compare", *arguments]) == 0
    ended = capfdbinary.readouterr()
    assert ended.err == b""
    return ended.out.decode()


def refused(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    capfd.readouterr()
    assert main(["compare", *arguments]) == 4
    ended = capfd.readouterr()
    assert ended.out == ""
    return ended.err


@pytest.fixture
def ran(project: Project) -> Project:
    """A project with two runs of which the second failed on one question and had other limits."""
    assert project.run().ret == 0
    project.faults({"assistant q02": "raise"})
    project.configure(resamples=200)
    assert project.run().ret == 0
    return project


def strict_about_bridges(request: Mapping[str, Any]) -> str:
    """A judge that thinks less of the tone about bridges where its prompt tells it to be strict."""
    prompt = request["messages"][0]["content"]
    if STRICT in prompt and "What about the bridge?" in prompt:
        score = {"rationale": "Much too loose.", "score": 2}
        return json.dumps({"formality": score, "caution": score | {"score": 3}})
    return verdict(request)


def test_one_changed_prompt_is_named_with_the_cases_that_it_moved(
    judged: Project, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a folder `prompts` beside a system they would be taken for its own.
    prompts = judged.folder / "judging"
    shutil.copytree(shipped("evaluation/prompts"), prompts)
    monkeypatch.setattr(loading, "shipped", lambda name: prompts / Path(name).name)
    with OpenAIServer(strict_about_bridges) as server:
        judge(judged, server)
        assert judged.run("-q").ret == 0
        tone = prompts / "judge_tone.md"
        tone.write_text(f"{tone.read_text('utf-8')}\n{STRICT}\n", "utf-8")
        assert judged.run("-q").ret == 0
    one, two = map(str, judged.report_files())
    (found,) = json.loads(printed(capfdbinary, one, two, "--format=json"))["others"]
    assert [(part["part"], part["key"]) for part in found["snapshot"]] == [
        ("prompts", "judge_tone")
    ]
    (move,) = found["moves"]["worse"]
    assert found["moves"]["better"] == []
    assert (move["case"], move["same"]) == ("s1", "output")
    (measure,) = move["measures"]
    assert (measure["measure"], measure["yardstick"], measure["other"]) == ("Formality", 4, 2)
    assert measure["other_why"] == "Much too loose."
    read = {entry["measure"]: entry["instrument"] for entry in found["measures"]}
    assert read["Formality"] == "the judge was asked with another judge_tone"
    assert read["RougeL"] is None
    text = printed(capfdbinary, one, two)
    assert "They differ in prompts (judge_tone)." in text
    assert "Formality (1-5) 1 of 1" in text
    assert "the verdict moved" in text
    assert "Much too loose." in text
    markdown = printed(capfdbinary, one, two, "--format=md")
    assert "They differ in prompts (judge_tone)." in markdown
    assert "**s1** (summary, -0.25): What about the bridge?" in markdown


def test_a_failure_moves_its_case_and_settings_are_named(
    ran: Project,
    capfdbinary: pytest.CaptureFixture[bytes],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = [str(file) for file in ran.report_files()]
    elsewhere = tmp_path_factory.mktemp("empty")
    monkeypatch.chdir(elsewhere)  # files need no settings
    text = printed(capfdbinary, *files, files[0])
    assert "settings resamples: 100 → 200" in text
    assert "System errors: A failed on 0 questions, B on 1; they count" in text
    assert "Moved most to the worse: 1 of 1 case" in text
    assert "B: System error: exception: ValueError: no luck with q02" in text
    assert "A: The answer to q02 [1]." in text
    assert "C beside A: the same results" in text
    assert "Moved most" not in printed(capfdbinary, *files, "--cases=0")
    assert list(elsewhere.iterdir()) == []


def test_runs_of_the_store_are_compared_as_their_files_are(
    ran: Project, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    files = ran.report_files()
    ids = [json.loads(file.read_text("utf-8"))["snapshot"]["run"]["id"] for file in files]
    whole = printed(capfdbinary, *map(str, files), "--format=json")
    assert printed(capfdbinary, ids[0], ids[1][:8], "--format=json") == whole
    assert printed(capfdbinary, str(files[0]), "latest", "--format=json") == whole
    (found,) = json.loads(printed(capfdbinary, "latest", "latest", "--format=json"))["others"]
    assert found["snapshot"] == []


def test_every_form_goes_to_a_file_and_nothing_else_is_written(
    ran: Project, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "9999")
    files = [str(file) for file in ran.report_files()]
    before = ran.tree()
    for form in ("text", "md", "html", "json"):
        shown = printed(capfdbinary, *files, f"--format={form}")
        assert ran.tree() == before
        assert printed(capfdbinary, *files, f"--format={form}", "--output=out.txt") == ""
        assert (ran.folder / "out.txt").read_bytes().decode() == shown
        assert ran.tree().keys() - before.keys() == {"out.txt"}
        (ran.folder / "out.txt").unlink()


def test_what_cannot_be_read_is_said(ran: Project, capfd: pytest.CaptureFixture[str]) -> None:
    known = str(ran.report_files()[0])
    assert refused(capfd, known, "no.json") == (
        "touchstone: no.json: cannot be read: No such file or directory\n"
    )
    assert "gone: is no file, and the store holds no run" in refused(capfd, "gone", known)
    ran.write("bad.json", '{"snapshot": {}}')
    assert "bad.json: is no report of this version" in refused(capfd, known, "bad.json")
    whole = ran.report_files()[0].read_text("utf-8")
    assert '"Recall@5": 1.0' in whole
    ran.write("nan.json", whole.replace('"Recall@5": 1.0', '"Recall@5": NaN', 1))
    assert "nan.json: is no report of this version: cases.0.scores.Recall@5: Input should be" in (
        refused(capfd, known, "nan.json")
    )
    assert "the ids of 2 runs begin so" in refused(capfd, known, "")
    assert "No such file or directory" in refused(capfd, known, known, "--output=no/such/file")


@pytest.mark.parametrize("arguments", [["one.json"], ["a", "b", "--cases=-1"], ["a", "b", "--x"]])
def test_a_wrong_command_line_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["compare", *arguments])
    assert ended.value.code == 2
