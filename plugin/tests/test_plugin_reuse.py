"""Nothing is paid for twice: resumed runs, shared runs, stored answers."""

from __future__ import annotations

import json
import re
import sqlite3
from typing import Any

import pytest
from judged import judge, scores, verdict
from projects import CASES, Project, case_of
from servers.openai import OpenAIServer

from pytest_touchstone.store.answers import Place

WAYS = pytest.mark.parametrize("ways", [[], ["-n2"]], ids=["serial", "workers"])
QUICK = ("tests/test_retrieval.py", "tests/test_cost.py")


def digest(project: Project) -> str:
    return str(project.report()["snapshot"]["results_sha256"])


def costs(project: Project, system: str) -> dict[str, Any]:
    (found,) = (s for s in project.report()["cost"]["systems"] if s["system"] == system)
    return dict(found)


def rows(project: Project, query: str) -> list[tuple[Any, ...]]:
    store = sqlite3.connect(project.folder / "reports/touchstone.sqlite")
    try:
        return store.execute(query).fetchall()
    finally:
        store.close()


# -- resume -----------------------------------------------------------------------------------


@WAYS
def test_a_run_that_was_cut_short_is_gone_on_with(project: Project, ways: list[str]) -> None:
    undisturbed = project.end("-q", *QUICK)
    assert undisturbed.code == 0, undisturbed.text
    expected, all_calls = digest(project), project.calls()
    project.forget_calls()
    (project.folder / "reports/touchstone.sqlite").unlink()

    project.faults({f"assistant {case}": "slow" for case in CASES})
    project.settings["systems"]["assistant"]["concurrency"] = 1
    project.configure()
    ended = project.interrupt("-q", *QUICK, *ways, after=6)
    assert ended.code == 2, ended.text
    cut = project.report()
    assert cut["snapshot"]["results_sha256"] != expected
    run_id = cut["snapshot"]["run"]["id"]
    assert f"go on with it: --touchstone-resume={run_id[:12]}" in ended.out
    asked = project.calls()
    stored = len([c for c in cut["cases"] if c["error"] is None and c["answer"]])

    # A speed is no part of a configuration, but `faults.json` is read by the system itself.
    ended = project.spawn("-q", *QUICK, *ways, f"--touchstone-resume={run_id[:12]}")
    assert ended.code == 0, ended.text
    report = project.report()
    assert report["snapshot"]["run"]["id"] == run_id
    assert report["snapshot"]["results_sha256"] == expected
    assert len(project.calls()) <= len(all_calls) + 1, "at most what was under way"
    assert len(project.calls()) - len(asked) <= len(all_calls) - stored
    again = len(project.calls())
    ended = project.spawn("-q", *QUICK, *ways, "--touchstone-resume=latest")
    assert (ended.code, len(project.calls())) == (0, again), "it is complete"
    assert digest(project) == expected
    assert rows(project, "SELECT COUNT(*) FROM eval_runs") == [(1,)]


def test_what_was_answered_and_not_judged_is_judged_later(judged: Project) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server)
        assert judged.end("-q").code == 0
        expected, calls = digest(judged), len(server.requests)
        store = sqlite3.connect(judged.folder / "reports/touchstone.sqlite")
        with store:  # as if the process had been killed before it had read one of the answers
            where = "case_id = 's1' AND system = 'assistant' AND mode = 'recorded'"
            store.execute(f"DELETE FROM eval_scores WHERE {where}")  # noqa: S608
            change = "unfinished = 1, answer = 'It is red [1].'"
            store.execute(f"UPDATE eval_questions SET {change} WHERE {where}")  # noqa: S608
            (run_id,) = store.execute("SELECT id FROM eval_runs").fetchone()
            key = Place("s1", "assistant", 0, "recorded").key(run_id)
            store.execute("UPDATE eval_calls SET state = 'claimed' WHERE key = ?", (key,))
        store.close()
        ended = judged.end("-q", "--touchstone-resume=latest")
        assert ended.code == 0, ended.text
        assert calls < len(server.requests) < 2 * calls
    (case,) = (
        c
        for c in judged.report()["cases"]
        if (c["case"], c["system"], c["mode"]) == ("s1", "assistant", "recorded")
    )
    assert case["answer"] == "It is red [1].", "it was not asked again"
    assert case["scores"]["Faithfulness"] == 1
    assert digest(judged) != expected


