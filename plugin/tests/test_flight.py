"""The flight: everything at once, whatever happens, each piece of work once."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from runs import (
    OBSERVER,
    PATIENCE_S,
    Assistant,
    Odd,
    answer,
    assert_all_threads_end,
    flight,
    gold,
    in_thread,
    join,
    loaded,
    number_in,
    second_process,
    store_url,
    works,
)

from pytest_touchstone.flight import arrivals
from pytest_touchstone.flight import flight as flight_module
from pytest_touchstone.flight import writing as writing_module
from pytest_touchstone.flight.arrivals import FlightError
from pytest_touchstone.flight.flight import Flight
from pytest_touchstone.flight.observe import Work
from pytest_touchstone.flight.reading import Reading
from pytest_touchstone.measures import MRR
from pytest_touchstone.score import Score, unscored
from pytest_touchstone.store import engine as engine_module
from pytest_touchstone.store import run as run_module
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.rows import read_run
from pytest_touchstone.store.run import RunStore, Unit, Watch
from pytest_touchstone.trace import Answer, Observation, Turn


@pytest.fixture
def url(tmp_path: Path) -> str:
    return store_url(tmp_path)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = Store(url)
    yield store
    store.close()
    assert_all_threads_end()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the flight does now and then, it does often."""
    monkeypatch.setattr(engine_module, "_APART_S", 0.0)
    monkeypatch.setattr(flight_module, "_BEAT_EVERY_S", 0.02)
    monkeypatch.setattr(flight_module, "_WATCH_EVERY_S", 0.005)
    monkeypatch.setattr(flight_module, "_LOOK_AROUND_EVERY_S", 0.02)
    monkeypatch.setattr(run_module, "DEAD_AFTER_S", 0.3)


def answers(store: Store) -> list[tuple[str, str, str | None]]:
    """Case, system and answer of every turn that was stored, sorted."""
    rows = read_run(store, "run")
    assert rows is not None
    return sorted((row.case_id, row.system, row.answer) for row in rows.questions)


def expected(*numbers: int, system: str = "s") -> list[tuple[str, str, str]]:
    return sorted((f"q{n}", system, f"It is {n}.") for n in numbers)


def fly(flying: Flight) -> Flight:
    flying.start()
    flying.drain()
    return flying


def kinds(store: Store) -> dict[str, str | None]:
    rows = read_run(store, "run")
    assert rows is not None
    return {row.case_id: row.error["kind"] if row.error else None for row in rows.questions}


# Everything goes well.


def test_every_case_is_asked_once_of_every_system(store: Store) -> None:
    cases = gold(30)
    systems = {name: Assistant() for name in ("mine", "baseline")}
    run = join(store, "a", cases)
    flying = fly(flight(run, cases, *(loaded(s.ask, name=n) for n, s in systems.items())))
    for name, system in systems.items():
        assert sorted(system.asked, key=int) == [f"{i}" for i in range(30)]
        assert flying.scores("q7", name)["Recall@5"].value == 1.0
    assert answers(store) == sorted(
        expected(*range(30), system="mine") + expected(*range(30), system="baseline")
    )
    assert 1 <= flying.peak_in_flight <= 16


def test_work_is_begun_in_the_order_of_the_plan(store: Store) -> None:
    cases = gold(20)
    system = Assistant()
    fly(flight(join(store, "a", cases), cases, loaded(system.ask, concurrency=1)))
    assert system.asked == [f"{i}" for i in range(20)]


def test_a_test_gets_its_score_while_others_are_still_in_flight(store: Store) -> None:
    cases = gold(3)
    go = threading.Event()
    system = Assistant({"1": in_thread(go)})
    flying = flight(join(store, "a", cases), cases, loaded(system.ask))
    flying.start()
    for case in ("q0", "q2"):
        assert flying.scores(case, "s")["Recall@5"].value == 1.0
    assert answers(store) == expected(0, 2)
    go.set()
    assert flying.scores("q1", "s")["Recall@5"].value == 1.0
    flying.drain()


