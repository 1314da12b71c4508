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
from dataclasses import dataclass, field
from typing import Any

from pytest_touchstone.annotations import is_opinion, over
from pytest_touchstone.flight.canary_round import CanaryRound
from pytest_touchstone.flight.counts import Counts
from pytest_touchstone.flight.judging import with_opinion
from pytest_touchstone.flight.lane import Lane
from pytest_touchstone.flight.loop import (
    all_ended,
    cancel_the_rest,
    close_loop,
    complete,
    stalled,
)
from pytest_touchstone.flight.observe import Observer, Work
from pytest_touchstone.flight.places import RANK
from pytest_touchstone.flight.reading import Reading
from pytest_touchstone.flight.threads import DaemonExecutor, DaemonThreads
from pytest_touchstone.flight.trail import Uses, begin_trail
from pytest_touchstone.flight.writing import written
from pytest_touchstone.garbage import no_collection
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.score import MEASURE_ERROR, Score, unscored
from pytest_touchstone.storable import json_data, storable
from pytest_touchstone.store.engine import StoreError
from pytest_touchstone.store.run import LostClaim, RunStore, Unit, Watch
from pytest_touchstone.trace import Observation
from pytest_touchstone.verdicts import Opinion

Scores = Mapping[str, Score]
_BEAT_EVERY_S = 1.0
_WATCH_EVERY_S = 0.1
_LOOK_AROUND_EVERY_S = 1.0
_STALLED_AFTER_BEATS = 60
# What a stop allows: all of it together ends a worker sooner than execnet's 5 s would kill it.
_FINISH_WITHIN_S = 2.0
_CLOSE_WITHIN_S = 0.5
_STOP_WITHIN_S = 5.0
_FEWEST_AWAITING_JUDGEMENT = 64
_READ_AHEAD = 256  # units whose scores are read together, where tests go through the plan
_REUSED_TOGETHER = 500  # units whose stored answers are measured and stored together
_REUSE_FIRST_S = 10.0  # how long tests wait for all of them: side by side both take longer
_WINDOW = 32  # units looked at together, once other processes turned out to be at work


People = Callable[[str, str, str], Score | None]
"""Case, measure and answer to what people said of it."""
Settled = Callable[[Unit, Measure], Score | None]
"""Unit and measure to a score that stands already."""


class FlightError(Exception):
    """The flight cannot go on: the store failed, the loop is blocked, patience ran out."""


