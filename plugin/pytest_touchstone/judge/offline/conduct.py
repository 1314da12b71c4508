"""What an answer says was done where the filters matched nothing, by its phrases.

Sentence by sentence: does it announce a wider search, ask for another condition, or admit that
nothing was found?  An offer to search wider is none yet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_touchstone.judge.offline.lexicon import phrases, plain, spoken
from pytest_touchstone.judge.offline.lexicon.language import Language
from pytest_touchstone.paragraphs import CITATION, sentences
from pytest_touchstone.verdicts import BehaviourVerdict, Quotation

LONGEST = 20_000
"""Characters of an answer that are read."""

_QUESTION = re.compile(r"[?？؟]")
_CITED = re.compile(CITATION, re.IGNORECASE)
_SEEKS = re.compile(
    r"(?:\bnot|n't|cannot|unable to|failed to) (?!.*\bbe\b)(?:\w+ ){0,3}?(?:find|locate|identify)\b"
    r"|\binte (?:\w+ ){0,2}hitta\b"
)
_OWN = re.compile(
    r"\b(?:i|we|my|our|me|you|your|jag|vi|man|det|search|sökning\w*|collection|samling\w*|database"
    r"|databas\w*|filters?|system\w*)\b"
)
"""Who looks in an admission: the answer itself, by its search, in its collection."""
_OTHER_YEAR = re.compile(
    r"\b(?:the (?:following|next|previous|preceding) year|the year (?:before|after)|a year (?:later"
    r"|earlier)|året (?:därpå|efter|innan|före)|året dessförinnan|följande år"
    r"|ett år (?:senare|tidigare))\b"
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence and what its phrases say."""

    text: str
    nothing: str
    widened: str
    offered: bool
    asks: bool
    scope: bool
    after: str

    @property
    def told(self) -> str:
        """What it says of the matter: all, or where it says that nothing was found, what follows
        a "but"."""
        if self.offered or self.asks or self.scope:
            return ""
        return self.after if self.nothing else self.text


def behaviour(question: str, filters: Mapping[str, Any], answer: str) -> BehaviourVerdict:
    """The first label that fits, with the sentence that says so; ``failed_silently`` has none.

    :param question: what was asked; an answer that repeats it asks nothing by that.
    :param filters: those that matched nothing.
    """
    read = [_read(text, question) for text in sentences(answer[:LONGEST])]
    for each in read:
        if each.widened and not each.offered and not each.asks:
            return _verdict("relaxed", f"it announces other conditions (“{each.widened}”)", each)
    admitted = next((each for each in read if each.nothing), None)
    if admitted and (other := _goes_on(read, filters)):
        why = "it says that nothing was found and goes on with other conditions"
        return _verdict("relaxed", why, other)
    asked = next((each for each in read if each.asks), None)
    if asked:
        return _verdict("asked_follow_up", "it asks for another condition", asked)
    if admitted:
        why = f"it says that nothing was found (“{admitted.nothing}”)"
        return _verdict("admitted", why, admitted)
    return BehaviourVerdict("failed_silently", "No sentence says that nothing matched.")


def says_nothing_found(text: str) -> bool:
    """Whether a text says, in one of its sentences, that nothing was found."""
    return any(_read(each, "").nothing for each in sentences(text[:LONGEST]))


def asks_back(text: str) -> bool:
    """Whether a text asks its reader for a condition; closing courtesies do not."""
    return any(_read(each, "").asks for each in sentences(text[:LONGEST]))


def _verdict(label: Any, why: str, sentence: _Sentence) -> BehaviourVerdict:
    return BehaviourVerdict(label, f"{why[0].upper()}{why[1:]}.", Quotation(sentence.text, True))


def _read(text: str, question: str) -> _Sentence:
    read = plain(text)
    languages = spoken(read)
    return _Sentence(
        text,
        _nothing(read, languages),
        _first("widened", read, languages),
        bool(_first("merely_possible", read, languages)),
        _asks(text, read, languages, question),
        bool(_first("scope", read, languages)),
        _after("turning", read, languages),
    )


def _nothing(read: str, languages: tuple[Language, ...]) -> str:
    """The words that admit it; that others found nothing, or a source says so, is an answer."""
    found = phrases("nothing", languages).search(read)
    if found is None:
        return ""
    turn = phrases("turning", languages).search(read, found.end())
    clause = read[: turn.start() if turn else len(read)]
    if _CITED.search(clause) or _first("finding", clause, languages):
        return ""
    if _SEEKS.search(found[0]) and read[: found.start()].strip() and not _OWN.search(clause):
        return ""  # "The district could not find a supplier"
    return found[0]


def _asks(text: str, read: str, languages: tuple[Language, ...], question: str) -> bool:
    if _first("courtesy", read, languages) or read.strip("\"'«»“”") == plain(question):
        return False
    return bool(_QUESTION.search(text)) or bool(_first("asking", read, languages))


def _first(kind: str, read: str, languages: tuple[Language, ...]) -> str:
    found = phrases(kind, languages).search(read)
    return found[0] if found else ""


def _after(kind: str, read: str, languages: tuple[Language, ...]) -> str:
    found = phrases(kind, languages).search(read)
    return read[found.end() :] if found else ""


def _goes_on(read: Sequence[_Sentence], filters: Mapping[str, Any]) -> _Sentence | None:
    """A sentence that tells, beside the admission, of another year or what a source holds."""
    asked = set(_YEAR.findall(" ".join(map(str, _values(filters)))))
    for each in read:
        others = set(_YEAR.findall(each.told)) - asked
        relative = _OTHER_YEAR.search(plain(each.told)) and any(map(str.isdigit, each.told))
        if (asked and (others or relative)) or _CITED.search(each.told):
            return each
    return None


def _values(filters: Mapping[str, Any]) -> list[object]:
    found: list[object] = []
    for value in filters.values():
        found += value if isinstance(value, list | tuple) else [value]
    return found
