"""Calls of one system: how many at once, for how long, and whatever it does."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from runs import PATIENCE_S, assert_all_threads_end, loaded

from pytest_touchstone.flight import lane as lane_module
from pytest_touchstone.flight.lane import Lane, SystemFailed, described
from pytest_touchstone.systems.protocol import as_answer
from pytest_touchstone.trace import Answer

FINE = Answer("fine")


@pytest.fixture(autouse=True)
def all_threads_end() -> Iterator[None]:
    yield
    assert_all_threads_end()


def ask(lane: Lane) -> Answer:
    answer: Answer = asyncio.run(asking(lane))
    return answer


async def asking(lane: Lane) -> Any:
    try:
        return await lane.call(lane.system.ask, as_answer, [], None)
    finally:
        lane.close()


def fault(lane: Lane) -> tuple[str, str]:
    with pytest.raises(SystemFailed) as caught:
        ask(lane)
    return caught.value.fault.kind, caught.value.fault.message


async def answering(messages: Any, session: Any) -> Answer:
    return FINE


def plain(messages: Any, session: Any) -> Answer:
    return FINE


class Callable_:  # noqa: N801
    async def __call__(self, messages: Any, session: Any) -> Answer:
        return FINE


# Limits.


@pytest.mark.parametrize(
    ("function", "retrieve", "concurrency", "workers", "limit"),
    [
        (plain, None, None, 1, 1),
        (plain, None, None, 4, 1),
        (plain, None, 6, 1, 6),
        (plain, None, 6, 4, 1),
        (answering, None, None, 1, 8),
        (answering, None, None, 2, 4),
        (answering, None, None, 100, 1),
        (answering, None, 50, 4, 12),
        (answering, answering, None, 1, 8),
        (answering, plain, None, 1, 1),
        (answering, plain, 5, 1, 5),
        (Callable_(), None, None, 1, 8),
        (functools.partial(answering), None, None, 1, 8),
    ],
)
def test_limits(
    function: Any, retrieve: Any, concurrency: int | None, workers: int, limit: int
) -> None:
    system = loaded(function, retrieve=retrieve, concurrency=concurrency)
    assert Lane(system, workers=workers).limit == limit


def test_a_slow_run_is_explained_where_a_setting_helps() -> None:
    notice = Lane(loaded(plain, name="mine")).notice
    assert notice is not None
    assert "'mine' is synchronous and is asked one question at a time" in notice
    assert "systems.mine.concurrency" in notice
    assert Lane(loaded(plain, concurrency=2)).notice is None
    assert Lane(loaded(answering)).notice is None
    assert Lane(loaded(answering, retrieve=plain)).notice is not None


# Answers.


def returning_coroutine(messages: Any, session: Any) -> Any:
    return answering(messages, session)


@pytest.mark.parametrize("function", [plain, answering, Callable_(), returning_coroutine])
def test_every_form_of_a_system_answers(function: Any) -> None:
    assert ask(Lane(loaded(function))) == FINE


def test_a_plain_function_runs_off_the_loop() -> None:
    seen: list[str] = []

    def system(messages: Any, session: Any) -> Answer:
        seen.append(threading.current_thread().name)
        return FINE

    ask(Lane(loaded(system, name="x")))
    assert seen == ["touchstone-x"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_is_no_answer(asynchronous: bool) -> None:
    async def later(messages: Any, session: Any) -> Any:
        return None

    function = later if asynchronous else lambda m, s: None
    assert fault(Lane(loaded(function)))[0] == "invalid_answer"


# Exceptions.


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even that")


RAISED: list[tuple[BaseException, str]] = [
    (ValueError("too long\nand more"), "ValueError: too long (test_lane.py:"),
    (KeyError("x"), "KeyError: 'x' (test_lane.py:"),
    (RuntimeError(""), "RuntimeError (test_lane.py:"),
    (UnspeakableError(), "UnspeakableError (test_lane.py:"),
    (SystemExit(3), "SystemExit: 3 (test_lane.py:"),
    (KeyboardInterrupt(), "KeyboardInterrupt (test_lane.py:"),
    (asyncio.CancelledError(), "CancelledError (test_lane.py:"),
    (TimeoutError("upstream"), "TimeoutError: upstream (test_lane.py:"),
    (ExceptionGroup("g", [ExceptionGroup("h", [OSError("disk")])]), "OSError: disk"),
]


@pytest.mark.parametrize(("raised", "message"), RAISED, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_whatever_a_system_raises_is_its_fault(
    raised: BaseException, message: str, asynchronous: bool
) -> None:
    def fail(messages: Any, session: Any) -> Any:
        raise raised.with_traceback(None)

    async def fail_later(messages: Any, session: Any) -> Any:
        fail(messages, session)

    kind, said = fault(Lane(loaded(fail_later if asynchronous else fail)))
    assert kind == "exception"
    assert said.startswith(message)


@pytest.mark.parametrize("raised", [StopIteration(), GeneratorExit()])
def test_what_steers_coroutines_does_not_steer_ours(raised: BaseException) -> None:
    def fail(messages: Any, session: Any) -> Any:
        raise raised

    name = type(raised).__name__
    kind, said = fault(Lane(loaded(fail)))
    assert (kind, said) == ("exception", f"RuntimeError: the function raised {name}")


def test_a_system_that_raises_generator_exit_is_not_the_end_of_the_loop() -> None:
    async def fail(messages: Any, session: Any) -> Any:
        raise GeneratorExit

    async def fail_in_a_task(messages: Any, session: Any) -> Any:
        return await asyncio.ensure_future(fail(messages, session))

    for function in (fail, fail_in_a_task):
        kind, said = fault(Lane(loaded(function)))
        assert kind == "exception"
        assert said.startswith("GeneratorExit (test_lane.py:")


def test_a_call_that_is_closed_from_outside_ends_as_it_is_told() -> None:
    async def hang_on(messages: Any, session: Any) -> Any:
        await asyncio.get_running_loop().create_future()

    lane = Lane(loaded(hang_on))

    loop = asyncio.new_event_loop()
    call = lane._guarded(hang_on, ([], None))

    async def step() -> None:
        call.send(None)

    loop.run_until_complete(step())
    loop.close()
    call.close()  # would raise if it took this for an exception of the system
    lane.close()


def test_a_fault_names_the_line_of_the_systems_own_code() -> None:
    import json

    def parse(messages: Any, session: Any) -> Any:
        return json.loads("{")

    _, said = fault(Lane(loaded(parse)))
    line = parse.__code__.co_firstlineno + 1
    assert said.endswith(f" (test_lane.py:{line} in parse)")


def test_an_exception_without_a_traceback_is_described_too() -> None:
    assert described(ValueError("x")) == "ValueError: x"


# Deadlines.


@pytest.fixture
def hang() -> Iterator[Callable[[Any, Any], Any]]:
    """A plain function that hangs until the test is over."""
    end = threading.Event()
    yield lambda messages, session: end.wait(PATIENCE_S)
    end.set()


def test_a_system_that_hangs_again_and_again_is_given_up(hang: Callable[[Any, Any], Any]) -> None:
    asked = [0]

    def system(messages: Any, session: Any) -> Any:
        asked[0] += 1
        return FINE if asked[0] == 2 else hang(messages, session)

    lane = Lane(loaded(system, timeout=0.02))

    async def calls() -> list[tuple[str, str] | Answer]:
        found: list[tuple[str, str] | Answer] = []
        for _ in range(6):
            try:
                found.append(await asking(lane))
            except SystemFailed as error:
                found.append((error.fault.kind, error.fault.message))
        return found

    late = ("timeout", "no answer within 0.02 s")
    up = ("given_up", "not asked: the system hung 3 times before")
    assert asyncio.run(calls()) == [late, FINE, late, late, up, up]
    assert asked == [4]


def test_the_next_call_after_a_hang_gets_a_fresh_thread(hang: Callable[[Any, Any], Any]) -> None:
    threads: list[int] = []

    def system(messages: Any, session: Any) -> Any:
        threads.append(threading.get_ident())
        return hang(messages, session) if len(threads) == 2 else FINE

    lane = Lane(loaded(system, timeout=0.05))

    async def calls() -> None:
        assert await lane.call(system, as_answer, [], None) == FINE
        with pytest.raises(SystemFailed):
            await lane.call(system, as_answer, [], None)
        assert await lane.call(system, as_answer, [], None) == FINE
        lane.close()

    asyncio.run(calls())
    assert threads[0] == threads[1] != threads[2]


def test_async_calls_that_end_when_they_are_told_to_are_no_hangs() -> None:
    cancelled = [0]

    async def slow(messages: Any, session: Any) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled[0] += 1
            raise

    lane = Lane(loaded(slow, timeout=0.01))
    for number in range(1, 6):
        assert fault(lane) == ("timeout", "no answer within 0.01 s")
        assert cancelled == [number]
    assert lane.hangs == 0


def test_async_calls_that_ignore_cancellation_are_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_module, "_GRACE_S", 0.01)

    async def calls() -> list[str]:
        end = asyncio.Event()

        async def deaf(messages: Any, session: Any) -> Answer:
            while not end.is_set():
                try:
                    await end.wait()
                except asyncio.CancelledError:
                    continue
            return FINE

        lane = Lane(loaded(deaf, timeout=0.01))
        kinds = []
        for _ in range(4):
            with pytest.raises(SystemFailed) as caught:
                await asking(lane)
            kinds.append(caught.value.fault.kind)
        end.set()
        return kinds

    assert asyncio.run(calls()) == ["timeout", "timeout", "timeout", "given_up"]


def test_who_answers_after_being_told_to_stop_is_late_all_the_same() -> None:
    async def stubborn(messages: Any, session: Any) -> Answer:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return FINE
        raise AssertionError

    assert fault(Lane(loaded(stubborn, timeout=0.01)))[0] == "timeout"


def test_a_cancelled_call_cancels_the_system_and_says_so() -> None:
    ended: list[str] = []

    async def slow(messages: Any, session: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("slow")

    async def calls() -> None:
        call = asyncio.ensure_future(asking(Lane(loaded(slow))))
        await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(calls())
    assert ended == ["slow"]
