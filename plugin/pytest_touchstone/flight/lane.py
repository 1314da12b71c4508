"""The lane of one system: how many calls at once, how long one may take, what a hang means."""

from __future__ import annotations

import asyncio
import inspect
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
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
    deadline, and after it was told to stop, is a *hang*: it is left behind, the next call gets a
    fresh thread, and after three hangs the system is not asked any more.

    :param workers: processes of this run, which share out a system's concurrency: each gets its
        part rounded down, but at least 1.
    """

    def __init__(self, system: Loaded, *, workers: int = 1) -> None:
        self.system = system
        functions = [system.ask, *([system.retrieve] if system.retrieve else [])]
        self.is_async = all(is_async(function) for function in functions)
        if system.concurrency is None and not self.is_async:
            self.limit = 1
        else:
            self.limit = max(1, (system.concurrency or _ASYNC_CALLS_IN_FLIGHT) // workers)
        self._threads = DaemonThreads(f"touchstone-{system.name}")
        # Kept: the loop does not, and complains of a task that is thrown away in mid-flight.
        self._deaf: list[asyncio.Task[Any]] = []

    @property
    def hangs(self) -> int:
        """Calls that were left behind."""
        return self._threads.abandoned + len(self._deaf)

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
        if (hangs := self.hangs) >= HANGS_TOLERATED:
            message = f"not asked: the system hung {hangs} times before"
            raise SystemFailed(SystemFault("given_up", message))
        task = asyncio.ensure_future(self._guarded(function, args))
        # Whatever a call ends with that nobody waits for any more is nobody's business.
        task.add_done_callback(lambda late: late.cancelled() or late.exception())
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
        loop, here = asyncio.get_running_loop(), asyncio.current_task()
        try:
            if is_async(function):
                return await function(*args)
            result = await self._threads.run(function, *args)
            return await result if inspect.isawaitable(result) else result
        except GeneratorExit as error:
            # Whoever closes this coroutine is not its own task; a system may raise it too.
            if asyncio.current_task(loop) is not here:
                raise
            raise SystemFailed(SystemFault("exception", described(error))) from error
        except asyncio.CancelledError as error:
            # Only from outside does it mean that this call shall end; a system may raise it too.
            if here is None or here.cancelling():
                raise
            raise SystemFailed(SystemFault("exception", described(error))) from error
        except BaseException as error:  # a system may raise anything, SystemExit included
            raise SystemFailed(SystemFault("exception", described(error))) from error

    async def _abandon(self, task: asyncio.Task[Any]) -> None:
        task.cancel()
        _, deaf = await asyncio.wait({task}, timeout=_GRACE_S)
        self._deaf += deaf


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await."""
    call = getattr(function, "__call__", None)  # noqa: B004 - its kind, not whether it exists
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def described(error: BaseException) -> str:
    """``ValueError: too long (app.py:42 in ask)``: what, and where in the system's own code."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    try:
        text = str(error).strip()
    except Exception:  # noqa: BLE001 - an exception's own text may be broken as well
        text = ""
    first = f": {text.splitlines()[0]}" if text else ""
    return f"{type(error).__name__}{first}{_where(error)}"


def _where(error: BaseException) -> str:
    """The innermost line that is neither ours nor a library's, else the innermost of all."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).parent != _HERE
    ]
    own = [frame for frame in frames if not _LIBRARY.intersection(Path(frame.filename).parents)]
    own = [frame for frame in own if "site-packages" not in Path(frame.filename).parts]
    if not frames:
        return ""
    last = (own or frames)[-1]
    return f" ({Path(last.filename).name}:{last.lineno} in {last.name})"


_HERE = Path(__file__).parent
_LIBRARY = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