def test_another_run_is_not_gone_on_with(project: Project) -> None:
    assert project.end("-q", *QUICK).code == 0
    files = len(project.report_files())
    for change, said in (
        (lambda: project.gold(project_gold()[:4]), "other gold questions than the run's first one"),
        (
            lambda: project.write("app.py", (project.folder / "app.py").read_text() + "\nX = 1\n"),
            "not what it began with: system 'assistant', system 'plain', system 'history'",
        ),
    ):
        before = project.tree()
        change()
        ended = project.spawn("-q", *QUICK, "--touchstone-resume=latest")
        assert ended.code == 4, ended.text
        assert said in ended.text
        for name, data in before.items():
            if not name.startswith("reports"):
                (project.folder / name).write_bytes(data)
    ended = project.spawn("-q", "tests/test_cost.py", "--touchstone-resume=latest")
    assert ended.code == 4
    assert "the selected tests, measures and questions" in ended.text
    for name, said in (
        ("ffff", "the store holds no run 'ffff'; the last ones are "),
        ("", "no run"),
    ):
        ended = project.spawn("-q", *QUICK, f"--touchstone-resume={name or 'zz'}")
        assert (ended.code, said in ended.text) == (4, True), ended.text
    assert len(project.report_files()) == files


def project_gold() -> list[dict[str, Any]]:
    from projects import gold

    return gold()


def test_a_run_is_named_by_the_beginning_of_its_id(project: Project) -> None:
    (project.folder / "reports").mkdir()
    ended = project.spawn("-q", *QUICK, "--touchstone-resume=latest")
    assert ended.code == 4
    assert "there is no such file" in ended.text
    for name in ("night-1", "night-2"):
        assert project.spawn("-q", "-k", "q01", *QUICK, f"--touchstone-join={name}").code == 0
    ended = project.spawn("-q", "-k", "q01", *QUICK, "--touchstone-resume=night")
    assert (ended.code, "2 runs begin with 'night'" in ended.text) == (4, True), ended.text
    ended = project.spawn("-q", "-k", "q01", *QUICK, "--touchstone-resume=night-1")
    assert ended.code == 0, ended.text


# -- shared -----------------------------------------------------------------------------------


