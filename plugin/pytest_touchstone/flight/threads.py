"""Blocking functions off the event loop, in threads that never keep the process alive.

The standard executors join their threads when the interpreter exits, so that one hung call
keeps a finished run from ending.  These threads are daemons, and a hung one is left behind.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")
_Job = tuple[Future[Any], Callable[[], Any]]


class DaemonThreads:
    """Threads that are reused while they return and abandoned when they hang.

    :ivar abandoned: calls that were still running when somebody stopped waiting for them.
    """

    def __init__(self, name: str) -> None:
        self.abandoned = 0
        self._name = name
        self._idle: list[_Worker] = []
        self._closed = False

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """The function's result.  Cancelling the call abandons its thread, not the process."""
        worker = self._idle.pop() if self._idle else _Worker(self._name)
        future: Future[Callable[[], T]] = Future()
        worker.jobs.put((future, lambda: _outcome(function, args)))
        try:
            outcome = await asyncio.wrap_future(future)
        finally:
            self.abandoned += future.running()
            if future.done() and not self._closed:
                self._idle.append(worker)
            else:
                worker.jobs.put(None)
        return outcome()

    def close(self) -> None:
        """Let idle threads end; those that still run end when their call returns."""
        self._closed = True
        while self._idle:
            self._idle.pop().jobs.put(None)


class DaemonExecutor(ThreadPoolExecutor):
    """The loop's default executor, for systems that call ``asyncio.to_thread``.

    Like the standard one it runs at most so many calls at once, in threads that are reused; but
    nobody joins its threads, so that a call that hangs in one does not keep the process alive.
    """

    def __init__(self, name: str, *, most: int = 32) -> None:
        super().__init__(max_workers=1)  # of its own threads, none of which is ever started
        self._name = name
        self._free = most
        self._ended = False
        self._idle = threading.Semaphore(0)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run the function in a thread, as soon as one is free."""
        future: Future[T] = Future()
        with self._lock:
            if self._ended:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._jobs.put((future, lambda: fn(*args, **kwargs)))
            if not self._idle.acquire(blocking=False) and self._free:
                self._free -= 1
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
        return future

    def shutdown(
        self,
        wait: bool = True,  # noqa: ARG002 - the signature of all executors
        *,
        cancel_futures: bool = False,  # noqa: ARG002
    ) -> None:
        """Let the threads end when they are idle; waits for none."""
        with self._lock:
            self._ended = True
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            _carry_out(*job)
            del job
        self._jobs.put(None)  # for the next thread

    def _next(self) -> _Job | None:
        try:
            return self._jobs.get_nowait()
        except queue.Empty:
            self._idle.release()
            return self._jobs.get()


class _Worker:
    def __init__(self, name: str) -> None:
        self.jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        threading.Thread(target=self._loop, name=name, daemon=True).start()

    def _loop(self) -> None:
        while (job := self.jobs.get()) is not None:
            _carry_out(*job)
            # Nothing of a finished call may live on in an idle thread.
            del job


def _carry_out(future: Future[Any], function: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001 - it belongs to the caller
        future.set_exception(_harmless(error))
    else:
        future.set_result(result)


def _outcome(function: Callable[..., T], args: tuple[Any, ...]) -> Callable[[], T]:
    """What gives the function's result or raises what it raised.

    Asyncio's futures exchange some exceptions for others, without the traceback.
    """
    try:
        result = function(*args)
    except BaseException as error:  # noqa: BLE001 - it belongs to the caller
        return partial(_raise, _harmless(error))
    return lambda: result


def _raise(error: BaseException) -> NoReturn:
    raise error


def _harmless(error: BaseException) -> BaseException:
    """The error, or another in place of one that steers coroutines.

    A future of asyncio takes no ``StopIteration``, so that whoever waits would wait for ever;
    ``GeneratorExit`` would end the one that waits.
    """
    if not isinstance(error, StopIteration | GeneratorExit):
        return error
    failure = RuntimeError(f"the function raised {type(error).__name__}")
    failure.__cause__ = error
    return failure
