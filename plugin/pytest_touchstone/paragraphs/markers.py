"""Citation markers: where they stand in a text, which sources they name, what merely looks alike.

The default pattern knows ``[1]``, ``[1, 2]``, ``[1-3]`` and ``[Doc 1, Doc 2]``; ``[1][2]`` is two
markers.  What has that form and is something else is passed over: link texts
(``[1](https://…)``), link definitions (``[1]: https://…``), code, and indices (``a[1]``).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import cache

_DOC = r"(?:[Dd][Oo][Cc]\.?\s*)?"
_DASH = "-‐‑‒–—−"
# [2022] is a year: nobody has 1900 passages to cite.
_SOURCE = r"(?!(?:19|20)[0-9]{2}(?![0-9]))(?:0|[1-9][0-9]{0,3})"
_ENTRY = rf"{_DOC}{_SOURCE}(?:\s*[{_DASH}]\s*{_DOC}{_SOURCE})?"
CITATION = rf"\[{_ENTRY}(?:\s*[,;]\s*{_ENTRY})*\]"
"""One citation marker: ``[1]``, ``[1, 2]``, ``[1-3]``, ``[Doc 1, Doc 2]``."""

_NUMBERS = re.compile(rf"(\d{{1,9}})(?:\s*[{_DASH}]\s*(?:[^\W\d_]{{1,12}}\.?\s*)?(\d{{1,9}}))?")
_WIDEST_RANGE = 50
_TICKS = re.compile("`+")
_LINK_TARGET = re.compile(r"\(\s{0,3}(?:https?:|www\.|mailto:|#|/|\.{1,2}/|<)[^)\r\n]{0,2000}\)")
_DEFINED = re.compile(r":[ \t]{0,8}(?:https?:|www\.|mailto:|#|/|\.{1,2}/|<)\S")
_OPENS_LINE = re.compile(r"(?:^|[\r\n\u2028\u2029])[ \t]{0,3}\Z")
# A letter behind a figure is a unit ("5 m[1]"), one behind a word a name ("hepatitis b[1]").
_IDENTIFIER = re.compile(
    r"(?:(?<![\w'’])(?<![\w.,] )[a-z]|(?<![\w'’])(?=\w{0,39}_)\w{2,40})\Z", re.ASCII
)


def citations(text: str, pattern: str = CITATION) -> tuple[int, ...]:
    """The sources that the markers of a text name, each once, in order of appearance.

    A range counts as all that it spans; one wider than fifty sources as its two ends alone, which
    makes a marker such as ``[1-9999]`` visible without making it long.

    :param pattern: regular expression of one citation marker; the numbers in it are the sources.
    """
    found: dict[int, None] = {}
    for start, end in _places(text, pattern):
        found.update(dict.fromkeys(_sources(text[start:end])))
    return tuple(found)


def plain(text: str, pattern: str = CITATION) -> str:
    """A text without its citation markers, white space made single."""
    kept = []
    last = 0
    for start, end in _places(text, pattern):
        kept.append(text[last:start])
        last = end
    kept.append(text[last:])
    return re.sub(r"(?<=\S) (?=[.,;:!?](?:\s|$))", "", " ".join(" ".join(kept).split()))


def _sources(marker: str) -> Iterator[int]:
    for first, last in _NUMBERS.findall(marker):
        low, high = sorted((int(first), int(last or first)))
        if high - low < _WIDEST_RANGE:
            yield from range(low, high + 1)
        else:
            yield from (low, high)


def _places(text: str, pattern: str) -> Iterator[tuple[int, int]]:
    """Start and end of each marker.  A pattern of one's own is taken at its word outside code."""
    code = code_spans(text)
    at, index_end = 0, -1
    for found in _compiled(pattern).finditer(text):
        start, end = found.span()
        while at < len(code) and code[at][1] <= start:
            at += 1
        if at < len(code) and code[at][0] <= start:
            continue
        if pattern == CITATION:
            if start == index_end or _IDENTIFIER.search(text[max(0, start - 42) : start]):
                index_end = end
                continue
            if _LINK_TARGET.match(text, end) or _is_definition(text, start, end):
                continue
        yield start, end


def _is_definition(text: str, start: int, end: int) -> bool:
    opens_line = _OPENS_LINE.search(text[max(0, start - 5) : start])
    return opens_line is not None and _DEFINED.match(text, end) is not None


def code_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each code span: from a run of backticks to the next run as long."""
    runs = [found.span() for found in _TICKS.finditer(text)]
    following: dict[int, int] = {}
    partner = [0] * len(runs)
    for place in range(len(runs) - 1, -1, -1):
        length = runs[place][1] - runs[place][0]
        partner[place] = following.get(length, 0)
        following[length] = place
    spans = []
    place = 0
    while place < len(runs):
        if partner[place]:
            spans.append((runs[place][0], runs[partner[place]][1]))
            place = partner[place]
        place += 1
    return spans


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


# -- a pattern of one's own ------------------------------------------------------------------

_LONGEST_PATTERN = 200
_MOST_REPEATS = 50
_MOST_WAYS = 10_000
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?P<low>[0-9]*)(?P<to>,?)(?P<high>[0-9]*)\}|.", re.DOTALL
)
_MATCHES_A_NUMBER = re.compile(r"\\d|[0-9]-[0-9]")


def checked_pattern(pattern: str) -> str:
    """The pattern of a marker, if no text can make it slow.

    Repetitions must have an upper end and repeat single characters or classes, so that the ways
    in which a text can match are few.

    :raises ValueError: in one line, where it is no such pattern.
    """
    if len(pattern) > _LONGEST_PATTERN:
        raise ValueError(f"is longer than {_LONGEST_PATTERN} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise ValueError(f"is no regular expression: {error}") from None
    if re.search(r"\(\?[aiLmsu]*x", pattern):
        raise ValueError("must not be a verbose expression, `(?x)`")
    ways = 1
    before = ""
    for token in _TOKEN.finditer(pattern):
        ways *= _ways(token, before)
        before = token[0]
    if ways > _MOST_WAYS:
        raise ValueError("repeats too much: a hostile text could make it slow")
    if compiled.match("") or not _MATCHES_A_NUMBER.search(pattern):
        raise ValueError(r"must match the number of a source, as in `\(source \d{1,3}\)`")
    return pattern


def _ways(token: re.Match[str], before: str) -> int:
    """In how many ways a part of a pattern can match.

    :raises ValueError: where that has no bound.
    """
    is_suffix = before in ("?", "*", "+") or before.startswith("{")
    if re.fullmatch(r"\\[1-9]|\\g.*", token[0]):
        raise ValueError("must not refer back to what it matched, as `\\1` does")
    if token[0] == "?":
        return 1 if before == "(" or is_suffix else 2
    if token[0] in ("*", "+"):
        if token[0] == "+" and is_suffix and before != "*":
            return 1  # possessive
        raise ValueError(
            f"repeats without an upper end; write e.g. `{{1,3}}` for the `{token[0]}` in it"
        )
    if token["to"] is None or token[0] == "{}":
        return 1
    low, high = int(token["low"] or 0), token["high"] or ("" if token["to"] else token["low"])
    if not high or int(high) > _MOST_REPEATS:
        raise ValueError(f"repeats more than {_MOST_REPEATS} times in `{token[0]}`")
    if before == ")":
        raise ValueError(
            f"repeats a group in `){token[0]}`; a class such as `[\\d, ]{{1,20}}` matches lists"
        )
    return max(1, int(high) - low + 1)
