"""Canaries end to end: asked beside a run, once a day, and named at the top where they fail."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from canary_replies import CANARIES, canary_of, reply
from judged import judge, scores, verdict
from projects import Project
from servers.loopback import Reply
from servers.openai import OpenAIServer, error

Answerer = Callable[[Mapping[str, Any]], Reply | str]


def asked(server: OpenAIServer) -> Counter[str]:
    """How often each canary was asked."""
    prompts = (request.json["messages"][0]["content"] for request in server.requests)
    return Counter(one.id for prompt in prompts if (one := canary_of(prompt)) is not None)


def saying(label: str, of: str) -> Answerer:
    """A judge that is right everywhere but on one canary."""

    def answer(request: Mapping[str, Any]) -> str:
        canary = canary_of(request["messages"][0]["content"])
        return reply(canary, label) if canary and canary.id == of else verdict(request)

    return answer


def canaries(project: Project) -> dict[str, Any]:
    found: dict[str, Any] = project.report()["snapshot"]["canaries"]
    return found


def made_older(project: Project, hours: int) -> None:
    """Every round in the store, moved into the past (or, below 0, into the future)."""
    store = sqlite3.connect(project.folder / "reports/touchstone.sqlite")
    sql = "UPDATE eval_canaries SET asked_at = strftime('%Y-%m-%dT%H:%M:%fZ', asked_at, ?)"
    store.execute(sql, (f"{-hours} hours",))
    store.commit()
    store.close()


def forgotten(project: Project) -> None:
    """No verdict in the store is known any more, so that the next run makes live calls."""
    store = sqlite3.connect(project.folder / "reports/touchstone.sqlite")
    store.execute("DELETE FROM eval_calls WHERE kind = 'judge'")
    store.commit()
    store.close()


def test_a_judge_that_knows_them_is_asked_once_a_day(judged: Project) -> None:
    everything = Counter({one.id: 1 for one in CANARIES})
    with OpenAIServer(verdict) as server:
        judge(judged, server, canaries=True)
        result = judged.run("-q")
        assert result.ret == 0, result.stdout.str()
        assert asked(server) == everything
        assert "JUDGE" not in result.stdout.str()
        found = canaries(judged)
        assert found["judge"].startswith("gpt-4.1 at 127.0.0.1:")
        assert (found["asked"], found["failed"], found["drifted"]) == (len(CANARIES), [], [])
        assert judged.report()["cost"]["evaluation"]["calls"] == len(server.requests)

        # Nothing live, nothing asked; and a report says so.
        assert judged.run("-q").ret == 0
        assert asked(server) == everything
        assert canaries(judged) is None

        # Live calls within a day: the round of today stands for this run too.
        forgotten(judged)
        assert judged.run("-q").ret == 0
        assert asked(server) == everything
        assert canaries(judged) == found

        # A day later, and where a clock was set back, they are asked again.
        for hours in (25, -48):
            made_older(judged, hours)
            forgotten(judged)
            server.requests.clear()
            assert judged.run("-q").ret == 0
            assert asked(server) == everything
            assert canaries(judged)["earlier_at"] is not None
            assert canaries(judged)["drifted"] == []


def test_a_judge_that_is_wrong_or_changes_its_mind_is_named_at_the_top(judged: Project) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server, canaries=True)
        judged.run("-q")
        made_older(judged, 30)
        forgotten(judged)
        server._answerer = saying("supported", "verdict-negated-en")
        result = judged.run("-q")
    lines = result.stdout.str().splitlines()
    doubt = next(n for n, line in enumerate(lines) if line.startswith("JUDGE IN DOUBT"))
    drift = next(n for n, line in enumerate(lines) if line.startswith("JUDGE DRIFTED"))
    table = next(n for n, line in enumerate(lines) if line.startswith("Measure"))
    assert doubt < drift < table
    assert "wrong on 1 of 37 cases whose verdict is known" in lines[doubt]
    assert "verdict-negated-en (supported, not contradicted)" in lines[doubt]
    assert "verdict-negated-en (contradicted, now supported)" in lines[drift]
    failed = canaries(judged)["failed"]
    assert [one["canary"] for one in failed] == ["verdict-negated-en"]
    assert result.ret == 0, "a canary casts doubt; gates decide"


def test_a_canary_without_a_verdict_is_said_and_asked_again_the_same_day(judged: Project) -> None:
    def silent(request: Mapping[str, Any]) -> Reply | str:
        canary = canary_of(request["messages"][0]["content"])
        return error(400, "too long") if canary and canary.id == "points-sv" else verdict(request)

    with OpenAIServer(silent) as server:
        judge(judged, server, canaries=True)
        result = judged.run("-q")
        assert "JUDGE IN DOUBT" in result.stdout.str()
        assert "gave no verdict on 1 of 37" in result.stdout.str()
        assert [one["canary"] for one in canaries(judged)["unanswered"]] == ["points-sv"]
        first = canaries(judged)
        forgotten(judged)
        server._answerer = verdict
        server.requests.clear()
        judged.run("-q")
        assert asked(server) == Counter({"points-sv": 1}), "the others were asked today"
        found = canaries(judged)
        assert (found["unanswered"], found["asked"]) == ([], len(CANARIES))
        assert found["asked_at"] == first["asked_at"], "it is the round of that time"


@pytest.mark.parametrize("away_for_canaries", [False, True], ids=["for cases", "for canaries"])
def test_a_resumed_run_asks_what_is_missing_and_says_so(
    judged: Project, away_for_canaries: bool
) -> None:
    """The judge was away for some calls, and has nothing usable to say of one canary."""

    def mumbling(request: Mapping[str, Any]) -> Reply | str:
        canary = canary_of(request["messages"][0]["content"])
        return "{}" if canary and canary.id == "points-sv" else verdict(request)

    def away(request: Mapping[str, Any]) -> Reply | str:
        canary = canary_of(request["messages"][0]["content"])
        of_case = canary is None and "formality" in json.dumps(request["response_format"])
        swedish_one = canary is not None and canary.lang == "sv"
        lost = of_case or (swedish_one and away_for_canaries)
        return error(503, "away") if lost else mumbling(request)

    swedish = {one.id for one in CANARIES if one.lang == "sv"}
    with OpenAIServer(away) as server:
        judge(judged, server, canaries=True)
        judged.run("-q")
        first = canaries(judged)
        missing = {one["canary"] for one in first["unanswered"]}
        assert missing == (swedish if away_for_canaries else {"points-sv"})
        server._answerer = mumbling
        server.requests.clear()
        judged.run("-q", "--touchstone-resume=latest")
        assert asked(server).keys() == (swedish if away_for_canaries else set())
        assert len(server.requests) > asked(server).total(), "what was missing was asked"
        found = canaries(judged)
    assert (found["asked"], found["failed"], found["drifted"]) == (len(CANARIES), [], [])
    assert [one["canary"] for one in found["unanswered"]] == ["points-sv"]


def test_workers_share_the_canaries(judged: Project) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server, canaries=True)
        assert judged.spawn("-n2").code == 0
        assert asked(server) == Counter({one.id: 1 for one in CANARIES})
        assert canaries(judged)["failed"] == []
        assert scores(judged)["s1 Faithfulness"] == 1


def test_a_run_that_is_stopped_does_not_wait_for_them(judged: Project) -> None:
    def mostly(request: Mapping[str, Any]) -> Reply | str:
        canary = canary_of(request["messages"][0]["content"])
        stuck = canary is not None and canary.id == "points-sv"
        return Reply(hang=True) if stuck else verdict(request)

    judged.write("tests/test_stop.py", "def test_stop():\n    assert 0\n")
    with OpenAIServer(mostly) as server:
        judge(judged, server, canaries=True, timeout=600, deadline=600)
        ended = judged.spawn("-x")
    assert ended.code == 1, ended.text
    assert "stopping after 1 failures" in ended.out
