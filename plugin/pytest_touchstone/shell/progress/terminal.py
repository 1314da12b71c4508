"""A line of our own on the terminal, on the row below the one that pytest is writing.

pytest's cursor stays where it is, in mid-line as it may be: the row below is made (by an index,
which scrolls where there is none), written, and the cursor put back (ECMA-48; DEC VT510 for
`IND`, `DECSC`, `DECRC`).  Whatever pytest writes first wipes that row, if it could reach it.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any, Protocol

from pytest_touchstone.report.display import display_width

REFRESH_S = 0.5
_NARROWEST = 20
_CLOSE_WITHIN_S = 2.0
_MAKE_ROOM, _SAVE, _RESTORE = "\x1bD\x1b[A", "\x1b7", "\x1b8"
_BELOW, _WIPE = "\x1b[B\r", "\x1b[J"
_FAINT, _PLAIN = "\x1b[2m", "\x1b[0m"


class Writer(Protocol):
    """What is needed of pytest's ``TerminalWriter``."""

    hasmarkup: bool

    @property
    def width_of_current_line(self) -> int:
        """Columns written since the last line break."""

    def write(self, msg: str, *, flush: bool = False, **markup: bool) -> None:
        """Write a text."""


class LiveLine:
    """Shows a text that changes below the writer's cursor, until it is closed.

    A thread asks for the text and draws it; the writer's ``write`` is replaced meanwhile, so that
    the row is free before anything gets there.

    :param terminal: file descriptor of the terminal, which is closed at the end: one of our own,
        since pytest turns standard output elsewhere while a test runs.
    :param text: what to show in so many columns; empty for nothing.
    """

    def __init__(self, writer: Writer, terminal: int, text: Callable[[int], str]) -> None:
        self._writer = writer
        self._terminal = terminal
        self._text = text
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._paused = False
        self._drawn = ""
        self._width = 0
        self._column = writer.width_of_current_line
        self._write = writer.write
        self._thread = threading.Thread(
            target=self._refresh, name="touchstone-live-line", daemon=True
        )
        writer.write = self._guarded  # type: ignore[method-assign]
        self._thread.start()

    def pause(self) -> None:
        """Show nothing: somebody else wants the terminal."""
        with self._lock:
            self._paused = True
            self._erase()

    def resume(self) -> None:
        """Show it again."""
        self._paused = False

    def close(self) -> None:
        """Leave the terminal as it would be without the line."""
        with self._lock:
            self._over.set()
            self._erase()
            if self._writer.write == self._guarded:
                self._writer.write = self._write  # type: ignore[method-assign]
        self._thread.join(_CLOSE_WITHIN_S)
        if not self._thread.is_alive():
            os.close(self._terminal)

    def _refresh(self) -> None:
        while not self._over.wait(REFRESH_S):
            try:
                width = os.get_terminal_size(self._terminal).columns
                text = self._text(width - 1) if width >= _NARROWEST else ""
                with self._lock:
                    if not self._paused and not self._over.is_set():
                        self._draw(text, width)
            except OSError:
                return  # the terminal is gone

    def _draw(self, text: str, width: int) -> None:
        if not text:
            self._erase()
            return
        # A cursor that waits behind the last column would forget that it does.
        waiting = self._column > 0 and self._column % width == 0
        if waiting or (text, width) == (self._drawn, self._width):
            return
        faint = f"{_FAINT}{text}{_PLAIN}" if self._writer.hasmarkup else text
        self._put(_MAKE_ROOM + _SAVE + _BELOW + faint + _WIPE + _RESTORE)
        self._drawn, self._width = text, width

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = ""
            with contextlib.suppress(OSError):  # the terminal is gone, and the line with it
                self._put(_SAVE + _BELOW + _WIPE + _RESTORE)

    def _put(self, text: str) -> None:
        os.write(self._terminal, text.encode(errors="replace"))

    def _guarded(self, msg: str, **how: Any) -> None:
        with self._lock:
            if self._drawn and self._reaches(msg):
                self._erase()
            self._write(msg, **how)
            self._follow(msg)

    def _reaches(self, msg: str) -> bool:
        """Whether the text may get to the row below."""
        return "\n" in msg or self._column % self._width + _columns(msg) >= self._width

    def _follow(self, msg: str) -> None:
        line = msg.rsplit("\n", 1)[-1]
        if "\r" in line or line is not msg:
            self._column = 0
        self._column += _columns(line.rsplit("\r", 1)[-1])


def _columns(text: str) -> int:
    return len(text) if text.isascii() else display_width(text)
