"""A run with a budget stops when the money is spent, and says what was left out."""

from __future__ import annotations

import sys

import pytest
from judged import judge, verdict
from projects import CASES, Project
from servers.openai import OpenAIServer, completion, error

DYING = """
import asyncio
import os
import signal
from pathlib import Path

from pytest_touchstone.llm.chat import Chat
from pytest_touchstone.store import run

run.DEAD_AFTER_S = 2.0
complete = Chat.complete


async def dying(self, *args, **kwargs):
    try:
        (Path(__file__).parent / "killed").touch(exist_ok=False)
    except FileExistsError:
        return await complete(self, *args, **kwargs)
    await asyncio.sleep(1)  # until xdist has handed out its tests: else it breaks
    os.kill(os.getpid(), signal.SIGKILL)


Chat.complete = dying
"""
WAYS = pytest.mark.parametrize("ways", [[], ["-n2"]], ids=["serial", "workers"])


@WAYS
def test_systems_stop_when_the_money_is_spent(project: Project, ways: list[str]) -> None:
    for name in ("assistant", "plain", "history"):
        project.settings["systems"][name]["concurrency"] = 1
    project.configure(variants=[], baseline="none")
    gates = ("--touchstone-gate=CostPerQuery <= 1",)
    ended = project.end("-q", "tests/test_cost.py", *ways, "--touchstone-budget=0.005", *gates)
    calls = len(project.calls())
    assert 3 <= calls <= 5, "what it costs is known from the first answer on"
    assert ended.code == 0, ended.text
    report = project.report()
    budget = report["cost"]["budget"]
    assert budget["stopped"]
    assert budget["spent"] == pytest.approx(report["cost"]["systems"][0]["usd"])
    assert report["cost"]["systems"][0]["turns"] == calls
    reasons = [case["reasons"].get("CostPerQuery") for case in report["cases"]]
    assert reasons.count("budget") == len(CASES) - calls
    (fault,) = report["findings"]["faults"]
    assert (fault["source"], fault["kind"], fault["count"]) == ("budget", "budget", 8 - calls)
    assert report["findings"]["system_errors"] == [], "nobody failed"
    assert f"Budget: {budget['spent']:.4f} of 0.005 USD spent, the rest was not asked" in ended.out
    outcomes = {gate["expression"]: gate["outcome"] for gate in report["gates"]}
    assert outcomes["CostPerQuery <= 1"] == "not_run"
    assert f"the budget was spent before {8 - calls} of 8 questions were scored" in ended.out

    more = ("--touchstone-resume=latest", "--touchstone-budget=1")
    ended = project.end("-q", "tests/test_cost.py", *ways, *more)
    assert ended.code == 0, ended.text
    assert len(project.calls()) == len(CASES), "nothing is asked again"
    report = project.report()
    assert all(case["error"] is None for case in report["cases"])
    assert report["cost"]["budget"]["usd"] == 1


@WAYS
def test_the_judge_stops_when_the_money_is_spent(judged: Project, ways: list[str]) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server, concurrency=1)
        assert judged.end("-q").code == 0
        cost, calls = judged.report()["cost"]["evaluation"], len(server.requests)
        whole = judged.report()["snapshot"]["results_sha256"]
        (judged.folder / "reports/touchstone.sqlite").unlink()
        server.requests.clear()
        budget = cost["usd"] / 2 + 0.065
        ended = judged.end("-q", *ways, f"--touchstone-budget={budget}")
        assert ended.code == 0, ended.text
        report = judged.report()
        spent = report["cost"]["evaluation"]["usd"] + report["cost"]["systems"][0]["usd"]
        assert report["cost"]["budget"]["spent"] == pytest.approx(spent)
        assert report["cost"]["budget"]["overshoot"] == 0
        if report["cost"]["budget"]["stopped"]:
            assert len(server.requests) < calls
            assert "--touchstone-resume=" in ended.out
        ended = judged.end("-q", *ways, "--touchstone-resume=latest", "--touchstone-budget=5")
        assert ended.code == 0, ended.text
        assert len(server.requests) == calls, "what was paid for is not paid for again"
        assert judged.report()["snapshot"]["results_sha256"] == whole


@pytest.mark.skipif(sys.platform == "win32", reason="signals are Unix's")
def test_a_worker_that_dies_takes_no_money_along(judged: Project) -> None:
    judged.write("conftest.py", DYING)
    with OpenAIServer(verdict) as server:
        judge(judged, server, concurrency=1)
        ended = judged.spawn("-q", "-n2", "--touchstone-budget=0.05")
    assert (judged.folder / "killed").exists()
    budget = judged.report()["cost"]["budget"]
    paid = judged.report()["cost"]["evaluation"]["usd"] + sum(
        system["usd"] or 0 for system in judged.report()["cost"]["systems"]
    )
    lost = budget["spent"] - paid
    assert lost > 0.001
    assert budget["overshoot"] == 0
    assert f"budget: up to {lost:.4f} USD count as spent for calls under way" in ended.text
    assert len(server.requests) > 5, "the others go on"


def test_a_judge_that_was_away_is_asked_again_when_the_run_is_resumed(judged: Project) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server)
        assert judged.end("-q").code == 0
        whole, calls = judged.report()["snapshot"]["results_sha256"], len(server.requests)
        (judged.folder / "reports/touchstone.sqlite").unlink()
        server.requests.clear()
        server.script(*[error(503, "down")] * 3, *[completion("no JSON")] * 2)
        judged.end("-q")
        reasons = {
            reason for case in judged.report()["cases"] for reason in case["reasons"].values()
        }
        assert "judge_unreachable" in reasons
        server.requests.clear()
        judged.end("-q", "--touchstone-resume=latest")
        assert 3 <= len(server.requests) < calls
        assert judged.report()["snapshot"]["results_sha256"] == whole
        server.requests.clear()
        judged.end("-q", "--touchstone-resume=latest")
        assert server.requests == []


def test_a_budget_of_nothing_buys_nothing_that_has_a_price(judged: Project) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server)
        ended = judged.end("-q", "--touchstone-budget=0")
        assert server.requests == []
    report = judged.report()
    reasons = {m["measure"]: m["system"]["unscored"] for m in report["measures"] if m["system"]}
    assert reasons["Faithfulness"] == {"budget": 2}
    assert "of the budget" not in ended.text
    assert report["cost"]["evaluation"]["calls"] == 0


def test_a_judge_without_a_price_has_no_budget(judged: Project) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server, model="house-model")
        ended = judged.end("-q", "--touchstone-budget=1")
        assert ended.code == 4
        assert "set `prices.house-model` (0 where it costs nothing)" in ended.text
        judged.configure(prices={"house-model": {"input": 0, "output": 0}})
        ended = judged.end("-q", "--touchstone-budget=1")
        assert ended.code == 0, ended.text


@pytest.mark.parametrize("given", ["-1", "many", "nan"])
def test_a_budget_is_an_amount(project: Project, given: str) -> None:
    ended = project.end("-q", f"--touchstone-budget={given}")
    assert ended.code == 4
    assert "command line: budget:" in ended.text