def test_shards_share_one_run(project: Project) -> None:
    import subprocess
    import sys

    project.end("-q", *QUICK)
    expected, calls = digest(project), project.calls()
    project.forget_calls()
    project.faults({"assistant": "slow"})
    command = [sys.executable, "-P", "-m", "pytest", "-q", *QUICK, "--touchstone-join=build.7"]
    shards = [
        subprocess.Popen(
            [*command, "--touchstone-shards=2", f"--touchstone-output=out{number}.json"],
            cwd=project.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in (1, 2)
    ]
    for shard in shards:
        out, _ = shard.communicate(timeout=60)
        assert shard.returncode == 0, out
    reports = [json.loads((project.folder / f"out{n}.json").read_text()) for n in (1, 2)]
    assert [report["snapshot"]["results_sha256"] for report in reports] == [expected] * 2
    assert {report["snapshot"]["run"]["id"] for report in reports} == {"build.7"}
    assert project.calls() == calls, "each piece of work once"


@pytest.mark.parametrize("name", ["../x", "a b", "", "x" * 65])
def test_a_shared_run_has_a_plain_name(project: Project, name: str) -> None:
    ended = project.end("-q", f"--touchstone-join={name}")
    assert ended.code == 4
    assert "join" in ended.text


# -- stored answers ---------------------------------------------------------------------------


@WAYS
def test_the_baseline_is_asked_once(project: Project, ways: list[str]) -> None:
    project.configure(reuse_answers="baseline")
    assert project.end("-q", *QUICK, *ways).code == 0
    expected, first = digest(project), costs(project, "plain")
    project.forget_calls()
    ended = project.end("-q", *QUICK, *ways)
    assert ended.code == 0, ended.text
    assert "Reused answers of earlier runs, with their cost and latency: plain 8;" in ended.out
    assert {call.split()[0] for call in project.calls()} == {"assistant", "history"}
    assert digest(project) == expected
    assert costs(project, "plain") == first | {"reused": 8}
    latency = {entry["system"]: entry for entry in project.report()["timing"]["systems"]}
    assert (latency["plain"]["reused"], latency["plain"]["n"]) == (8, 8)
    assert latency["assistant"]["reused"] == 0


@WAYS
def test_a_new_judge_asks_the_systems_nothing(judged: Project, ways: list[str]) -> None:
    notes = "import pathlib\nFILE = pathlib.Path(__file__).with_name('asked.txt')\n"
    app = (
        (judged.folder / "app.py")
        .read_text("utf-8")
        .replace(
            "async def assistant(messages, session):\n",
            "async def assistant(messages, session):\n"
            "    with FILE.open('a') as file:\n        file.write('x')\n",
        )
    )
    judged.write("app.py", notes + app)
    asked = judged.folder / "asked.txt"
    with OpenAIServer(verdict) as server:
        judge(judged, server)
        assert judged.end("-q", *ways).code == 0
        once, calls, first = asked.read_text(), len(server.requests), scores(judged)
        judge(judged, server, model="gpt-5")
        judged.configure(floors={"Faithfulness": 0.5})
        ended = judged.end("-q", *ways, "--touchstone-reuse-answers")
        assert ended.code == 0, ended.text
        assert len(server.requests) == 2 * calls
    assert asked.read_text() == once
    assert scores(judged) == first
    assert judged.report()["snapshot"]["models"]["judge"]["model"] == "gpt-5"


def test_what_changed_is_asked_again(project: Project) -> None:
    project.configure(reuse_answers="all")
    everything = [f"{system} ask {case}" for case in CASES for system in ("assistant", "plain")]

    def again(*arguments: str) -> list[str]:
        project.forget_calls()
        ended = project.spawn("-q", "tests/test_cost.py", *arguments, "--touchstone-baseline=plain")
        assert ended.code == 0, ended.text
        return project.calls()

    project.configure(variants=[])
    assert again() == sorted(everything)
    assert again() == []
    questions = project_gold()
    questions[0]["question"] = "What else is q05?"
    project.gold(questions)
    assert again() == ["assistant ask q05", "plain ask q05"]
    project.write("app.py", (project.folder / "app.py").read_text("utf-8") + "\n# changed\n")
    assert again() == sorted(everything)
    assert again("--touchstone-repeats=2") == sorted(everything), "the second repeats alone"


@WAYS
def test_systems_that_are_configured_alike_have_answers_of_their_own(
    project: Project, ways: list[str]
) -> None:
    twins = {name: {"ask": "app:assistant"} for name in ("assistant", "twin")}
    project.configure(systems=twins, baseline="none", variants=[], reuse_answers="all")

    def asked(**changes: Any) -> int:
        project.forget_calls()
        project.configure(**changes)
        ended = project.end("-q", *QUICK, *ways)
        assert ended.code == 0, ended.text
        return len(project.calls())

    alone = asked()
    assert alone == len(CASES)
    assert asked(baseline="twin") == alone, "the twin was not asked yet"
    assert asked() == 0
    per_run = "SELECT system, count(*) FROM eval_questions GROUP BY run_id, system ORDER BY min(id)"
    one, two = ("assistant", 8), ("twin", 8)
    assert sorted(rows(project, per_run)) == [one, one, one, two, two]
    renamed = {"other": {"ask": "app:assistant"}}
    assert asked(systems=renamed, system="other", baseline="none") == alone


def test_a_failure_is_no_answer_to_use_again(project: Project) -> None:
    project.configure(reuse_answers="all", variants=[])
    project.faults({"assistant q01": "raise"})
    project.end("-q", "tests/test_cost.py")
    project.forget_calls()
    project.faults()
    project.spawn("-q", "tests/test_cost.py")
    assert project.calls() == ["assistant ask q01"]
    assert case_of(project.report(), "q01", "assistant")["error"] is None


def test_a_new_price_counts_for_stored_answers(project: Project) -> None:
    project.configure(reuse_answers="all", variants=[])
    project.end("-q", "tests/test_cost.py")
    before = costs(project, "assistant")["usd"]
    project.configure(prices={"own-model": {"input": 2, "output": 4}})
    project.end("-q", "tests/test_cost.py")
    assert costs(project, "assistant")["usd"] == pytest.approx(2 * before)


def test_a_whole_answer_serves_where_passages_are_wanted(project: Project) -> None:
    project.configure(reuse_answers="all", variants=[], baseline="none")
    project.end("-q", "tests/test_cost.py")
    expected = {name: case_of(project.report(), name, "assistant")["passages"] for name in CASES}
    project.forget_calls()
    ended = project.end("-q", "tests/test_retrieval.py")
    assert re.search("assistant 7;", ended.out), ended.text
    assert project.calls() == []
    for case in project.report()["cases"]:
        assert case["passages"] == expected[case["case"]]
