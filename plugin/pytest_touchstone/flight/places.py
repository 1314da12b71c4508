"""Places for calls in flight, as many as a server bears at the moment."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType

RANK: ContextVar[int] = ContextVar("rank", default=-sys.maxsize)
"""Where in the run's plan the work stands that a call is for; a lower one is let in first, and
before all of them a call that is for none."""
_LEADS: ContextVar[bool] = ContextVar("leads", default=False)


@contextmanager
def leading() -> Iterator[None]:
    """Make calls of which another one waits for the reply: they are let in earlier.

    Otherwise calls that nobody waits for keep the places busy, and at the end of a run most stand
    empty while the second calls of the last cases are made.
    """
    before = _LEADS.set(True)
    try:
        yield
    finally:
        _LEADS.reset(before)


class Places:
    """At most ``limit`` callers inside at once, by :data:`RANK`, equal ones in the order in which
    they came; fewer after the server pushed back.

    What comes first in the plan is done first, for tests wait for it in this order; otherwise the
    second question about an early case would wait behind the first ones about all later cases.
    What is :func:`leading` counts as standing ``limit`` ranks before its own.

    A push-back halves the places; each time as many calls succeed as there are places, one more is
    opened, up to the limit again: additive increase, multiplicative decrease (Chiu and Jain 1989,
    *Computer Networks and ISDN Systems* 17).

    :param limit: the most places there ever are, 1 or more.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open = limit
        self._taken = 0
        self._succeeded = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._arrivals = itertools.count()

    @property
    def open(self) -> int:
        """How many callers may be inside at the moment."""
        return self._open

    def halve(self) -> None:
        """The server pushed back."""
        self._open = max(1, self._open // 2)
        self._succeeded = 0

    def succeeded(self) -> None:
        """A call was answered."""
        if self._open == self._limit:
            return
        self._succeeded += 1
        if self._succeeded >= self._open:
            self._succeeded = 0
            self._open += 1
            self._admit()

    async def __aenter__(self) -> None:
        if self._taken < self._open and not self._waiting:
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        rank = RANK.get() - (self._limit if _LEADS.get() else 0)
        heapq.heappush(self._waiting, (rank, next(self._arrivals), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the place was given a moment too late
                self._leave()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        self._taken -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._taken < self._open:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():  # else its caller was cancelled while waiting
                self._taken += 1
                turn.set_result(None)
