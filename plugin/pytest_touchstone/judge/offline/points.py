"""Key points against the sentences of an answer: words and figures first, meaning where they fail.

A point's words are looked for in the sentence that holds most of them, with the one that adds most.
A figure of the point that the answer gives otherwise makes it absent; one that it leaves out, or a
name, makes it partly said at best.  Sentences are compared by meaning only where words are too few
to decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_touchstone.judge.offline.embedding import Embed
from pytest_touchstone.judge.offline.names import Name, name_key, names
from pytest_touchstone.judge.offline.negation import opposed
from pytest_touchstone.judge.offline.quantities import Quantity, quantities
from pytest_touchstone.judge.offline.wordlists import FUNCTION_WORDS
from pytest_touchstone.judge.offline.words import sense
from pytest_touchstone.rouge import rouge_l
from pytest_touchstone.tokens import tokens
from pytest_touchstone.verdicts import Coverage, PointLabel, PointVerdict, Quotation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PRESENT_FROM = 0.62
PARTLY_FROM = 0.35
SERVES_FROM = 0.4
"""Share of a sentence's words that are of one point, from which it serves that point."""
DECIDED_BY_WORDS = 0.75
UNLIKE, ALIKE = 0.84, 0.95
"""Cosines of multilingual-e5-small: nine in ten pairs of sentences on different matters lie below
the first; sentences that say the same lie about the second."""
MOST_EMBEDDED = 64
"""Sentences of an answer that are compared by meaning, those with most words in common first."""
LONGEST = 2_000
"""Characters of one sentence or point that are read."""
LONGEST_TEXT = 10_000
"""Characters of a whole answer that :func:`completeness` reads."""
_GRAM = 4
_LIKE_LONG = 1.6


@dataclass(frozen=True, slots=True)
class _Said:
    """A point or a sentence as it is compared."""

    text: str
    words: frozenset[str]
    figures: tuple[Quantity, ...]
    names: tuple[Name, ...]
    keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Match:
    """Where an answer comes nearest to a point.

    :param places: of its sentences, in order.
    :param recall: share of the point's words and figures found there.
    """

    places: tuple[int, ...]
    recall: float


def coverage(key_points: Sequence[str], sentences: tuple[str, ...], embed: Embed) -> Coverage:
    """Each key point's label, with how far it is said, and the sentences that serve none."""
    points = [_said(point) for point in key_points]
    answer = [_said(sentence) for sentence in sentences]
    matches = [_match(point, answer) for point in points]
    cosines = _cosines(points, answer, matches, embed)
    verdicts = tuple(
        _verdict(point, answer, match, cosines.get(number))
        for number, (point, match) in enumerate(zip(points, matches, strict=True))
    )
    serving = {
        place
        for verdict, match, number in zip(verdicts, matches, range(len(points)), strict=True)
        if verdict.label != "absent"
        for place in _places(match, cosines.get(number))
    }
    padding = tuple(
        place
        for place, said in enumerate(answer)
        if place not in serving and not _serves(place, said, points, cosines)
    )
    return Coverage(verdicts, sentences, padding)


def senses(text: str) -> list[str]:
    """What the words that carry content are compared by, in order; of all words where none does."""
    words = tokens(text)
    kept = [word for word in words if word not in FUNCTION_WORDS]
    return [sense(word) for word in kept or words]


def completeness(key_points: Sequence[str], sentences: Sequence[str]) -> float:
    """How far an answer says the points and nothing else, from 0 to 1, by its words alone.

    People call an answer incomplete that misses points, and also one that goes on about others; so
    this is the mean of two F1s over the whole texts: of the longest common subsequence of words
    (ROUGE-L; Lin, 2004) and of character 4-grams (chrF with beta 1; Popović, 2015).
    """
    gold, answer = (tokens(" ".join(texts)[:LONGEST_TEXT]) for texts in (key_points, sentences))
    if not gold or not answer:
        return 0.0
    return 0.5 * rouge_l(gold, answer).f1 + 0.5 * _grams_f1(" ".join(gold), " ".join(answer))


