"""The lane of one system: how many calls at once, how long one may take, what a hang means."""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.systems.protocol import InvalidAnswer, Loaded
from pytest_touchstone.trace import SystemFault

HANGS_TOLERATED = 3
_ASYNC_CALLS_IN_FLIGHT = 8
_GRACE_S = 1.0


class SystemFailed(Exception):  # noqa: N818 - carries the fault, which is a result
    """A system gave no usable answer."""

    def __init__(self, fault: SystemFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Lane:
    """Calls one system.

    A plain function runs in a daemon thread, one call at a time unless the settings say that it
    is thread-safe; ``async def`` runs on the loop.  A call that is still running after its
    deadline, and after it was told to stop, is a *hang*: its thread is left behind, and after
    three hangs the system is not asked any more.

    :param workers: processes of this run; an asynchronous system's limit is shared among them.
    """

    def __init__(self, system: Loaded, *, workers: int = 1) -> None:
        self.system = system
        self.is_async = _is_async(system.ask)
        if self.is_async:
            self.limit = max(1, (system.concurrency or _ASYNC_CALLS_IN_FLIGHT) // workers)
        else:
            self.limit = system.concurrency or 1
        self._threads = DaemonThreads(f"touchstone-{system.name}")
        self._hangs = 0

    @property
    def notice(self) -> str | None:
        """One line for the person who wonders why a run is slow."""
        if self.is_async or self.system.concurrency is not None:
            return None
        name = self.system.name
        return (
            f"system {name!r} is synchronous and is asked one question at a time in each process;"
            f" set systems.{name}.concurrency if it is thread-safe, or make it `async def`"
        )

    async def call(
        self, function: Callable[..., Any], check: Callable[[object], Any], *args: Any
    ) -> Any:
        """The checked result of one call.

        :param check: turns what the system returned into a value, or raises ``InvalidAnswer``.
        :raises SystemFailed: for an exception, a deadline, or a result that is no answer.
        """
        if self._hangs >= HANGS_TOLERATED:
            message = f"not asked: the system hung {self._hangs} times before"
            raise SystemFailed(SystemFault("given_up", message))
        task = asyncio.ensure_future(self._guarded(function, args))
        try:
            done, _ = await asyncio.wait({task}, timeout=self.system.timeout)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            await self._abandon(task)
            message = f"no answer within {self.system.timeout:g} s"
            raise SystemFailed(SystemFault("timeout", message))
        try:
            return check(task.result())
        except InvalidAnswer as error:
            raise SystemFailed(SystemFault("invalid_answer", str(error))) from None

    def close(self) -> None:
        """Let the lane's idle threads end."""
        self._threads.close()

    async def _guarded(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        try:
            if _is_async(function):
                return await function(*args)
            result = await self._threads.run(function, *args)
            return await result if isinstance(result, Awaitable) else result
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a system may raise anything, SystemExit included
            raise SystemFailed(SystemFault("exception", _described(error))) from error

    async def _abandon(self, task: asyncio.Task[Any]) -> None:
        # Whatever it ends with later is nobody's business any more.
        task.add_done_callback(lambda late: late.cancelled() or late.exception())
        task.cancel()
        if not self.is_async:
            self._hangs += 1
            return
        done, _ = await asyncio.wait({task}, timeout=_GRACE_S)
        if not done:
            self._hangs += 1


def _is_async(function: Callable[..., Any]) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004 - its kind, not whether it exists
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _described(error: BaseException) -> str:
    """``ValueError: too long (app.py:42 in ask)``: what, and where in the system's own code."""
    text = str(error).strip()
    first = text.splitlines()[0] if text else ""
    frames = traceback.extract_tb(error.__traceback__)
    where = ""
    if len(frames) > 1:
        last = frames[-1]
        name = last.filename.replace("\\", "/").rsplit("/", 1)[-1]
        where = f" ({name}:{last.lineno} in {last.name})"
    return f"{type(error).__name__}: {first}{where}" if first else f"{type(error).__name__}{where}"
