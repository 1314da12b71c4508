"""Blocking functions off the loop: reuse, abandonment, and whatever they raise."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from runs import PATIENCE_S, assert_all_threads_end

from pytest_touchstone.flight.threads import DaemonExecutor, DaemonThreads


@pytest.fixture
def threads() -> Iterator[DaemonThreads]:
    threads = DaemonThreads("touchstone-test")
    yield threads
    threads.close()
    assert_all_threads_end()


def test_a_thread_is_reused_when_its_call_returned(threads: DaemonThreads) -> None:
    async def calls() -> list[int]:
        return [await threads.run(threading.get_ident) for _ in range(5)]

    seen = asyncio.run(calls())
    assert len(set(seen)) == 1
    assert seen[0] != threading.get_ident()
    assert threads.abandoned == 0


def test_calls_at_the_same_time_have_threads_of_their_own(threads: DaemonThreads) -> None:
    barrier = threading.Barrier(4, timeout=PATIENCE_S)

    async def calls() -> list[int]:
        return await asyncio.gather(*(threads.run(barrier.wait) for _ in range(4)))

    assert sorted(asyncio.run(calls())) == [0, 1, 2, 3]


def test_arguments_and_result(threads: DaemonThreads) -> None:
    assert asyncio.run(threads.run(pow, 2, 10)) == 1024


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ValueError("no"), ValueError),
        (SystemExit(3), SystemExit),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (TimeoutError("late"), TimeoutError),
        (asyncio.CancelledError(), asyncio.CancelledError),
        (concurrent.futures.CancelledError(), concurrent.futures.CancelledError),
        (StopIteration(5), RuntimeError),
        (GeneratorExit(), RuntimeError),
    ],
)
def test_whatever_is_raised_arrives_and_the_thread_goes_on(
    threads: DaemonThreads, raised: BaseException, expected: type[BaseException]
) -> None:
    def fail() -> None:
        raise raised

    async def calls() -> tuple[BaseException, int]:
        try:
            await threads.run(fail)
        except BaseException as error:  # noqa: BLE001
            return error, await threads.run(lambda: 5)
        raise AssertionError("nothing was raised")

    error, later = asyncio.run(calls())
    assert type(error) is expected
    assert later == 5
    assert threads.abandoned == 0


def test_a_call_that_hangs_is_left_behind_and_its_thread_ends_with_it(
    threads: DaemonThreads,
) -> None:
    began, end = threading.Event(), threading.Event()

    def hang() -> None:
        began.set()
        end.wait(PATIENCE_S)

    async def calls() -> None:
        hanging = asyncio.ensure_future(threads.run(hang))
        await asyncio.to_thread(began.wait, PATIENCE_S)
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        assert await threads.run(lambda: 5) == 5

    asyncio.run(calls())
    assert threads.abandoned == 1
    end.set()


def test_close_while_a_call_runs(threads: DaemonThreads) -> None:
    began, end = threading.Event(), threading.Event()

    def wait() -> bool:
        began.set()
        return end.wait(PATIENCE_S)

    async def calls() -> None:
        call = asyncio.ensure_future(threads.run(wait))
        await asyncio.to_thread(began.wait, PATIENCE_S)
        threads.close()
        end.set()
        assert await call

    asyncio.run(calls())
    assert_all_threads_end()


def test_an_idle_thread_keeps_nothing_of_its_last_call(threads: DaemonThreads) -> None:
    class Big:
        pass

    async def calls() -> weakref.ref[Big]:
        big = Big()
        await threads.run(lambda thing: None, big)
        await threads.run(lambda: None)
        return weakref.ref(big)

    kept = asyncio.run(calls())
    gc.collect()
    assert kept() is None


# The loop's default executor.


def run_with(executor: DaemonExecutor, main: Callable[[], Any]) -> Any:
    async def wrapped() -> Any:
        asyncio.get_running_loop().set_default_executor(executor)
        return await main()

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(wrapped())
    finally:
        loop.close()


def test_the_executor_runs_so_many_at_once_and_no_more() -> None:
    barrier = threading.Barrier(3, timeout=PATIENCE_S)
    running, most, lock = [0], [0], threading.Lock()

    def call() -> int:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        barrier.wait()
        with lock:
            running[0] -= 1
        barrier.wait()
        return threading.get_ident()

    async def main() -> list[int]:
        return await asyncio.gather(*(asyncio.to_thread(call) for _ in range(12)))

    idents = run_with(DaemonExecutor("touchstone-executor", most=3), main)
    assert len(set(idents)) == 3
    assert most == [3]
    assert_all_threads_end()


def test_the_executor_after_its_end() -> None:
    executor = DaemonExecutor("touchstone-executor")
    assert executor.submit(pow, 2, exp=5).result(PATIENCE_S) == 32
    executor.shutdown()
    executor.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(pow, 2, 5)
    assert_all_threads_end()


def test_the_executor_hands_on_what_is_raised() -> None:
    async def main() -> str:
        try:
            await asyncio.to_thread(next, iter([]))
        except RuntimeError as error:
            return str(error)
        return "nothing"

    executor = DaemonExecutor("touchstone-executor")
    assert run_with(executor, main) == "the function raised StopIteration"
    assert_all_threads_end()
