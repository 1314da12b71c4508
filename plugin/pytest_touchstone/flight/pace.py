"""How many calls and tokens a server is sent within a minute."""

from __future__ import annotations

import asyncio
from collections import deque

_WINDOW_S = 60.0 + 0.5
"""A minute by the server's clock: two calls are not equally long on their way to it."""
_FIRST_GUESS = 2400
"""Tokens of a call before any was counted: a judge's usual one."""


class Pace:
    """Lets a call begin when the last 60 seconds leave room for it, in the order of arrival.

    The window slides: no 60 seconds, wherever they begin, hold more than the limits.  How many
    tokens a call takes is known when it is answered; until then it counts as the mean of those
    before it.  One that alone is larger than the limit goes out when the window is empty.

    :param calls: calls per minute; ``None`` is no limit.
    :param tokens: tokens per minute, in and out; likewise.
    """

    def __init__(self, *, calls: float | None = None, tokens: float | None = None) -> None:
        self._calls = calls
        self._tokens = tokens
        self._sent: deque[Sent] = deque()
        self._total = 0.0
        self._counted = 0
        self._mean = float(_FIRST_GUESS)
        self._turn = asyncio.Lock()

    async def admit(self) -> Sent:
        """Wait for room, and take it."""
        loop = asyncio.get_running_loop()
        if self._calls is None and self._tokens is None:
            return Sent(loop.time(), 0.0)
        async with self._turn:
            while (wait := self._wait(loop.time())) > 0:
                await asyncio.sleep(wait)
            sent = Sent(loop.time(), self._mean)
            self._sent.append(sent)
            self._total += sent.tokens
            return sent

    def take_back(self, sent: Sent) -> None:
        """A call that was admitted is not made."""
        if sent in self._sent:
            self._sent.remove(sent)
            self._total -= sent.tokens

    def used(self, sent: Sent, tokens: int) -> None:
        """What a call that was admitted did use."""
        self._counted += 1
        self._mean += (tokens - self._mean) / self._counted
        if not sent.gone:
            self._total += tokens - sent.tokens
        sent.tokens = tokens

    def _wait(self, now: float) -> float:
        """Seconds until the oldest call leaves the window, or 0 where there is room."""
        while self._sent and self._sent[0].at <= now - _WINDOW_S:
            oldest = self._sent.popleft()
            oldest.gone = True
            self._total -= oldest.tokens
        crowded = self._calls is not None and len(self._sent) >= max(1.0, self._calls)
        heavy = self._tokens is not None and self._total + self._mean > self._tokens
        if self._sent and (crowded or heavy):
            # The clock may stand a rounding error before the moment that was waited for.
            return max(self._sent[0].at + _WINDOW_S - now, 1e-3)
        return 0.0


class Sent:
    """One call of the window: when it began, and the tokens it takes."""

    __slots__ = ("at", "gone", "tokens")

    def __init__(self, at: float, tokens: float) -> None:
        self.at = at
        self.tokens = tokens
        self.gone = False
