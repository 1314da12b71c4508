"""Names in text: capitalised words, acronyms and codes.

Only scripts with capital letters show names this way; in others a changed name is a changed word.
A word that is capitalised because it opens a sentence, stands in a title or says what kind of thing
a name is ("District") may be a name: it counts as a wrong one only where another stands in its
place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_touchstone.judge.offline.units import UNITS
from pytest_touchstone.judge.offline.wordlists import (
    BODIES,
    FUNCTION_WORDS,
    KINDS_OF_NAMES,
    word_set,
)
from pytest_touchstone.judge.offline.words import is_common
from pytest_touchstone.tokens import tokens

_WORD = re.compile(r"\w+(?:[-./’'&:]\w+)*")
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_]|\d+\.\d+\.\d)")
_NOT_NAMES = word_set(
    """
    fy i ok yes no nej ja page sida note table tabell figure figur chapter kapitel section january
    february march april may june july august september october november december jan feb mar apr
    jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday
    måndag tisdag onsdag torsdag fredag lördag söndag mr mrs ms dr prof herr fru
    """
)
_OPENERS = frozenset(".:;!?•\"'“”‘’«»(–—-*")
_DEFINITE = ("en", "et", "erna", "arna", "orna")
_DEFINITE_BEFORE_NAMES = ("aren", "eten", "yget", "ingen", "erna", "arna", "orna")
_SWEDISH = word_set("och att av är på för som det ett med till var har i inte från vid blev fick")
_LONGEST_SHORT_FORM = 4
_MOSTLY = 0.6
_FEW_WORDS = 4
_SHORTEST_STEM = 5
_LONGEST_ENDING = 3


@dataclass(frozen=True, slots=True)
class Name:
    """One word of a name.

    :param key: what it is compared by: case-folded, without the genitive.
    :param sure: whether nothing but a name explains the capital letter.
    :param kind_word: whether it says what kind of thing is named ("District", "Ministry").
    :param code: whether it mixes letters and digits ("APP-001").
    """

    text: str
    start: int
    end: int
    key: str
    sure: bool = True
    kind_word: bool = False
    code: bool = False


def name_key(word: str) -> str:
    """A word without case and without the genitive's ending."""
    folded = word.casefold().replace("’", "'").removesuffix("'s").rstrip("'")
    return folded[:-1] if len(folded) > 3 and folded.endswith("s") else folded


def names(text: str, taken: Iterable[tuple[int, int]] = ()) -> list[Name]:
    """The words of names in one sentence, in order.

    :param taken: spans that dates and quantities hold, which are no names.
    """
    spans = list(taken)
    words = [m for m in _WORD.finditer(text) if not _inside(m, spans)]
    title = _is_title([m[0] for m in words])
    colon = text.find(": ")
    headed = colon > 0 and _is_heading([m[0] for m in words if m.end() <= colon])
    found = []
    for match in words:
        word = match[0]
        if _CODE.match(word):
            key = word.casefold().removeprefix("v")
            found.append(Name(word, match.start(), match.end(), key, code=True))
        elif _may_name(word):
            opens = title or (headed and match.end() <= colon) or _opens(text, match.start())
            kind = name_key(word) in KINDS_OF_NAMES
            common = opens and is_common(word.casefold())
            if not common:
                found.append(
                    Name(word, *match.span(), name_key(word), not opens and not kind, kind)
                )
    return found


def held(name: Name, keys: frozenset[str], acronyms: frozenset[str]) -> bool:
    """Whether a text names this: its word, an inflection of it, or an acronym that has it.

    :param keys: :func:`name_key` of each word of the text.
    :param acronyms: of the text, as :func:`acronyms_of` gives them.
    """
    if name.key in keys or name.key in acronyms:
        return True
    parts = tokens(name.key)
    if len(parts) > 1 and all(name_key(part) in keys for part in parts):
        return True
    if len(name.key) < _SHORTEST_STEM:
        return False
    start = name.key[:_SHORTEST_STEM]
    return any(key.startswith(start) and _inflected(name.key, key) for key in keys)


def short_form(name: Name) -> bool:
    """Whether it is written as acronyms of two to four letters are."""
    return name.text.isupper() and name.text.isalpha() and len(name.text) <= _LONGEST_SHORT_FORM


def definite(name: Name, text: str) -> bool:
    """Whether a word that opens a Swedish sentence looks like a noun with its article ("Längden").

    Names of bodies ("Länsstyrelsen") are none: they name.
    """
    if name.key.endswith(BODIES) or len(name.text) < _SHORTEST_STEM:
        return False
    after = text[name.end :].lstrip()
    folded = name.text.casefold()
    endings = _DEFINITE_BEFORE_NAMES if after[:1].isupper() else _DEFINITE
    return folded.endswith(endings) and not _SWEDISH.isdisjoint(tokens(text))


def acronyms_of(run: Iterable[str]) -> frozenset[str]:
    """What a text's capitalised words abbreviate to ("District Local Government": dlg)."""
    initials = [word[0].casefold() for word in run]
    return frozenset(
        "".join(initials[i:j])
        for i in range(len(initials))
        for j in range(i + 2, min(i + 6, len(initials)) + 1)
    )


def runs(found: Iterable[Name], text: str) -> list[list[Name]]:
    """Words of names that stand together, over "of", "and" and the like."""
    grouped: list[list[Name]] = []
    for name in found:
        if grouped:
            between = text[grouped[-1][-1].end : name.start]
            if re.fullmatch(r",?\s*(?:(?:of|and|for|the|och|för|av|de|&)\s+)*", between):
                grouped[-1].append(name)
                continue
        grouped.append([name])
    return grouped


def _may_name(word: str) -> bool:
    folded = word.casefold()
    capital = word[0].isupper() or word[0].istitle()
    return (
        capital
        and folded not in FUNCTION_WORDS
        and folded not in _NOT_NAMES
        and re.split("[’']", folded)[0] not in FUNCTION_WORDS
        and not (folded in UNITS and word.isupper())
        and len(word) > 1
    )


def _opens(text: str, start: int) -> bool:
    before = text[:start].rstrip()
    return not before or before[-1] in _OPENERS


def _is_title(words: list[str]) -> bool:
    carrying = [w for w in words if w[0].isalpha() and w.casefold() not in FUNCTION_WORDS]
    capital = sum(w[0].isupper() for w in carrying)
    return (len(carrying) >= _FEW_WORDS and capital == len(carrying)) or (
        len(carrying) > _FEW_WORDS and sum(w.isupper() for w in carrying) > _MOSTLY * len(carrying)
    )


def _is_heading(words: list[str]) -> bool:
    carrying = [w for w in words if w[0].isalpha() and w.casefold() not in FUNCTION_WORDS]
    return len(carrying) >= 1 and all(w[0].isupper() for w in carrying)


def _inside(match: re.Match[str], spans: list[tuple[int, int]]) -> bool:
    return any(start <= match.start() < end for start, end in spans)


def _inflected(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return (
        len(short) >= _SHORTEST_STEM
        and long.startswith(short)
        and len(long) - len(short) <= _LONGEST_ENDING
    )
