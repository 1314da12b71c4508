"""A terminal as large as needed here: what a program wrote is what a person sees (ECMA-48)."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pytest_touchstone.report.display import display_width

_PATIENCE_S = 60.0
_SEQUENCE = re.compile(r"\x1b(?:\[([0-9;]*)([A-Za-z])|([78D])|\].*?(?:\x07|\x1b\\))")


class Style(NamedTuple):
    """How a character looks; ``colour`` is the number that selects it, 30 to 37, or 0."""

    colour: int = 0
    bold: bool = False
    faint: bool = False


class Cell(NamedTuple):
    """A column of a row; the second one of a wide character holds no text."""

    text: str = " "
    style: Style = Style()


class UnknownSequenceError(Exception):
    """A program asked for what this terminal cannot do."""


@dataclass
class Screen:
    """What a terminal of this size shows.

    :ivar scrolled: rows that left it at the top.
    """

    width: int
    height: int
    scrolled: list[list[Cell]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rows = [self._empty() for _ in range(self.height)]
        self.row = self.column = 0
        self._style = Style()
        self._saved = (0, 0, False, Style())
        self._waiting = False  # behind the last column, for the next character to wrap

    def _empty(self) -> list[Cell]:
        return [Cell()] * self.width

    @property
    def lines(self) -> list[str]:
        """All rows as text, from the first that was ever written."""
        return ["".join(cell.text for cell in row).rstrip() for row in [*self.scrolled, *self.rows]]

    def feed(self, text: str) -> None:
        """Carry out what a program wrote."""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = _SEQUENCE.match(text, at)
                if found is None:
                    raise UnknownSequenceError(repr(text[at : at + 20]))
                self._obey(found)
                at = found.end()
            else:
                self._put(text[at])
                at += 1

    def _obey(self, found: re.Match[str]) -> None:
        parameters, final, single = found.groups()
        if single == "7":
            self._saved = (self.row, self.column, self._waiting, self._style)
        elif single == "8":
            self.row, self.column, self._waiting, self._style = self._saved
        elif single == "D":
            self._waiting = False
            self._down()
        elif final is not None:
            self._control(final, [int(number or 0) for number in parameters.split(";")])

    def _control(self, final: str, numbers: Sequence[int]) -> None:
        if final == "m":
            self._dress(numbers)
        elif final in "AB":
            by = max(numbers[0], 1) * (1 if final == "B" else -1)
            self.row = min(max(self.row + by, 0), self.height - 1)
            self._waiting = False
        elif final in "JK" and numbers == [0]:
            row = self.rows[self.row]
            row[self.column :] = [Cell()] * (self.width - self.column)
            if final == "J":
                self.rows[self.row + 1 :] = [
                    self._empty() for _ in range(self.height - self.row - 1)
                ]
        else:
            raise UnknownSequenceError(f"{numbers} {final}")

    def _dress(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            match number:
                case 0:
                    self._style = Style()
                case 1:
                    self._style = self._style._replace(bold=True)
                case 2:
                    self._style = self._style._replace(faint=True)
                case 39:
                    self._style = self._style._replace(colour=0)
                case _ if 30 <= number <= 37 or 90 <= number <= 97:
                    self._style = self._style._replace(colour=30 + number % 10)
                case _:
                    raise UnknownSequenceError(f"style {number}")

    def _put(self, char: str) -> None:
        if char == "\n":
            self._waiting = False
            self._down()
        elif char == "\r":
            self._waiting = False
            self.column = 0
        elif char < " ":
            raise UnknownSequenceError(repr(char))
        elif width := display_width(char):
            if self._waiting or self.column + width > self.width:
                self._waiting, self.column = False, 0
                self._down()
            row = self.rows[self.row]
            row[self.column : self.column + width] = [
                Cell(char, self._style),
                *[Cell("", self._style)] * (width - 1),
            ]
            self.column += width
            if self.column == self.width:
                self.column, self._waiting = self.width - 1, True

    def _down(self) -> None:
        if self.row < self.height - 1:
            self.row += 1
            return
        self.scrolled.append(self.rows.pop(0))
        self.rows.append(self._empty())


def on_a_terminal(
    arguments: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    width: int = 100,
    height: int = 24,
    seen: Callable[[str, int], None] = lambda written, process: None,
) -> tuple[int, str]:
    """Run a program on a terminal of its own; its exit code, and everything that it wrote.

    :param seen: told of what was written so far, and of the program's process, as it comes.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    with subprocess.Popen(
        list(arguments),
        cwd=cwd,
        env=dict(environ),
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    ) as process:
        os.close(its)
        try:
            written = ""
            for piece in _pieces(ours):
                written += piece
                seen(written, process.pid)
            code = process.wait(_PATIENCE_S)
        finally:
            process.kill()
            os.close(ours)
    return code, written


def _pieces(terminal: int) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with suppress(OSError):  # how a terminal tells that its last writer is gone
        while piece := os.read(terminal, 65536):
            yield decoder.decode(piece)
