"""The judge's calls: within limits, each made once, counted and priced."""

from __future__ import annotations

import asyncio
import hashlib
import json
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from pytest_touchstone.flight.purse import Expectation, Purse
from pytest_touchstone.flight.shared import SharedCalls
from pytest_touchstone.flight.trail import checked
from pytest_touchstone.judge.llm import ChatRequest
from pytest_touchstone.judge.reading import Unreadable, parse_reply
from pytest_touchstone.llm.chat import ChatError, Completion
from pytest_touchstone.scorer.windows import estimated_tokens
from pytest_touchstone.store.run import RunStore
from pytest_touchstone.trace import Message, Usage

Cost = Callable[[Sequence[Usage] | None], tuple[float | None, str | None]]


class Model(Protocol):
    """A model that can be asked, as :class:`~pytest_touchstone.llm.chat.Chat` is."""

    @property
    def model(self) -> str:
        """Its name."""

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> Completion:
        """See :meth:`pytest_touchstone.llm.chat.Chat.complete`."""


_FAILURES_TOLERATED = 40
"""Tries in a row without a single reply, after which nobody waits for the judge any more."""
_MOST_OUT = 1000
"""Tokens that a reply may have where its prompt sets no limit."""
_CALL = "judge_call"
_TURN_S = 0.01
_OTHERS_ASK_WITHIN_S = 0.2
_OUT_OF_REACH = frozenset({"connection", "timeout", "unauthorized", "unknown_model"})


class JudgeCalls:
    """Answers the judge's requests, from the store where an equal one was answered before.

    :param server: where the model is served, without credentials.
    :param cost: US dollars of a call.
    :param purse: pays for the calls, where the run has a budget.
    :ivar live: set once the server has answered a call that was not known already.
    """

    def __init__(
        self,
        chat: Model,
        server: str,
        shared: SharedCalls,
        run: RunStore,
        cost: Cost,
        purse: Purse | None = None,
    ) -> None:
        self._purse = purse
        self._expected = Expectation(self._price)
        self._asking: list[float] = []
        self._chat = chat
        self._server = server
        self._shared = shared
        self._run = run
        self._cost = cost
        self.live = asyncio.Event()
        self._hits = 0
        self._failed_in_a_row = 0
        self._last_failure = ""
        self._fingerprints: set[str] = set()

    async def ask(self, request: ChatRequest) -> Completion:
        """The completion of a request.

        :raises ChatError: where there is none.
        """
        return await self._answer(request, ())

    def fresh(self, salt: str) -> Callable[[ChatRequest], Awaitable[Completion]]:
        """Like :meth:`ask`, but nothing that was asked without this salt counts as known."""
        return lambda request: self._answer(request, ("fresh", salt))

    async def _answer(self, request: ChatRequest, salt: tuple[str, ...]) -> Completion:
        key = call_key(self._server, self._chat.model, request, *salt)
        found = await self._shared.once(key, lambda: self._made(key, request))
        self._hits += not found.made
        return _completion(checked(found.result))

    def note_hits(self) -> None:
        """Keep how many results were there already."""
        self._run.note("judge_hits", self._run.owner, self._hits)

    def _note(self, key: str, usage: Usage | None) -> None:
        usd, _ = self._cost(None if usage is None else [usage])
        self._shared.counts.usd += usd or 0.0
        call = {"usd": usd, "usage": _fields(usage)}
        self._run.note(_CALL, key, call)

    async def _made(self, key: str, request: ChatRequest) -> Mapping[str, Any]:
        if self._failed_in_a_row >= _FAILURES_TOLERATED:
            message = (
                f"not asked: the judge failed {self._failed_in_a_row} times in a row, the last"
                f" time with: {self._last_failure}"
            )
            raise ChatError("connection", message, retryable=False)
        if self._purse is None:
            return _result(await self._completed(key, request))
        usd = await self._reserved(self._purse, request)
        if usd is None:
            raise self._purse.refusal()
        # What failed without a word of its cost is taken to have cost nothing.
        spent: float | None = 0.0
        try:
            completion = await self._completed(key, request)
            spent = self._spent(completion.usage)
        except ChatError as error:
            spent = 0.0 if error.usage is None else self._spent(error.usage)
            raise
        finally:
            await self._purse.pay(usd, spent)
        return _result(completion)

    async def _reserved(self, purse: Purse, request: ChatRequest) -> float | None:
        """What was set aside for a call, or ``None`` where the budget does not allow it.

        While nothing is known of replies, the cheapest call goes first: what it took may tell that
        the others, which might cost more than there is, will not.
        """
        most = self._expected.of(_tokens_in(request), _most_out(request))
        self._asking.append(most)
        try:
            if self._is_guessing:
                await asyncio.sleep(_OTHERS_ASK_WITHIN_S)
            while self._is_guessing and most > min(self._asking):
                await asyncio.sleep(_TURN_S)
            return await purse.reserve(lambda: self._expectation(request))
        finally:
            self._asking.remove(most)

    @property
    def _is_guessing(self) -> bool:
        return self._expected.is_guess and not self.live.is_set()

    async def _expectation(self, request: ChatRequest) -> float:
        """US dollars of a call, by what the run's calls took so far, this process's or others'."""
        if self._is_guessing:
            noted = await asyncio.to_thread(self._run.all_noted, _CALL)
            for usage in (call["usage"] for call in noted.values()):
                if usage is not None:
                    self._expected.took(usage["output_tokens"])
        return self._expected.of(_tokens_in(request), _most_out(request))

    def _price(self, tokens_in: int, tokens_out: int) -> float | None:
        return self._cost([Usage(self._chat.model, tokens_in, 0, tokens_out)])[0]

    def _spent(self, usage: Usage | None) -> float | None:
        if usage is None:
            return None
        self._expected.took(usage.output_tokens)
        return self._cost([usage])[0]

    async def _completed(self, key: str, request: ChatRequest) -> Completion:
        """One call, counted and noted."""
        try:
            completion = await self._chat.complete(
                request.messages, schema=request.schema, **request.params
            )
        except ChatError as error:
            if error.kind in _OUT_OF_REACH:
                self._failed_in_a_row += 1
                self._last_failure = error.message
            if error.usage is not None:  # refused or cut off, and paid for all the same
                self._note(f"{key}/{uuid.uuid4().hex}", error.usage)
            raise
        self._failed_in_a_row = 0
        self.live.set()
        self._note(key, completion.usage)
        if completion.fingerprint and completion.fingerprint not in self._fingerprints:
            self._fingerprints.add(completion.fingerprint)
            self._run.note("judge_fingerprint", completion.fingerprint, completion.model)
        return completion