def _grams_f1(one: str, other: str) -> float:
    left, right = (
        Counter(text[at : at + _GRAM] for at in range(max(1, len(text) - _GRAM + 1)))
        for text in (one, other)
    )
    return 2 * (left & right).total() / (left.total() + right.total())


def _said(text: str) -> _Said:
    return replace(_read(text[:LONGEST]), text=text)


@lru_cache(maxsize=4096)
def _read(read: str) -> _Said:
    figures = tuple(each for each in quantities(read) if not each.weak)
    taken = [(each.start, each.end) for each in figures]
    return _Said(
        read,
        frozenset(word for word in senses(_without(read, taken)) if not word.isdigit()),
        figures,
        tuple(name for name in names(read, taken) if name.sure),
        frozenset(map(name_key, tokens(read))),
    )


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """A text without its figures, whose words ("4 million") are no words to look for."""
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return " ".join(text[start:end] for start, end in zip(starts, ends, strict=True))


def _match(point: _Said, answer: Sequence[_Said]) -> _Match:
    if not answer:
        return _Match((), 0.0)
    if not point.words:
        each = [sum(_held(one, said.figures) for one in point.figures) for said in answer]
        best = max(range(len(answer)), key=lambda at: (each[at], -at))
        return _Match((best,), each[best] / max(1, len(point.figures)))
    shared = [len(point.words & said.words) + _bonus(point, said) for said in answer]
    best = max(range(len(answer)), key=lambda at: (shared[at], -at))
    rest = point.words - answer[best].words
    adding = [len(rest & said.words) for said in answer]
    second = max(range(len(answer)), key=lambda at: (adding[at], -abs(at - best)))
    places = {best, second} if adding[second] >= max(2, 0.2 * len(point.words)) else {best}
    found = frozenset[str]().union(*(answer[at].words for at in places)) & point.words
    told = [figure for at in sorted(places) for figure in answer[at].figures]
    held = sum(_held(figure, told) for figure in point.figures)
    whole = len(point.words) + len(point.figures)
    return _Match(tuple(sorted(places)), (len(found) + held) / whole)


def _bonus(point: _Said, said: _Said) -> float:
    """Of sentences with like words, the one with the point's figures is meant."""
    return 0.9 * sum(_held(each, said.figures) for each in point.figures)


def _held(figure: Quantity, others: Iterable[Quantity]) -> bool:
    return any(figure.held_by(other) for other in others)


def _cosines(
    points: Sequence[_Said], answer: Sequence[_Said], matches: Sequence[_Match], embed: Embed
) -> dict[int, NDArray[np.float32]]:
    """For each point that words do not decide, the cosine with each sentence; −1 where unread."""
    import numpy as np

    open_ = [
        number
        for number, (point, match) in enumerate(zip(points, matches, strict=True))
        if match.places and match.recall < DECIDED_BY_WORDS and not _wrong(point, answer, match)
    ]
    if not open_:
        return {}
    wanted = frozenset[str]().union(*(points[number].words for number in open_))
    order = sorted(range(len(answer)), key=lambda at: (-len(answer[at].words & wanted), at))
    places = sorted(order[:MOST_EMBEDDED])
    texts = [points[number].text[:LONGEST] for number in open_]
    vectors = embed([*texts, *(answer[at].text[:LONGEST] for at in places)])
    likeness = vectors[: len(open_)] @ vectors[len(open_) :].T
    found = {}
    for row, number in enumerate(open_):
        line = np.full(len(answer), -1.0, np.float32)
        line[places] = likeness[row]
        found[number] = line
    return found


