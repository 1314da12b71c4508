"""How far the calls to one endpoint are: numbers that any thread may read at any time."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from pytest_touchstone.judge.protocol import Judge, Judged
from pytest_touchstone.judge.tasks import Task

V = TypeVar("V")


@dataclass(slots=True)
class Counts:
    """Calls of this process to one endpoint; a system's are whole conversations.

    Written by the flight's loop alone.

    :ivar kind: what is called: a ``system``, the ``judge`` or the ``scorer``.
    :ivar name: the system's name; there is one judge and one scorer.
    :ivar expected: not asked for yet, as far as the plan tells; what one call leads to another
        is not in it before it is asked for.
    :ivar in_flight: under way at the endpoint.
    :ivar done: came to an end, whether answered, failed, or found in the store.
    :ivar usd: US dollars that were paid for them, as far as prices are known.
    """

    kind: str
    name: str = ""
    expected: int = 0
    asked: int = 0
    in_flight: int = 0
    done: int = 0
    usd: float = 0.0

    @property
    def planned(self) -> int:
        """All calls, from the first to the last, as far as is known."""
        return self.asked + self.expected


class Share:
    """The calls that one piece of work is expected to need of an endpoint.

    From now on this task, and those that it starts, take their calls from it.
    """

    def __init__(self, counts: Counts, calls: int) -> None:
        self.counts = counts
        self._left = calls
        _share.set(self)

    def take(self) -> None:
        """One of them is asked for."""
        if self._left:
            self._left -= 1
            self.counts.expected -= 1

    def give_back(self) -> None:
        """The work is done; what it did not ask for, nobody will."""
        self.counts.expected -= self._left
        self._left = 0


_share: ContextVar[Share | None] = ContextVar("touchstone_share", default=None)


def asked(counts: Counts) -> None:
    """A call is asked for by the work that is going on."""
    counts.asked += 1
    share = _share.get()
    if share is not None and share.counts is counts:
        share.take()


class CountedJudge:
    """A judge that asks nobody, and whose tasks are counted as another's calls are."""

    def __init__(self, judge: Judge, counts: Counts) -> None:
        self._judge = judge
        self._counts = counts

    async def judge(self, task: Task[V]) -> Judged[V]:
        """See :class:`~pytest_touchstone.judge.protocol.Judge`."""
        asked(self._counts)
        self._counts.in_flight += 1
        try:
            return await self._judge.judge(task)
        finally:
            self._counts.in_flight -= 1
            self._counts.done += 1