def _most_out(request: ChatRequest) -> int:
    """The most tokens that the reply may have."""
    return int(request.params.get("max_tokens") or _MOST_OUT)


def _tokens_in(request: ChatRequest) -> int:
    """About how many tokens the request has, the form of the reply included."""
    texts = [message.content for message in request.messages]
    return round(sum(map(estimated_tokens, [*texts, json.dumps(request.schema)])))


def call_key(server: str, model: str, request: ChatRequest, *salt: str) -> str:
    """Everything that can change the reply: endpoint, model, prompt, data, parameters."""
    parts = ["judge", server, model, request.canonical(), *salt]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def is_complete(result: Mapping[str, Any]) -> bool:
    """A reply that is cut off or holds no JSON was bad luck: the next run asks again."""
    try:
        parse_reply(result["text"])
    except Unreadable:
        return False
    return bool(result["finish_reason"] != "length")


def _result(completion: Completion) -> dict[str, Any]:
    """The completion as it is stored."""
    return {**(_fields(completion) or {}), "usage": _fields(completion.usage)}


def _fields(value: Completion | Usage | None) -> dict[str, Any] | None:
    # What `asdict` does takes ten times as long, since it copies whatever it finds.
    return None if value is None else {name: getattr(value, name) for name in value.__slots__}


def _completion(result: Mapping[str, Any]) -> Completion:
    usage = result["usage"]
    return Completion(**{**result, "usage": None if usage is None else Usage(**usage)})
