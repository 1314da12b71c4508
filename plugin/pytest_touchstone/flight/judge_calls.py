"""The judge's calls: within limits, each made once, counted and priced."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pytest_touchstone.flight.shared import SharedCalls
from pytest_touchstone.judge.llm import ChatRequest
from pytest_touchstone.llm.chat import Chat, Completion
from pytest_touchstone.store.run import RunStore
from pytest_touchstone.trace import Usage

Cost = Callable[[Sequence[Usage] | None], tuple[float | None, str | None]]


class JudgeCalls:
    """Answers the judge's requests, from the store where an equal one was answered before.

    :param server: where the model is served, without credentials.
    :param cost: US dollars of a call.
    """

    def __init__(
        self, chat: Chat, server: str, shared: SharedCalls, run: RunStore, cost: Cost
    ) -> None:
        self._chat = chat
        self._server = server
        self._shared = shared
        self._run = run
        self._cost = cost
        self._hits = 0

    async def ask(self, request: ChatRequest) -> Completion:
        """The completion of a request.

        :raises ChatError: where there is none.
        """
        key = self._key(request)
        found = await self._shared.once(key, lambda: self._made(key, request))
        self._hits += not found.made
        return _completion(found.result)

    def note_hits(self) -> None:
        """Keep how many results were there already."""
        self._run.note("judge_hits", self._run.owner, self._hits)

    def _key(self, request: ChatRequest) -> str:
        """Everything that can change the reply: endpoint, model, prompt, data, parameters."""
        parts = ["judge", self._server, self._chat.model, request.canonical()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    async def _made(self, key: str, request: ChatRequest) -> Mapping[str, Any]:
        completion = await self._chat.complete(
            request.messages, schema=request.schema, **request.params
        )
        usage = completion.usage
        usd, _ = self._cost(None if usage is None else [usage])
        call = {"usd": usd, "usage": None if usage is None else asdict(usage)}
        self._run.note("judge_call", key, call)
        if completion.fingerprint:
            self._run.note("judge_fingerprint", completion.fingerprint, completion.model)
        return asdict(completion)


def _completion(result: Mapping[str, Any]) -> Completion:
    usage = result["usage"]
    return Completion(**{**result, "usage": None if usage is None else Usage(**usage)})
