"""Blocking functions off the event loop, in threads that never keep the process alive.

The standard executors join their threads when the interpreter exits, so that one hung call
keeps a finished run from ending.  These threads are daemons, and a hung one is left behind.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class DaemonThreads:
    """Threads that are reused while they return and abandoned when they hang."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle: list[_Worker] = []

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """The function's result.  Cancelling the call abandons its thread, not the process."""
        worker = self._idle.pop() if self._idle else _Worker(self._name)
        future: Future[T] = worker.submit(function, args)
        try:
            result = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            worker.retire()
            raise
        except BaseException:
            self._idle.append(worker)
            raise
        self._idle.append(worker)
        return result

    def close(self) -> None:
        """Let idle threads end; those that still run end when their call returns."""
        while self._idle:
            self._idle.pop().retire()


class _Worker:
    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[..., Any], Any] | None]
        self._jobs = queue.SimpleQueue()
        threading.Thread(target=self._loop, name=name, daemon=True).start()

    def submit(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Future[Any]:
        future: Future[Any] = Future()
        self._jobs.put((future, function, args))
        return future

    def retire(self) -> None:
        self._jobs.put(None)

    def _loop(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, function, args = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = function(*args)
            except BaseException as error:  # noqa: BLE001 - it belongs to the caller
                future.set_exception(error)
            else:
                future.set_result(result)
            # Nothing of a finished call may live on in an idle thread.
            del job, future, function, args
