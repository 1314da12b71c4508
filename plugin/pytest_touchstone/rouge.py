"""ROUGE-L and ROUGE-Lsum (Lin, 2004): overlap of two texts by longest common subsequence.

Equal to the package rouge-score, given the same tokens; the subsequence is found bit-parallel
(Crochemore, Iliopoulos, Pinzon and Reid, "A fast and practical bit-vector algorithm for the
longest common subsequence problem", 2001; in the form of Hyyrö, "Bit-parallel LCS-length
computation revisited", 2004) in Python's integers: one addition over all words of the one text
for each word of the other.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence
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
    last = deque(_rows(reference, candidate), maxlen=1).pop()
    common = len(reference) - last.bit_count()
    return Overlap(common / len(candidate), common / len(reference))


def rouge_lsum(
    reference: Sequence[Sequence[Hashable]], candidate: Sequence[Sequence[Hashable]]
) -> Overlap:
    """ROUGE-Lsum of a candidate's sentences of tokens against a reference's.

    For each sentence of the reference, the words that are in its longest common subsequence with
    any sentence of the candidate; a word counts no more often than both texts have it.
    """
    left = Counter(token for sentence in reference for token in sentence)
    right = Counter(token for sentence in candidate for token in sentence)
    if not left or not right:
        return _NOTHING
    sizes = right.total(), left.total()
    hits = 0
    for sentence in reference:
        union = set().union(*(common_places(sentence, other) for other in candidate))
        for token in (sentence[place] for place in sorted(union)):
            if left[token] > 0 and right[token] > 0:
                hits += 1
                left[token] -= 1
                right[token] -= 1
    return Overlap(hits / sizes[0], hits / sizes[1])


def common_places(reference: Sequence[Hashable], candidate: Sequence[Hashable]) -> set[int]:
    """The 0-based places in the reference of one longest common subsequence.

    Of several it is the one that the usual table yields, read from its last cell: at words that
    differ, back in the reference unless that loses a common word.
    """
    rows = list(_rows(reference, candidate))
    places: set[int] = set()
    i, j = len(reference), len(candidate)
    while i > 0 and j > 0:
        if reference[i - 1] == candidate[j - 1]:
            places.add(i - 1)
            i, j = i - 1, j - 1
        elif (rows[j] >> (i - 1)) & 1:
            i -= 1
        else:
            j -= 1
    return places


def _rows(reference: Sequence[Hashable], candidate: Sequence[Hashable]) -> Iterator[int]:
    """The table of subsequence lengths, one integer for each prefix of the candidate.

    Bit ``i`` of row ``j`` is 0 where the first ``i + 1`` words of the reference have one common
    word more than the first ``i`` with the first ``j`` of the candidate; so the zeros of a row
    count the common words.
    """
    places: dict[Hashable, int] = {}
    for i, token in enumerate(reference):
        places[token] = places.get(token, 0) | (1 << i)
    all_ones = (1 << len(reference)) - 1
    row = all_ones
    yield row
    for token in candidate:
        if match := row & places.get(token, 0):
            row = ((row + match) | (row - match)) & all_ones
        yield row
