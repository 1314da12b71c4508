"""What a text denies: its clauses, their negators, and the words that these deny.

A negator denies its *head*: the first word of content after it (in Swedish main clauses the one
before it too).  "No." before a figure or the header of a column says "number" and denies nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pytest_touchstone.judge.offline.wordlists import FUNCTION_WORDS, word_set
from pytest_touchstone.judge.offline.words import sense
from pytest_touchstone.tokens import tokens

NO = word_set("no neither nor without ingen inget inga utan varken")
LACK = word_set("lack lacks lacked lacking sakna saknar saknade saknat")
MISSING = word_set("missing absent saknas saknades")
NOT = word_set("not never cannot")
INTE = word_set("inte ej icke aldrig")
NEGATORS = NO | LACK | MISSING | NOT | INTE
_PRONOUNS = word_set("jag du han hon den det vi ni de man it they he she")
_NT = re.compile(r"(\w+)n[’']t\b|\b(can)not\b", re.IGNORECASE)
_NO_NEGATION = re.compile(
    r"\b(?:(?:no|not)\s(?:later|earlier|sooner|more|less|fewer)\sthan|(?:not|inte)\s(?:only|just|merely|bara"
    r"|enbart|endast)|no\sdoubt|utan\säven|utan\sockså|inte\s(?:senare|tidigare|mer|mindre)\sän)\b",
    re.IGNORECASE,
)
"""Words that hold a negator and deny nothing: "no later than", "not only … but also"."""
_NUMBER = re.compile(
    r"\bno\s?[.:]+(?=\s*\S)|\bno\s(?=\d+\b(?!\s?[-–]\s?[^\W\d_]|/7\b|\s?%))|^\W{0,3}\bno(?=\s?[|\t])",
    re.IGNORECASE,
)
"""Where "no" is short for "number": no determiner has a stop or a figure after it ("no. 14", "No.
of schools", "No 5"), but for "no 14-year-old" and "no 24/7 service"; nor is it alone in the first
cell of a row.  An answer ("No. The school …") denies nothing that comes after it either."""
_CLAUSE = re.compile(
    r"[,;:()–—]\s|\s?[|\t]\s?|\b(?:but|because|which|although|though|while|(?<!not\s)yet|men|eftersom"
    r"|medan|fast)\b|(?<=\s)(?=without\b|utan\b)"
)
_CONDITIONS = word_set("if unless whether om såvida ifall")
_JOINS = word_set("and or och eller that att")
_HEADS_OF_NO = 2
_SCOPE = 3
_REACH = 8


@lru_cache(maxsize=16384)
def denied(text: str) -> Mapping[str, frozenset[str]]:
    """The senses of the heads of a sentence's negators, each with the words that follow it."""
    found: dict[str, frozenset[str]] = {}
    for words in clauses(text):
        for at, heads in heads_of(words):
            scope = {sense(words[place]) for place in _after(words, at, _SCOPE)}
            for head in (sense(words[place]) for place in heads):
                found[head] = frozenset((head, *scope))
    return found


def heads_of(words: Sequence[str]) -> list[tuple[int, list[int]]]:
    """Places of a clause's negators, each with those of the words that it denies.

    What stands under a condition is neither stated nor denied, and left out.
    """
    found = []
    for at, word in enumerate(words):
        if word in _CONDITIONS:
            break
        if heads := heads_at(words, at):
            found.append((at, heads))
    return found


def heads_at(words: Sequence[str], at: int) -> list[int]:
    """Places of the words that one word of a clause denies; none where it is no negator."""
    word = words[at]
    if word in NO:
        return _after(words, at, _HEADS_OF_NO)
    if word in NOT or word in LACK:
        return _after(words, at, 1)
    if word in INTE or word in MISSING:
        return _after(words, at, 1) + _before(words, at)
    return []


def _after(words: Sequence[str], at: int, most: int) -> list[int]:
    heads: list[int] = []
    for place in range(at + 1, min(at + _REACH, len(words))):
        if words[place] in _JOINS and heads:
            break
        if words[place] not in FUNCTION_WORDS:
            heads.append(place)
        if len(heads) == most:
            break
    return heads


def _before(words: Sequence[str], at: int) -> list[int]:
    """The word right before a negator, or before the pronoun there ("räcker det inte")."""
    at -= 2 if at > 1 and words[at - 1] in _PRONOUNS else 1
    return [at] if at >= 0 and words[at] not in FUNCTION_WORDS else []


@lru_cache(maxsize=16384)
def clauses(text: str) -> tuple[tuple[str, ...], ...]:
    """The words of each clause or cell, case-folded, without what only looks like a negation."""
    return tuple(tuple(tokens(clause)) for clause in _CLAUSE.split(_bare(text.casefold())))


@lru_cache(maxsize=16384)
def spoken(text: str) -> tuple[str, ...]:
    """The words of a text as :func:`clauses` has them, with those that part clauses."""
    return tuple(tokens(_bare(text)))


def _bare(text: str) -> str:
    return _NO_NEGATION.sub(" ", _NT.sub(r"\1\2 not", _NUMBER.sub(" ", text)))
