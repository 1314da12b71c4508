"""Python's collector of reference cycles, held off where thousands of rows are made that stay.

The collector goes through everything that was made since it last did, and now and then through
everything there is; ten thousand cases' rows are no garbage, however often one looks.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Hold:
    """How many hold the collector off, in whichever threads, and whether it ran before them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._ran = False

    def take(self) -> None:
        with self._lock:
            if not self._holders:
                self._ran = gc.isenabled()
                gc.disable()
            self._holders += 1

    def give_back(self) -> None:
        with self._lock:
            self._holders -= 1
            if not self._holders and self._ran:
                gc.enable()


_HOLD = _Hold()


@contextmanager
def no_collection() -> Iterator[None]:
    """Look for no garbage meanwhile, in this process; may be nested, and overlap among threads.

    What refers to nothing but itself stays until the last who holds the collector off is through,
    so that this is for seconds, and for work that makes next to none.
    """
    _HOLD.take()
    try:
        yield
    finally:
        _HOLD.give_back()
