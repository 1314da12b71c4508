"""The flight: one event loop in a background thread that carries out a run's plan.

For each piece of work: take the lane (the system's limit), claim the unit in the store, only
then call.  Units that another process claimed are watched: their scores are read when they
arrive, and taken over when their process dies.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitTimeout
from typing import TypeVar

from pytest_touchstone.flight.lane import Lane
from pytest_touchstone.flight.observe import Observer, Work
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.score import MEASURE_ERROR, Score, unscored
from pytest_touchstone.store.engine import StoreError
from pytest_touchstone.store.run import LostClaim, RunStore, Unit, Watch
from pytest_touchstone.trace import Observation

T = TypeVar("T")
Scores = Mapping[str, Score]
_BEAT_EVERY_S = 1.0
_WATCH_EVERY_S = 0.1
_LOOK_FOR_THE_DEAD_EVERY_S = 1.0
_STALLED_AFTER_S = 60.0
_STOP_WITHIN_S = 5.0


class FlightError(Exception):
    """The flight cannot go on: the store failed, the loop is blocked, patience ran out."""


class Flight:
    """Carries out work, and lets a test wait for its own scores.

    :param works: this run's whole plan, in the order in which it should be done; every process
        of the run has the same.
    :param lanes: one per system.
    :param run: the run in the store; ``begin`` was called.
    :param patience: seconds that :meth:`scores` waits at most.
    :param closers: what to close on the loop when everything is done (clients live on it).
    """

    def __init__(
        self,
        works: Sequence[Work],
        lanes: Mapping[str, Lane],
        observer: Observer,
        run: RunStore,
        *,
        patience: float,
        closers: Sequence[Callable[[], Awaitable[None]]] = (),
    ) -> None:
        self._lanes = lanes
        self._observer = observer
        self._run = run
        self._patience = patience
        self._closers = closers
        self._pending = {name: deque[Work]() for name in lanes}
        self._results: dict[Unit, Future[Scores]] = {}
        for work in works:
            self._pending[work.system].append(work)
            self._results[_unit(work)] = Future()
        self._foreign: dict[Unit, Work] = {}
        self._taken_over: set[Unit] = set()
        self._in_flight = 0
        self._peak = 0
        self._failure: BaseException | None = None
        self._finished = threading.Event()
        self._loop_beat = time.monotonic()
        self._threads = DaemonThreads("touchstone-blocking")
        self._loop = asyncio.new_event_loop()
        self._main: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._fly, name="touchstone-flight", daemon=True)

    def start(self) -> None:
        """Put everything in flight."""
        self._thread.start()
        threading.Thread(target=self._beat, name="touchstone-beat", daemon=True).start()

    def scores(self, case_id: str, system: str) -> Scores:
        """Wait for one case's scores, by measure name.

        :raises FlightError: when they will not come.
        """
        future = self._results[Unit(case_id, system)]
        deadline = time.monotonic() + self._patience
        while not self._finished.is_set():
            try:
                return future.result(timeout=1.0)
            except WaitTimeout:
                self._raise_if_stalled()
                if time.monotonic() > deadline:
                    raise FlightError(
                        f"no score for {case_id} within {self._patience:g} s;"
                        " the setting `patience` allows more"
                    ) from None
        if future.done() and not future.cancelled():
            return future.result()
        raise FlightError(self._why_unfinished()) from self._failure

    def drain(self) -> None:
        """Wait until everything planned is done, by this process or another."""
        while not self._finished.wait(timeout=1.0):
            self._raise_if_stalled()
        if self._failure is not None:
            raise FlightError(self._why_unfinished()) from self._failure

    def stop(self) -> None:
        """End early: cancel what is under way, wait for the end, but not for long."""
        self._loop.call_soon_threadsafe(self._cancel)
        self._finished.wait(timeout=_STOP_WITHIN_S)

    @property
    def peak_in_flight(self) -> int:
        """The most system calls that were in flight at once in this process."""
        return self._peak

    # -- everything below runs on the flight's own thread ---------------------------------

    def _fly(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._main = self._loop.create_task(self._carry_out())
            self._loop.run_until_complete(self._main)
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._failure = error
        finally:
            for lane in self._lanes.values():
                lane.close()
            self._threads.close()
            self._finished.set()

    async def _carry_out(self) -> None:
        tasks = [asyncio.create_task(self._pulse()), asyncio.create_task(self._watch())]
        try:
            while any(self._pending.values()) or self._foreign:
                await self._own_work()
                while self._foreign and not any(self._pending.values()):
                    await asyncio.sleep(_WATCH_EVERY_S)
                    _raise_first_failure(tasks)
        finally:
            for task in tasks:
                task.cancel()
            for close in self._closers:
                await close()

    async def _own_work(self) -> None:
        async with asyncio.TaskGroup() as group:
            for name, lane in self._lanes.items():
                for _ in range(min(lane.limit, len(self._pending[name]))):
                    group.create_task(self._consume(lane, self._pending[name]))

    async def _consume(self, lane: Lane, pending: deque[Work]) -> None:
        while pending:
            work = pending.popleft()
            unit = _unit(work)
            if unit in self._taken_over or await _on_loop(self._run.claim(unit)):
                await self._do(work, lane)
            else:
                self._foreign[unit] = work

    async def _do(self, work: Work, lane: Lane) -> None:
        self._in_flight += 1
        self._peak = max(self._peak, self._in_flight)
        try:
            seen = await self._observer.observe(work, lane)
        finally:
            self._in_flight -= 1
        scores = {measure.name: _measured(measure, work, seen) for measure in work.measures}
        try:
            await _on_loop(self._run.record(work.case, seen, scores))
        except LostClaim:
            self._foreign[_unit(work)] = work
        else:
            self._resolve(_unit(work), scores)

    def _resolve(self, unit: Unit, scores: Scores) -> None:
        future = self._results[unit]
        if not future.done():
            future.set_result(scores)

    async def _pulse(self) -> None:
        while True:
            self._loop_beat = time.monotonic()
            await asyncio.sleep(_BEAT_EVERY_S)

    async def _watch(self) -> None:
        watch = Watch()
        last_id = 0
        arrived: dict[Unit, dict[str, Score]] = {}
        looked_at = 0.0
        while True:
            await asyncio.sleep(_WATCH_EVERY_S)
            if self._foreign:
                last_id, found = await self._threads.run(self._run.scores_after, last_id)
                for unit, measure, score in found:
                    arrived.setdefault(unit, {})[measure] = score
                self._take_arrived(arrived)
            if time.monotonic() - looked_at >= _LOOK_FOR_THE_DEAD_EVERY_S:
                looked_at = time.monotonic()
                if await self._threads.run(self._run.stop_requested):
                    self._cancel()
                await self._take_over_from_the_dead(watch)

    def _take_arrived(self, arrived: dict[Unit, dict[str, Score]]) -> None:
        # A unit's scores are stored in one transaction: they are all there or none is.
        for unit in [unit for unit in arrived if unit in self._foreign]:
            del self._foreign[unit]
            self._resolve(unit, arrived[unit])
        for unit in [unit for unit in arrived if self._results[unit].done()]:
            del arrived[unit]

    async def _take_over_from_the_dead(self, watch: Watch) -> None:
        if not self._foreign:
            return
        dead = watch.dead(await self._threads.run(self._run.beats))
        if not dead:
            return
        owners = await self._threads.run(self._run.owners, list(self._foreign))
        for unit, (owner, state) in owners.items():
            orphaned = state == "claimed" and owner in dead and unit in self._foreign
            if orphaned and await _on_loop(self._run.take_over(unit, owner)):
                self._taken_over.add(unit)
                self._pending[unit.system].appendleft(self._foreign.pop(unit))

    def _cancel(self) -> None:
        if self._main is not None:
            self._main.cancel()

    # -- other threads --------------------------------------------------------------------

    def _beat(self) -> None:
        # Not on the loop: a process that is merely busy is not dead.
        while not self._finished.wait(timeout=_BEAT_EVERY_S):
            try:
                self._run.beat()
            except StoreError:
                return

    def _raise_if_stalled(self) -> None:
        silent = time.monotonic() - self._loop_beat
        if silent > _STALLED_AFTER_S and not self._finished.is_set():
            frame = sys._current_frames().get(self._thread.ident or 0)
            where = traceback.extract_stack(frame)[-1] if frame else None
            at = f" at {where.filename}:{where.lineno} in {where.name}" if where else ""
            raise FlightError(
                f"the event loop has been blocked for {silent:.0f} s{at}: an `async def` system"
                " must not block; make it a plain function, which runs in a thread"
            )

    def _why_unfinished(self) -> str:
        if self._failure is not None:
            error = self._failure
            if isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            return f"{type(error).__name__}: {error}"
        return "the run was stopped before this case was scored"


def _measured(measure: Measure, work: Work, seen: Observation) -> Score:
    try:
        return measure.score(work.case, seen)
    except Exception as error:  # noqa: BLE001 - a broken measure must not end the run
        return unscored(MEASURE_ERROR, f"{measure.name} raised {type(error).__name__}: {error}")


def _unit(work: Work) -> Unit:
    return Unit(work.case.id, work.system, work.repeat, work.mode)


async def _on_loop(future: Future[T]) -> T:
    return await asyncio.wrap_future(future)


def _raise_first_failure(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        if task.done() and not task.cancelled() and (error := task.exception()):
            raise error
