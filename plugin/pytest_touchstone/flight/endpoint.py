"""One server with its limits: calls in flight and per minute, tries, waiting, deadlines."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pytest_touchstone.flight.pace import Pace, Sent
from pytest_touchstone.flight.places import Places
from pytest_touchstone.flight.waits import Told
from pytest_touchstone.llm.chat import ChatError

T = TypeVar("T")
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_PATIENCE_S = 3600.0
_LONG_WAIT_S = 10.0


class Endpoint:
    """The policy of retries and limits for one server; the clients' own retries are off.

    What can be retried is tried again after a pause that doubles from try to try, half of it
    jitter, and is never shorter than the server's own ``Retry-After``.  A rate limit, or a
    ``Retry-After`` with anything else, holds back every caller and halves the places, which grow
    back as calls succeed.  Where the server says when to come back, that wait is not counted
    towards the deadline, but towards the run's patience, and a rate limit that says so is no try.

    :param limit: calls in flight.
    :param tries: calls made at most for one result.
    :param timeout: seconds for one result with all tries and pauses, counted from when one of
        the places is free; waiting that the server or the pace asks for comes on top.
    :param patience: seconds that one result may be held back by the server's rate limits.
    :param pace: calls and tokens per minute.
    :param tokens_of: tokens that a result took, where it tells.
    :param told: called with the seconds, once for each wait that the server asks for and that is
        so long that somebody will wonder.

    ``place`` is held while a call is in flight; who claims work for a call claims it with the
    place in hand, so that no process claims more than it can carry out.
    """

    def __init__(
        self,
        *,
        limit: int,
        tries: int,
        timeout: float,
        patience: float = _PATIENCE_S,
        pace: Pace | None = None,
        tokens_of: Callable[[Any], int | None] = lambda _: None,
        told: Told = lambda _: None,
    ) -> None:
        self.place = Places(limit)
        self._tries = tries
        self._timeout = timeout
        self._patience = patience
        self._pace = pace or Pace()
        self._tokens_of = tokens_of
        self._told = told
        self._told_until = 0.0
        self._open_at = 0.0
        self._pushed_back_at = -1.0
        self._random = random.Random()  # noqa: S311 - jitter, not a secret

    async def call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """The result of ``attempt``, once one of the ``limit`` places is free.

        :raises ChatError: the last failure, or ``timeout`` when the deadline passed in a call.
        """
        async with self.place:
            return await self.in_place(attempt)

    async def in_place(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """The same for a caller that holds a ``place`` already."""
        clock = _Clock(self._timeout, self._patience)
        last: ChatError | None = None
        tries = 0
        while True:
            sent = await self._admitted(clock, last)
            try:
                result = await self._attempt(attempt, clock, last)
            except ChatError as error:
                # A server that says when to come back has not been tried in vain.
                tries += error.kind != "rate_limited" or not error.retry_after
                if not error.retryable or tries == self._tries:
                    raise
                last = error
            else:
                self.place.succeeded()
                if (tokens := self._tokens_of(result)) is not None:
                    self._pace.used(sent, tokens)
                return result
            await self._pause(max(tries, 1), last, clock, began=sent.at)

    async def _admitted(self, clock: _Clock, last: ChatError | None) -> Sent:
        """Wait until the next call may be made."""
        while True:
            await self._until_open(clock, last)
            sent = await clock.held_back(self._pace.admit())
            if self._open_at <= asyncio.get_running_loop().time():
                return sent
            self._pace.take_back(sent)  # the server pushed back meanwhile

    async def _attempt(
        self, attempt: Callable[[], Awaitable[T]], clock: _Clock, last: ChatError | None
    ) -> T:
        try:
            async with asyncio.timeout_at(clock.deadline) as limit:
                return await attempt()
        except TimeoutError:
            if not limit.expired():
                raise
            before = f"; the try before: {last}" if last else ""
            message = f"no result within {self._timeout:g} s, all tries included{before}"
            raise ChatError("timeout", message, retryable=False) from last

    async def _until_open(self, clock: _Clock, last: ChatError | None) -> None:
        """Wait while a rate limit holds back all callers; another one may prolong it."""
        while (wait := self._open_at - asyncio.get_running_loop().time()) > 0:
            if wait > clock.patience:
                message = f"the server asked to wait for another {wait:.0f} s, which is too long"
                raise last or ChatError("rate_limited", message, retryable=False)
            await clock.held_back(asyncio.sleep(wait))

    async def _pause(self, tries: int, error: ChatError, clock: _Clock, *, began: float) -> None:
        """Sleep until the next try; a rate limit closes the endpoint for everyone meanwhile.

        :raises ChatError: at once, where the deadline comes first.
        """
        now = asyncio.get_running_loop().time()
        longest: float = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (tries - 1))
        asked = max(longest / 2, error.retry_after or 0.0)
        # Jitter on top, so that those who were held back together do not come back together.
        jitter = self._random.uniform(0, longest / 2)
        if error.kind == "rate_limited" or error.retry_after:
            self._push_back(began, now, asked)
        if error.retry_after:
            await self._until_open(clock, error)
            asked = max(0.0, now + asked - asyncio.get_running_loop().time())
        if asyncio.get_running_loop().time() + asked + jitter >= clock.deadline:
            raise error
        await asyncio.sleep(asked + jitter)

    def _push_back(self, began: float, now: float, seconds: float) -> None:
        self._open_at = max(self._open_at, now + seconds)
        # Calls in flight together are told the same: only a longer wait is another one.
        if self._open_at - max(now, self._told_until) > _LONG_WAIT_S:
            self._told_until = self._open_at
            self._told(seconds)
        # Calls that were in flight together are pushed back together: once is enough.
        if began > self._pushed_back_at:
            self._pushed_back_at = now
            self.place.halve()


class _Clock:
    """One result's deadline and patience."""

    def __init__(self, timeout: float, patience: float) -> None:
        self._loop = asyncio.get_running_loop()
        self.deadline = self._loop.time() + timeout
        self.patience = patience

    async def held_back(self, waiting: Awaitable[T]) -> T:
        """Wait for what somebody else asks for: it moves the deadline, and takes patience."""
        began = self._loop.time()
        result = await waiting
        waited = self._loop.time() - began
        self.deadline += waited
        self.patience -= waited
        return result
