"""How much of a claim the passages hold in one place: its words, and its facts.

What is counted is the claim's words of content and its facts (numbers, dates, names), each once.  A
*window* is a sentence of a passage with its neighbours: statements are made in one place, and a
claim whose words lie scattered over a passage is none of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_touchstone.judge.offline.evidence import WINDOW, Reading, Source
from pytest_touchstone.judge.offline.facts import Facts, Place

_FACT = 1.5
_AROUND = 0.5
_LENGTH = 0.002
_SECOND = 0.5
"""What the window of another passage adds of what the first lacks, where it states a fact that the
first does not: a claim may put together what two passages say."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """What of a claim the passages hold.

    :param near: share in the best window, from 0 to 1, with half of what a window of another
        passage adds that states a further fact.
    :param place: the sentence that fits best, to be quoted.
    """

    near: float
    place: Place


def overlap(claim: Reading, sources: Sequence[Source], facts: Facts) -> Overlap:
    """The overlap of one claim with passages, one of which at least holds a sentence."""
    total = max(1, len(claim.word_set) + len(facts.facts))
    best_score, place = -1.0, Place(0, 0)
    best: list[tuple[float, frozenset[str], frozenset[int]]] = []
    for p, source in enumerate(sources):
        absent = sorted(claim.word_set - source.words)
        alike = {w: d for w in absent if (d := source.spellings.alike(claim.words[w]))}
        similar = sum(alike.values())
        inside: tuple[float, frozenset[str], frozenset[int]] = (-1.0, frozenset(), frozenset())
        for s, window in enumerate(source.windows):
            words = claim.word_set & window
            low, high = max(0, s - WINDOW), s + WINDOW + 1
            stated = facts.held_in(p, low, high)
            wide = len(words) + similar + len(stated)
            if wide > inside[0]:
                inside = (wide, words | alike.keys(), stated)
            sentence = source.sentences[s]
            here = len(words & sentence.word_set) + _FACT * len(facts.held_in(p, s, s + 1))
            score = here + _AROUND * wide - _LENGTH * len(sentence.words)
            if score > best_score:
                best_score, place = score, Place(p, s)
        if inside[0] >= 0:
            best.append(inside)
    return Overlap(_combined(best, total), place)


def _combined(windows: list[tuple[float, frozenset[str], frozenset[int]]], total: int) -> float:
    if not windows:
        return 0.0
    first = max(windows, key=lambda each: each[0])
    added = max(
        (
            len(words - first[1]) + len(stated - first[2])
            for _, words, stated in windows
            if stated - first[2]
        ),
        default=0,
    )
    return min(1.0, (first[0] + _SECOND * added) / total)
