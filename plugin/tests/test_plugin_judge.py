"""Judged measures end to end: pytest, flight, store and report, against a judge over real HTTP."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sqlite3
import threading

import pytest
from judged import GOLD, judge, scores, verdict
from projects import Project
from servers.loopback import Reply
from servers.openai import OpenAIServer, completion, error, rate_limited

from pytest_touchstone.annotations import answer_digest
from pytest_touchstone.flight import endpoint, judge_calls


def test_every_judged_measure_end_to_end(judged: Project) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server)
        result = judged.run("-q")
        calls = len(server.requests)
        assert result.ret == 0, result.stdout.str()
        text = result.stdout.str()
        assert re.search(r"judging: at most \d+ calls to gpt-4.1, about 0.\d\d USD", text), text
        assert f"Judging: {calls} calls, " in text, text

        own, plain = scores(judged), scores(judged, "plain")
        assert own["s1 Faithfulness"] == 1
        assert plain["s1 Faithfulness"] == 0
        assert plain["s1 Contradictions"] == 1
        assert own["s1 Coherence"] == 0.5
        assert own["s1 ParagraphRelevance"] == 0.5
        assert own["s1 KeyPointCoverage"] == 0.5
        assert own["s1 Padding"] == 0
        assert (own["s1 Formality"], own["s1 Caution"]) == (4, 3)
        assert own["s1 RougeL"] == 1
        assert own["m1 TaskCompletion"] == 1
        assert own["m1 OnTopic"] == 1
        report = judged.report()
        cost = report["cost"]["evaluation"]
        assert cost["calls"] == calls
        assert cost["usd"] > 0
        assert report["snapshot"]["models"]["judge"]["model"] == "gpt-4.1"
        assert "judge_claims" in report["snapshot"]["prompts"]

        # What was judged once is never paid for again.
        assert judged.run("-q").ret == 0
        assert len(server.requests) == calls
        assert judged.report()["cost"]["evaluation"]["calls"] == 0
        assert scores(judged) == own
    files = [path for path in judged.folder.rglob("*") if path.is_file()]
    leaked = [path for path in files if b"judge-key-canary-1" in path.read_bytes()]
    assert [path.name for path in leaked] == ["settings.yaml"]
    store = sqlite3.connect(judged.folder / "reports/touchstone.sqlite")
    rows = store.execute(
        "SELECT DISTINCT j.paragraph_text, j.verdict, j.judge_model, j.coverage_score, c.passage_id"
        " FROM eval_judgments j JOIN eval_questions q ON q.id = j.question_id"
        " JOIN eval_citations c ON c.judgment_id = j.id WHERE q.system = 'assistant'"
    ).fetchall()
    store.close()
    assert rows == [("The bridge is red [1].", "supported", "gpt-4.1", None, "c1")]


def test_a_long_wait_is_told_while_it_lasts_and_in_the_summary(
    judged: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "_LONG_WAIT_S", 1.0)
    line = "judge: asked to wait 2 s (Retry-After)"
    with OpenAIServer(verdict) as server:
        server.script(*[rate_limited("2")] * 3)
        judge(judged, server)
        result = judged.run("-q")
    assert result.ret == 0, result.stdout.str()
    during, _, summary = result.stdout.str().partition("= touchstone =")
    assert during.count(line) == 1
    assert summary.count(f"note: {line}") == 1


def test_workers_make_exactly_the_calls_of_one_process(judged: Project) -> None:
    with OpenAIServer(verdict) as server:
        judge(judged, server)
        assert judged.spawn().code == 0
        alone, calls = scores(judged), len(server.requests)
        for file in (judged.folder / "reports").iterdir():
            file.unlink()
        ended = judged.spawn("-n2")
        assert ended.code == 0, ended.text
        assert len(server.requests) == 2 * calls
        assert scores(judged) == alone


BROKEN = {
    "judge_unreadable": completion("I would rather not say."),
    "judge_refused": completion(None, refusal="I cannot help with that."),
    "judge_truncated": completion('{"claims": [', finish_reason="length"),
    "judge_unreachable": Reply(500, b'{"error": {"message": "overloaded"}}'),
}


@pytest.mark.parametrize("reason", BROKEN)
def test_without_a_verdict_a_case_is_unscored_with_the_reason(judged: Project, reason: str) -> None:
    with OpenAIServer(lambda _: BROKEN[reason]) as server:
        judge(judged, server)
        result = judged.run("-q")
    assert result.ret == 0, result.stdout.str()
    for case in judged.report()["cases"]:
        if case["system"] == "assistant" and "Faithfulness" in case["scores"]:
            assert case["scores"]["Faithfulness"] is None
            assert case["reasons"]["Faithfulness"] == reason
    measures = {m["measure"]: m["system"] for m in judged.report()["measures"]}
    assert measures["Faithfulness"]["estimate"] is None
    assert measures["Faithfulness"]["unscored"] == {reason: 2}
    assert measures["Recall@5"]["estimate"] == 1


def test_without_a_judge_nothing_is_judged_and_the_reason_is_said(judged: Project) -> None:
    result = judged.run("-rs")
    result.stdout.fnmatch_lines(["*no judge is configured: set `judge` to a model that judges*"])
    assert result.ret == 0
    assert "Faithfulness" not in {m["measure"] for m in judged.report()["measures"]}


def test_a_model_does_not_judge_itself(judged: Project) -> None:
    with OpenAIServer(verdict) as server:
        judged.configure(generator={"model": "gpt-4.1-2025-04-14", "url": server.url})
        judge(judged, server)
        ended = judged.spawn()
        assert ended.code == 4
        assert "is the generator's model" in ended.text

        judged.configure(generator={})
        result = judged.run("--touchstone-system=own", "-q")
        assert result.ret == 1
        assert "a judge favours its own answers" in result.stdout.str()

        judge(judged, server, allow_same_model=True)
        assert judged.run("--touchstone-system=own", "-q").ret == 0
        assert judged.report()["snapshot"]["models"]["judge"]["same_model_allowed"] is True


def test_people_are_believed_before_the_judge(judged: Project) -> None:
    said = {"case": "s1", "measure": "Faithfulness", "annotator": "ann", "value": 0.25}
    line = said | {"answer_sha256": answer_digest("The bridge is red [1].")}
    judged.write("evaluation/annotations.jsonl", json.dumps(line) + "\n")
    with OpenAIServer(verdict) as server:
        judge(judged, server)
        assert judged.run("-q").ret == 0
    assert scores(judged)["s1 Faithfulness"] == 0.25
    assert scores(judged, "plain")["s1 Faithfulness"] == 0  # another answer, so the judge's word
    entry = next(m for m in judged.report()["measures"] if m["measure"] == "Faithfulness")
    assert entry["system"]["origin"] == {"human": 1, "judge": 1}

    judged.write("evaluation/annotations.jsonl", '{"case": "s1"}\n')
    ended = judged.spawn("-n2")
    assert ended.code == 4
    assert "annotations.jsonl:1: must have exactly the fields" in ended.text


def test_what_failed_and_was_paid_for_is_counted_and_asked_again_in_the_next_run(
    judged: Project,
) -> None:
    cut_off = completion('{"claims": [', finish_reason="length")
    with OpenAIServer(lambda _: completion(None, refusal="No.")) as server:
        judge(judged, server)
        judged.run("-q")
        assert judged.report()["cost"]["evaluation"]["calls"] == len(server.requests)
    with OpenAIServer(lambda _: cut_off) as server:
        judge(judged, server)
        judged.run("-q")
        assert judged.report()["cost"]["evaluation"]["usd"] > 0
        first = len(server.requests)
        judged.run("-q")
        assert len(server.requests) > first, "a reply that was cut off is no result to keep"


def test_a_server_that_speaks_no_http_costs_the_verdicts_alone(judged: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=babble, args=(listener,), daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        judged.configure(judge={"model": "gpt-4.1", "url": url, "tries": 1})
        result = judged.run("-q")
    assert result.ret == 0, result.stdout.str()
    assert scores(judged)["s1 Recall@5"] == 1
    assert scores(judged)["s1 Faithfulness"] is None
    result.stdout.fnmatch_lines(["Unscored: Faithfulness: judge_unreachable 2; s1: *"])


def babble(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            connection.recv(65536)
            connection.sendall(b"garbage, not http\r\n\r\n")
            connection.close()


def test_nobody_waits_for_ever_for_a_judge_that_is_not_there(
    judged: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_calls, "_FAILURES_TOLERATED", 3)
    with OpenAIServer(lambda _: error(401, "no such key")) as server:
        judge(judged, server, concurrency=1)
        result = judged.run("-q")
        assert result.ret == 0
        assert len(server.requests) == 3
    assert "not asked: the judge failed 3 times in a row" in str(judged.report()["cases"])


def test_the_steps_of_the_ladder_are_not_judged_unless_asked_for(judged: Project) -> None:
    impossible = {"filters": {"year": "1900"}, "behavior": ["admitted"]}
    judged.gold([GOLD[0] | impossible])
    judged.configure(
        variants=["own"], systems=judged.settings["systems"] | {"own": {"ask": "app:plain"}}
    )
    for asked in (False, True):
        with OpenAIServer(verdict) as server:
            judge(judged, server, variants=asked)
            assert judged.run("-q").ret == 0
        own = scores(judged, "own")
        assert ("s1 Faithfulness" in own) is asked
        assert own["s1 Recall@5"] == 1
