"""Draws terminal.svg: the Swedish demonstration in a terminal, while it runs and at its end.

    python docs/images/terminal.py          # in the project's folder, with the `demo` extra

It runs the demonstration on a terminal of its own (POSIX), in a store of its own, and draws what
that terminal showed: a moment in mid-run, and the rows at the end.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

_ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT / "plugin/tests"))

from screen import Cell, Screen, Style, on_a_terminal  # noqa: E402

_TARGET = Path(__file__).with_suffix(".svg")
_WIDTH, _HEIGHT = 136, 40
_ABOVE = 12  # rows that are shown above the live line
_ARGUMENTS = (
    *("-v", "--touchstone-settings=evaluation/riksdag.yaml"),
    *("tests/test_retrieval.py", "tests/test_filters.py", "tests/test_tone.py"),
)
_DRAWN = re.compile(r"\x1bD\x1b\[A\x1b7\x1b\[B\r(?:\x1b\[2m)?[^\x1b]*(?:\x1b\[0m)?\x1b\[J\x1b8")
_PIECE = re.compile(r"\S+(?: \S+)*")  # viewers make one space of several
_UNSET = ("CI", "BUILD_NUMBER", "NO_COLOR", "OPENAI_API_KEY", "OPENAI_BASE_URL", "QDRANT_URL")

_COLUMN, _ROW, _MARGIN, _SIZE = 8.0, 18, 16, 13
_GROUND, _TEXT, _FAINT = "#0d1117", "#d6dde6", "#8b98a8"
_COLOURS = {
    31: "#ff7b72",
    32: "#56d364",
    33: "#e3b341",
    34: "#79c0ff",
    35: "#d2a8ff",
    36: "#76e3ea",
}

Row = Sequence[Cell]


def main() -> int:
    """Run the demonstration and draw it; the exit code is 1 where the demonstration failed."""
    with tempfile.TemporaryDirectory() as folder:
        here = {name: value for name, value in os.environ.items() if name not in _UNSET}
        here |= {"TERM": "xterm-256color", "COLUMNS": str(_WIDTH), "PYTHONPATH": str(_ROOT)}
        here |= {"TOUCHSTONE_REPORTS": folder, "TOUCHSTONE_VARIANTS": "[]"}
        code, written = on_a_terminal(
            [sys.executable, "-m", "pytest", *_ARGUMENTS],
            cwd=_ROOT,
            environ=here,
            width=_WIDTH,
            height=_HEIGHT,
        )
        written = written.replace(folder, "reports")
    if code != 0:
        sys.stderr.write(written)
        return 1
    _TARGET.write_text("".join(_drawing([*_mid_run(written), *_end(written)])), "utf-8")
    return 0


def _rows(written: str) -> list[list[Cell]]:
    screen = Screen(_WIDTH, _HEIGHT)
    screen.feed(written)
    rows = [*screen.scrolled, *screen.rows]
    while not _text(rows[-1]):
        rows.pop()
    return rows


def _text(row: Row) -> str:
    return "".join(cell.text for cell in row).rstrip()


def _mid_run(written: str) -> Iterator[Row]:
    """The command, and the last rows when the line was drawn with most results above it."""
    yield [Cell(char, Style(bold=True)) for char in " ".join(["$ pytest", *_ARGUMENTS])]
    yield [Cell("…", Style(faint=True))]
    last = [found.end() for found in _DRAWN.finditer(written) if "(" in found[0]][-1]
    yield from _rows(written[:last])[-_ABOVE:]
    yield []


def _end(written: str) -> Iterator[Row]:
    """From the table to the last row."""
    rows = _rows(written)
    first = next(n for n, row in enumerate(rows) if _text(row).startswith("assistant against"))
    yield from rows[first:]


def _drawing(rows: Sequence[Row]) -> Iterator[str]:
    width = round(_WIDTH * _COLUMN + 2 * _MARGIN)
    height = len(rows) * _ROW + 2 * _MARGIN
    said = escape("A run in a terminal: cases with their scores, the live line, and the table")
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        f' font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"'
        f' font-size="{_SIZE}">\n<title>{said}</title>\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="{_GROUND}"/>\n'
    )
    for number, row in enumerate(rows):
        y = _MARGIN + number * _ROW + _SIZE
        column = 0
        for style, run in groupby(row, key=lambda cell: cell.style):
            text = "".join(cell.text for cell in run)
            for piece in _PIECE.finditer(text):
                yield _piece(piece[0], style, column + piece.start(), y)
            column += len(text)
    yield "</svg>\n"


def _piece(text: str, style: Style, column: int, y: int) -> str:
    """A text of one style; its width is told, whatever font there is."""
    colour = _FAINT if style.faint else _COLOURS.get(style.colour, _TEXT)
    weight = ' font-weight="bold"' if style.bold else ""
    return (
        f'<text x="{_MARGIN + column * _COLUMN:g}" y="{y}" fill="{colour}"{weight}'
        f' textLength="{len(text) * _COLUMN:g}">{escape(text)}</text>\n'
    )


if __name__ == "__main__":
    sys.exit(main())
