"""The chat client against a server on loopback: what it sends, reads, and how it fails."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
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

from pytest_touchstone.llm.chat import Chat, ChatError, Completion, open_chat, redacted, retry_after
from pytest_touchstone.llm.wire import LONGEST_REPLY
from pytest_touchstone.settings import GeneratorSettings
from pytest_touchstone.trace import Message, Usage

KEY = "sk-this-is-the-secret"
HELLO = [Message("user", "Hej")]


def ask(chat: Chat, *calls: dict[str, Any]) -> list[Completion]:
    """The completions of these calls, one after the other, on one loop."""

    async def run() -> list[Completion]:
        try:
            return [await chat.complete(HELLO, **params) for params in calls or ({},)]
        finally:
            await chat.aclose()

    return asyncio.run(run())


def failure(server: OpenAIServer, **options: Any) -> ChatError:
    with pytest.raises(ChatError) as caught:
        ask(Chat("m", url=server.url, api_key=KEY, **options))
    return caught.value


def test_a_completion_with_usage_as_openai_sends_it() -> None:
    with OpenAIServer(
        lambda _: completion(" Ja, [1]. ", usage=(120, 100, 7)), api_key=KEY
    ) as server:
        settings = GeneratorSettings(model="small", url=server.url, api_key=SecretStr(KEY))
        [got] = ask(open_chat(settings))
    assert got == Completion(
        "Ja, [1].", Usage("small", 120, 100, 7), "stop", "fp_stub", "stub-2026-01-01"
    )
    [request] = server.requests
    assert request.json == {
        "model": "small",
        "messages": [{"role": "user", "content": "Hej"}],
        "temperature": 0.0,
        "max_tokens": 800,
    }


@pytest.mark.parametrize("end", ["", "/"])
def test_what_the_sdk_sends_with_a_request_is_sent(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.delenv("OPENAI_PROJECT_ID", raising=False)
    with OpenAIServer(api_key=KEY) as server:
        ask(Chat("m", url=server.url + end, api_key=KEY), {}, {})
    assert [request.path for request in server.requests] == ["/v1/chat/completions"] * 2
    for request in server.requests:
        assert request.headers["openai-organization"] == "org-1"
        assert "openai-project" not in request.headers
        assert request.headers["content-type"] == request.headers["accept"] == "application/json"
        assert "openai" in request.headers["user-agent"].casefold()


def test_a_reply_in_another_encoding_than_json_has_is_read_as_its_headers_say() -> None:
    body = '{"choices": [{"message": {"content": "på bron"}}]}'.encode("latin-1")
    with OpenAIServer() as server:
        server.script(Reply(body=body, headers={"Content-Type": "text/json; charset=latin-1"}))
        [got] = ask(Chat("m", url=server.url))
    assert got.text == "på bron"


def test_messages_with_other_roles_and_parameters_of_one_call_pass_through() -> None:
    with OpenAIServer() as server:
        chat = Chat("m", url=server.url, temperature=0.0)

        async def run() -> None:
            await chat.complete(
                [{"role": "system", "content": "x"}, *HELLO], seed=7, temperature=None
            )
            await chat.aclose()

        asyncio.run(run())
    assert server.requests[0].json == {
        "model": "m",
        "messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "Hej"}],
        "seed": 7,
    }


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (b'{"prompt_tokens": 9, "completion_tokens": 2}', Usage("m", 9, 0, 2)),
        (
            b'{"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": null}',
            Usage("m", 9, 0, 2),
        ),
        (b'{"prompt_tokens": null, "completion_tokens": 2}', None),
        (b'{"prompt_tokens": true, "completion_tokens": 2}', None),
        (b'{"prompt_tokens": -1, "completion_tokens": 2}', None),
        (b"null", None),
        (b"[]", None),
    ],
)
def test_usage_is_what_the_server_counted_or_nothing(usage: bytes, expected: Usage | None) -> None:
    body = b'{"choices": [{"message": {"content": "x"}}], "usage": ' + usage + b"}"
    with OpenAIServer() as server:
        server.script(Reply(body=body))
        [got] = ask(Chat("m", url=server.url))
    assert got == Completion("x", expected)


def test_an_answer_that_is_cut_off_is_an_answer() -> None:
    with OpenAIServer() as server:
        server.script(completion("Ja, men", finish_reason="length"))
        [got] = ask(Chat("m", url=server.url))
    assert (got.text, got.finish_reason) == ("Ja, men", "length")


def test_text_that_could_not_be_written_down_is_mended() -> None:
    body = b'{"choices": [{"message": {"content": "a\\ud800b\\u0000c"}}]}'
    with OpenAIServer() as server:
        server.script(Reply(body=body))
        [got] = ask(Chat("m", url=server.url))
    assert got.text == "a?bc"


QUOTA = error(429, "You exceeded your current quota", code="insufficient_quota")
CASES = [
    (rate_limited(), "rate_limited", True),
    (QUOTA, "rate_limited", False),
    (error(500, "boom"), "server_error", True),
    (Reply(503, b"<html>busy</html>", {"Content-Type": "text/html"}), "server_error", True),
    (HANG, "timeout", True),
    (error(408, "too slow"), "timeout", True),
    (DROP, "connection", True),
    (garbage(), "bad_reply", True),
    (Reply(body=b"ok", headers={"Content-Type": "text/plain"}), "bad_reply", True),
    (Reply(body=b"[]"), "bad_reply", True),
    (Reply(body=b'{"choices": [{"message": null}]}'), "bad_reply", True),
    (Reply(body=b'{"choices": [7]}'), "bad_reply", True),
    (no_choices(), "bad_reply", True),
    (completion(None), "bad_reply", True),
    (completion(" \n"), "bad_reply", True),
    (completion("", finish_reason="length"), "truncated", False),
    (completion("A part", finish_reason="content_filter"), "refused", False),
    (completion(None, refusal="I can't help with that."), "refused", False),
    (error(400, "The prompt was filtered", code="content_filter"), "refused", False),
    (error(401, "No auth"), "unauthorized", False),
    (error(403, "Not yours"), "unauthorized", False),
    (error(404, "The model `m` does not exist", code="model_not_found"), "unknown_model", False),
    (error(400, "max context length is 4096 tokens"), "bad_request", False),
    (error(422, "unprocessable"), "bad_request", False),
]


@pytest.mark.parametrize(("reply", "kind", "retryable"), CASES)
def test_every_failure_has_a_kind_and_is_tried_once(
    reply: Reply, kind: str, retryable: bool
) -> None:
    with OpenAIServer() as server:
        server.script(reply)
        fault = failure(server, timeout=0.3 if reply is HANG else 30)
    assert (fault.kind, fault.retryable) == (kind, retryable)
    assert fault.message.startswith("m at 127.0.0.1:")
    assert len(fault.message.splitlines()) == 1
    assert len(server.requests) == 1


def test_a_port_where_nobody_listens_is_a_connection_fault() -> None:
    with OpenAIServer() as server:
        pass
    fault = failure(server)
    assert (fault.kind, fault.retryable) == ("connection", True)


def test_tokens_of_an_answer_that_never_came_are_still_paid_for() -> None:
    with OpenAIServer() as server:
        server.script(completion("", finish_reason="length", usage=(50, 0, 800)))
        fault = failure(server)
    assert fault.usage == Usage("m", 50, 0, 800)
    assert "max_tokens" in fault.message


def test_retry_after_reaches_the_caller() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    with OpenAIServer() as server:
        server.script(rate_limited("7"), rate_limited(later), rate_limited("soon"))
        waits = [failure(server).retry_after for _ in range(3)]
    assert waits[0] == 7
    assert waits[1] is not None
    assert 3500 < waits[1] <= 3600
    assert waits[2] is None


def test_a_date_is_read_by_the_servers_own_clock() -> None:
    ahead = datetime.now(UTC) + timedelta(days=3)
    until = format_datetime(ahead + timedelta(seconds=40), usegmt=True)
    refusal = rate_limited(until)
    refusal.headers["Date"] = format_datetime(ahead, usegmt=True)
    with OpenAIServer() as server:
        server.script(refusal)
        assert failure(server).retry_after == 40


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("0", 0),
        ("1.5", 1.5),
        ("Sun, 01 Nov 2026 00:00:30 GMT", 30),
        ("Sun, 01 Nov 2026 00:00:30", 30),
        ("Sat, 31 Oct 2026 00:00:00 GMT", 0),
        ("\x1f1", 1),
        ("1000000000", 999_999_999),
        ("9" * 400, 999_999_999),
        ("-3", None),
        ("nan", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, datetime(2026, 11, 1, tzinfo=UTC)) == seconds


@given(st.text())
def test_any_retry_after_is_a_wait_or_none(header: str) -> None:
    wait = retry_after(header, datetime(2026, 11, 1, tzinfo=UTC))
    assert wait is None or 0 <= wait < float("inf")


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_loses_the_request_is_not_followed(status: int) -> None:
    with OpenAIServer() as server:
        target = "https://me:secret-word@other.example:8443/v1/chat/completions?token=secret-word"
        server.script(Reply(status, b"Moved.", {"Location": target}))
        fault = failure(server)
        server.script(Reply(status, b"Moved.", {"Location": "/v2/chat/completions"}))
        near = failure(server)
        assert len(server.requests) == 2
    assert (fault.kind, fault.retryable) == ("bad_request", False)
    assert f"HTTP {status}: the server redirects to other.example:8443;" in fault.message
    assert "secret-word" not in fault.message
    assert "redirects to another path of the same host;" in near.message


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_that_keeps_the_request_is_followed_without_the_key(status: int) -> None:
    with OpenAIServer() as server, OpenAIServer() as other:
        server.script(Reply(status, b"", {"Location": f"{other.url}/chat/completions"}))
        [got] = ask(Chat("m", url=server.url, api_key="sk-canary-1"))
        [first], [second] = server.requests, other.requests
    assert got.text == "An answer [1]."
    assert second.json == first.json
    assert "authorization" in first.headers
    assert "authorization" not in second.headers


def test_redirects_in_a_circle_end() -> None:
    with OpenAIServer() as server:
        circle = Reply(307, b"", {"Location": f"{server.url}/chat/completions"})
        server.script(*[circle] * 20)
        fault = failure(server)
        assert len(server.requests) == 6
    assert fault.kind == "connection"
    assert "more than 5 redirects" in fault.message


def test_a_reply_of_boundless_length_is_not_read_to_its_end() -> None:
    padding = b" " * (LONGEST_REPLY + 1)
    with OpenAIServer() as server:
        server.script(Reply(body=padding), Reply(500, padding), completion("x" * 1_000_000))
        faults = [failure(server) for _ in range(2)]
        [got] = ask(Chat("m", url=server.url))
    assert [fault.kind for fault in faults] == ["bad_reply", "server_error"]
    assert "the reply is longer than 8 MB" in faults[0].message
    assert len(got.text) == 1_000_000


def test_a_key_never_stands_in_a_message_or_a_traceback() -> None:
    with OpenAIServer(api_key="another") as server:
        fault = failure(server)
    assert fault.kind == "unauthorized"
    assert "***" in fault.message
    assert KEY not in repr(fault)
    assert fault.__cause__ is None
    assert fault.__context__ is None or fault.__suppress_context__


@pytest.mark.parametrize(
    "text",
    [f"bad key {KEY}!", "key sk-proj-abcdef123456 refused", "Authorization: Bearer abcdefgh12345"],
)
def test_what_looks_like_a_key_is_masked(text: str) -> None:
    masked = redacted(text, KEY)
    assert "***" in masked
    assert not {"secret", "abcdef123456", "abcdefgh12345"} & set(masked.replace("-", " ").split())
    assert KEY not in masked


def test_ordinary_words_are_not_masked() -> None:
    text = "The risk-management task-force asked; no key is set."
    assert redacted(text, None) == text
    assert redacted("none of it", "none") == "none of it"
    assert len(redacted("x" * 5000, None)) == 300


def reasoning_model(request: Any) -> Reply | str:
    """Refuses what OpenAI's reasoning models refuse, in their words."""
    if "max_tokens" in request:
        return error(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model."
            " Use 'max_completion_tokens' instead.",
            code="unsupported_parameter",
            param="max_tokens",
        )
    if "temperature" in request:
        return error(
            400,
            "Unsupported value: 'temperature' does not support 0 with this model."
            " Only the default (1) value is supported.",
            code="unsupported_value",
            param="temperature",
        )
    return "Ja."


