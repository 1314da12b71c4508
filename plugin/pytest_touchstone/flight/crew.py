"""One system's calls: who makes them, and how each piece of work finds somebody."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Container, Sequence
from concurrent.futures import Future

from pytest_touchstone.flight.counts import Counts
from pytest_touchstone.flight.lane import Lane
from pytest_touchstone.flight.writing import written
from pytest_touchstone.store.run import Unit

_WINDOW = 32  # units looked at together, once other processes turned out to be at work


class Crew:
    """The tasks that call one system, and what is still to be done.

    :param claim: claims the first of some units that is nobody else's, or none.
    :param done: the units that are done, whoever did them.
    :param foreign: units that other processes hold; what turns out to be theirs is added.
    :param stopping: set when nothing new is to begin.

    :ivar waiting: units that nobody here has tried to claim yet.
    :ivar adopted: units taken over from a dead process: claimed already.
    """

    def __init__(
        self,
        lane: Lane,
        claim: Callable[[Sequence[Unit]], Future[Unit | None]],
        done: Container[Unit],
        foreign: set[Unit],
        stopping: threading.Event,
    ) -> None:
        self.lane = lane
        self.counts = Counts("system", lane.system.name)
        self.waiting: deque[Unit] = deque()
        self.adopted: deque[Unit] = deque()
        self.tasks: set[asyncio.Task[None]] = set()
        self._claim = claim
        self._done = done
        self._foreign = foreign
        self._stopping = stopping
        self._claiming = asyncio.Lock()

    @property
    def wanted(self) -> int:
        """How many tasks more have something to do, within the lane's limit."""
        return min(self.lane.limit - len(self.tasks), len(self.waiting) + len(self.adopted))

    async def next(self) -> Unit | None:
        """A unit that is claimed for this process, or ``None`` where there is none left."""
        # Alone, claims are written side by side; among others, one after the other looks further.
        while not self._foreign and self.waiting and not (self.adopted or self._stopping.is_set()):
            if (mine := await self._claimed()) is not None:
                return mine
        async with self._claiming:
            while not self._stopping.is_set():
                if self.adopted:
                    return self.adopted.popleft()
                if not self.waiting:
                    return None
                if (mine := await self._claimed()) is not None:
                    return mine
        return None

    async def _claimed(self) -> Unit | None:
        """The first of the next units that is nobody else's; ``None`` where there is none."""
        window = self._window()
        if not window:
            return None
        mine = await written(self._claim(window))
        taken = window if mine is None else window[: window.index(mine)]
        self._foreign.update(unit for unit in taken if unit not in self._done)
        if mine is not None:
            self.waiting.extendleft(reversed(window[len(taken) + 1 :]))
        return mine

    def _window(self) -> list[Unit]:
        """The next units to try; one alone, as long as this process seems to be alone."""
        size = _WINDOW if self._foreign else 1
        window: list[Unit] = []
        while self.waiting and len(window) < size:
            if (unit := self.waiting.popleft()) not in self._done:
                window.append(unit)
        return window
