"""The flight: one event loop in a background thread that carries out a run's plan.

For each piece of work: take the lane (the system's limit), claim the unit in the store, only
then call.  Units that another process claimed are watched: they are done when their results are
in the store, and taken over when their process dies.  Results live in the store alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from pytest_touchstone.flight.arrivals import Arrivals, FlightError
from pytest_touchstone.flight.canary_round import CanaryRound
from pytest_touchstone.flight.counts import Counts
from pytest_touchstone.flight.crew import Crew
from pytest_touchstone.flight.lane import Lane
from pytest_touchstone.flight.loop import (
    all_ended,
    cancel_the_rest,
    close_loop,
    complete,
    stalled,
)
from pytest_touchstone.flight.measuring import Measuring, Scores
from pytest_touchstone.flight.observe import Observer, Work
from pytest_touchstone.flight.places import RANK
from pytest_touchstone.flight.reading import Reading
from pytest_touchstone.flight.threads import DaemonExecutor, DaemonThreads
from pytest_touchstone.flight.trail import Uses, begin_trail
from pytest_touchstone.flight.writing import written
from pytest_touchstone.garbage import no_collection
from pytest_touchstone.store.engine import StoreError
from pytest_touchstone.store.run import LostClaim, RunStore, Unit, Watch
from pytest_touchstone.trace import Observation
from pytest_touchstone.verdicts import Opinion

_BEAT_EVERY_S = 1.0
_WATCH_EVERY_S = 0.1
_LOOK_AROUND_EVERY_S = 1.0
_STALLED_AFTER_BEATS = 60
# What a stop allows: all of it together ends a worker sooner than execnet's 5 s would kill it.
_FINISH_WITHIN_S = 2.0
_CLOSE_WITHIN_S = 0.5
_STOP_WITHIN_S = 5.0
_FEWEST_AWAITING_JUDGEMENT = 64
_REUSED_TOGETHER = 500  # units whose stored answers are measured and stored together


class Flight:
    """Carries out work, and lets a test wait for its own scores.

    :param works: this run's whole plan, in the order in which it should be done; every process
        of the run has the same.
    :param lanes: one per system.
    :param run: the run in the store; ``begin`` was called.
    :param awaited: the system whose scores tests wait for.
    :param patience: seconds that :meth:`scores` waits at most.
    :param meanwhile: called now and then by whoever waits.
    :param reading: puts what was seen to a judge and a scorer, where there are any.
    :param measuring: makes scores of what was seen and read.
    :param judge_calls: how many calls the judge bears at once; a case may have but one under way,
        so that it takes as many answers, and some more, to keep it busy.
    :param canaries: what the judge is asked beside the run, where there is one.
    :param holds: what keeps judge and scorer from making further calls, once all is to end.
    :param closers: what to close on the loop when everything is done (clients live on it).
    """

    def __init__(
        self,
        works: Sequence[Work],
        lanes: Mapping[str, Lane],
        observer: Observer,
        run: RunStore,
        *,
        awaited: str,
        patience: float,
        meanwhile: Callable[[], None] = lambda: None,
        reading: Reading | None = None,
        measuring: Measuring | None = None,
        judge_calls: int = 0,
        canaries: CanaryRound | None = None,
        holds: Sequence[Callable[[], None]] = (),
        closers: Sequence[Callable[[], Awaitable[None]]] = (),
    ) -> None:
        self._observer = observer
        self._run = run
        self._awaited = awaited
        self._reading = reading or Reading()
        self._measuring = measuring or Measuring(self._reading.engine)
        self._canaries = canaries
        self._backlog = asyncio.Semaphore(max(_FEWEST_AWAITING_JUDGEMENT, 2 * judge_calls))
        self._finishing: set[asyncio.Task[None]] = set()
        self._holds = holds
        self._closers = closers
        self._works = {work.unit: work for work in works}
        self._arrivals = Arrivals(
            list(self._works), run.scores, patience=patience, meanwhile=meanwhile
        )
        self._stopping = threading.Event()
        self._foreign: set[Unit] = set()
        self._crews = {
            name: Crew(lane, run.claim, self._arrivals, self._foreign, self._stopping)
            for name, lane in lanes.items()
        }
        # What no measure wants to see is not paid for.
        self._unbegun = {unit for unit, work in self._works.items() if work.measures}
        self._arrivals.mark(self._works.keys() - self._unbegun)
        for unit in self._works:
            if unit in self._unbegun:
                self._crews[unit.system].waiting.append(unit)
                self._expect(unit, +1)
        self._last_id = 0  # of what other processes were seen to have stored
        self._in_flight = 0
        self._peak = 0
        self._pulses = 0
        self._random = random.Random()  # noqa: S311 - no secret
        self._landed = asyncio.Event()
        self._threads = DaemonThreads("touchstone-blocking")
        self._thread = threading.Thread(target=self._fly, name="touchstone-flight", daemon=True)
        self._heart = threading.Thread(target=self._beat, name="touchstone-beat", daemon=True)

    def start(self) -> None:
        """Put everything in flight."""
        if not self._stopping.is_set():
            names = (crew.lane.system.name for crew in self._crews.values())
            self._arrivals.reusing(set(filter(self._observer.reuses, names)))
            self._thread.start()
            self._heart.start()

    def scores(self, case_id: str, system: str, mode: str = "recorded", repeat: int = 0) -> Scores:
        """Wait for one case's scores, by measure name.

        :raises FlightError: when they will not come.
        """
        return self._arrivals.scores(Unit(case_id, system, repeat, mode))

    def drain(self) -> None:
        """Wait until everything planned is done, by this process or another, or stopped.

        :raises FlightError: when it will not be.
        """
        self._arrivals.drain()

    def stop(self) -> None:
        """End early: start nothing new, give what is under way two seconds, store what came.

        Returns after five seconds at most, whatever the systems do.
        """
        self._stopping.set()
        if self._thread.ident is None:
            self._arrivals.end()
        self._arrivals.ended(_STOP_WITHIN_S)

    @property
    def counts(self) -> tuple[Counts, ...]:
        """How far this process's calls to each system, to the judge and to the scorer are."""
        return (*(crew.counts for crew in self._crews.values()), *self._reading.counts)

    @property
    def peak_in_flight(self) -> int:
        """The most system calls that were in flight at once in this process."""
        return self._peak

    # -- the flight's own thread ----------------------------------------------------------

    def _fly(self) -> None:
        loop = asyncio.new_event_loop()
        loop.set_default_executor(DaemonExecutor("touchstone-to-thread"))
        deaf: set[asyncio.Task[Any]] = set()
        try:
            complete(loop, self._carry_out())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._arrivals.fail(error)
        try:
            deaf = complete(loop, cancel_the_rest(_CLOSE_WITHIN_S))
            if not deaf:
                close_loop(loop)
            for crew in self._crews.values():
                crew.lane.close()
            self._threads.close()
        finally:
            self._arrivals.end()
        if deaf:
            # They ignore that they were told to end; nobody waits for this thread any more.
            complete(loop, all_ended(deaf))
            close_loop(loop)

    async def _carry_out(self) -> None:
        self._mark_done(())
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                others = [group.create_task(self._pulse()), group.create_task(self._watch(group))]
                for crew in self._crews.values():
                    if self._observer.reuses(crew.lane.system.name):
                        self._finishing.add(task := group.create_task(self._reuse(crew, group)))
                        task.add_done_callback(self._finishing.discard)
                    else:
                        self._staff(crew, group)
                if self._canaries is not None:
                    others.append(group.create_task(self._canaries.fly()))
                await self._landed.wait()
                await self._canaries_home(others[-1])
                for task in (*others, *self._at_work()):
                    task.cancel()
        finally:
            for close in self._closers:
                # A client that cannot be closed takes nothing away from the results.
                with contextlib.suppress(Exception):
                    await asyncio.wait_for(close(), _CLOSE_WITHIN_S)

    async def _canaries_home(self, flying: asyncio.Task[None]) -> None:
        """Canaries that were sent out are waited for, unless everything is to end."""
        while self._canaries is not None and self._canaries.due and not self._stopping.is_set():
            if (await asyncio.wait({flying}, timeout=_WATCH_EVERY_S))[0]:
                return

    def _at_work(self) -> set[asyncio.Task[None]]:
        return {task for crew in self._crews.values() for task in crew.tasks} | self._finishing

    def _staff(self, crew: Crew, group: asyncio.TaskGroup) -> None:
        """As many tasks as the lane allows and the work needs, and no more."""
        for _ in range(crew.wanted):
            task = group.create_task(self._work_off(crew))
            crew.tasks.add(task)
            task.add_done_callback(crew.tasks.discard)

    async def _reuse(self, crew: Crew, group: asyncio.TaskGroup) -> None:
        """Settle what earlier runs answered, many units at a time; the others are asked for."""
        units, crew.waiting = list(crew.waiting), deque()
        starts = list(range(0, len(units), _REUSED_TOGETHER))
        met = False
        try:
            while starts and not self._stopping.is_set():
                # Beside other processes in any order: in the plan's all would do the same ones.
                start = starts.pop(self._random.randrange(len(starts)) if met else 0)
                if met:
                    await self._see_what_others_did()
                window = units[start : start + _REUSED_TOGETHER]
                # What is read and measured stays: tests ask for it, or the rows are written.
                with no_collection():
                    settled = await self._settled_at_once(window, crew)
                met = met or bool(self._foreign)
                crew.waiting.extend(unit for unit in window if unit not in settled)
                self._staff(crew, group)
        finally:
            self._arrivals.reused(crew.lane.system.name)

    async def _settled_at_once(self, units: Iterable[Unit], crew: Crew) -> Collection[Unit]:
        """Those of the units that nobody need be asked about, nor read: they are settled."""
        works = {
            u: w
            for u in units
            if u not in self._arrivals and not self._reading.reads(w := self._works[u])
        }
        known = await self._observer.reused(list(works.values()), crew.lane)
        seen = {unit: found for unit, found in zip(works, known, strict=True) if found is not None}
        if not seen:
            return seen
        scores = {unit: self._measuring.scores(works[unit], found) for unit, found in seen.items()}
        rows = [(works[unit].case, seen[unit], scored) for unit, scored in scores.items()]
        mine = await written(self._run.record_new(rows, self._reading.engine))
        others = seen.keys() - set(mine)
        self._foreign.update(unit for unit in others if unit not in self._arrivals)
        for unit in mine:
            self._begin(unit, crew)
        crew.counts.asked += len(mine)
        crew.counts.done += len(mine)
        # Nobody need read back what was measured here, a moment ago.
        asked_for = mine if crew.lane.system.name == self._awaited else ()
        self._mark_done(mine, {unit: scores[unit] for unit in asked_for})
        return seen

    async def _work_off(self, crew: Crew) -> None:
        while (unit := await crew.next()) is not None:
            await self._do(unit, crew)

    def _expect(self, unit: Unit, sign: int) -> None:
        """Count a unit's calls among those that are to come, or no more."""
        self._crews[unit.system].counts.expected += sign
        self._reading.expect(self._works[unit], sign)

    def _begin(self, unit: Unit, crew: Crew) -> None:
        """A unit's call is not to come any more."""
        if unit in self._unbegun:
            self._unbegun.discard(unit)
            crew.counts.expected -= 1

    async def _do(self, unit: Unit, crew: Crew) -> None:
        work = self._works[unit]
        self._begin(unit, crew)
        crew.counts.asked += 1
        crew.counts.in_flight += 1
        self._in_flight += 1
        self._peak = max(self._peak, self._in_flight)
        try:
            seen = await self._observer.observe(work, crew.lane)
        finally:
            self._in_flight -= 1
            crew.counts.in_flight -= 1
            crew.counts.done += 1
        if seen.reused_from is None:
            crew.counts.usd += sum(turn.cost_usd or 0.0 for turn in seen.turns)
        # Neither judging nor writing holds up a system: the next question goes out meanwhile.
        if self._reading.reads(work):
            try:
                await self._beside(lambda: self._judge(unit, work, seen))
            except asyncio.CancelledError:
                # So many wait to be read that nobody came to it; it was paid for.
                await self._finish(unit, work, seen, unfinished=True)
                raise
        else:
            record = self._recorded(work, seen)
            await self._beside(lambda: self._settle(unit, record))

    async def _beside(self, finish: Callable[[], Coroutine[Any, Any, None]]) -> None:
        await self._backlog.acquire()
        task = self._group.create_task(finish())
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)
        task.add_done_callback(lambda _: self._backlog.release())

    async def _judge(self, unit: Unit, work: Work, seen: Observation) -> None:
        RANK.set(self._arrivals.rank(unit))
        uses = begin_trail()
        share = self._reading.share(work)
        if seen.last.error is None and seen.reused_from is None:
            self._run.keep(work.case, seen)  # written before what is written later
        opinions: Mapping[str, Opinion] = {}
        second: asyncio.Task[Mapping[str, Opinion]] | None = None
        try:
            # Beside each other, but an end costs no verdict that is there already.
            second = asyncio.create_task(self._reading.opinions(work, seen))
            # Where the first fails too, nobody reads what this one failed with.
            second.add_done_callback(lambda late: late.cancelled() or late.exception())
            seen = await self._reading.read(work, seen)
            opinions = await second
        except asyncio.CancelledError:
            # The system's answer was paid for; that nobody read it is said by its scores.
            await self._finish(unit, work, seen, uses=uses, unfinished=True)
            raise
        finally:
            if second is not None:
                second.cancel()
            if share is not None:
                share.give_back()
        await self._finish(unit, work, seen, opinions, uses=uses)

    async def _finish(
        self,
        unit: Unit,
        work: Work,
        seen: Observation,
        opinions: Mapping[str, Opinion] | None = None,
        *,
        uses: Uses | None = None,
        unfinished: bool = False,
    ) -> None:
        """Measure and store what was seen."""
        record = self._recorded(work, seen, opinions, uses=uses, unfinished=unfinished)
        await self._settle(unit, record)

    def _recorded(
        self,
        work: Work,
        seen: Observation,
        opinions: Mapping[str, Opinion] | None = None,
        *,
        uses: Uses | None = None,
        unfinished: bool = False,
    ) -> Future[None]:
        """Measure what was seen; the store has it from now on, whoever waits for it."""
        scores = self._measuring.scores(work, seen, opinions)
        engine = self._reading.engine
        return self._run.record(work.case, seen, scores, engine, uses=uses, unfinished=unfinished)

    async def _settle(self, unit: Unit, record: Future[None]) -> None:
        """Wait until the unit's results are in the store."""
        try:
            await written(record, paid_for=True)
        except LostClaim:
            if unit not in self._arrivals:
                self._foreign.add(unit)
        else:
            self._mark_done([unit])

    def _mark_done(
        self, units: Collection[Unit], known: Mapping[Unit, Scores] | None = None
    ) -> None:
        self._arrivals.mark(units, known)
        self._foreign.difference_update(units)
        if self._arrivals.complete:
            self._landed.set()

    async def _pulse(self) -> None:
        while True:
            self._pulses += 1
            await asyncio.sleep(_BEAT_EVERY_S / 4)

    async def _watch(self, group: asyncio.TaskGroup) -> None:
        """See what other processes do, until somebody wants the end."""
        watch = Watch()
        looked_at = time.monotonic()
        while not self._stopping.is_set():
            await asyncio.sleep(_WATCH_EVERY_S)
            if self._foreign:
                await self._see_what_others_did()
            if time.monotonic() - looked_at >= _LOOK_AROUND_EVERY_S:
                looked_at = time.monotonic()
                if await self._threads.run(self._run.stop_requested):
                    self._stopping.set()
                await self._adopt_orphans(watch, group)
        await self._brought_home()
        self._landed.set()

    async def _see_what_others_did(self) -> None:
        """Mark as done what other processes stored."""
        self._last_id, units = await self._threads.run(self._run.done_after, self._last_id)
        for unit in self._unbegun.intersection(units):
            self._unbegun.discard(unit)
            self._expect(unit, -1)
        self._mark_done([unit for unit in units if unit in self._works])

    async def _brought_home(self) -> None:
        """Give what is under way two seconds; nothing new begins."""
        for hold in self._holds:
            hold()
        until = time.monotonic() + _FINISH_WITHIN_S
        calling = True
        while (at_work := self._at_work()) and (left := until - time.monotonic()) > 0:
            # A moment longer than the last call: what it brought is to be stored.
            was_calling, calling = calling, self._calls_under_way
            if not (was_calling or calling):
                break
            await asyncio.wait(at_work, timeout=min(left, _WATCH_EVERY_S))

    @property
    def _calls_under_way(self) -> bool:
        return bool(self._in_flight or any(each.in_flight for each in self._reading.counts))

    async def _adopt_orphans(self, watch: Watch, group: asyncio.TaskGroup) -> None:
        if not self._foreign:
            return
        dead = watch.dead(await self._threads.run(self._run.beats)) - {self._run.owner}
        if not dead:
            return
        orphans = await self._threads.run(self._run.orphans, frozenset(self._foreign), dead)
        for unit, owner in orphans.items():
            if await written(self._run.take_over(unit, owner)):
                self._foreign.discard(unit)
                crew = self._crews[unit.system]
                crew.adopted.append(unit)
                self._staff(crew, group)

    # -- other threads --------------------------------------------------------------------

    def _beat(self) -> None:
        """Show the other processes that this one lives, and see whether its loop does.

        Not on the loop: a process that is merely busy is not dead.  Still beats are counted, not
        seconds: while the whole process is suspended, nothing stands still.
        """
        beat: Future[None] | None = None
        seen, still = self._pulses, 0
        while not self._arrivals.ended(_BEAT_EVERY_S):
            still = still + 1 if self._pulses == seen else 0
            seen = self._pulses
            if still >= _STALLED_AFTER_BEATS:
                self._arrivals.fail(FlightError(stalled(self._thread.ident, still * _BEAT_EVERY_S)))
                self._stopping.set()
                self._arrivals.end()
            if beat is None or beat.done():
                try:
                    beat = self._run.beat()
                except StoreError:
                    return  # closed: the run is over
