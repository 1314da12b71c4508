"""Writes to the store, waited for on the loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")
_STORE_WITHIN_S = 1.0


async def written(future: Future[T], *, paid_for: bool = False) -> T:
    """The result of a write, waited for on the loop.

    :param paid_for: who is cancelled while waiting does not take the write back, and waits a
        moment longer for it.
    """
    waiting = asyncio.wrap_future(future)
    if not paid_for:
        return await waiting
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        await asyncio.wait({waiting}, timeout=_STORE_WITHIN_S)
        raise
