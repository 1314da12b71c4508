"""Waiting on the loop for what another thread writes."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from pytest_touchstone.flight.writing import written


def in_another_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_results_that_come_together_wake_the_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    futures: list[Future[int]] = [Future() for _ in range(50)]

    async def main() -> tuple[list[int], int]:
        waiting = [asyncio.ensure_future(written(future)) for future in futures]
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        woken: list[Any] = []
        wake = loop.call_soon_threadsafe

        def noted(callback: Callable[..., Any], *args: Any, **how: Any) -> asyncio.Handle:
            woken.append(callback)
            return wake(callback, *args, **how)

        monkeypatch.setattr(loop, "call_soon_threadsafe", noted)
        in_another_thread(lambda: deque(map(Future.set_result, futures, range(50))))
        return await asyncio.gather(*waiting), len(woken)

    assert asyncio.run(main()) == (list(range(50)), 1)


def test_what_went_wrong_is_raised_where_it_is_waited_for() -> None:
    failed: Future[int] = Future()
    cancelled: Future[int] = Future()
    done: Future[int] = Future()
    done.set_result(3)

    async def main() -> list[Any]:
        waiting = [asyncio.ensure_future(written(each)) for each in (failed, cancelled, done)]
        await asyncio.sleep(0)
        in_another_thread(lambda: failed.set_exception(ValueError("no")))
        in_another_thread(cancelled.cancel)
        return await asyncio.gather(*waiting, return_exceptions=True)

    error, ended, result = asyncio.run(main())
    assert (type(error), str(error), type(ended), result) == (
        ValueError,
        "no",
        asyncio.CancelledError,
        3,
    )


@pytest.mark.parametrize("paid_for", [True, False])
def test_who_stops_waiting_takes_back_only_what_was_not_paid_for(paid_for: bool) -> None:
    future: Future[int] = Future()

    async def main() -> None:
        waiting = asyncio.ensure_future(written(future, paid_for=paid_for))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        assert waiting.done() is not paid_for, "what was paid for is waited for a moment longer"
        if paid_for:
            in_another_thread(lambda: future.set_result(1))
        await asyncio.wait({waiting})
        assert waiting.cancelled()

    asyncio.run(main())
    assert future.cancelled() is not paid_for


def test_a_result_that_comes_when_the_loop_is_gone_is_nobodys() -> None:
    future: Future[int] = Future()

    async def main() -> None:
        waiting = asyncio.ensure_future(written(future, paid_for=True))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(waiting.cancel)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.01)

    with asyncio.Runner() as runner:
        runner.run(main())
    future.set_result(1)
    assert future.done()
