"""ROUGE-L and ROUGE-Lsum (Lin, 2004): overlap of two texts by longest common subsequence.

Equal to the package rouge-score, given the same tokens; the subsequence is found bit-parallel
(Crochemore, Iliopoulos, Pinzon and Reid, "A fast and practical bit-vector algorithm for the
longest common subsequence problem", 2001; in the form of Hyyrö, "Bit-parallel LCS-length
computation revisited", 2004) in Python's integers: one addition over all words of the one text
for each word of the other.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of two texts is common, each number from 0 to 1.

    :param precision: common words / words of the candidate.
    :param recall: common words / words of the reference.
    """

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where both are."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both > 0 else 0.0


_NOTHING = Overlap(0.0, 0.0)


def rouge_l(reference: Sequence[Hashable], candidate: Sequence[Hashable]) -> Overlap:
    """ROUGE-L of a candidate's tokens against a reference's; 0 where either has none."""
    if not reference or not candidate:
        return _NOTHING
    matches = _matches(_places(reference), candidate)
    last = deque(_rows(matches, len(reference)), maxlen=1).pop()
    common = len(reference) - last.bit_count()
    return Overlap(common / len(candidate), common / len(reference))


def rouge_lsum(
    reference: Sequence[Sequence[Hashable]], candidate: Sequence[Sequence[Hashable]]
) -> Overlap:
    """ROUGE-Lsum of a candidate's sentences of tokens against a reference's.

    For each sentence of the reference, the words that are in its longest common subsequence with
    any sentence of the candidate; a word counts no more often than the candidate has it.
    """
    words = sum(map(len, reference))
    left = Counter(token for sentence in candidate for token in sentence)
    total = left.total()
    if not words or not total:
        return _NOTHING
    hits = 0
    for sentence in reference:
        places, size = _places(sentence), len(sentence)
        union = set().union(*(_common(_matches(places, other), size) for other in candidate))
        for token in (sentence[place] for place in union):
            if left[token] > 0:
                hits += 1
                left[token] -= 1
    return Overlap(hits / total, hits / words)


def common_places(reference: Sequence[Hashable], candidate: Sequence[Hashable]) -> set[int]:
    """The 0-based places in the reference of one longest common subsequence.

    Of several it is the one that the usual table yields, read from its last cell: at words that
    differ, back in the reference unless that loses a common word.
    """
    return _common(_matches(_places(reference), candidate), len(reference))


def _places(reference: Sequence[Hashable]) -> dict[Hashable, int]:
    """Word to the integer whose bit ``i`` tells that it is at place ``i`` of the reference."""
    places: dict[Hashable, int] = {}
    for i, token in enumerate(reference):
        places[token] = places.get(token, 0) | (1 << i)
    return places


def _matches(places: Mapping[Hashable, int], candidate: Sequence[Hashable]) -> list[int]:
    """The places in the reference of each word of the candidate, as bits."""
    return [places.get(token, 0) for token in candidate]


def _rows(matches: Sequence[int], size: int) -> Iterator[int]:
    """The table of subsequence lengths, one integer for each word of the candidate.

    Bit ``i`` of a row is 0 where the first ``i + 1`` words of the reference have one common word
    more than the first ``i`` with the candidate up to this word; so the zeros of a row count the
    common words.
    """
    all_ones = (1 << size) - 1
    row = all_ones
    for match in matches:
        if common := row & match:
            row = ((row + common) | (row - common)) & all_ones
        yield row


def _common(matches: Sequence[int], size: int) -> set[int]:
    """One longest common subsequence, as places in the reference (see :func:`common_places`)."""
    if not any(matches):
        return set()
    found: set[int] = set()
    end = size  # the words of the reference that are not read yet
    for row, match in zip(reversed(list(_rows(matches, size))), reversed(matches), strict=True):
        ahead = (1 << end) - 1
        # Back in the reference to a word that is the candidate's, or one not to be gone past.
        same, needed = (match & ahead).bit_length(), (~row & ahead).bit_length()
        if same and same >= needed:
            found.add(same - 1)
            end = same - 1
        else:
            end = needed
    return found
