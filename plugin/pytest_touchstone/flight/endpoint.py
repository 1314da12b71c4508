"""One server with its limits: calls in flight, tries, waiting, one deadline over all of it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pytest_touchstone.chat import ChatError

T = TypeVar("T")
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0


class Endpoint:
    """The policy of retries and limits for one server; the clients' own retries are off.

    What can be retried is tried again after an exponential pause with full jitter, or after the
    server's own ``Retry-After``; a rate limit pauses the endpoint for every caller.

    :param limit: calls in flight.
    :param tries: calls made at most for one result.
    :param timeout: seconds for one result, waiting and all tries included.
    """

    def __init__(self, *, limit: int, tries: int, timeout: float) -> None:
        self._free = asyncio.Semaphore(limit)
        self._tries = tries
        self._timeout = timeout
        self._open_at = 0.0
        self._random = random.Random()  # noqa: S311 - jitter, not a secret

    async def call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """The result of ``attempt``.

        :raises ChatError: the last failure, or ``timeout`` when the deadline passed.
        """
        async with self._free:
            try:
                async with asyncio.timeout(self._timeout):
                    return await self._with_retries(attempt)
            except TimeoutError:
                message = f"no result within {self._timeout:g} s, all tries included"
                raise ChatError("timeout", message, retryable=False) from None

    async def _with_retries(self, attempt: Callable[[], Awaitable[T]]) -> T:
        loop = asyncio.get_running_loop()
        for number in range(1, self._tries + 1):
            await asyncio.sleep(max(0.0, self._open_at - loop.time()))
            try:
                return await attempt()
            except ChatError as error:
                if not error.retryable or number == self._tries:
                    raise
                pause = self._pause(number, error.retry_after)
                if error.kind == "rate_limited":
                    self._open_at = max(self._open_at, loop.time() + pause)
                await asyncio.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _pause(self, number: int, retry_after: float | None) -> float:
        if retry_after is not None:
            return retry_after
        return self._random.uniform(0, min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**number))