def test_a_model_that_refuses_parameters_is_asked_as_it_wants_and_that_is_remembered() -> None:
    with OpenAIServer(reasoning_model) as server:
        chat = Chat("m", url=server.url, temperature=0.0, max_tokens=50)
        got = ask(chat, {}, {}, {"max_tokens": 70})
    assert [one.text for one in got] == ["Ja."] * 3
    sent = [
        {k: v for k, v in r.json.items() if k not in ("model", "messages")} for r in server.requests
    ]
    assert sent == [
        {"temperature": 0.0, "max_tokens": 50},
        {"temperature": 0.0, "max_completion_tokens": 50},
        {"max_completion_tokens": 50},
        {"max_completion_tokens": 50},
        {"max_completion_tokens": 70},
    ]


SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
STRICT = {
    "type": "json_schema",
    "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
}


def knows(*forms: str, says: str) -> Callable[[Any], Reply | str]:
    """A server that refuses every form of reply but these."""

    def answer(request: Any) -> Reply | str:
        form = request.get("response_format", {}).get("type", "none")
        return "{}" if form in (*forms, "none") else error(400, says.format(form))

    return answer


@pytest.mark.parametrize(
    ("forms", "says", "tried"),
    [
        (["json_schema"], "", [STRICT, STRICT]),
        (
            ["json_object"],
            "Invalid parameter: 'response_format' of type '{}' is not supported with this model.",
            [STRICT, {"type": "json_object"}, {"type": "json_object"}],
        ),
        ([], "Unknown field: response_format", [STRICT, {"type": "json_object"}, None, None]),
        ([], "failed to parse grammar", [STRICT, {"type": "json_object"}, None, None]),
    ],
)
def test_a_schema_is_sent_in_the_strictest_form_that_the_server_knows(
    forms: list[str], says: str, tried: list[Any]
) -> None:
    with OpenAIServer(knows(*forms, says=says)) as server:
        ask(Chat("m", url=server.url), {"schema": SCHEMA}, {"schema": SCHEMA})
    assert [request.json.get("response_format") for request in server.requests] == tried