@dataclass(slots=True)
class _Crew:
    """One system's calls: who makes them, and what is still to be done.

    :ivar waiting: units that nobody here has tried to claim yet.
    :ivar adopted: units taken over from a dead process: claimed already.
    """

    lane: Lane
    counts: Counts
    waiting: deque[Unit] = field(default_factory=deque)
    adopted: deque[Unit] = field(default_factory=deque)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    claiming: asyncio.Lock = field(default_factory=asyncio.Lock)


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
    :param people: what people said of a measure of a case's answer, which beats any judge.
    :param settled: scores that are not to be made again.
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
        people: People | None = None,
        settled: Settled | None = None,
        judge_calls: int = 0,
        canaries: CanaryRound | None = None,
        holds: Sequence[Callable[[], None]] = (),
        closers: Sequence[Callable[[], Awaitable[None]]] = (),
    ) -> None:
        self._observer = observer
        self._run = run
        self._awaited = awaited
        self._patience = patience
        self._meanwhile = meanwhile
        self._reading = reading or Reading()
        self._people = people
        self._settled = settled
        self._canaries = canaries
        self._backlog = asyncio.Semaphore(max(_FEWEST_AWAITING_JUDGEMENT, 2 * judge_calls))
        self._finishing: set[asyncio.Task[None]] = set()
        self._holds = holds
        self._closers = closers
        self._crews = {name: _Crew(lane, Counts("system", name)) for name, lane in lanes.items()}
        self._works = {_unit(work): work for work in works}
        self._order = list(self._works)
        self._ranks = {unit: rank for rank, unit in enumerate(self._order)}
        self._ahead: dict[Unit, Scores] = {}
        self._expected: dict[tuple[str, int, str], Unit] = {}
        # What no measure wants to see is not paid for.
        self._done = {unit for unit, work in self._works.items() if not work.measures}
        self._unbegun = {unit for unit in self._works if unit not in self._done}
        for unit in self._works:
            if unit in self._unbegun:
                self._crews[unit.system].waiting.append(unit)
                self._expect(unit, +1)
        self._foreign: set[Unit] = set()
        self._last_id = 0  # of what other processes were seen to have stored
        self._in_flight = 0
        self._peak = 0
        self._pulses = 0
        self._reusing: set[str] = set()
        self._random = random.Random()  # noqa: S311 - no secret
        self._reuse_first_until = 0.0
        self._failure: BaseException | None = None
        self._stopping = threading.Event()
        self._over = threading.Event()
        self._news = threading.Condition()  # something was done, or everything is over
        self._landed = asyncio.Event()
        self._threads = DaemonThreads("touchstone-blocking")
        self._thread = threading.Thread(target=self._fly, name="touchstone-flight", daemon=True)
        self._heart = threading.Thread(target=self._beat, name="touchstone-beat", daemon=True)

    def start(self) -> None:
        """Put everything in flight."""
        if not self._stopping.is_set():
            names = (crew.lane.system.name for crew in self._crews.values())
            self._reusing = set(filter(self._observer.reuses, names))
            self._reuse_first_until = time.monotonic() + _REUSE_FIRST_S
            self._thread.start()
            self._heart.start()

    def scores(self, case_id: str, system: str, mode: str = "recorded", repeat: int = 0) -> Scores:
        """Wait for one case's scores, by measure name.

        :raises FlightError: when they will not come.
        """
        unit = Unit(case_id, system, repeat, mode)
        if unit not in self._works:
            raise FlightError(f"the plan has no case {case_id} for system {system!r}")
        if unit not in self._done or self._reusing:
            deadline = time.monotonic() + self._patience
            while not self._came(unit, deadline):
                self._meanwhile()
        if unit not in self._ahead:
            self._read_ahead(unit)
        return self._ahead.pop(unit, {})

    def _came(self, unit: Unit, deadline: float) -> bool:
        """Whether a unit is done, after a second at most, so that Ctrl-C works everywhere."""
        with self._news:
            if self._may_go_on(unit):
                return True
            if unit in self._done:
                deadline = self._reuse_first_until
            elif self._over.is_set():
                raise FlightError(self._why_unfinished()) from self._failure
            elif time.monotonic() >= deadline:
                raise FlightError(
                    f"no score for {unit.case_id} within {self._patience:g} s;"
                    " the setting `patience` allows more"
                )
            self._news.wait(min(deadline - time.monotonic(), 1.0))
            return self._may_go_on(unit)

    def _may_go_on(self, unit: Unit) -> bool:
        """Whether a unit is done, and all that is stored is settled or has had its time."""
        waits = self._reusing and time.monotonic() < self._reuse_first_until
        return unit in self._done and not waits

    def _read_ahead(self, unit: Unit) -> None:
        """Read a unit's scores, and those of the next ones where tests ask in the plan's order."""
        kind = (unit.system, unit.repeat, unit.mode)
        most = _READ_AHEAD if self._expected.get(kind) == unit else 1
        units: list[Unit] = []
        for rank in range(self._ranks[unit], len(self._order)):
            other = self._order[rank]
            if (other.system, other.repeat, other.mode) != kind:
                continue
            if len(units) == most or other not in self._done:
                self._expected[kind] = other
                break
            units.append(other)
        try:
            self._ahead |= self._run.scores(units)
        except StoreError as error:
            raise FlightError(str(error)) from error

    def drain(self) -> None:
        """Wait until everything planned is done, by this process or another, or stopped.

        :raises FlightError: when it will not be.
        """
        while not self._over.wait(1.0):
            self._meanwhile()
        if self._failure is not None:
            raise FlightError(self._why_unfinished()) from self._failure

    def stop(self) -> None:
        """End early: start nothing new, give what is under way two seconds, store what came.

        Returns after five seconds at most, whatever the systems do.
        """
        self._stopping.set()
        if self._thread.ident is None:
            self._end()
        self._over.wait(_STOP_WITHIN_S)

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
            self._failure = self._failure or error
        try:
            deaf = complete(loop, cancel_the_rest(_CLOSE_WITHIN_S))
            if not deaf:
                close_loop(loop)
            for crew in self._crews.values():
                crew.lane.close()
            self._threads.close()
        finally:
            self._end()
        if deaf:
            # They ignore that they were told to end; nobody waits for this thread any more.
            complete(loop, all_ended(deaf))
            close_loop(loop)

    def _end(self) -> None:
        with self._news:
            self._over.set()
            self._news.notify_all()

    async def _carry_out(self) -> None:
        self._mark_done(())
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                others = [group.create_task(self._pulse()), group.create_task(self._watch(group))]
                for crew in self._crews.values():
                    if crew.lane.system.name in self._reusing:
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

    def _staff(self, crew: _Crew, group: asyncio.TaskGroup) -> None:
        """As many tasks as the lane allows and the work needs, and no more."""
        places = crew.lane.limit - len(crew.tasks)
        for _ in range(min(places, len(crew.waiting) + len(crew.adopted))):
            task = group.create_task(self._work_off(crew))
            crew.tasks.add(task)
            task.add_done_callback(crew.tasks.discard)

    async def _reuse(self, crew: _Crew, group: asyncio.TaskGroup) -> None:
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
            with self._news:
                self._reusing.discard(crew.lane.system.name)
                self._news.notify_all()

    async def _settled_at_once(self, units: Iterable[Unit], crew: _Crew) -> Collection[Unit]:
        """Those of the units that nobody need be asked about, nor read: they are settled."""
        works = {
            u: w
            for u in units
            if u not in self._done and not self._reading.reads(w := self._works[u])
        }
        known = await self._observer.reused(list(works.values()), crew.lane)
        seen = {unit: found for unit, found in zip(works, known, strict=True) if found is not None}
        if not seen:
            return seen
        scores = {unit: self._measured(works[unit], found) for unit, found in seen.items()}
        rows = [(works[unit].case, seen[unit], scored) for unit, scored in scores.items()]
        mine = await written(self._run.record_new(rows, self._reading.engine))
        self._foreign |= seen.keys() - set(mine) - self._done
        for unit in mine:
            self._begin(unit, crew)
        crew.counts.asked += len(mine)
        crew.counts.done += len(mine)
        if crew.lane.system.name == self._awaited:
            # Nobody need read back what was measured here, a moment ago.
            self._ahead |= {unit: scores[unit] for unit in mine}
        self._mark_done(mine)
        return seen

    async def _work_off(self, crew: _Crew) -> None:
        while (unit := await self._next(crew)) is not None:
            await self._do(unit, crew)

    async def _next(self, crew: _Crew) -> Unit | None:
        """A unit that is claimed for this process, or ``None`` where there is none left."""
        # Alone, claims are written side by side; among others, one after the other looks further.
        while not self._foreign and crew.waiting and not (crew.adopted or self._stopping.is_set()):
            if (mine := await self._claimed(crew)) is not None:
                return mine
        async with crew.claiming:
            while not self._stopping.is_set():
                if crew.adopted:
                    return crew.adopted.popleft()
                if not crew.waiting:
                    return None
                if (mine := await self._claimed(crew)) is not None:
                    return mine
        return None

    async def _claimed(self, crew: _Crew) -> Unit | None:
        """The first of the next units that is nobody else's; ``None`` where there is none."""
        window = self._window(crew.waiting)
        if not window:
            return None
        mine = await written(self._run.claim(window))
        taken = window if mine is None else window[: window.index(mine)]
        self._foreign.update(unit for unit in taken if unit not in self._done)
        if mine is not None:
            crew.waiting.extendleft(reversed(window[len(taken) + 1 :]))
        return mine

    def _window(self, waiting: deque[Unit]) -> list[Unit]:
        """The next units to try; one alone, as long as this process seems to be alone."""
        size = _WINDOW if self._foreign else 1
        window: list[Unit] = []
        while waiting and len(window) < size:
            if (unit := waiting.popleft()) not in self._done:
                window.append(unit)
        return window

    def _expect(self, unit: Unit, sign: int) -> None:
        """Count a unit's calls among those that are to come, or no more."""
        self._crews[unit.system].counts.expected += sign
        self._reading.expect(self._works[unit], sign)

    def _begin(self, unit: Unit, crew: _Crew) -> None:
        """A unit's call is not to come any more."""
        if unit in self._unbegun:
            self._unbegun.discard(unit)
            crew.counts.expected -= 1

    async def _do(self, unit: Unit, crew: _Crew) -> None:
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
        RANK.set(self._ranks[unit])
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
        scores = self._measured(work, seen, opinions)
        engine = self._reading.engine
        return self._run.record(work.case, seen, scores, engine, uses=uses, unfinished=unfinished)

    def _measured(
        self, work: Work, seen: Observation, opinions: Mapping[str, Opinion] | None = None
    ) -> dict[str, Score]:
        engine = self._reading.engine
        beside = opinions or {}
        return {
            m.name: with_opinion(self._score(m, work, seen, engine), beside.get(m.name))
            for m in work.measures
        }

    async def _settle(self, unit: Unit, record: Future[None]) -> None:
        """Wait until the unit's results are in the store."""
        try:
            await written(record, paid_for=True)
        except LostClaim:
            if unit not in self._done:
                self._foreign.add(unit)
        else:
            self._mark_done([unit])

    def _score(self, measure: Measure, work: Work, seen: Observation, engine: str) -> Score:
        if self._settled is not None and (given := self._settled(_unit(work), measure)) is not None:
            return given
        own = _measured(measure, work, seen, engine)
        answer = None if seen.last.error else seen.last.answer
        if self._people is None or answer is None or not is_opinion(measure):
            return own
        said = self._people(work.case.id, measure.name, answer.text)
        return own if said is None else over(own, said)

    def _mark_done(self, units: Iterable[Unit]) -> None:
        done = set(units)
        with self._news:
            self._done |= done
            self._foreign -= done
            self._news.notify_all()
        if len(self._done) == len(self._works):
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
        self._mark_done(unit for unit in units if unit in self._works)

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
        while not self._over.wait(_BEAT_EVERY_S):
            still = still + 1 if self._pulses == seen else 0
            seen = self._pulses
            if still >= _STALLED_AFTER_BEATS:
                self._failure = FlightError(stalled(self._thread.ident, still * _BEAT_EVERY_S))
                self._stopping.set()
                self._end()
            if beat is None or beat.done():
                try:
                    beat = self._run.beat()
                except StoreError:
                    return  # closed: the run is over

    def _why_unfinished(self) -> str:
        error = self._failure
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if error is None:
            return "the run was stopped before this case was scored"
        if isinstance(error, FlightError | StoreError):
            return str(error)
        return f"{type(error).__name__}: {error}"


def _measured(measure: Measure, work: Work, seen: Observation, engine: str) -> Score:
    try:
        score = measure.score(work.case, seen)
        named = engine if score.origin == "judge" else score.engine
        detail = json_data(score.detail, "detail")
        # As it will be read back, since some are handed to tests without.
        why = storable(score.why)
        return Score(score.value, why, score.reason, score.origin, named, detail)
    except Exception as error:  # noqa: BLE001 - a broken measure must not end the run
        return unscored(MEASURE_ERROR, f"{measure.name} raised {type(error).__name__}: {error}")


def _unit(work: Work) -> Unit:
    return Unit(work.case.id, work.system, work.repeat, work.mode)
