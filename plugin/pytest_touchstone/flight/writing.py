"""Writes to the store, waited for on the loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from concurrent.futures import Future
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
_STORE_WITHIN_S = 1.0


async def written(future: Future[T], *, paid_for: bool = False) -> T:
    """The result of a write, waited for on the loop.

    :param paid_for: who is cancelled while waiting does not take the write back, and waits a
        moment longer for it.
    """
    mailbox = _mailbox()
    try:
        return await mailbox.expect(future)
    except asyncio.CancelledError:
        if not paid_for:
            future.cancel()
        elif not future.done():
            await asyncio.wait({mailbox.expect(future)}, timeout=_STORE_WITHIN_S)
        raise


class _Mailbox:
    """Brings results to a loop: those of one transaction, which come together, wake it once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._arrived: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._woken = False

    def expect(self, future: Future[T]) -> asyncio.Future[T]:
        """What the future brings, on the loop."""
        waiting: asyncio.Future[T] = self._loop.create_future()
        future.add_done_callback(lambda done: self._put(waiting, done))
        return waiting

    def _put(self, waiting: asyncio.Future[T], done: Future[T]) -> None:
        # On any thread.  In this order, and the other way round below, nothing is left lying.
        self._arrived.append((waiting, done))
        if not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._open)

    def _open(self) -> None:
        self._woken = False
        while self._arrived:
            waiting, done = self._arrived.popleft()
            if waiting.done():
                continue
            if done.cancelled():
                waiting.cancel()
            elif (error := done.exception()) is not None:
                waiting.set_exception(error)
            else:
                waiting.set_result(done.result())


_mailboxes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Mailbox] = WeakKeyDictionary()


def _mailbox() -> _Mailbox:
    """The one of the running loop."""
    loop = asyncio.get_running_loop()
    found = _mailboxes.get(loop)
    if found is None:
        found = _mailboxes[loop] = _Mailbox(loop)
    return found
