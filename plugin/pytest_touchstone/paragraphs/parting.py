"""An answer as paragraphs: the units that cite, and that are judged and scored.

Text between blank lines is a paragraph.  Of a list, each item is one as soon as any item cites;
of a table, each row, read below the table's header.  Where none does, list or table is a whole,
together with the line that leads into it by a colon.  Markers that stand alone belong to the
paragraph before them.  Headings, code and lists of sources are paragraphs without claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from pytest_touchstone.paragraphs.blocks import Block, Span, blocks
from pytest_touchstone.paragraphs.claims import makes_claims
from pytest_touchstone.paragraphs.markers import CITATION, citations, plain

Kind = Literal["text", "list", "item", "table", "row", "heading", "code", "references"]
_CLAIMS_NOTHING: frozenset[Kind] = frozenset({"heading", "code", "references"})

_SOURCES = (
    r"(?:sources?|references?|citations?|bibliography|footnotes?|works cited"
    r"|källa|källor|källförteckning|referens|referenser|litteratur|fotnoter|hänvisningar)"
)
_TITLE = re.compile(rf"[#\s*_]{{0,20}}{_SOURCES}[\s*_:：]{{0,20}}$", re.IGNORECASE)
_WORDS_BESIDE_MARKERS = re.compile(rf"[\s*_(]{{0,9}}(?:{_SOURCES}[*_]{{0,2}})?\W*$", re.IGNORECASE)
_DEFINITION = re.compile(r"\s*(?:[-*+]\s{1,4})?\[\^?[^\]\r\n]{1,40}\]:\s")
_LONGEST_TITLE = 80


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of an answer.

    :param index: 0-based place among all paragraphs of the answer.
    :param text: as it stands in the answer; a table's row stands below the table's header.
    :param cited: 1-based numbers of the passages that it cites, each once, in order.
    """

    index: int
    text: str
    cited: tuple[int, ...] = ()
    kind: Kind = "text"

    @property
    def claims(self) -> bool:
        """Whether it claims something: what cites does; otherwise its words decide."""
        return bool(self.cited) or (self.kind not in _CLAIMS_NOTHING and makes_claims(self.text))


def paragraphs(text: str, pattern: str = CITATION) -> tuple[Paragraph, ...]:
    """The paragraphs of a Markdown text with what they cite; linear in its length.

    :param pattern: regular expression of one citation marker; the numbers in it are the sources.
    """
    found = []
    for index, draft in enumerate(_Parting(text, pattern).drafts()):
        cites = draft.kind not in ("code", "references")
        shown = draft.text(text)
        cited = citations(shown, pattern) if cites else ()
        found.append(Paragraph(index, shown, cited, draft.kind))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Draft:
    kind: Kind
    span: Span
    head: Span | None = None

    def text(self, source: str) -> str:
        body = source[slice(*self.span)]
        return body if self.head is None else f"{source[slice(*self.head)].strip()}\n{body.strip()}"


class _Parting:
    def __init__(self, text: str, pattern: str) -> None:
        self._text = text
        self._pattern = pattern

    def drafts(self) -> list[_Draft]:
        found: list[_Draft] = []
        sources: Literal["none", "next", "until_heading"] = "none"
        for block in blocks(self._text):
            if block.kind == "heading":
                sources = "until_heading" if self._is_sources_title(block.span) else "none"
                found.append(_Draft("heading", block.span))
            elif sources != "none" or self._defines(block):
                found.append(_Draft("references", block.span))
                sources = "none" if sources == "next" else sources
            elif block.kind == "text" and self._only_markers(block.span):
                self._add_markers(found, block)
            elif block.kind == "text" and self._is_sources_title(self._first_line(block.span)):
                alone = self._first_line(block.span) == block.span
                found.append(_Draft("heading" if alone else "references", block.span))
                sources = "next" if alone else "none"
            else:
                self._add(found, block)
        return found

    def _add(self, found: list[_Draft], block: Block) -> None:
        if block.kind not in ("list", "table"):
            found.append(_Draft(block.kind, block.span))
        elif any(self._cites(part) for part in block.parts):
            kind: Kind = "item" if block.kind == "list" else "row"
            found += [_Draft(kind, part, block.head) for part in block.parts]
        elif found and found[-1].kind == "text" and self._leads_in(found[-1].span):
            found[-1] = _Draft(block.kind, (found[-1].span[0], block.span[1]))
        else:
            found.append(_Draft(block.kind, block.span))

    def _add_markers(self, found: list[_Draft], block: Block) -> None:
        if found and found[-1].kind not in _CLAIMS_NOTHING:
            found[-1] = replace(found[-1], span=(found[-1].span[0], block.span[1]))
        else:
            found.append(_Draft("text", block.span))

    def _cites(self, span: Span) -> bool:
        return bool(citations(self._text[slice(*span)], self._pattern))

    def _leads_in(self, span: Span) -> bool:
        end = plain(self._text[slice(*span)][-200:], self._pattern).rstrip("*_ ")
        return end.endswith((":", "："))

    def _only_markers(self, span: Span) -> bool:
        text = self._text[slice(*span)]
        return (
            self._cites(span)
            and _WORDS_BESIDE_MARKERS.match(plain(text, self._pattern)) is not None
        )

    def _first_line(self, span: Span) -> Span:
        start, end = span
        line = re.search(r"[\r\n\u2028]", self._text[start:end])
        return start, start + line.start() if line else end

    def _is_sources_title(self, span: Span) -> bool:
        start, end = span
        return end - start <= _LONGEST_TITLE and bool(_TITLE.match(self._text[start:end]))

    def _defines(self, block: Block) -> bool:
        """Whether a block defines what links and footnotes refer to, line by line."""
        return block.kind == "text" and all(
            _DEFINITION.match(line) for line in _lines(self._text[slice(*block.span)])
        )


def _lines(text: str) -> Iterator[str]:
    return (line for line in re.split(r"[\r\n\u2028]+", text) if line.strip())