def test_all_places_of_an_async_system_are_used_and_no_more(store: Store) -> None:
    cases = gold(12)
    in_flight, most = [0], [0]
    full = asyncio.Event()

    async def ask(messages: Any, session: Any) -> Answer:
        in_flight[0] += 1
        most[0] = max(most[0], in_flight[0])
        if in_flight[0] == 5:
            full.set()
        await full.wait()
        in_flight[0] -= 1
        return answer(number_in(messages))

    flying = fly(flight(join(store, "a", cases), cases, loaded(ask, concurrency=5)))
    assert most == [5]
    assert flying.peak_in_flight == 5


def test_waiting_work_is_no_task(store: Store) -> None:
    cases = gold(200)
    tasks = [0]

    async def ask(messages: Any, session: Any) -> Answer:
        tasks[0] = max(tasks[0], len(asyncio.all_tasks()))
        return answer(number_in(messages))

    fly(flight(join(store, "a", cases), cases, loaded(ask, concurrency=4)))
    assert tasks[0] <= 2 * 4 + 3  # a task of the crew and one of the call; the flight's own


def test_a_plain_function_is_asked_one_question_at_a_time(store: Store) -> None:
    cases = gold(10)
    lock = threading.Lock()

    def ask(messages: Any, session: Any) -> Answer:
        assert lock.acquire(blocking=False), "asked while it was still answering"
        try:
            return answer(number_in(messages))
        finally:
            lock.release()

    fly(flight(join(store, "a", cases), cases, loaded(ask)))
    assert answers(store) == expected(*range(10))


def test_a_thread_safe_one_is_asked_several(store: Store) -> None:
    cases = gold(9)
    barrier = threading.Barrier(3, timeout=PATIENCE_S)

    def ask(messages: Any, session: Any) -> Answer:
        barrier.wait()
        return answer(number_in(messages))

    fly(flight(join(store, "a", cases), cases, loaded(ask, concurrency=3)))
    assert answers(store) == expected(*range(9))


def test_what_no_measure_wants_to_see_is_not_asked(store: Store) -> None:
    cases = gold(2)
    system = Assistant()
    plan = [*works(cases[:1]), *works(cases[1:], measures=[])]
    flying = fly(flight(join(store, "a", cases), cases, loaded(system.ask), plan=plan))
    assert system.asked == ["0"]
    assert flying.scores("q1", "s") == {}


def test_nothing_planned(store: Store) -> None:
    fly(flight(join(store, "a", []), [], loaded(Assistant().ask)))


# Measures.


def test_a_broken_measure_does_not_end_the_run(store: Store) -> None:
    cases = gold(2)
    plan = works(cases, measures=[Odd(lambda: 1 / 0), MRR])
    flying = fly(flight(join(store, "a", cases), cases, loaded(Assistant().ask), plan=plan))
    for case in cases:
        scores = flying.scores(case.id, "s")
        assert scores["MRR"].value == 1.0
        assert (scores["Odd"].value, scores["Odd"].reason) == (None, "measure_error")


def test_what_a_test_sees_is_what_was_stored(store: Store) -> None:
    cases = gold(1)
    told = Score(0.25, "so \ud800", detail={"tuple": (1, 2), "text": "\0"})
    plan = works(cases, measures=[Odd(lambda: told)])
    flying = fly(flight(join(store, "a", cases), cases, loaded(Assistant().ask), plan=plan))
    assert flying.scores("q0", "s") == {
        "Odd": Score(0.25, "so \ufffd", detail={"tuple": [1, 2], "text": "\ufffd"})
    }


# Systems that do what they should not.


async def in_a_task_of_its_own() -> None:
    async def leave() -> None:
        raise SystemExit(4)

    await asyncio.create_task(leave())


def leave() -> None:
    raise SystemExit(3)


async def left() -> None:
    leave()


@pytest.mark.parametrize("how", [leave, left, in_a_task_of_its_own])
def test_a_system_that_tries_to_end_the_process(store: Store, how: Callable[[], Any]) -> None:
    cases = gold(6)

    async def ask(messages: Any, session: Any) -> Answer:
        if number_in(messages) in {"1", "4"}:
            await how()
        return answer(number_in(messages))

    def ask_plainly(messages: Any, session: Any) -> Answer:
        if number_in(messages) in {"1", "4"}:
            how()
        return answer(number_in(messages))

    system = loaded(ask_plainly if how is leave else ask)
    flying = fly(flight(join(store, "a", cases), cases, system))
    assert kinds(store) == {f"q{i}": "exception" if i in {1, 4} else None for i in range(6)}
    assert "SystemExit: " in flying.scores("q4", "s")["Recall@5"].why