def test_calls_refused_together_fall_back_together() -> None:
    with OpenAIServer(knows("json_object", says="no response_format {}")) as server:
        chat = Chat("m", url=server.url)

        async def run() -> list[Completion]:
            calls = [chat.complete(HELLO, schema=SCHEMA) for _ in range(10)]
            try:
                return await asyncio.gather(*calls)
            finally:
                await chat.aclose()

        got = asyncio.run(run())
    assert len(got) == 10
    forms = {request.json["response_format"]["type"] for request in server.requests}
    assert forms == {"json_schema", "json_object"}


@pytest.mark.parametrize(
    "says",
    [
        "Unrecognized request argument supplied: seed",
        "Unsupported parameter: 'seed' is not supported with this model.",
        '{"detail":[{"type":"extra_forbidden","loc":["body","seed"]}]}',
    ],
)
def test_a_server_that_knows_no_seed_is_asked_without(says: str) -> None:
    with OpenAIServer(lambda r: error(422, says) if "seed" in r else "Ja.") as server:
        ask(Chat("m", url=server.url), {"seed": 1, "temperature": 0}, {"seed": 1})
    assert [
        sorted(request.json.keys() & {"seed", "temperature"}) for request in server.requests
    ] == [
        ["seed", "temperature"],
        ["temperature"],
        [],
    ]


