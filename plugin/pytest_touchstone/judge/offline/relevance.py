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
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TWO_YEARS = re.compile(r"(?<!\d)((?:19|20)\d\d)[/–-](\d\d)(?!\d)")


def relevance(question: str, passages: Sequence[str], embed: Embed) -> Relevance:
    """A label for each passage, by rank.

    The share of the question's words that a passage holds, words that few of the passages hold
    counting more, joined with the cosine.  A passage about another year than those asked for is at
    most partly relevant; one that names others than those asked about counts less.
    """
    # Years are compared as years, below.
    asked = {word for word in senses(question[:LONGEST]) if not word.isdigit()}
    held = [set(senses(passage[:LONGEST])) for passage in passages]
    spread = Counter(word for words in held for word in words & asked)
    weights = {word: 1.0 + log((1 + len(held)) / (1 + spread[word])) for word in asked}
    total = sum(weights.values()) or 1.0
    shares = [sum(weights[word] for word in words & asked) / total for words in held]
    likeness = _likeness(question, passages, embed)
    verdicts = [
        _verdict(rank, question, passage, share, close)
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


def _verdict(rank: int, question: str, passage: str, share: float, close: float) -> PassageVerdict:
    score = 0.5 * share + 0.5 * close
    why = f"It holds {share:.0%} of the question's words; meaning {close:.0%} alike"
    other = _other_year(question, passage[:LONGEST])
    unnamed = _unnamed(question, passage[:LONGEST])
    if other or unnamed:
        # A chunk often leaves out whom it is about: its document says so.
        score, why = score - (0.1 if other else 0.05), f"{why}; {other or unnamed}"
    label: RelevanceLabel = "irrelevant"
    if score >= RELEVANT_FROM and not other:
        label = "relevant"
    elif score >= PARTLY_FROM:
        label = "partly"
    return PassageVerdict(rank, label, f"{why}.")


def _other_year(question: str, passage: str) -> str:
    """Whether the passage gives years, and none of those asked for."""
    wanted, given = _years(question), _years(passage)
    if wanted and given and not wanted & given:
        return f"it is about {min(given)}, not {min(wanted)}"
    return ""


def _unnamed(question: str, passage: str) -> str:
    """Whether the passage names somebody or something, and none of what is asked about."""
    sought = [name for name in names(question) if name.sure]
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
