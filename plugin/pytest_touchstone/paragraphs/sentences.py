"""The sentences of a text, in any script, in time linear in its length."""

from __future__ import annotations

import re

from pytest_touchstone.paragraphs.markers import CITATION

_LINE_END = re.compile(r"[\r\n\u2028\u2029]+")
# Scripts without spaces end a sentence without one; a full stop inside a number ends nothing.
_SENTENCE_END = re.compile(
    r"""(?<=[.!?…։؟۔।॥])\s+ | (?<=[.!?…]["'”’»)\]])\s+ | (?<=[。！？])""", re.VERBOSE
)
_LIST_MARK = re.compile(r"(?:[0-9]{1,3}|[^\W\d_])[.)]|[-*•–]")


def sentences(text: str, pattern: str = CITATION) -> tuple[str, ...]:
    """The sentences of a text, in order, white space made single.

    Citation markers after a full stop belong to the sentence before them; a list mark belongs to
    the sentence after it; a full stop before a lower-case letter ("t.ex. vid") ends none.
    """
    after_stop = re.compile(rf"(?<=[.!?…։؟۔।॥])(?={pattern})")
    markers = re.compile(rf"(?:\s*(?:{pattern}))+[.]?")
    found: list[str] = []
    for line in _LINE_END.split(text):
        found += _of_line(after_stop.sub(" ", line), markers)
    return tuple(sentence for sentence in found if any(map(str.isalnum, sentence)))


def _of_line(line: str, markers: re.Pattern[str]) -> list[str]:
    found: list[list[str]] = []  # the pieces of each sentence
    for part in _parts(line):
        leading = markers.match(part)
        if leading and found:
            found[-1].append(leading[0].strip())
            part = part[leading.end() :].strip()
        if not part:
            continue
        mark_alone = found and len(found[-1]) == 1 and _LIST_MARK.fullmatch(found[-1][0])
        if found and (part[0].islower() or mark_alone):
            found[-1].append(part)
        else:
            found.append([part])
    return [" ".join(pieces) for pieces in found]


def _parts(line: str) -> list[str]:
    return [" ".join(part.split()) for part in _SENTENCE_END.split(line) if part and part.strip()]
