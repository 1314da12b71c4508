"""Whether passages help to answer a question: its words, its years and names, its meaning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

from pytest_touchstone.judge.offline.embedding import Embed
from pytest_touchstone.judge.offline.names import Name, name_key, names
from pytest_touchstone.judge.offline.points import UNLIKE, senses
from pytest_touchstone.tokens import tokens
from pytest_touchstone.verdicts import PassageVerdict, Relevance, RelevanceLabel

RELEVANT_FROM = 0.4
PARTLY_FROM = 0.25
LONGEST = 20_000
"""Characters of a passage that are read."""
_IMPLIED = 0.5
"""Weight of a word that only the question before holds."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TWO_YEARS = re.compile(r"(?<!\d)((?:19|20)\d\d)[/–-](\d\d)(?!\d)")


def relevance(
    question: str, passages: Sequence[str], embed: Embed, before: Sequence[str] = ()
) -> Relevance:
    """A label for each passage, by rank.

    The share of the question's words that a passage holds, words that few of the passages hold
    counting more, joined with the cosine.  A passage about another year than those asked for is at
    most partly relevant; one that names others than those asked about counts less.

    :param before: earlier questions of the conversation.  The last of them says what a question
        that leaves something out is about: its words count half, its year and names where the
        question has none.
    """
    earlier = before[-1] if before else ""
    # Years are compared as years, below.
    asked = {word for word in senses(question[:LONGEST]) if not word.isdigit()}
    implied = {word for word in senses(earlier[:LONGEST]) if not word.isdigit()} - asked
    asked |= implied
    held = [set(senses(passage[:LONGEST])) for passage in passages]
    spread = Counter(word for words in held for word in words & asked)
    weights = {
        word: (1.0 + log((1 + len(held)) / (1 + spread[word])))
        * (_IMPLIED if word in implied else 1)
        for word in asked
    }
    total = sum(weights.values()) or 1.0
    shares = [sum(weights[word] for word in words & asked) / total for words in held]
    likeness = _likeness(f"{earlier[:LONGEST]} {question}".strip(), passages, embed)
    years = _years(question) or _years(earlier)
    sought = _sought(question) or _sought(earlier)
    verdicts = [
        _verdict(rank, years, sought, passage, share, close)
        for rank, (passage, share, close) in enumerate(
            zip(passages, shares, likeness, strict=True), start=1
        )
    ]
    return Relevance(tuple(verdicts))


def _likeness(question: str, passages: Sequence[str], embed: Embed) -> list[float]:
    if not passages:
        return []
    vectors = embed([question[:LONGEST], *(passage[:LONGEST] for passage in passages)])
    cosines = vectors[1:] @ vectors[0]
    return [min(1.0, max(0.0, (float(each) - (UNLIKE - 0.06)) / 0.12)) for each in cosines]


def _verdict(
    rank: int, years: set[str], sought: Sequence[Name], passage: str, share: float, close: float
) -> PassageVerdict:
    score = 0.5 * share + 0.5 * close
    why = f"It holds {share:.0%} of the question's words; meaning {close:.0%} alike"
    other = _other_year(years, passage[:LONGEST])
    unnamed = _unnamed(sought, passage[:LONGEST])
    if other or unnamed:
        # A chunk often leaves out whom it is about: its document says so.
        score, why = score - (0.1 if other else 0.05), f"{why}; {other or unnamed}"
    label: RelevanceLabel = "irrelevant"
    if score >= RELEVANT_FROM and not other:
        label = "relevant"
    elif score >= PARTLY_FROM:
        label = "partly"
    return PassageVerdict(rank, label, f"{why}.")


def _other_year(wanted: set[str], passage: str) -> str:
    """Whether the passage gives years, and none of those asked for."""
    given = _years(passage)
    if wanted and given and not wanted & given:
        return f"it is about {min(given)}, not {min(wanted)}"
    return ""


def _sought(question: str) -> list[Name]:
    """Whom or what a question names."""
    return [name for name in names(question) if name.sure]


def _unnamed(sought: Sequence[Name], passage: str) -> str:
    """Whether the passage names somebody or something, and none of what is asked about."""
    keys = frozenset(map(name_key, tokens(passage)))
    missing = [name for name in sought if name.key not in keys]
    if sought and len(missing) == len(sought) and _names_others(passage):
        return f"it does not name “{missing[0].text[:40]}”"
    return ""


def _names_others(passage: str) -> bool:
    found: list[Name] = names(passage[:2_000])
    return any(name.sure for name in found)


def _years(text: str) -> set[str]:
    """The years named; a year that spans two, as 2021/22, is both."""
    ends = {f"{start[:2]}{end}" for start, end in _TWO_YEARS.findall(text)}
    return set(_YEAR.findall(text)) | ends