def test_an_async_system_that_blocks_the_loop_is_found_out(
    store: Store, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flight_module, "_STALLED_AFTER_BEATS", 5)
    cases = gold(3)
    go = threading.Event()

    def download() -> None:
        go.wait(PATIENCE_S)

    async def ask(messages: Any, session: Any) -> Answer:
        download()
        return answer(number_in(messages))

    flying = flight(join(store, "a", cases), cases, loaded(ask))
    flying.start()
    line = ask.__code__.co_firstlineno + 1
    says = rf"has been blocked for \d+ s at .*test_flight\.py:{line} in ask: an `async def` system"
    for wait in (lambda: flying.scores("q2", "s"), flying.drain):
        with pytest.raises(FlightError, match=says):
            wait()
    flying.stop()
    go.set()


def test_a_cancelled_library_call_is_not_the_end_of_the_work(store: Store) -> None:
    """A library may cancel its own futures; the case is answered or failed, never lost."""
    cases = gold(4)

    async def ask(messages: Any, session: Any) -> Answer:
        if number_in(messages) == "2":
            inner = asyncio.get_running_loop().create_future()
            inner.cancel()
            await inner
        return answer(number_in(messages))

    fly(flight(join(store, "a", cases), cases, loaded(ask, concurrency=1)))
    assert kinds(store) == {"q0": None, "q1": None, "q2": "exception", "q3": None}


HANGING = """
    import asyncio, gc, sys, threading
    sys.path.insert(0, {tests!r})
    import runs
    from pytest_touchstone.flight import lane
    from pytest_touchstone.store.engine import Store

    lane._GRACE_S = 0.01
    for_ever = threading.Event()

    def plain(messages, session):
        for_ever.wait()

    async def deaf(messages, session):
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                pass

    async def in_executor(messages, session):
        await asyncio.to_thread(for_ever.wait)

    cases = runs.gold(5)
    systems = [runs.loaded(f, name=f.__name__, timeout=0.05) for f in (plain, deaf, in_executor)]
    store = Store(sys.argv[1])
    flying = runs.flight(runs.join(store, "a", cases), cases, *systems)
    flying.start()
    flying.drain()
    store.close()
    gc.collect()
    print("drained")
"""


def test_a_process_ends_whatever_hangs_in_it(store: Store, url: str, tmp_path: Path) -> None:
    script = tmp_path / "hanging.py"
    script.write_text(textwrap.dedent(HANGING.format(tests=str(Path(__file__).parent))))
    ended = subprocess.run(
        [sys.executable, str(script), url],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "drained\n", "")
    rows = read_run(store, "run")
    assert rows is not None
    found: dict[str, list[str]] = {"plain": [], "deaf": [], "in_executor": []}
    for row in rows.questions:
        assert row.error is not None
        found[row.system].append(row.error["kind"])
    assert sorted(found["plain"]) == ["given_up"] * 2 + ["timeout"] * 3
    assert found["in_executor"] == ["timeout"] * 5
    assert set(found["deaf"]) <= {"timeout", "given_up"}


# Asking for scores.


def test_scores_that_nobody_planned(store: Store) -> None:
    cases = gold(1)
    flying = fly(flight(join(store, "a", cases), cases, loaded(Assistant().ask)))
    with pytest.raises(FlightError, match="the plan has no case q5 for system 's'"):
        flying.scores("q5", "s")
    with pytest.raises(FlightError, match="no case q0 for system 'other'"):
        flying.scores("q0", "other")


def test_patience_ends(store: Store) -> None:
    cases = gold(1)
    go = threading.Event()
    system = Assistant({"0": in_thread(go)})
    flying = flight(join(store, "a", cases), cases, loaded(system.ask), patience=0.01)
    flying.start()
    with pytest.raises(FlightError, match=r"no score for q0 within 0\.01 s; the setting `pat"):
        flying.scores("q0", "s")
    go.set()
    flying.drain()


