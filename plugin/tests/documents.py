"""What the pages for users hold that can be wrong: blocks, inline code, links, headings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
"""The pages for users."""

SHELL = frozenset({"sh", "bash", "console"})

_FENCE = re.compile(r"( *)(`{3,})([\w-]*)\s*$")
_NOT_RUN = re.compile(r"<!-- not run by the tests: (.+) -->$")
_INLINE = re.compile(r"(`+)(.+?)\1")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")
_HEADING = re.compile(r"#{1,6} +(.+?)\s*#*$")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    :param line: of its first line, from 1.
    :param why_not: why the tests do not run it, where a comment above it says so.
    """

    page: Path
    line: int
    language: str
    text: str
    why_not: str | None

    def __str__(self) -> str:
        return f"{name_of(self.page)}:{self.line}"


def name_of(page: Path) -> str:
    """A page as it is named in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order.

    :raises ValueError: where a fence is never closed.
    """
    found: list[Block] = []
    opened: tuple[str, str, str, int] | None = None
    held: list[str] = []
    above = ""
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        fence = _FENCE.match(line)
        if opened is None and fence:
            opened, held = (fence[1], fence[2], fence[3], number + 1), []
        elif opened and line.strip() == opened[1]:
            indent, _, language, start = opened
            text = "".join(f"{each.removeprefix(indent)}\n" for each in held)
            why = _NOT_RUN.match(above)
            found.append(Block(page, start, language, text, why[1] if why else None))
            opened, above = None, ""
        elif opened:
            held.append(line)
        elif line.strip():
            above = line.strip()
    if opened:
        raise ValueError(f"{name_of(page)}:{opened[3]}: a fence is never closed")
    return found


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    lines, inside = [], False
    for line in page.read_text("utf-8").splitlines():
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def inline_code(page: Path) -> list[str]:
    """What stands in backquotes; one that goes on in the next line counts as one."""
    return [" ".join(code.split()) for _, code in _INLINE.findall(prose(page).replace("\n", " "))]


def links(page: Path) -> list[str]:
    """Where a page's links and pictures lead."""
    return _LINK.findall(_INLINE.sub(" ", prose(page)))


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to a page's headings."""
    return set(_anchors(page))


def _anchors(page: Path) -> Iterator[str]:
    for line in prose(page).splitlines():
        if heading := _HEADING.match(line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            kept = (c for c in text if c in " -_" or unicodedata.category(c)[0] in "LNM")
            yield "".join(kept).replace(" ", "-")


def commands(script: str) -> list[str]:
    """The commands of a shell script, one a line: continued lines joined, here-documents and
    comments left out."""
    joined = re.sub(r"\\\n\s*", " ", script)
    found: list[str] = []
    until: str | None = None
    for line in joined.splitlines():
        word = line.strip().removeprefix("$ ")
        if until is not None:
            until = None if word == until else until
            continue
        if here := re.search(r"<<-?'?(\w+)'?", word):
            until = here[1]
        if word and not word.startswith("#"):
            found.append(word)
    return found
