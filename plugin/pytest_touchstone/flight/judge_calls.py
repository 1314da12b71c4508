"""The judge's calls: within limits, each made once, counted and priced."""

from __future__ import annotations

import asyncio
import hashlib
import json
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pytest_touchstone.flight.shared import SharedCalls
from pytest_touchstone.judge.llm import ChatRequest
from pytest_touchstone.judge.reading import Unreadable, parse_reply
from pytest_touchstone.llm.chat import Chat, ChatError, Completion
from pytest_touchstone.store.run import RunStore
from pytest_touchstone.trace import Usage

Cost = Callable[[Sequence[Usage] | None], tuple[float | None, str | None]]
_FAILURES_TOLERATED = 40
"""Tries in a row without a single reply, after which nobody waits for the judge any more."""
_OUT_OF_REACH = frozenset({"connection", "timeout", "unauthorized", "unknown_model"})


class JudgeCalls:
    """Answers the judge's requests, from the store where an equal one was answered before.

    :param server: where the model is served, without credentials.
    :param cost: US dollars of a call.
    :ivar live: set once the server has answered a call that was not known already.
    """

    def __init__(
        self, chat: Chat, server: str, shared: SharedCalls, run: RunStore, cost: Cost
    ) -> None:
        self._chat = chat
        self._server = server
        self._shared = shared
        self._run = run
        self._cost = cost
        self.live = asyncio.Event()
        self._hits = 0
        self._failed_in_a_row = 0

    async def ask(self, request: ChatRequest) -> Completion:
        """The completion of a request.

        :raises ChatError: where there is none.
        """
        return await self._answer(request, ())

    def fresh(self, salt: str) -> Callable[[ChatRequest], Awaitable[Completion]]:
        """Like :meth:`ask`, but nothing that was asked without this salt counts as known."""
        return lambda request: self._answer(request, ("fresh", salt))

    async def _answer(self, request: ChatRequest, salt: tuple[str, ...]) -> Completion:
        key = self._key(request, salt)
        found = await self._shared.once(key, lambda: self._made(key, request))
        self._hits += not found.made
        return _completion(found.result)

    def note_hits(self) -> None:
        """Keep how many results were there already."""
        self._run.note("judge_hits", self._run.owner, self._hits)

    def _note(self, key: str, usage: Usage | None) -> None:
        usd, _ = self._cost(None if usage is None else [usage])
        call = {"usd": usd, "usage": None if usage is None else asdict(usage)}
        self._run.note("judge_call", key, call)

    def _key(self, request: ChatRequest, salt: tuple[str, ...]) -> str:
        """Everything that can change the reply: endpoint, model, prompt, data, parameters."""
        parts = ["judge", self._server, self._chat.model, request.canonical(), *salt]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    async def _made(self, key: str, request: ChatRequest) -> Mapping[str, Any]:
        if self._failed_in_a_row >= _FAILURES_TOLERATED:
            message = f"not asked: the judge failed {self._failed_in_a_row} times in a row"
            raise ChatError("connection", message, retryable=False)
        try:
            completion = await self._chat.complete(
                request.messages, schema=request.schema, **request.params
            )
        except ChatError as error:
            self._failed_in_a_row += error.kind in _OUT_OF_REACH
            if error.usage is not None:  # refused or cut off, and paid for all the same
                self._note(f"{key}/{uuid.uuid4().hex}", error.usage)
            raise
        self._failed_in_a_row = 0
        self.live.set()
        self._note(key, completion.usage)
        if completion.fingerprint:
            self._run.note("judge_fingerprint", completion.fingerprint, completion.model)
        return asdict(completion)


def is_complete(result: Mapping[str, Any]) -> bool:
    """A reply that is cut off or holds no JSON was bad luck: the next run asks again."""
    try:
        parse_reply(result["text"])
    except Unreadable:
        return False
    return bool(result["finish_reason"] != "length")


def _completion(result: Mapping[str, Any]) -> Completion:
    usage = result["usage"]
    return Completion(**{**result, "usage": None if usage is None else Usage(**usage)})
