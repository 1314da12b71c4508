"""The blocks of a Markdown text: text, lists, tables, headings and code, each with its place.

A reading of CommonMark for measuring, not for display: each line is looked at a few times, so
that the time is linear.  It departs from CommonMark where language models do: a line in bold type
alone is a heading, a fence that is never closed opens no code, one that says ``markdown`` holds
text, indented text is text, and ``•`` and ``–`` mark list items.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

Span = tuple[int, int]

BlockKind = Literal["text", "list", "table", "heading", "code"]

_LINE_END = re.compile(r"\r\n|[\r\n\u2028\u2029]")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([^`\r\n]*)$")
_HOLDS_TEXT = {"markdown", "md"}
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}(?:\s|$)")
_BREAK = re.compile(r"[ \t]{0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:=+|-{2,})[ \t]*$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•‣◦–]|[0-9]{1,3}[.)]|[A-Za-z]\))[ \t]+(?=\S)")
_INTERRUPTING_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦]|1[.)])[ \t]+(?=\S)")
_DELIMITERS = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*(?::?-+:?[ \t]*)?$")
_SENTENCE_ENDS = ".!?…。！？؟"
_LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class Block:
    """One block: where it stands, and where its parts do.

    :param parts: items of a list, with all that is nested in them; rows of a table.
    :param head: a table's header.
    """

    kind: BlockKind
    span: Span
    parts: tuple[Span, ...] = ()
    head: Span | None = None


def blocks(text: str) -> list[Block]:
    """The blocks of a text, in order; what they leave out are blank lines, rules and fences."""
    return _Reader(text).read()


def is_title(text: str) -> bool:
    """Whether a line is a title by its looks: in bold type alone, and no whole sentence."""
    bare = text.strip()
    if not 4 < len(bare) <= _LONGEST_TITLE or bare[:2] not in ("**", "__"):
        return False
    inner = bare.rstrip(":")
    if inner[-2:] != bare[:2] or len(inner) < 5 or bare[:2] in inner[2:-2]:
        return False
    return inner[-3] not in _SENTENCE_ENDS


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = _lines(text)
        self._texts = [text[start:end] for start, end in self._lines]
        self._closing = _closing_fences(self._texts)
        self._dropped: set[int] = set()

    def read(self) -> list[Block]:
        found = []
        at = 0
        while at < len(self._lines):
            block, at = self._next(at)
            if block is not None:
                found.append(block)
        return found

    def _next(self, at: int) -> tuple[Block | None, int]:
        """The block that begins in a line, if one does, and the line after it."""
        line = self._texts[at]
        if not line or line.isspace() or at in self._dropped or _BREAK.match(line):
            return None, at + 1
        if fence := _FENCE.match(line):
            return self._fenced(at, fence)
        if _HEADING.match(line) or is_title(line):
            return Block("heading", self._span(at, at + 1)), at + 1
        if self._opens_table(at):
            return self._table(at)
        if _ITEM.match(line):
            return self._list(at)
        return self._paragraph(at)

    def _fenced(self, at: int, fence: re.Match[str]) -> tuple[Block | None, int]:
        mark = fence[1]
        if self._closing[at + 1].get(mark[0], 0) < len(mark):
            return None, at + 1
        end = at + 1
        while not _closes(self._texts[end], mark):
            end += 1
        if fence[2].strip().casefold() in _HOLDS_TEXT:
            self._dropped.add(end)
            return None, at + 1
        return Block("code", self._span(at, end + 1)), end + 1

    def _opens_table(self, at: int) -> bool:
        if "|" not in self._texts[at] or at + 1 >= len(self._lines):
            return False
        below = self._texts[at + 1]
        return "-" in below and "|" in below and _DELIMITERS.match(below) is not None

    def _table(self, at: int) -> tuple[Block, int]:
        end = at + 2
        while end < len(self._lines) and "|" in self._texts[end]:
            end += 1
        rows = tuple(self._lines[row] for row in range(at + 2, end))
        return Block("table", self._span(at, end), rows, self._lines[at]), end

    def _list(self, at: int) -> tuple[Block, int]:
        """A list with all that belongs to it; an item is what stands at the first one's margin."""
        margin = _indent(self._texts[at])
        starts = [at]
        here = last = at + 1
        blank = False
        while here < len(self._lines):
            line = self._texts[here]
            if not line or line.isspace():
                blank = True
            elif here in self._dropped:
                break
            else:
                inside = _indent(line) >= margin + 2
                item = _ITEM.match(line) is not None and not _BREAK.match(line)
                if not inside and not item and (blank or self._interrupts(here)):
                    break
                if item and not inside:
                    starts.append(here)
                blank, last = False, here + 1
            here += 1
        ends = [*starts[1:], last]
        parts = tuple(self._span(*ends_of) for ends_of in zip(starts, ends, strict=True))
        return Block("list", self._span(at, last), parts), last

    def _paragraph(self, at: int) -> tuple[Block, int]:
        end = at + 1
        while end < len(self._lines):
            line = self._texts[end]
            if not line or line.isspace() or end in self._dropped:
                break
            if _UNDERLINE.match(line):
                block = Block("text", self._span(at, end))
                ends_sentence = self._texts[at].rstrip()[-1] in _SENTENCE_ENDS
                is_heading = end == at + 1 and not ends_sentence
                return replace(block, kind="heading") if is_heading else block, end + 1
            if self._interrupts(end):
                break
            end += 1
        return Block("text", self._span(at, end)), end

    def _interrupts(self, at: int) -> bool:
        """Whether a line ends the text above it."""
        line = self._texts[at]
        return bool(
            _HEADING.match(line)
            or _FENCE.match(line)
            or _BREAK.match(line)
            or _INTERRUPTING_ITEM.match(line)
            or self._opens_table(at)
            or is_title(line)
        )

    def _span(self, first: int, after: int) -> Span:
        """From the first character of a line to the last before another that is no white space."""
        text, start = self._text, self._lines[first][0]
        piece = text[start : self._lines[after - 1][1]]
        start += len(piece) - len(piece.lstrip())
        return start, start + len(piece.strip())


def _lines(text: str) -> list[Span]:
    """Start and end of each line; U+2029 parts paragraphs, as a blank line does."""
    found = []
    start = 0
    for end in _LINE_END.finditer(text):
        found.append((start, end.start()))
        if end[0] == "\u2029":
            found.append((end.start(), end.start()))
        start = end.end()
    found.append((start, len(text)))
    return found


def _indent(line: str) -> int:
    white = line[: len(line) - len(line.lstrip(" \t"))]
    return len(white.expandtabs(4)) if "\t" in white else len(white)


def _closes(line: str, mark: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(mark) and not bare.strip(mark[0])


def _closing_fences(lines: list[str]) -> list[dict[str, int]]:
    """For each line, the longest fence of either kind that could close one at it or below."""
    longest: dict[str, int] = {}
    found = [longest]
    for line in reversed(lines):
        bare = line.strip()
        if bare[:3] in ("```", "~~~") and not bare.strip(bare[0]):
            longest = longest | {bare[0]: max(len(bare), longest.get(bare[0], 0))}
        found.append(longest)
    return found[::-1]