@pytest.mark.parametrize(
    "message", ["temperature must be at most 2", "max_tokens is too large: 99999"]
)
def test_a_value_out_of_range_is_the_user_s_to_mend(message: str) -> None:
    with OpenAIServer(lambda _: error(400, message)) as server:
        fault = failure(server, temperature=3.0, max_tokens=99999)
    assert fault.kind == "bad_request"
    assert message in fault.message
    assert len(server.requests) == 1


def test_many_calls_share_one_client_and_are_in_flight_together() -> None:
    import threading

    together = threading.Barrier(20)

    def wait_for_all(request: Any) -> str:
        together.wait(30)
        return "Ja."

    # The client is made here, outside of the loop that uses it, as a run makes it.
    with OpenAIServer(wait_for_all) as server:
        chat = Chat("m", url=server.url)

        async def run() -> list[Completion]:
            calls: list[Coroutine[Any, Any, Completion]] = [chat.complete(HELLO) for _ in range(20)]
            try:
                return await asyncio.gather(*calls)
            finally:
                await chat.aclose()

        got = asyncio.run(run())
    assert [one.text for one in got] == ["Ja."] * 20


def test_a_call_can_be_cancelled() -> None:
    with OpenAIServer() as server:
        server.script(HANG)
        chat = Chat("m", url=server.url)

        async def run() -> None:
            try:
                async with asyncio.timeout(0.05):
                    await chat.complete(HELLO)
            finally:
                await chat.aclose()

        with pytest.raises(TimeoutError):
            asyncio.run(run())


def test_an_sdk_without_aiohttp_uses_its_own_transport(monkeypatch: pytest.MonkeyPatch) -> None:
    import openai

    def missing(**_: Any) -> None:
        raise RuntimeError("install the aiohttp extra")

    monkeypatch.setattr(openai, "DefaultAioHttpClient", missing)
    with OpenAIServer() as server:
        [got] = ask(Chat("m", url=server.url))
        server.script(DROP)
        assert failure(server).kind == "connection"
        server.script(HANG)
        assert failure(server, timeout=0.2).kind == "timeout"
    assert got.text == "An answer [1]."


def test_the_openai_client_that_is_not_installed_is_named_with_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ChatError, match=r"pip install 'pytest-touchstone\[openai\]'") as caught:
        Chat("m")
    assert (caught.value.kind, caught.value.retryable) == ("not_installed", False)
