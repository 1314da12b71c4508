"""The judge that is a model, against a server on loopback that speaks the wire format."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from injections import INJECTIONS
from judging import SAMPLES, Sample, judge_prompts, tasks_about
from servers.loopback import Reply
from servers.openai import (
    DROP,
    HANG,
    OpenAIServer,
    completion,
    error,
    garbage,
    no_choices,
    rate_limited,
)

from pytest_touchstone.judge.llm import ChatRequest, LLMJudge
from pytest_touchstone.judge.protocol import Judge, Judged
from pytest_touchstone.judge.tasks import RelevanceTask, Task
from pytest_touchstone.llm.chat import Chat, Completion
from pytest_touchstone.llm.prompts import PromptError, load_prompt
from pytest_touchstone.trace import Message, Usage
from pytest_touchstone.verdicts import BehaviourVerdict, NoVerdict, Quotation, Relevance

PROMPTS = judge_prompts()
every_sample = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)


def judged(server: OpenAIServer, *tasks: Task[Any], timeout: float = 30.0) -> list[Judged[Any]]:
    """What a judge behind this server makes of the tasks, one after the other."""

    async def run() -> list[Judged[Any]]:
        chat = Chat("judge", url=server.url, timeout=timeout)

        async def ask(request: ChatRequest) -> Completion:
            return await chat.complete(request.messages, schema=request.schema, **request.params)

        judge: Judge = LLMJudge(ask, PROMPTS)
        try:
            return [await judge.judge(task) for task in tasks]
        finally:
            await chat.aclose()

    return asyncio.run(run())


def body(data: Any) -> Reply:
    return completion(json.dumps(data))


@every_sample
def test_each_task_end_to_end(sample: Sample) -> None:
    with OpenAIServer(lambda _: json.dumps(sample.reply)) as server:
        [got] = judged(server, sample.task)
    usage = Usage("judge", 100, 40, 10)
    assert got == Judged(sample.verdict, None, (usage,), "stub-2026-01-01", "fp_stub")
    [request] = server.requests
    prompt = PROMPTS[sample.task.prompt]
    assert request.json["messages"] == [
        {"role": "user", "content": prompt.fill(**sample.task.data)}
    ]
    assert (request.json["temperature"], request.json["seed"]) == (0, 1)
    assert request.json["max_tokens"] == prompt.params["max_tokens"]
    form = request.json["response_format"]
    assert form["json_schema"] == {"name": "reply", "strict": True, "schema": prompt.schema}


TASK = SAMPLES["relevance"].task
GOOD = SAMPLES["relevance"].reply
VERDICT = SAMPLES["relevance"].verdict
TONE = SAMPLES["tone"]


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{json.dumps(GOOD, indent=1)}\n```",
        f"Here are the verdicts.\n\n{json.dumps(GOOD)}\n\nLet me know!",
    ],
)
def test_a_reply_in_a_fence_or_in_prose_is_read_at_once(text: str) -> None:
    with OpenAIServer(lambda _: text) as server:
        [got] = judged(server, TASK)
    assert got.verdict == VERDICT
    assert len(server.requests) == 1


FAULTY = {
    "invalid JSON": ('{"verdicts": [', "no complete JSON object"),
    "prose": ("I cannot judge this.", "no complete JSON object"),
    "missing": (json.dumps({"verdicts": GOOD["verdicts"][:1]}), "missing: 2"),
    "surplus": (
        json.dumps({"verdicts": [*GOOD["verdicts"], {**GOOD["verdicts"][0], "passage": 3}]}),
        "not asked: 3",
    ),
    "twice": (json.dumps({"verdicts": GOOD["verdicts"] * 2}), "more than once: 1, 2"),
    "label": (json.dumps(GOOD).replace("partly", "somewhat"), "not one of relevant, partly"),
    "two objects": (json.dumps(GOOD) + "{}", "several JSON objects"),
}


@pytest.mark.parametrize(("text", "says"), FAULTY.values(), ids=FAULTY)
def test_an_unreadable_reply_is_asked_again_with_its_fault_named(text: str, says: str) -> None:
    with OpenAIServer() as server:
        server.script(completion(text), body(GOOD))
        [got] = judged(server, TASK)
    assert (got.verdict, got.failure, len(got.calls)) == (VERDICT, None, 2)
    first, second = (request.json["messages"] for request in server.requests)
    assert second[:2] == [*first, {"role": "assistant", "content": text}]
    assert second[2]["role"] == "user"
    assert says in second[2]["content"]


@pytest.mark.parametrize(("text", "says"), FAULTY.values(), ids=FAULTY)
def test_a_reply_that_stays_unreadable_is_no_verdict(text: str, says: str) -> None:
    with OpenAIServer(lambda _: text) as server:
        [got] = judged(server, TASK)
    assert got.verdict is None
    assert got.failure is not None
    assert got.failure.reason == "judge_unreadable"
    assert says in got.failure.why
    assert len(got.calls) == len(server.requests) == 2


@pytest.mark.parametrize("score", [0, 6, 3.5, "5", True, None])
def test_a_score_out_of_range_is_never_mended(score: object) -> None:
    reply = {**TONE.reply, "caution": {"rationale": "x", "score": score}}
    with OpenAIServer(lambda _: json.dumps(reply)) as server:
        [got] = judged(server, TONE.task)
    assert got.verdict is None
    assert got.failure is not None
    assert got.failure.reason == "judge_unreadable"


ENDS = {
    "length": (completion('{"verdicts": [', finish_reason="length"), "judge_truncated", "max_tok"),
    "length, but complete": (
        completion(json.dumps(GOOD), finish_reason="length"), "judge_truncated", "max_tokens"
    ),
    "length before any text": (completion("", finish_reason="length"), "judge_truncated", "max_"),
    "refusal": (completion(None, refusal="I can't."), "judge_refused", "I can't."),
    "content filter": (completion("", finish_reason="content_filter"), "judge_refused", "filter"),
    "content filter, 400": (
        error(400, "filtered", code="content_filter"), "judge_refused", "filtered"
    ),
    "empty choices": (no_choices(), "judge_unreadable", "no choices"),
    "empty content": (completion(" "), "judge_unreadable", "no content"),
    "no JSON at all": (garbage(), "judge_unreadable", "not JSON"),
    "429": (rate_limited(), "judge_unreachable", "HTTP 429"),
    "429 with Retry-After": (rate_limited("7"), "judge_unreachable", "HTTP 429"),
    "500": (error(500, "boom"), "judge_unreachable", "boom"),
    "503": (Reply(503, b"<html>busy</html>"), "judge_unreachable", "HTTP 503"),
    "unknown model": (
        error(404, "The model `judge` does not exist"), "judge_unreachable", "does not exist"
    ),
    "wrong key": (error(401, "Incorrect API key"), "judge_unreachable", "Incorrect API key"),
    "too long": (error(400, "maximum context length is 10"), "judge_unreachable", "context length"),
    "dropped": (DROP, "judge_unreachable", "no connection"),
    "hung": (HANG, "judge_unreachable", "no reply within 0.3 s"),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "reason", "says"), ENDS.values(), ids=ENDS)
def test_every_failure_has_its_reason_and_is_not_asked_again(
    reply: Reply, reason: str, says: str
) -> None:
    with OpenAIServer(lambda _: json.dumps(GOOD)) as server:
        server.script(reply)
        got, after = judged(server, TASK, TASK, timeout=0.3 if reply is HANG else 30)
    assert got.verdict is None
    assert got.failure is not None
    assert got.failure.reason == reason
    assert says in got.failure.why
    assert len(got.failure.why.splitlines()) == 1
    assert after.verdict == VERDICT
    assert len(server.requests) == 2


def test_tokens_of_a_reply_that_was_cut_off_are_counted() -> None:
    with OpenAIServer() as server:
        server.script(
            completion("", finish_reason="length", usage=(50, 0, 800)),
            completion("{", finish_reason="length", usage=(50, 0, 900)),
            completion(json.dumps(GOOD), usage=None),
        )
        first, second, third = judged(server, TASK, TASK, TASK)
    assert first.calls == (Usage("judge", 50, 0, 800),)
    assert second.calls == (Usage("judge", 50, 0, 900),)
    assert third.calls == (None,)


QUOTING = SAMPLES["behaviour"]
INVENTED = {**QUOTING.reply, "quotation": "Inget för 2030"}


def test_a_quotation_that_does_not_occur_is_asked_again_once() -> None:
    with OpenAIServer() as server:
        server.script(body(INVENTED), body(QUOTING.reply))
        [got] = judged(server, QUOTING.task)
    assert got.verdict == QUOTING.verdict
    assert len(got.calls) == 2
    asked = server.requests[1].json["messages"][2]["content"]
    assert "not found word for word" in asked
    assert "Inget för 2030" in asked


AFTER = {
    "again": body(INVENTED),
    "unreadable": completion("Sorry!"),
    "500": error(500, "boom"),
    "cut off": completion("{", finish_reason="length"),
}


@pytest.mark.parametrize("second", AFTER.values(), ids=AFTER)
def test_a_quotation_that_is_still_not_found_is_kept_and_marked(second: Reply) -> None:
    with OpenAIServer() as server:
        server.script(body(INVENTED), second)
        [got] = judged(server, QUOTING.task)
    quotation = Quotation("Inget för 2030", False)
    assert got.verdict == BehaviourVerdict("admitted", "Medger.", quotation)
    assert got.failure is None
    assert len(server.requests) == 2


@pytest.mark.parametrize("knows", ["json_object", "none"])
def test_servers_without_schema_or_without_json_mode(knows: str) -> None:
    def answer(request: Mapping[str, Any]) -> Reply | str:
        form = request.get("response_format", {}).get("type", "none")
        if form in (knows, "none"):
            return f"Sure!\n```json\n{json.dumps(GOOD)}\n```"
        return error(400, f"response_format.type: '{form}' is not one of ['text']")

    with OpenAIServer(answer) as server:
        got = judged(server, TASK, TASK)
    assert [one.verdict for one in got] == [VERDICT] * 2
    tried = 2 if knows == "json_object" else 3
    assert len(server.requests) == tried + 1
    assert "json" in server.requests[-1].json["messages"][0]["content"].casefold()


def test_a_settled_task_asks_nobody() -> None:
    with OpenAIServer() as server:
        [got] = judged(server, RelevanceTask("q", ()))
    assert got == Judged(Relevance(()))
    assert server.requests == []


def test_every_injection_travels_and_comes_back_as_data() -> None:
    with OpenAIServer(lambda request: request["messages"][0]["content"]) as server:
        tasks = [task for text in INJECTIONS for task in tasks_about(text)[1:3]]
        got = judged(server, *tasks)
    assert {one.failure.reason for one in got if one.failure} == {"judge_unreadable"}
    assert [one.verdict for one in got] == [None] * len(tasks)


def test_a_request_has_one_canonical_form() -> None:
    messages = (Message("user", "Å\u2028"),)
    one = ChatRequest(messages, {"seed": 1, "temperature": 0}, {"type": "object", "a": 1})
    same = ChatRequest(messages, {"temperature": 0, "seed": 1}, {"a": 1, "type": "object"})
    assert one.canonical() == same.canonical()
    assert json.loads(one.canonical()) == {
        "messages": [["user", "Å\u2028"]],
        "params": {"seed": 1, "temperature": 0},
        "schema": {"a": 1, "type": "object"},
    }
    others = [
        ChatRequest((Message("assistant", "Å\u2028"),), one.params, one.schema),
        ChatRequest(messages, {"seed": 2, "temperature": 0}, one.schema),
        ChatRequest(messages, one.params),
    ]
    assert len({request.canonical() for request in [one, *others]}) == 4


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (None, "judge_tone: is missing"),
        ("---\nname: judge_tone\nversion: 1\nschema: {}\n---\n{answer}", "answer, question"),
        ("---\nname: judge_tone\nversion: 1\n---\n{answer} {question}", "lacks the `schema`"),
    ],
)
def test_unusable_prompts_are_refused_before_anything_is_asked(
    change: str | None, says: str
) -> None:
    async def ask(request: ChatRequest) -> Completion:
        raise AssertionError

    prompts = {name: prompt for name, prompt in PROMPTS.items() if name != "judge_tone"}
    if change is not None:
        prompts["judge_tone"] = load_prompt(change)
    with pytest.raises(PromptError, match=says):
        LLMJudge(ask, prompts)


def test_no_verdict_names_only_known_reasons() -> None:
    reasons = {reason for _, reason, _ in ENDS.values()} | {"no_judge"}
    assert all(reason in (NoVerdict.__doc__ or "") for reason in reasons)
