"""What a run would cost is told without asking anybody, and without writing anything."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from judged import judge, verdict
from projects import Project
from servers.loopback import Reply
from servers.openai import OpenAIServer, error

WAYS = pytest.mark.parametrize("ways", [[], ["-n2"]], ids=["serial", "workers"])


@WAYS
def test_a_plan_asks_nobody_and_writes_nothing(judged: Project, ways: list[str]) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server, canaries=True)
        before = judged.tree()
        ended = judged.end("-q", *ways, "--touchstone-plan", "--touchstone-gate=MRR >= 0.5")
        assert ended.code == 0, ended.text
        assert judged.tree() == before
        assert server.requests == []
        found = re.search(r"judge gpt-4.1: at most (\d+) calls \(0 more known already\)", ended.out)
        assert found, ended.out
        assert "plan: 2 gold questions, nothing is asked now" in ended.out
        assert "system assistant: 5 turns to ask; what it costs is not known before" in ended.out
        assert "GATE" not in ended.out

        judge(judged, server)
        judged.configure(reuse_answers="baseline")
        assert judged.end("-q").code == 0
        made, before = len(server.requests), judged.tree()
        assert made <= int(found[1])
        ended = judged.end("-q", *ways, "--touchstone-plan", "--touchstone-reuse-answers")
        assert judged.tree() == before
        assert len(server.requests) == made
    stored = "3 of 3 conversations are stored and used again if nothing has changed"
    assert f"system assistant: 0 to 5 turns to ask, {stored}" in ended.out
    known = re.search(r"at most 0 calls \((\d+) more known already\), 0 tokens in", ended.out)
    assert known
    assert int(known[1]) == made, "every call that was made is known"
    unused = re.search(r"if stored answers are not used: at most (\d+) calls", ended.out)
    assert unused
    assert made <= int(unused[1]) <= int(found[1])


@WAYS
def test_a_plan_of_a_resumed_run_has_what_is_left(judged: Project, ways: list[str]) -> None:
    def away(request: Mapping[str, Any]) -> Reply | str:
        lost = "formality" in json.dumps(request["response_format"])
        return error(503, "away") if lost else verdict(request)

    resume = "--touchstone-resume=latest"
    with OpenAIServer(away) as server:
        judge(judged, server)
        judged.end("-q")
        server._answerer = verdict
        server.requests.clear()
        before = judged.tree()
        planned = judged.end("-q", *ways, "--touchstone-plan", resume)
        assert judged.tree() == before
        assert server.requests == []
        assert judged.end("-q", resume).code == 0
        made = len(server.requests)
        again = judged.end("-q", *ways, "--touchstone-plan", resume)
    there = "system assistant: 0 turns to ask, 3 of 3 conversations are there already"
    assert there in planned.out
    assert f"judge gpt-4.1: at most {made} calls (" in planned.out
    assert "stored answers" not in planned.out
    assert "judge gpt-4.1: at most 0 calls (" in again.out


def test_what_a_system_cost_before_is_expected_of_it(project: Project) -> None:
    project.configure(variants=[], reuse_answers="baseline")
    project.end("-q", "tests/test_cost.py")
    ended = project.end("-q", "tests/test_cost.py", "--touchstone-plan", "--touchstone-budget=2")
    assert "system assistant: 8 turns to ask, about 0.0096 USD at 0.0012 a turn" in ended.out
    stored = "8 of 8 conversations are stored and used again if nothing has changed"
    assert f"system plain: 0 to 8 turns to ask, {stored}, about 0.0000 to 0." in ended.out
    assert "budget: 2 USD" in ended.out


def test_a_plan_of_nothing(project: Project) -> None:
    project.write("tests/test_unit.py", "def test_it(): pass\n")
    ended = project.end("-q", "tests/test_unit.py", "--touchstone-plan")
    assert (ended.code, "nothing that is selected asks anybody" in ended.out) == (0, True)
    project.write("evaluation/gold.jsonl", "{}\n")
    ended = project.end("-q", "tests/test_cost.py", "--touchstone-plan")
    assert ended.code == 4
