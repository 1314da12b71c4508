"""Paragraphs, sentences and citation markers of an answer, in any script."""

from __future__ import annotations

import re
from dataclasses import dataclass

CITATION = r"\[(?:Doc\s*)?[0-9]{1,4}(?:\s*,\s*(?:Doc\s*)?[0-9]{1,4})*\]"
"""One citation marker: ``[1]``, ``[1, 2]``, ``[Doc 1, Doc 2]``."""

_NUMBER = re.compile(r"[0-9]{1,9}")
_BLANK_LINES = re.compile(r"(?:\r\n|[\r\n\u2028])[^\S\r\n]*(?:\r\n|[\r\n\u2028])\s*|\u2029\s*")
# Scripts without spaces end a sentence without one; a full stop inside a number ends nothing.
_SENTENCE_END = re.compile(
    r"""(?<=[.!?…։؟۔।॥])\s+ | (?<=[.!?…]["'”’»)\]])\s+ | (?<=[。！？])
    | \s*[\r\n\u2028\u2029]+\s*""",
    re.VERBOSE,
)
_LIST_MARK = re.compile(r"(?:[0-9]{1,3}|[^\W\d_])[.)]|[-*•–]")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of an answer.

    :param index: 0-based place among all paragraphs of the answer.
    :param cited: 1-based numbers of the passages that it cites, each once, in order.
    """

    index: int
    text: str
    cited: tuple[int, ...] = ()


def paragraphs(text: str, pattern: str = CITATION) -> tuple[Paragraph, ...]:
    """The paragraphs of a text, which blank lines part, with what they cite.

    :param pattern: regular expression of one citation marker; the numbers in it are the sources.
    """
    parts = [part.strip() for part in _BLANK_LINES.split(text)]
    return tuple(
        Paragraph(index, part, citations(part, pattern))
        for index, part in enumerate(filter(None, parts))
    )


def citations(text: str, pattern: str = CITATION) -> tuple[int, ...]:
    """The numbers in the citation markers of a text, each once, in order of appearance."""
    found = (
        int(number)
        for marker in re.finditer(pattern, text)
        for number in _NUMBER.findall(marker[0])
    )
    return tuple(dict.fromkeys(found))


def sentences(text: str, pattern: str = CITATION) -> tuple[str, ...]:
    """The sentences of a text, in order, white space made single.

    Citation markers after a full stop belong to the sentence before them; a list mark belongs to
    the sentence after it; a full stop before a lower-case letter ("t.ex. vid") ends none.
    """
    after_stop = re.compile(rf"(?<=[.!?…։؟۔।॥])(?={pattern})")
    markers = re.compile(rf"(?:\s*(?:{pattern}))+[.]?")
    found: list[str] = []
    for line in re.split(r"[\r\n\u2028\u2029]+", text):
        start = len(found)
        for part in _parts(after_stop.sub(" ", line)):
            leading = markers.match(part)
            if leading and len(found) > start:
                found[-1] += f" {leading[0].strip()}"
                part = part[leading.end() :].strip()
            if not part:
                continue
            goes_on = len(found) > start and (part[0].islower() or _LIST_MARK.fullmatch(found[-1]))
            if goes_on:
                found[-1] += f" {part}"
            else:
                found.append(part)
    return tuple(sentence for sentence in found if any(map(str.isalnum, sentence)))


def _parts(line: str) -> list[str]:
    return [" ".join(part.split()) for part in _SENTENCE_END.split(line) if part and part.strip()]
