"""A server that speaks the wire format of OpenAI's chat completions and embeddings."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .loopback import LoopbackServer, Reply

DIMENSIONS = 16
Answerer = Callable[[Mapping[str, Any]], Reply | str]
"""From the request's JSON to a reply; a string is a completion of that text."""


@dataclass(frozen=True)
class Request:
    """One request, as it came."""

    path: str
    headers: Mapping[str, str]
    json: Mapping[str, Any]


def completion(
    text: str | None,
    *,
    finish_reason: str = "stop",
    usage: tuple[int, int, int] | None = (100, 40, 10),
    refusal: str | None = None,
    model: str = "stub-2026-01-01",
) -> Reply:
    """A chat completion; ``usage`` is (input, of which cached, output) tokens or ``None``."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1790000000,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
                "logprobs": None,
                "finish_reason": finish_reason,
            }
        ],
        "system_fingerprint": "fp_stub",
    }
    if usage is not None:
        body["usage"] = {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[2],
            "total_tokens": usage[0] + usage[2],
            "prompt_tokens_details": {"cached_tokens": usage[1], "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        }
    return Reply(body=json.dumps(body).encode())


def error(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    retry_after: str | None = None,
) -> Reply:
    """An error in OpenAI's envelope."""
    body = {
        "error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    }
    headers = {"Content-Type": "application/json"}
    if retry_after is not None:
        headers["Retry-After"] = retry_after
    return Reply(status, json.dumps(body).encode(), headers)


def rate_limited(retry_after: str | None = None) -> Reply:
    """HTTP 429."""
    return error(429, "Rate limit reached for requests", code="rate_limit_exceeded",
                 retry_after=retry_after)  # fmt: skip


def garbage() -> Reply:
    """Status 200 and a body that is not JSON."""
    return Reply(body=b'{"choices": [')


def no_choices() -> Reply:
    """A completion without any choice."""
    return Reply(body=b'{"object": "chat.completion", "model": "stub", "choices": []}')


HANG = Reply(hang=True)
DROP = Reply(drop=True)


class OpenAIServer(LoopbackServer):
    """Replies in the order scripted, then by ``answerer``; remembers what it was asked.

    :param answerer: the default reply of chat completions.
    :param api_key: where given, requests without it get a 401 that repeats the key sent, as
        OpenAI's does in part.
    """

    def __init__(
        self, answerer: Answerer = lambda _: "An answer [1].", *, api_key: str | None = None
    ) -> None:
        super().__init__()
        self.requests: list[Request] = []
        self._answerer = answerer
        self._api_key = api_key
        self._scripted: deque[Reply] = deque()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"{self.address}/v1"

    def script(self, *replies: Reply) -> None:
        """Send these replies to the next requests, in this order, whatever they ask."""
        self._scripted.extend(replies)

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        """See :class:`LoopbackServer`."""
        data = json.loads(body) if body else {}
        with self._lock:
            self.requests.append(Request(path, headers, data))
            scripted = self._scripted.popleft() if self._scripted else None
        sent_key = headers.get("authorization", "").removeprefix("Bearer ")
        if scripted is not None:
            return scripted
        if self._api_key is not None and sent_key != self._api_key:
            return error(401, f"Incorrect API key provided: {sent_key}.", code="invalid_api_key")
        if path == "/v1/embeddings":
            return _embeddings(data)
        if path != "/v1/chat/completions":
            return error(404, f"Invalid URL (POST {path})")
        reply = self._answerer(data)
        return completion(reply) if isinstance(reply, str) else reply


def vector(text: str) -> list[float]:
    """The embedding of a text: random, not of length 1, always the same."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return [float(x) for x in np.random.default_rng(seed).normal(size=DIMENSIONS)]


def _embeddings(data: Mapping[str, Any]) -> Reply:
    texts = [data["input"]] if isinstance(data["input"], str) else data["input"]
    rows = []
    for index, text in enumerate(texts):
        values: Any = vector(text)
        if data.get("encoding_format") == "base64":
            values = base64.b64encode(np.array(values, "<f4").tobytes()).decode()
        rows.append({"object": "embedding", "index": index, "embedding": values})
    # Out of order on purpose: `index` says which text a row belongs to.
    body = {
        "object": "list",
        "data": rows[::-1],
        "model": data["model"],
        "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)},
    }
    return Reply(body=json.dumps(body).encode())