# Stopping.


def test_stop_before_start(store: Store) -> None:
    cases = gold(3)
    system = Assistant()
    flying = flight(join(store, "a", cases), cases, loaded(system.ask))
    flying.stop()
    flying.start()
    flying.drain()
    with pytest.raises(FlightError, match="the run was stopped before this case was scored"):
        flying.scores("q0", "s")
    assert system.asked == []


def test_stop_after_the_end_and_twice(store: Store) -> None:
    cases = gold(3)
    flying = fly(flight(join(store, "a", cases), cases, loaded(Assistant().ask)))
    flying.stop()
    flying.stop()
    assert flying.scores("q0", "s")["Recall@5"].value == 1.0


def test_a_stop_starts_nothing_new_and_lets_finish_what_can(store: Store, quick: None) -> None:
    cases = gold(10)
    go = threading.Event()
    both = threading.Barrier(3, timeout=PATIENCE_S)

    async def hold() -> None:
        await asyncio.to_thread(both.wait)
        await asyncio.to_thread(go.wait, PATIENCE_S)

    system = Assistant({"0": hold, "1": hold})
    flying = flight(join(store, "a", cases), cases, loaded(system.ask, concurrency=2))
    flying.start()
    both.wait()
    stopper = threading.Thread(target=flying.stop)
    stopper.start()
    while not flying._stopping.is_set():
        pass
    go.set()
    stopper.join(PATIENCE_S)
    assert system.asked == ["0", "1"]
    assert answers(store) == expected(0, 1)
    assert flying.scores("q1", "s")["Recall@5"].value == 1.0
    with pytest.raises(FlightError, match="was stopped"):
        flying.scores("q2", "s")
    flying.drain()


def test_a_stop_cancels_what_does_not_finish(
    store: Store, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flight_module, "_FINISH_WITHIN_S", 0.02)
    cases = gold(3)
    began, ended = threading.Event(), []

    async def never() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    flying = flight(
        join(store, "a", cases), cases, loaded(Assistant({"1": never}).ask, concurrency=1)
    )
    flying.start()
    assert began.wait(PATIENCE_S)
    flying.stop()
    assert ended == ["cancelled"]
    assert answers(store) == expected(0)


