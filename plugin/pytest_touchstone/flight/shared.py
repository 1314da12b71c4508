"""Calls that are worth making once: within a process, among processes, and across runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from pytest_touchstone.flight.counts import Counts, asked
from pytest_touchstone.flight.endpoint import Endpoint
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.flight.trail import failed, used
from pytest_touchstone.flight.writing import written
from pytest_touchstone.llm.chat import ChatError
from pytest_touchstone.store.calls import CallStore
from pytest_touchstone.store.engine import StoreError
from pytest_touchstone.store.run import Watch

Result = Mapping[str, Any]
_LOOK_EVERY_S = 0.2
_ASK_WITHIN_S = 0.005  # together: a look at the store takes the interpreter a millisecond


class Shared(NamedTuple):
    """A result, whether this process had to make the call for it, and whether it is kept."""

    result: Result
    made: bool
    kept: bool = True


class SharedCalls:
    """Makes each call once, whoever asks for it.

    The order is: take a place at the endpoint, claim the call, and only then make it.  A call
    that another process has claimed is waited for without a place, and taken over when that
    process's beat stands still.

    :param threads: for reading the store off the loop.
    :param worth_keeping: whether a result may stand for its call from now on.
    :ivar counts: how many calls were asked for here, and what became of them.
    """

    def __init__(
        self,
        calls: CallStore,
        endpoint: Endpoint,
        threads: DaemonThreads,
        worth_keeping: Callable[[Result], bool],
    ) -> None:
        self._calls = calls
        self._endpoint = endpoint
        self._threads = threads
        self._worth_keeping = worth_keeping
        self.counts = Counts(calls.kind)
        self._under_way: dict[str, asyncio.Task[Shared]] = {}
        self._stored = _Stored(calls, threads)
        self._holding = False

    def hold(self) -> None:
        """Make no call any more: whoever would need one waits until he is cancelled."""
        self._holding = True

    async def once(self, key: str, make: Callable[[], Awaitable[Result]]) -> Shared:
        """The result of ``make``, or of the equal call that was made before or is under way.

        :raises ChatError: where the call fails; its claim is let go, and nothing is kept.
        """
        asked(self.counts)
        try:
            return await self._shared(key, make)
        finally:
            self.counts.done += 1

    async def _shared(self, key: str, make: Callable[[], Awaitable[Result]]) -> Shared:
        task = self._under_way.get(key)
        first = task is None
        if task is None:
            task = asyncio.ensure_future(self._once(key, make))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
            # Whoever asked may have been cancelled: then nobody reads what it failed with.
            task.add_done_callback(lambda late: late.cancelled() or late.exception())
        try:
            found = await asyncio.shield(task)
        except ChatError as error:
            failed(key, error)
            raise
        used(key, None if found.kept else found.result)
        return found if first else found._replace(made=False)

    async def _once(self, key: str, make: Callable[[], Awaitable[Result]]) -> Shared:
        watch = Watch()
        adopted = False
        while True:
            if (found := await self._stored.result(key)) is not None:
                return Shared(found, made=False)
            result: Result | None = None
            async with self._endpoint.place:
                if self._holding:
                    await asyncio.Event().wait()
                if adopted or await written(self._calls.claim(key)):
                    result = await self._made(key, make)
            if result is not None:
                # The next one may be called meanwhile.
                return await self._kept(key, result)
            adopted = await self._dead(key, watch)
            if not adopted:
                await asyncio.sleep(_LOOK_EVERY_S)

    async def _made(self, key: str, make: Callable[[], Awaitable[Result]]) -> Result:
        self.counts.in_flight += 1
        try:
            return await self._endpoint.in_place(make)
        except BaseException:
            await written(self._calls.release(key), paid_for=True)
            raise
        finally:
            self.counts.in_flight -= 1

    async def _kept(self, key: str, result: Result) -> Shared:
        kept = self._worth_keeping(result)
        write = self._calls.finish(key, result) if kept else self._calls.release(key)
        await written(write, paid_for=True)
        return Shared(result, made=True, kept=kept)

    async def _dead(self, key: str, watch: Watch) -> bool:
        """Whether the call's holder is dead and the call now this process's."""
        held = await self._threads.run(self._calls.holder, key)
        if held is None or held[0] == self._calls.owner:
            return False
        owner, beat = held
        if beat is not None and owner not in watch.dead({owner: beat}):
            return False
        return await written(self._calls.take_over(key, owner))


class _Stored:
    """Results that are in the store: what is asked for during one read shares the next."""

    def __init__(self, calls: CallStore, threads: DaemonThreads) -> None:
        self._calls = calls
        self._threads = threads
        self._asked: dict[str, asyncio.Future[Result | None]] = {}
        self._reading: asyncio.Task[None] | None = None

    async def result(self, key: str) -> Result | None:
        """The stored result of a call, which nobody else asks for at the same time."""
        answer: asyncio.Future[Result | None] = asyncio.get_running_loop().create_future()
        self._asked[key] = answer
        if self._reading is None:
            self._reading = asyncio.ensure_future(self._read())
        return await answer

    async def _read(self) -> None:
        asked: dict[str, asyncio.Future[Result | None]] = {}
        try:
            while self._asked:
                await asyncio.sleep(_ASK_WITHIN_S)
                asked, self._asked = self._asked, {}
                found = await self._threads.run(self._calls.results, list(asked))
                for key, answer in asked.items():
                    if not answer.done():  # else whoever asked was cancelled
                        answer.set_result(found.get(key))
        except StoreError as error:
            for answer in (*asked.values(), *self._asked.values()):
                if not answer.done():
                    answer.set_exception(error)
        finally:
            self._asked = {}
            self._reading = None
