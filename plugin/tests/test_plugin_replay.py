"""A report is made again from its bundle: to the same results, with nobody to ask."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from judged import judge, verdict
from projects import Project, case_of
from servers.openai import OpenAIServer
from servers.scorer import NewVLLM

from pytest_touchstone.bundling.file import BundleError, packed, read_bundle
from pytest_touchstone.shell.cli import main

WAYS = pytest.mark.parametrize("ways", [[], ["-n2"]], ids=["serial", "workers"])
KEY = "judge-key-canary-1"


def bundle(project: Project, monkeypatch: pytest.MonkeyPatch, name: str = "run.zip") -> Path:
    """The bundle of the newest report."""
    monkeypatch.chdir(project.folder)
    file = project.folder / name
    report = project.report_files()[-1]
    assert main(["bundle", str(report), "--output", str(file)]) == 0
    return file


def elsewhere(project: Project, file: Path) -> None:
    """Leave nothing of the project but its dimension modules and the bundle."""
    for path in project.folder.iterdir():
        if path not in (file, project.folder / "tests", project.folder / "pytest.ini"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def comparable(report: dict[str, Any]) -> dict[str, Any]:
    """A report without what is of the making: times of it, and peaks."""
    return report | {"timing": report["timing"] | {"peak_in_flight": None}}


@WAYS
def test_a_judged_and_scored_run_is_made_again(
    judged: Project, ways: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(verdict) as server, NewVLLM() as scorer:
        judge(judged, server)
        judged.configure(
            scorer={"url": scorer.address, "model": "BAAI/bge-reranker-v2-m3", "tries": 1},
            gates=["Recall@5 >= 0.5"],
        )
        ended = judged.end("-q")
        assert ended.code == 0, ended.text
        asked = len(server.requests)
        file = bundle(judged, monkeypatch)
        before = judged.report()
        assert before["snapshot"]["models"]["scorer"]["scale"]
        elsewhere(judged, file)
        ended = judged.spawn("-q", *ways, "--touchstone-replay=run.zip")
        assert ended.code == 0, ended.text
        assert len(server.requests) == asked
    after = judged.report()
    assert after["snapshot"]["results_sha256"] == before["snapshot"]["results_sha256"]
    assert comparable(after) == comparable(before)
    assert "GATE PASS" in ended.out
    assert "note: made again from run.zip, without network" in ended.out
    assert [f.name for f in (judged.folder / "reports").glob("*.sqlite*")] == []
    assert KEY.encode() not in b"".join(
        zipfile.ZipFile(file).read(n) for n in zipfile.ZipFile(file).namelist()
    )


@WAYS
def test_a_run_with_faults_is_made_again(
    project: Project, ways: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project.faults({"assistant q01": "raise", "plain q02": "empty"})
    project.end("-q", "--touchstone-repeats=2")
    file, before = bundle(project, monkeypatch), project.report()
    assert packed(read_bundle(file)) == file.read_bytes(), "nothing is lost, nothing is of today"
    project.forget_calls()
    ended = project.end("-q", *ways, "-k", "q01", f"--touchstone-replay={file}")
    assert ended.code == 0, ended.text
    assert project.calls() == []
    assert comparable(project.report()) == comparable(before), "all of it, whatever is selected"


def test_replies_that_nobody_keeps_are_in_the_bundle(
    judged: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge's reply that cannot be read is asked again, and so its reading depends on it."""
    seen: set[str] = set()

    def clumsy(request: Any) -> str:
        text = json.dumps(request["messages"])
        if len(request["messages"]) == 1 and text not in seen:
            seen.add(text)
            return "I cannot say."
        return verdict(request)

    with OpenAIServer(clumsy) as server:
        judge(judged, server)
        assert judged.end("-q").code == 0
    before = judged.report()
    assert case_of_recorded(before)["scores"]["Faithfulness"] == 1
    file = bundle(judged, monkeypatch)
    elsewhere(judged, file)
    ended = judged.end("-q", "--touchstone-replay=run.zip")
    assert ended.code == 0, ended.text
    assert comparable(judged.report()) == comparable(before)


def case_of_recorded(report: dict[str, Any]) -> dict[str, Any]:
    return case_of(
        {"cases": [c for c in report["cases"] if c["mode"] == "recorded"]}, "s1", "assistant"
    )


def test_what_a_bundle_lacks_has_no_value(judged: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server)
        assert judged.end("-q").code == 0
    file = bundle(judged, monkeypatch)
    whole = read_bundle(file)
    lacking = {**whole.tables, "eval_calls": []}
    file.write_bytes(
        packed(type(whole)(whole.results_sha256, "0", whole.settings, lacking, (), whole.prompts))
    )
    ended = judged.end("-q", "--touchstone-replay=run.zip")
    assert ended.code == 1
    assert "the replay came to other results than the report that run.zip was made" in ended.text
    case = case_of_recorded(judged.report())
    assert case["scores"]["Faithfulness"] is None
    assert case["reasons"]["Faithfulness"] == "not_recorded"
    (fault,) = (f for f in judged.report()["findings"]["faults"] if f["system"] == "assistant")
    assert (fault["source"], fault["message"]) == ("replay", "the bundle does not hold this call")


def test_what_the_judge_failed_on_fails_again(
    judged: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from servers.openai import completion

    with OpenAIServer(lambda _: completion(None, refusal="I will not.")) as server:
        judge(judged, server)
        judged.end("-q")
    file, before = bundle(judged, monkeypatch), judged.report()
    judged.end("-q", f"--touchstone-replay={file.name}")
    assert comparable(judged.report()) == comparable(before)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--touchstone-dataset=x.jsonl", "--touchstone-dataset: a replay has this from its bundle"),
        ("--touchstone-resume=latest", "--touchstone-resume: a replay has this from its bundle"),
        ("--touchstone-reuse-answers", "--touchstone-reuse-answers: a replay has this"),
    ],
)
def test_a_replay_is_told_nothing_that_the_bundle_says(
    project: Project, option: str, said: str
) -> None:
    ended = project.end("-q", "--touchstone-replay=run.zip", option)
    assert (ended.code, said in ended.text) == (4, True), ended.text


def test_no_bundle_no_replay(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, data, said in (
        ("none.zip", None, "none.zip: cannot be read: No such file"),
        ("text.zip", b"hello", "text.zip: is no bundle: File is not a zip file"),
    ):
        if data is not None:
            (project.folder / name).write_bytes(data)
        ended = project.end("-q", f"--touchstone-replay={name}")
        assert (ended.code, said in ended.text) == (4, True), ended.text
    assert main(["bundle", str(project.folder / "none.json")]) == 4
    project.end("-q", "tests/test_cost.py")
    monkeypatch.chdir(project.folder)
    report = project.report_files()[-1]
    (project.folder / "reports/touchstone.sqlite").unlink()
    assert main(["bundle", str(report)]) == 4
    with pytest.raises(BundleError):
        read_bundle(project.folder / "text.zip")


def test_answers_of_an_earlier_run_are_replayed_as_they_were_priced(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.configure(reuse_answers="baseline")
    for _ in range(2):
        assert project.end("-q", "-k", "retrieval or cost").code == 0
    before = project.report()
    assert case_of(before, "q01", "plain")["cost_usd"] is not None
    assert before["cost"]["systems"][1]["reused"] == 8, "the baseline was not asked again"
    file = bundle(project, monkeypatch)
    ended = project.end("-q", f"--touchstone-replay={file}")
    assert ended.code == 0, ended.text
    assert comparable(project.report()) == comparable(before)