def test_answers_that_nobody_came_to_read_are_kept_when_all_ends(
    store: Store, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only so many wait to be judged; those behind them were paid for as well."""
    monkeypatch.setattr(flight_module, "_FEWEST_AWAITING_JUDGEMENT", 1)
    held: list[bool] = []

    class Endless(Reading):
        def reads(self, work: Work) -> bool:
            return True

        async def read(self, work: Work, seen: Observation) -> Observation:
            await asyncio.Event().wait()
            return seen

    cases, system = gold(3), Assistant()
    run = join(store, "a", cases)
    flying = flight(
        run,
        cases,
        loaded(system.ask, concurrency=3),
        reading=Endless(),
        holds=[lambda: held.append(True)],
    )
    flying.start()
    while len(system.asked) < 3 or flying._in_flight:
        threading.Event().wait(0.01)
    begun = time.monotonic()
    flying.stop()
    assert time.monotonic() - begun < flight_module._FINISH_WITHIN_S, "nothing was under way"
    assert held == [True]
    resumed = RunStore(store, "run", "b")
    resumed.look_for_unfinished()
    kept = [resumed.kept(Unit(f"q{n}", "s")) for n in range(3)]
    assert [one and one.last.answer for one in kept] == [answer(str(n)) for n in range(3)]


def test_a_result_that_is_being_written_is_not_lost(
    store: Store, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was paid for: whoever is cancelled while it waits for the writer does not take it back."""
    monkeypatch.setattr(flight_module, "_FINISH_WITHIN_S", 0.02)
    monkeypatch.setattr(writing_module, "_STORE_WITHIN_S", PATIENCE_S)
    cases = gold(2)
    go, held, cancelled = threading.Event(), threading.Event(), threading.Event()
    both_asked = asyncio.Event()

    def hold(connection: Any) -> None:
        held.set()
        go.wait(PATIENCE_S)

    async def hold_up_the_writer() -> None:
        await both_asked.wait()
        store.write(hold)
        await asyncio.to_thread(held.wait, PATIENCE_S)

    async def until_cancelled() -> None:
        both_asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    system = Assistant({"0": hold_up_the_writer, "1": until_cancelled})
    flying = flight(join(store, "a", cases), cases, loaded(system.ask))
    flying.start()
    assert held.wait(PATIENCE_S)
    stopper = threading.Thread(target=flying.stop)
    stopper.start()
    assert cancelled.wait(PATIENCE_S)
    go.set()
    stopper.join(PATIENCE_S)
    flying.drain()
    assert answers(store) == expected(0)


def test_another_process_may_ask_for_the_end(
    store: Store, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flight_module, "_FINISH_WITHIN_S", 0.02)
    cases = gold(5)
    began = threading.Event()

    async def never() -> None:
        began.set()
        await asyncio.Event().wait()

    flying = flight(
        join(store, "a", cases), cases, loaded(Assistant({"2": never}).ask, concurrency=1)
    )
    flying.start()
    assert began.wait(PATIENCE_S)
    RunStore(store, "run", "controller").request_stop().result(PATIENCE_S)
    flying.drain()
    with pytest.raises(FlightError, match="was stopped"):
        flying.scores("q2", "s")
    assert answers(store) == expected(0, 1)


def test_clients_are_closed_on_the_loop_whatever_they_do(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flight_module, "_CLOSE_WITHIN_S", 0.02)
    cases = gold(1)
    closed: list[str] = []

    async def fails() -> None:
        closed.append(threading.current_thread().name)
        raise RuntimeError("no")

    async def hangs() -> None:
        closed.append(threading.current_thread().name)
        await asyncio.Event().wait()

    async def closes() -> None:
        closed.append(threading.current_thread().name)

    closers = [fails, hangs, closes]
    fly(flight(join(store, "a", cases), cases, loaded(Assistant().ask), closers=closers))
    assert closed == ["touchstone-flight"] * 3


def test_tasks_that_a_system_left_behind_are_ended(store: Store) -> None:
    ended: list[str] = []
    kept: list[asyncio.Task[None]] = []

    async def background() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("background")

    async def pages() -> Any:
        try:
            for number in itertools.count():
                yield number
        finally:
            ended.append("pages")

    generators: list[Any] = []

    async def start_something() -> None:
        kept.append(asyncio.create_task(background()))
        generators.append(pages())
        await anext(generators[0])

    cases = gold(1)
    system = Assistant({"0": start_something})
    fly(flight(join(store, "a", cases), cases, loaded(system.ask)))
    assert ended == ["background", "pages"]


# Answers that are stored already.


@dataclass
class Stored:
    """What earlier runs stored: the answers to these questions."""

    numbers: set[str]

    async def __call__(self, work: Work, retrieve_only: bool) -> Observation | None:
        number = work.case.id.removeprefix("q")
        if number not in self.numbers:
            return None
        turn = Turn(0, work.case.question, answer(number))
        return Observation(work.case.id, work.system, (turn,), reused_from="earlier")

    def reuses(self, system: str) -> bool:
        return system == "s"

    async def several(
        self, works: Sequence[Work], retrieve_only: bool
    ) -> Sequence[Observation | None]:
        return [await self(work, retrieve_only) for work in works]


@pytest.mark.parametrize("there", [set(), {"0", "3", "5"}, set(map(str, range(6)))])
@pytest.mark.parametrize("window", [2, 100])
def test_only_what_is_not_stored_is_asked(
    store: Store, monkeypatch: pytest.MonkeyPatch, there: set[str], window: int
) -> None:
    monkeypatch.setattr(flight_module, "_REUSED_TOGETHER", window)
    cases = gold(6)
    system = Assistant()
    run = join(store, "a", cases)
    fly(flight(run, cases, loaded(system.ask), observer=replace(OBSERVER, recall=Stored(there))))
    assert sorted(system.asked) == sorted(set(map(str, range(6))) - there)
    rows = read_run(store, "run")
    assert rows is not None
    assert {q.case_id for q in rows.questions if q.reused_from} == {f"q{n}" for n in there}
    assert len(rows.questions) == len(rows.scores) == 6


def test_a_stored_answer_that_another_process_has_taken_is_left_to_it(store: Store) -> None:
    cases = gold(3)
    run, other = join(store, "a", cases), join(store, "other", cases)
    other.claim([Unit("q1", "s")]).result(PATIENCE_S)
    stored = replace(OBSERVER, recall=Stored({"0", "1", "2"}))
    flying = flight(run, cases, loaded(Assistant().ask), observer=stored)
    flying.start()
    flying.scores("q0", "s")
    flying.scores("q2", "s")
    rows = read_run(store, "run")
    assert rows is not None
    assert {question.case_id for question in rows.questions} == {"q0", "q2"}
    turn = Turn(0, cases[1].question, answer("1"))
    other.record(cases[1], Observation("q1", "s", (turn,)), {"M": Score(1.0, "")})
    flying.drain()


def test_processes_that_reuse_beside_each_other_share_the_work(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flight_module, "_REUSED_TOGETHER", 5)
    cases = gold(200)
    stored = replace(OBSERVER, recall=Stored({str(number) for number in range(200)}))
    measured: list[Score] = []

    def noted() -> Score:
        measured.append(Score(1.0, ""))
        return measured[-1]

    plan = works(cases, measures=[Odd(noted)])
    flights = [
        flight(join(store, o, cases), cases, loaded(Assistant().ask), plan=plan, observer=stored)
        for o in "ab"
    ]
    for flying in flights:
        flying.start()
    for flying in flights:
        flying.drain()
    rows = read_run(store, "run")
    assert rows is not None
    assert len(rows.questions) == len(rows.scores) == 200
    assert len(measured) < 300, "400 were each of them to do all"


def test_scores_come_when_all_stored_answers_are_settled_and_are_those_of_the_store(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flight_module, "_REUSED_TOGETHER", 2)
    cases = gold(6)
    run = join(store, "a", cases)
    stored = replace(OBSERVER, recall=Stored(set(map(str, range(6)))))
    flying = flight(run, cases, loaded(Assistant().ask), observer=stored)
    flying.start()
    first = flying.scores("q0", "s")
    units = [Unit(f"q{n}", "s") for n in range(6)]
    known = run.scores(units)
    assert known.keys() == set(units)
    assert [first, *(flying.scores(f"q{n}", "s") for n in range(1, 6))] == list(known.values())
    flying.drain()


def test_stored_answers_that_take_long_hold_nobody_up_for_ever(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "_STORED_FIRST_S", 0.2)
    monkeypatch.setattr(flight_module, "_REUSED_TOGETHER", 1)
    late = threading.Event()

    @dataclass
    class Late(Stored):
        async def several(
            self, works: Sequence[Work], retrieve_only: bool
        ) -> Sequence[Observation | None]:
            while works and works[0].case.id == "q1" and not late.is_set():
                await asyncio.sleep(0.01)
            return await super().several(works, retrieve_only)

    cases = gold(2)
    stored = replace(OBSERVER, recall=Late({"0", "1"}))
    flying = flight(join(store, "a", cases), cases, loaded(Assistant().ask), observer=stored)
    flying.start()
    assert flying.scores("q0", "s").keys() == {"Recall@5"}
    late.set()
    assert flying.scores("q1", "s").keys() == {"Recall@5"}
    flying.drain()


# A store that fails.


def drop(store: Store, table: str) -> None:
    def job(connection: Any) -> None:
        connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO gone")

    store.write(job).result(PATIENCE_S)


def test_a_store_that_takes_no_results_ends_the_flight(store: Store) -> None:
    cases = gold(4)
    go = threading.Event()

    async def slow() -> None:
        await asyncio.sleep(PATIENCE_S)

    system = Assistant({"1": in_thread(go), "2": slow})
    flying = flight(join(store, "a", cases), cases, loaded(system.ask, concurrency=1))
    flying.start()
    flying.scores("q0", "s")
    drop(store, "eval_scores")
    go.set()
    for wait in (lambda: flying.scores("q2", "s"), flying.drain, lambda: flying.scores("q0", "s")):
        with pytest.raises(FlightError, match=r"^store .*eval_scores"):
            wait()
    # The next question may go out while an answer is written; it is given up with the flight.
    assert system.asked in (["0", "1"], ["0", "1", "2"])


def test_a_store_that_cannot_be_watched_ends_the_flight_in_mid_call(
    store: Store, quick: None
) -> None:
    cases = gold(2)
    join(store, "other", cases).claim([Unit("q0", "s")]).result(PATIENCE_S)
    began, ended = threading.Event(), []

    async def never() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    flying = flight(join(store, "a", cases), cases, loaded(Assistant({"1": never}).ask))
    flying.start()
    assert began.wait(PATIENCE_S)
    drop(store, "eval_questions")
    with pytest.raises(FlightError, match=r"^store .*eval_questions"):
        flying.drain()
    assert ended == ["cancelled"]


def test_a_beat_that_fails_now_and_then_does_not_end_the_beating(
    store: Store, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = gold(1)
    go = threading.Event()
    run = join(store, "a", cases)
    beats = [0]
    beat = run.beat

    def failing() -> Any:
        beats[0] += 1
        if beats[0] % 2:
            return store.write(lambda connection: connection.exec_driver_sql("nonsense"))
        return beat()

    monkeypatch.setattr(run, "beat", failing)
    flying = flight(run, cases, loaded(Assistant({"0": in_thread(go)}).ask))
    flying.start()
    while run.beats()["a"] < 3:
        pass
    go.set()
    flying.drain()


def test_beats_do_not_pile_up_while_the_writer_is_held_up(
    store: Store, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = gold(1)
    run = join(store, "a", cases)
    go, finish, beats = threading.Event(), threading.Event(), [0]
    beat = run.beat

    def counting() -> Any:
        beats[0] += 1
        return beat()

    monkeypatch.setattr(run, "beat", counting)
    flying = flight(run, cases, loaded(Assistant({"0": in_thread(finish)}).ask))
    flying.start()
    while run.beats()["a"] < 1:
        pass
    held = store.write(lambda connection: go.wait(PATIENCE_S))
    while not held.running():
        pass
    before = beats[0]
    finish.wait(0.3)  # of beats every 0.02 s
    assert beats[0] <= before + 1
    go.set()
    while run.beats()["a"] < before + 2:
        pass
    finish.set()
    flying.drain()


# Several processes.


def test_flights_side_by_side_share_the_work(store: Store, url: str, quick: None) -> None:
    cases = gold(100)
    second = Store(url)
    with contextlib.closing(second):
        systems = [Assistant(), Assistant()]
        flights = [
            flight(join(which, owner, cases), cases, loaded(system.ask, concurrency=3))
            for which, owner, system in zip([store, second], "ab", systems, strict=True)
        ]
        for flying in flights:
            flying.start()
        for flying in flights:
            flying.drain()
            for case in cases:
                assert flying.scores(case.id, "s")["Recall@5"].value == 1.0
    asked = systems[0].asked + systems[1].asked
    assert sorted(asked, key=int) == [f"{i}" for i in range(100)]
    assert answers(store) == expected(*range(100))


def test_work_of_a_killed_process_is_taken_over_and_done_once(
    store: Store, url: str, quick: None
) -> None:
    with second_process("fly", url, "doomed") as doomed:
        assert doomed.stdout is not None
        assert [doomed.stdout.readline() for _ in range(2)] == ["stuck\n"] * 2
        cases = gold(10)
        run = join(store, "heir", cases)
        while len(run.done_after(0)[1]) < 3:
            pass
        before = {unit.case_id for unit in run.done_after(0)[1]}
        os.kill(doomed.pid, signal.SIGKILL)
        doomed.wait(PATIENCE_S)
    system = Assistant()
    flying = fly(flight(run, cases, loaded(system.ask, concurrency=2)))
    asked = {f"q{number}" for number in system.asked}
    assert {"q3", "q4"} <= asked
    assert len(system.asked) == len(asked)
    assert asked.isdisjoint(before)
    assert answers(store) == expected(*range(10))
    assert flying.scores("q3", "s")["Recall@5"].value == 1.0


def test_work_that_is_taken_over_does_not_wait_for_other_systems(store: Store, quick: None) -> None:
    cases = gold(1)
    dead = join(store, "dead", cases)
    dead.claim([Unit("q0", "s")]).result(PATIENCE_S)
    go = threading.Event()
    slow, system = Assistant({"0": in_thread(go)}), Assistant()
    lanes = loaded(slow.ask, name="slow"), loaded(system.ask)
    flying = flight(join(store, "a", cases), cases, *lanes)
    flying.start()
    assert flying.scores("q0", "s")["Recall@5"].value == 1.0
    assert answers(store) == expected(0)
    go.set()
    flying.drain()


def test_a_slow_process_that_lives_keeps_its_work(
    store: Store, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = gold(2)
    go = threading.Event()
    first, second = Assistant({"0": in_thread(go), "1": in_thread(go)}), Assistant()
    slow = flight(join(store, "slow", cases), cases, loaded(first.ask))
    slow.start()
    while len(first.asked) < 2:
        pass
    watcher = join(store, "watcher", cases)
    seen: list[int] = []
    beats = watcher.beats

    def after_a_beat() -> dict[str, int]:
        while not go.is_set() and seen and beats()["slow"] == seen[-1]:
            pass
        found = beats()
        seen.append(found["slow"])
        return found

    monkeypatch.setattr(watcher, "beats", after_a_beat)
    seconds = itertools.count()
    monkeypatch.setattr(flight_module, "Watch", lambda: Watch(lambda: float(next(seconds))))
    watching = flight(watcher, cases, loaded(second.ask))
    watching.start()
    while len(seen) < 15:
        pass
    go.set()
    slow.drain()
    watching.drain()
    assert second.asked == []
    assert watching.scores("q1", "s")["Recall@5"].value == 1.0


def test_scores_are_the_same_in_whatever_order_they_are_asked_for(store: Store) -> None:
    cases = gold(9)
    flying = flight(join(store, "a", cases), cases, loaded(Assistant().ask))
    flying.start()
    flying.drain()
    names = [case.id for case in cases]
    in_order = {name: flying.scores(name, "s") for name in names}
    assert all(scores["Recall@5"].value == 1.0 for scores in in_order.values())
    for order in (names, reversed(names), [*names[4:], *names[:4], names[0], names[0]]):
        assert all(flying.scores(name, "s") == in_order[name] for name in order)


def test_who_lost_its_work_takes_the_others_result(store: Store, quick: None) -> None:
    """A process that was stopped for a while finds that another did its work."""
    cases = gold(1)
    go, began = threading.Event(), threading.Event()

    async def hold() -> None:
        began.set()
        await asyncio.to_thread(go.wait, PATIENCE_S)

    flying = flight(join(store, "slow", cases), cases, loaded(Assistant({"0": hold}).ask))
    flying.start()
    assert began.wait(PATIENCE_S)
    other = join(store, "other", cases)
    assert other.take_over(Unit("q0", "s"), "slow").result(PATIENCE_S)
    go.set()
    seen = Observation("q0", "s", (Turn(0, "What is 0?", Answer("The other's.")),))
    scores = {"Recall@5": unscored("not_applicable", "the other's")}
    other.record(cases[0], seen, scores).result(PATIENCE_S)
    flying.drain()
    assert flying.scores("q0", "s") == scores
    assert answers(store) == [("q0", "s", "The other's.")]


def test_work_that_comes_back_is_done(store: Store, quick: None) -> None:
    """Lost to a process that then dies itself."""
    cases = gold(1)
    go, began = threading.Event(), threading.Event()

    async def hold() -> None:
        began.set()
        await asyncio.to_thread(go.wait, PATIENCE_S)

    system = Assistant({"0": hold})
    flying = flight(join(store, "slow", cases), cases, loaded(system.ask))
    flying.start()
    assert began.wait(PATIENCE_S)
    dying = join(store, "dying", cases)
    assert dying.take_over(Unit("q0", "s"), "slow").result(PATIENCE_S)
    go.set()
    flying.drain()
    assert system.asked == ["0", "0"]
    assert answers(store) == expected(0)