def _verdict(
    point: _Said, answer: Sequence[_Said], match: _Match, cosines: NDArray[np.float32] | None
) -> PointVerdict:
    if not match.places:
        return PointVerdict(point.text, "absent", "The answer is empty.", None, 0.0)
    if wrong := _wrong(point, answer, match):
        return PointVerdict(point.text, "absent", wrong, None, 0.0)
    share, why = match.recall, f"{match.recall:.0%} of its words and figures"
    places = _places(match, cosines)
    lost, unnamed = _lacking(point, [answer[at] for at in places])
    lacking = [*lost, *unnamed]
    if cosines is not None:
        close = min(1.0, max(0.0, (float(cosines.max()) - UNLIKE) / (ALIKE - UNLIKE)))
        by_meaning = 0.8 * close if (point.figures or point.names) and not lacking else 0.6 * close
        share = max(0.75 * match.recall, 0.6 * match.recall + 0.4 * close, by_meaning)
        why = f"{why}, meaning {close:.0%} alike"
    if lacking:
        # Where every figure is lost, little of a point that gives figures is left.
        kept = 0.75 if lost and len(lost) == len(point.figures) else 0.9
        share = min(share * kept, PRESENT_FROM - 0.01)
        why = f"{why}; {lacking[0]} is missing"
    label = _label(share)
    if label == "absent":
        return PointVerdict(point.text, label, f"Nearest sentence: {why}.", None, share)
    said = " ".join(answer[at].text for at in _run(places))
    return PointVerdict(point.text, label, f"Said: {why}.", Quotation(said, True), share)


def _label(share: float) -> PointLabel:
    if share >= PRESENT_FROM:
        return "present"
    return "partly" if share >= PARTLY_FROM else "absent"


def _places(match: _Match, cosines: NDArray[np.float32] | None) -> tuple[int, ...]:
    """The sentences that a point rests on: those with its words, or the one nearest in meaning."""
    if cosines is None or match.recall >= PARTLY_FROM:
        return match.places
    return (int(cosines.argmax()),)


def _run(places: Sequence[int]) -> Sequence[int]:
    """Sentences that follow each other, as a quotation must; else the first alone."""
    together = all(after == before + 1 for before, after in pairwise(places))
    return places if together else places[:1]


def _wrong(point: _Said, answer: Sequence[_Said], match: _Match) -> str:
    """What a sentence with the point's words says otherwise; ``""`` where nothing."""
    if match.recall < PARTLY_FROM:
        return ""
    near = [answer[at] for at in match.places]
    told = [figure for said in near for figure in said.figures]
    every = [figure for said in answer for figure in said.figures]
    used = [other for other in told if any(each.held_by(other) for each in point.figures)]
    for figure in point.figures:
        if _held(figure, every):
            continue
        instead = [other for other in told if figure.same_kind(other) and other not in used]
        if instead:
            return f"It says {instead[0].text[:40]}, not {figure.text[:40]}."
    # A longer sentence may deny something else.
    alike = len(near) == 1 and len(near[0].words) <= _LIKE_LONG * len(point.words)
    if alike and match.recall >= DECIDED_BY_WORDS and opposed(*_shortened(point, near[0])):
        return "It says the opposite."
    return ""


def _shortened(point: _Said, said: _Said) -> tuple[str, list[str]]:
    return point.text[:LONGEST], [said.text[:LONGEST]]


def _lacking(point: _Said, near: Sequence[_Said]) -> tuple[list[str], list[str]]:
    """The point's figures, and its names, that these sentences do not hold."""
    figures = [other for said in near for other in said.figures]
    keys = frozenset[str]().union(*(said.keys for said in near))
    lost = [each.text for each in point.figures if not _held(each, figures)]
    return lost, [f"“{each.text}”" for each in point.names if each.key not in keys]


def _serves(
    place: int,
    said: _Said,
    points: Sequence[_Said],
    cosines: dict[int, NDArray[np.float32]],
) -> bool:
    if not said.words:
        return any(_held(each, said.figures) for point in points for each in point.figures)
    for number, point in enumerate(points):
        shared = len(said.words & point.words)
        if shared >= 2 and shared >= SERVES_FROM * min(len(said.words), len(point.words)):
            return True
        if number in cosines and cosines[number][place] >= 0.5 * (UNLIKE + ALIKE):
            return True
    return False
