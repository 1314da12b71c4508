"""Untrusted text on a terminal: nothing in it may move the cursor, hide or reorder anything."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_SPACES = frozenset("\t\n\v\f\r\x85\u2028\u2029")
# Controls, surrogates, unassigned and private code points; line and paragraph separators.
_UNSAFE = frozenset({"Cc", "Cs", "Cn", "Co", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")  # invisible, but part of words and emoji
_ELLIPSIS = "…"


def printable(text: str, limit: int) -> str:
    """One line of at most ``limit`` columns that is safe to print, ending in `…` where cut.

    Line breaks and tabs become a space; other control, format (bidi overrides among them),
    surrogate, private and unassigned characters become visible escapes such as ``\\x1b``.
    """
    # A bounded piece is enough: a column may hold several characters, but never this many.
    piece = text[: 8 * limit + 1]
    shown = "".join(map(_shown, piece))
    if len(piece) == len(text) and display_width(shown) <= limit:
        return shown
    return _cut(shown, limit - 1) + _ELLIPSIS if limit > 0 else ""


def display_width(text: str) -> int:
    """Columns that a terminal gives a text: two for wide characters, none for marks (UAX 11)."""
    return sum(map(_columns, text))


def wrapped(text: str, width: int) -> Iterator[str]:
    """The text in lines of at most ``width`` columns, broken at spaces where there are any.

    :param text: printable already; a space at which it is broken is left out.
    :param width: 2 or more, since a wide character needs as many.
    """
    while len(line := _cut(text, width)) < len(text):
        # A space right behind the last column is one to break at, too.
        at = text.rfind(" ", 0, len(line) + 1)
        line = text[:at] if at > 0 else line
        yield line
        text = text[len(line) :].removeprefix(" ")
    yield text


def padded(text: str, width: int) -> str:
    """The text, filled up with spaces to ``width`` columns."""
    return text + " " * (width - display_width(text))


def _cut(text: str, limit: int) -> str:
    used = 0
    for index, char in enumerate(text):
        used += _columns(char)
        if used > limit:
            return text[:index]
    return text


def _shown(char: str) -> str:
    if char in _SPACES:
        return " "
    category = unicodedata.category(char)
    if category in _UNSAFE or (category == "Cf" and char not in _JOINERS):
        return (
            char.encode("ascii", "backslashreplace").decode("ascii")
            if char > "\x7f"
            else (f"\\x{ord(char):02x}")
        )
    return char


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
