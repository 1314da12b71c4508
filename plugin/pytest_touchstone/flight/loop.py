"""A flight's event loop: run to its end, whatever the systems on it do to it."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import traceback
from collections.abc import Coroutine, Iterable
from itertools import dropwhile
from typing import Any, TypeVar

from pytest_touchstone.flight import lane as lanes_module

T = TypeVar("T")


def complete(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, T]) -> T:
    """Run the loop until the coroutine is done, whatever a system does to it.

    ``SystemExit`` in a task that a system started stops the loop; whoever awaits that task gets
    it as well, so that the loop can simply go on.
    """
    task = loop.create_task(coroutine)
    while not task.done():
        try:
            loop.run_until_complete(task)
        except (SystemExit, KeyboardInterrupt):
            if task.done():
                raise
    return task.result()


async def cancel_the_rest(within_s: float) -> set[asyncio.Task[Any]]:
    """End what is left on the loop; the tasks that do not let themselves be ended."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    deaf: set[asyncio.Task[Any]] = set()
    if rest:
        _, deaf = await asyncio.wait(rest, timeout=within_s)
    with contextlib.suppress(TimeoutError):
        loop = asyncio.get_running_loop()
        await asyncio.wait_for(loop.shutdown_asyncgens(), within_s)
    return deaf


async def all_ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Wait for tasks, however they end."""
    await asyncio.wait(tasks)


def close_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Close the loop, and let it say nothing more.

    What a system left open is found when Python collects it, after the table, and nobody can
    close it then.
    """
    loop.set_exception_handler(lambda *_: None)
    loop.close()


def stalled(thread: int | None, seconds: float) -> str:
    """Where a loop that has not moved for so long stands, and what to do about it.

    :param thread: the one that the loop runs in.
    """
    frame = sys._current_frames().get(thread or 0)
    stack = traceback.extract_stack(frame) if frame else []
    # A system's own code comes right after the lane that calls it; deeper down are libraries.
    below = list(dropwhile(lambda line: line.filename != lanes_module.__file__, stack))
    own = [line for line in below if line.filename != lanes_module.__file__]
    where = own[:1] or stack[-1:]
    at = "".join(f" at {line.filename}:{line.lineno} in {line.name}" for line in where)
    return (
        f"the event loop has been blocked for {seconds:.0f} s{at}: an `async def` system"
        " must not block; make it a plain function, which runs in a thread"
    )
