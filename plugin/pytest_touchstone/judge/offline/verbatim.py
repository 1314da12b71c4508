"""Claims that stand word for word in a passage: they can say the opposite only of what is outside.

Whatever such a claim denies, the passage denies in the same words.  Only a negator that stands
outside the words quoted can turn them round: one that denies a word of theirs ("*No* payments were
made"), or a phrase that denies the whole ("It is *not true that* …", "The claim that … *is
false*").
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Literal

from pytest_touchstone.judge.offline.denials import clauses, heads_of

_NOT_THAT = re.compile(
    r"""\b(?:
    (?:not|never|hardly)\s(?:\w+\s){0,2}?(?:true|so|(?:the\s)?case|correct|right|accurate|proven|proved
      |established|shown|confirmed|found|find|show|prove|confirm|establish|believe|think|say|claim
      |mean|agree|accept|follow)\s that
    | (?:false|untrue|incorrect|unfounded|doubtful|unlikely|impossible)\sthat
    | (?:den(?:y|ies|ied|ying)|disput\w+|refut\w+|reject\w*|contest(?:s|ed|ing)?)
      (?:\s(?:the|any|all))?(?:\s(?:claims?|allegations?|assertions?|accusations?|idea|notion|view
      |suggestions?|statements?|findings?))?\s that
    | (?:no|little)\s(?:\w+\s){0,2}?(?:evidence|proof|indications?|signs?|basis|confirmation)
      (?:\s\w+){0,3}?\s that
    | (?:none|neither|few|hardly\sany)\s of
    | (?:inte|ej|aldrig)\s(?:\w+\s){0,2}?(?:sant|så|riktigt|korrekt|fallet|bevisat|visat|klarlagt
      |fastställt|troligt|säga|säger|anser|tror|visar|visade|betyder|innebär|menar)\s att
    | (?:stämmer|säger|sade|anser|tror|visar|visade|betyder|innebär|menar|hävdar|bekräftar|bevisar)
      \s(?:\w+\s)?(?:inte|ej|aldrig)\s att
    | (?:falskt|osant|omöjligt|osannolikt)\s att
    | (?:förneka|avvisa|dementera|tillbakavisa)(?:r|de|s|t)?\s(?:\w+\s){0,2}?att
    | (?:bestrider|bestred|bestridit)\s(?:\w+\s){0,2}?att
    | (?:ingen|inget|inga)\s(?:\w+\s){0,2}?(?:bevis|belägg|tecken|stöd|grund)(?:\s\w+){0,3}?\s att
    )$""",
    re.VERBOSE,
)
"""What denies all that comes after it; the words right before a quotation."""
_IS_NOT_SO = re.compile(
    r"(?:is|was|are|were|has\sbeen|är|var|stämmer|har)\s(?:\w+\s)?(?:not\s(?:true|so|correct|the\scase)"
    r"|false|untrue|incorrect|unfounded|denied|rejected|refuted|inte\s(?:sant|så|riktigt|korrekt)"
    r"|falskt|osant|felaktigt|inte|förnekats|avvisats)\b"
)
"""What denies a clause that came before it."""
_THAT = ("that", "att")
_WORDS_BEFORE, _WORDS_AFTER = 12, 4


def standing(claim: str, sentences: Sequence[str]) -> Literal["stated", "denied"] | None:
    """How the sentences of a passage, in order, hold a claim word for word; ``None`` where not.

    :returns: ``"stated"`` where one such place at least has no denial around it.
    """
    claimed = _Words([claim]).words
    passage = _Words(sentences)
    found: Literal["denied"] | None = None
    for start in _places(claimed, passage.words):
        if not _turned_round(passage, range(start, start + len(claimed))):
            return "stated"
        found = "denied"
    return found


class _Words:
    """The words of sentences one after the other, where these begin, and what denies what."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._clauses = [clauses(each) for each in sentences]
        self.words = [word for each in self._clauses for clause in each for word in clause]
        lengths = (sum(map(len, each)) for each in self._clauses)
        self._sentences = list(accumulate(lengths, initial=0))

    @cached_property
    def _denials(self) -> list[tuple[int, int]]:
        """Places of the words denied, in order, each with that of its negator."""
        found, begin = [], 0
        for words in (words for each in self._clauses for words in each):
            for negator, heads in heads_of(words):
                found += [(begin + head, begin + negator) for head in heads]
            begin += len(words)
        return sorted(found)

    def denied_from_outside(self, span: range) -> bool:
        """Whether a negator outside a span denies a word inside."""
        low, high = (bisect_left(self._denials, (end, -1)) for end in (span.start, span.stop))
        return any(negator not in span for _, negator in self._denials[low:high])

    def around(self, span: range) -> tuple[list[str], list[str]]:
        """A few words before and after a span, in the sentences that it begins and ends in."""
        first = self._sentences[bisect_right(self._sentences, span.start) - 1]
        end = self._sentences[bisect_left(self._sentences, span.stop)]
        before = self.words[max(first, span.start - _WORDS_BEFORE) : span.start]
        return before, self.words[span.stop : min(end, span.stop + _WORDS_AFTER)]


def _places(words: Sequence[str], every: Sequence[str]) -> Iterator[int]:
    """Where words stand one after the other, as indices of the first of them."""
    text, wanted = f" {' '.join(every)} ", f" {' '.join(words)} "
    at, start, counted = text.find(wanted) if words else -1, 0, 0
    while at >= 0:
        start += text.count(" ", counted, at)
        counted = at
        yield start
        at = text.find(wanted, at + 1)


def _turned_round(passage: _Words, span: range) -> bool:
    """Whether what stands around some words of a passage denies them."""
    if passage.denied_from_outside(span):
        return True
    before, after = passage.around(span)
    if _NOT_THAT.search(" ".join(before)):
        return True
    return bool(before) and before[-1] in _THAT and bool(_IS_NOT_SO.match(" ".join(after)))
