"""Long waits that servers ask for, told to the person who wonders why nothing happens."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator

Told = Callable[[float], None]
"""Called with the seconds that a server asks to wait, once for each wait."""


class Waits:
    """Lines about waits: put in on the flight's loop, taken out by whoever may write them."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def of(self, who: str) -> Told:
        """What the endpoint of ``who`` tells its waits to."""
        return lambda seconds: self._lines.put(
            f"{who}: asked to wait {seconds:.0f} s (Retry-After)"
        )

    def new(self) -> Iterator[str]:
        """Those that nobody has taken yet."""
        while not self._lines.empty():
            yield self._lines.get()
