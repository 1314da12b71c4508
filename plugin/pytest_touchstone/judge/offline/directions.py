"""Which way a figure goes: more or less, up or down, over or under, per hour or per minute.

A word of direction belongs to the figure that it stands next to.  Two statements of one figure are
opposed where they bind it to opposite directions, or count it per different units; a statement is
opposed to itself where it says "rose" and names a lower figure after a higher one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pytest_touchstone.judge.offline.evidence import Reading
from pytest_touchstone.judge.offline.negation import lacks
from pytest_touchstone.judge.offline.quantities import Quantity
from pytest_touchstone.judge.offline.wordlists import word_set
from pytest_touchstone.tokens import tokens

_UP = word_set(
    """
    up rise rises rose risen rising increase increases increased increasing grew grow grows grown
    growth gain gained climbed upp ökade ökar öka ökat ökning ökningen steg stiger stigit växte
    uppgång höjdes höjs höjde höjning
    """
)
_DOWN = word_set(
    """
    down fall falls fell fallen falling decrease decreases decreased decreasing drop drops dropped
    decline declines declined declining reduction reduced cut ned ner minskade minskar minska
    minskat minskning minskningen sjönk sjunker sjunkit föll nedgång sänktes sänks sänkte sänkning
    """
)
_MORE = word_set("more higher up above mer fler högre dyrare längre större over")
_LESS = word_set("less fewer lower down below mindre färre lägre billigare kortare under")
_OVER = word_set("over above exceeding över")
_UNDER = word_set("under below")
_THAN = word_set("than än")
_NEGATORS = word_set("not no never nor without inte ej ingen inget inga aldrig utan")
_CLAUSE = re.compile(r"[,;:()–—]\s|\b(?:and|but|while|och|men|medan)\b", re.IGNORECASE)
_BEFORE, _AFTER = 3, 2
_MOST = 40
"""Figures of a sentence that are looked at."""
_FROM = re.compile(r"\b(?:from|från)\s+(?:about\s+|around\s+|cirka\s+|ca\s+)?$", re.IGNORECASE)
_TO = re.compile(
    r"(?:\s\w+){0,3}?\s(?:to|till)\s(?:about\s|around\s|cirka\s|ca\s)?\s*", re.IGNORECASE
)
_PERIODS = {
    word: group[0]
    for group in (
        ("second", "sekund", "sekunden"),
        ("minute", "minut", "minuten"),
        ("hour", "timme", "timmen"),
        ("day", "dag", "dagen", "dygn", "dygnet"),
        ("week", "vecka", "veckan"),
        ("month", "månad", "månaden"),
        ("quarter", "kvartal", "kvartalet"),
        ("year", "år", "året", "annum"),
    )
    for word in group
}
_RATE = re.compile(
    r"^(?:\s[^\W\d_]+){0,2}?\s(?:per|a|an|each|every|om|i|varje)\s(?P<period>"
    + "|".join(sorted(_PERIODS, key=len, reverse=True))
    + r")\b|^\s?/\s?(?P<short>"
    + "|".join(_PERIODS)
    + r")\b",
    re.IGNORECASE,
)


def turned(claim: Reading, sentences: Sequence[Reading]) -> str | None:
    """What a figure of a claim is opposed by: the claim itself, or the sentences that fit it.

    :returns: a few words for a reader, or ``None``.
    """
    for quantity, way in _series(claim):
        return f'the claim says "{way}" where "{quantity.text}" lies the other way'
    for quantity in claim.quantities[:_MOST]:
        same = [
            (other, each)
            for each in sentences
            for other in each.quantities[:_MOST]
            if quantity.held_by(other)
        ]
        clause = _clause(claim, quantity)
        if same and all(lacks(_clause(each, other), clause) for other, each in same):
            return f'the passage says of "{quantity.text}" that there is none'
        for reader in (_change, _bound, _rate):
            mine = reader(claim, quantity)
            theirs = {reader(each, other) for other, each in same}
            if mine and theirs and mine not in theirs and None not in theirs:
                other = min(each for each in theirs if each)
                return f'"{quantity.text}" is {mine} in the claim and {other} in the passage'
    return None


def _series(claim: Reading) -> Iterator[tuple[Quantity, str]]:
    """Figures after "from … to" that lie on the wrong side, with the word that says otherwise."""
    numbers = claim.quantities
    for one, other in pairwise(numbers):
        begins = _FROM.search(claim.text[: one.start])
        if not begins or not _TO.fullmatch(claim.text[one.end : other.start]):
            continue
        before = tokens(_clause_before(claim.text, begins.start()))
        way = next((w for w in reversed(before) if w in _UP | _DOWN), None)
        if way is None or _NEGATORS & set(before) or one.ordinal or other.ordinal:
            continue
        if one.unit not in (None, other.unit) or len(other.values) > 1:
            continue
        signs = {(other.values[0] > value) - (other.values[0] < value) for value in one.values}
        if signs == {-1 if way in _UP else 1}:
            yield other, way


def _change(reading: Reading, quantity: Quantity) -> str | None:
    """Whether a figure is a rise or a fall ("18 percent more", "down 18 percent")."""
    before, after = _around(reading.text, quantity)
    if _NEGATORS & {*before, *after}:
        return None
    if way := next((_way(w, _MORE, _LESS) for w in after if w in _MORE | _LESS), None):
        return way
    return next((_way(w, _UP, _DOWN) for w in reversed(before) if w in _UP | _DOWN), None)


def _bound(reading: Reading, quantity: Quantity) -> str | None:
    """Whether a figure is a lower or an upper bound ("over 80 years", "less than 80 years")."""
    before, _ = _around(reading.text, quantity)
    if not before or _NEGATORS & set(before):
        return None
    if len(before) > 1 and before[-1] in _THAN:
        return _way(before[-2], _MORE, _LESS)
    return _way(before[-1], _OVER, _UNDER)


def _rate(reading: Reading, quantity: Quantity) -> str | None:
    """The period that a figure is counted in."""
    found = _RATE.match(reading.text[quantity.end :][:60])
    period = (found["period"] or found["short"]).casefold() if found else ""
    return f"per {_PERIODS[period]}" if period else None


def _way(word: str, high: frozenset[str], low: frozenset[str]) -> str | None:
    return "up" if word in high else "down" if word in low else None


def _around(text: str, quantity: Quantity) -> tuple[list[str], list[str]]:
    """The words of the clause right before and right after a figure."""
    before = tokens(_clause_before(text, quantity.start))[-_BEFORE:]
    after = tokens(_clause_after(text, quantity))[:_AFTER]
    return before, after


def _clause_after(text: str, quantity: Quantity) -> str:
    return _CLAUSE.split(text[quantity.end :][:120], maxsplit=1)[0]


def _clause(reading: Reading, quantity: Quantity) -> str:
    before = _clause_before(reading.text, quantity.start)
    return f"{before}{quantity.text}{_clause_after(reading.text, quantity)}"


def _clause_before(text: str, end: int) -> str:
    return _CLAUSE.split(text[max(0, end - 120) : end])[-1]
