"""One server with its limits: calls in flight, tries, waiting, one deadline over all of it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pytest_touchstone.llm.chat import ChatError

T = TypeVar("T")
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0


class Endpoint:
    """The policy of retries and limits for one server; the clients' own retries are off.

    What can be retried is tried again after a pause that doubles from try to try, half of it
    jitter, and is never shorter than the server's own ``Retry-After``.  A rate limit holds back
    every caller.  Where the deadline comes before the next try, nobody waits for it.

    :param limit: calls in flight.
    :param tries: calls made at most for one result.
    :param timeout: seconds for one result with all tries and pauses, counted from when one of
        the ``limit`` places is free.

    ``place`` is held while a call is in flight; who claims work for a call claims it with the
    place in hand, so that no process claims more than it can carry out.
    """

    def __init__(self, *, limit: int, tries: int, timeout: float) -> None:
        self.place = asyncio.Semaphore(limit)
        self._tries = tries
        self._timeout = timeout
        self._open_at = 0.0
        self._random = random.Random()  # noqa: S311 - jitter, not a secret

    async def call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """The result of ``attempt``, once one of the ``limit`` places is free.

        :raises ChatError: the last failure, or ``timeout`` when the deadline passed in a call.
        """
        async with self.place:
            return await self.in_place(attempt)

    async def in_place(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """The same for a caller that holds a ``place`` already."""
        deadline = asyncio.get_running_loop().time() + self._timeout
        last: ChatError | None = None
        for number in range(1, self._tries + 1):
            await self._until_open(deadline, last)
            try:
                return await self._attempt(attempt, deadline, last)
            except ChatError as error:
                if not error.retryable or number == self._tries:
                    raise
                last = error
            await self._pause(self._pause_after(number, last), deadline, last)
        raise AssertionError("the last try returns or raises")

    async def _attempt(
        self, attempt: Callable[[], Awaitable[T]], deadline: float, last: ChatError | None
    ) -> T:
        try:
            async with asyncio.timeout_at(deadline) as limit:
                return await attempt()
        except TimeoutError:
            if not limit.expired():
                raise
            before = f"; the try before: {last}" if last else ""
            message = f"no result within {self._timeout:g} s, all tries included{before}"
            raise ChatError("timeout", message, retryable=False) from last

    async def _until_open(self, deadline: float, last: ChatError | None) -> None:
        """Wait while a rate limit holds back all callers; another one may prolong it."""
        loop = asyncio.get_running_loop()
        while (wait := self._open_at - loop.time()) > 0:
            await self._pause(wait, deadline, last)

    def _pause_after(self, number: int, error: ChatError) -> float:
        """Seconds until the next try; a rate limit closes the endpoint for as long."""
        longest: float = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (number - 1))
        asked = max(longest / 2, error.retry_after or 0.0)
        if error.kind == "rate_limited":
            self._open_at = max(self._open_at, asyncio.get_running_loop().time() + asked)
        # Jitter on top, so that those who were held back together do not come back together.
        return asked + self._random.uniform(0, longest / 2)

    async def _pause(self, seconds: float, deadline: float, last: ChatError | None) -> None:
        """Sleep.

        :raises ChatError: at once, where the deadline comes first.
        """
        if asyncio.get_running_loop().time() + seconds < deadline:
            await asyncio.sleep(seconds)
            return
        if last is not None:
            raise last
        message = f"the server asked to wait for another {seconds:.0f} s, which is too long"
        raise ChatError("rate_limited", message, retryable=False)
