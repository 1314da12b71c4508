"""Facts of a claim (its numbers, dates and names) against the sentences of the passages.

A fact is *missing* where no passage holds it.  It is *displaced* where a passage holds it, but a
sentence that fits the claim better holds another of its kind in its place: the right number of
the wrong district, the year of another report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_touchstone.judge.offline import dates, names
from pytest_touchstone.judge.offline.dates import Date
from pytest_touchstone.judge.offline.evidence import Reading, Source
from pytest_touchstone.judge.offline.names import Name
from pytest_touchstone.judge.offline.quantities import Quantity
from pytest_touchstone.judge.offline.wordlists import AUXILIARIES, BODIES, FUNCTION_WORDS
from pytest_touchstone.judge.offline.words import is_past, sense
from pytest_touchstone.tokens import tokens

Fact = Quantity | Date | Name

_FIGURE = 2.0
_NAME = 0.25
_BESIDE = 0.5
_IN_PASSAGE = 0.25
"""What a figure counts, and a name beside its words, where a word of content counts 1; and the
share of it where it stands next to the sentence or elsewhere in the passage."""
_WORD_BESIDE = 0.5
_MARGIN = 0.75
"""By how much a sentence with another fact must fit the claim better than those with its own."""
_FACTS_TELL = 0.9
"""The most that the fit of a fact's own sentence may be of the other's, where facts tell."""
_MARGIN_OF_WORDS = 2.5
_WORDS_TELL = 0.5
"""The same two where only words tell."""
_MOST = 40
_IN_PLACE = 0.4
"""Share of the rest of a claim that a sentence must hold for its fact to stand in the place."""


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence of a passage.

    :param passage: 0-based; ``at``: 0-based index of the sentence within it.
    """

    passage: int
    at: int


@dataclass(frozen=True, slots=True)
class Fault:
    """A fact of a claim that the passages do not bear out.

    :param other: what stands in its place, where something does; ``place``: where.
    :param held: whether a passage holds the fact, elsewhere.
    """

    fact: Fact
    other: Fact | None = None
    place: Place | None = None
    held: bool = False


def facts_of(claim: Reading) -> tuple[Fact, ...]:
    """Numbers, dates and names, in the order in which they are written; the first forty."""
    every: list[Fact] = [*claim.quantities, *claim.dates, *claim.names]
    return tuple(sorted(every, key=lambda each: each.start)[:_MOST])


def holds(sentence: Reading, fact: Fact) -> bool:
    """Whether a sentence states a fact."""
    # "2000" may be a year or a number: either holds the other.
    if isinstance(fact, Quantity):
        years = {float(d.year) for d in sentence.dates if d.only_year and d.year}
        return any(fact.held_by(other) for other in sentence.quantities) or (
            fact.unit is None and not (years | sentence.parts).isdisjoint(fact.values)
        )
    if isinstance(fact, Date):
        numbers = {v for q in sentence.quantities if q.unit is None for v in q.values}
        return dates.held(fact, sentence.dates) or (fact.only_year and fact.year in numbers)
    return names.held(fact, sentence.keys, sentence.acronyms)


def _tells(about: Reading, fact: Fact) -> bool:
    """Whether metadata state a fact; their numbers are page numbers and the like."""
    return not isinstance(fact, Quantity) and holds(about, fact)


class Facts:
    """The facts of one claim, looked up in every sentence once."""

    def __init__(self, claim: Reading, sources: Sequence[Source]) -> None:
        self._claim = claim
        self._sources = sources
        self.facts = facts_of(claim)
        self._held: list[list[list[bool]]] = [
            [
                [
                    holds(sentence, fact) or known
                    for fact, known in zip(self.facts, about, strict=True)
                ]
                for sentence in source.sentences
            ]
            for source in sources
            for about in [[_tells(source.about, fact) for fact in self.facts]]
        ]
        self._numbers = [
            [frozenset(n for n, held in enumerate(row) if held) for row in rows]
            for rows in self._held
        ]
        self._anywhere = [
            [self._in_passage(p, n) for n in range(len(self.facts))] for p in range(len(sources))
        ]

    def held_in(self, passage: int, low: int, high: int) -> frozenset[int]:
        """Indices of the facts that the sentences from ``low`` to ``high`` (exclusive) hold."""
        return frozenset().union(*self._numbers[passage][low:high])

    def faults(self) -> list[Fault]:
        """Facts that are missing or displaced, in order."""
        found = (self._fault(n) for n in range(len(self.facts)))
        return [fault for fault in found if fault is not None]

    def _fault(self, n: int) -> Fault | None:
        fact = self.facts[n]
        if not self._somewhere(n):
            rival, place, fit = self._rival(n)
            if rival is not None and fit >= _IN_PLACE * self._most(n):
                return Fault(fact, rival, place)
            return Fault(fact) if _certain(fact) else None
        if isinstance(fact, Name) and not (fact.kind_word or self._is_name(fact)):
            return None
        if isinstance(fact, Quantity) and fact.weak and fact.unit:
            return None  # "half" may be half of anything
        own = [
            Place(p, s) for p, rows in enumerate(self._held) for s, row in enumerate(rows) if row[n]
        ]
        rival, place, fit = self._rival(n)
        if rival is None or place is None or not own:
            return None
        if any(self._adds(at, place, n) for at in own):
            return None
        best_own = max(self._fit(at.passage, at.at, n) for at in own)
        if self._tell(place, own, n, names_too=not isinstance(fact, Name)):
            displaced = fit >= best_own + _MARGIN and best_own <= _FACTS_TELL * fit
        else:
            # Many facts may stand in one text; words alone tell only where they tell plainly.
            plain = fit >= best_own + _MARGIN_OF_WORDS and best_own <= _WORDS_TELL * fit
            displaced = plain and not (isinstance(fact, Name) and fact.text.isupper())
        return Fault(fact, rival, place, held=True) if displaced else None

    def _is_name(self, name: Name) -> bool:
        return name.sure or any(name.key in source.sure_names for source in self._sources)

    def _adds(self, own: Place, rival: Place, n: int) -> bool:
        """Whether a fact stands beside another figure of the claim that the rival does not have:
        the claim then puts together what two places say."""
        figures = [m for m, f in enumerate(self.facts) if not isinstance(f, Name) and m != n]
        beside, there = (self._stated(at, figures) for at in (own, rival))
        return bool(beside - there)

    def _tell(self, rival: Place, own: Sequence[Place], n: int, *, names_too: bool) -> bool:
        """Whether more other facts of the claim stand with the rival than with any own place."""
        others = [
            m
            for m, fact in enumerate(self.facts)
            if m != n and (names_too or not isinstance(fact, Name))
        ]
        most = max((len(self._stated(at, others)) for at in own), default=0)
        return most < len(self._stated(rival, others))

    def _stated(self, at: Place, wanted: Sequence[int]) -> frozenset[int]:
        """Those of some facts that a sentence or its neighbours hold."""
        return self.held_in(at.passage, max(0, at.at - 1), at.at + 2) & frozenset(wanted)

    def _rival(self, n: int) -> tuple[Fact | None, Place | None, float]:
        """The fact that stands in the place of this one where the claim fits best."""
        places = (
            (-self._fit(p, s, n), p, s)
            for p, rows in enumerate(self._held)
            for s, row in enumerate(rows)
            if not row[n]
        )
        # Best first: what stands in a place is looked up in few of many.
        for less, p, s in sorted(place for place in places if place[0] < 0):
            source = self._sources[p]
            other = self._other(n, source.sentences[s]) or self._other(n, source.about)
            if other is not None:
                return other, Place(p, s), -less
        return None, None, 0.0

    def _other(self, n: int, sentence: Reading) -> Fact | None:
        """A fact of the same kind in a sentence which the claim does not state anywhere."""
        fact, claim = self.facts[n], self._claim
        if isinstance(fact, Quantity):
            same = (
                q
                for q in sentence.quantities
                if fact.same_kind(q)
                and (not _first(fact) or self._followed_alike(fact, q, sentence))
            )
            return next((q for q in same if not any(m.held_by(q) for m in claim.quantities)), None)
        if isinstance(fact, Date):
            alike = (d for d in sentence.dates if fact.same_kind(d))
            return next((d for d in alike if not any(m.spans(d) for m in claim.dates)), None)
        if fact.kind_word:
            return self._other_kind(fact, sentence)
        if not fact.sure and not self._acts_as_name(fact, sentence):
            return None
        if not self._is_name(fact) and names.definite(fact, claim.text):
            return None
        others = (o for o in sentence.names if not o.kind_word and o.code == fact.code)
        return next(
            (
                o
                for o in others
                if (o.sure or self._opens_alike(fact, o, sentence))
                and o.text[1:].islower() == fact.text[1:].islower()
                and o.text.isupper() == fact.text.isupper()
                and not names.held(o, claim.keys, claim.acronyms)
                and not self._same_name(fact, o, sentence)
            ),
            None,
        )

    def _same_name(self, fact: Name, other: Name, sentence: Reading) -> bool:
        """Whether a word belongs to a name that the claim shortens ("Mbale Referral Hospital")."""
        own = {o.key for o in _beside(fact, self._claim)}
        return any(
            not o.kind_word and o.key in self._claim.keys and o.key not in own
            for o in _beside(other, sentence)
        )

    def _other_kind(self, fact: Name, sentence: Reading) -> Name | None:
        """Another kind of thing of the same name: "Gulu City" for "Gulu District"."""
        mine = {o.key for o in _beside(fact, self._claim)}
        return next(
            (
                o
                for o in sentence.names
                if o.kind_word
                and o.key not in self._claim.keys
                and mine & {other.key for other in _beside(o, sentence)}
            ),
            None,
        )

    def _acts_as_name(self, fact: Name, sentence: Reading) -> bool:
        """Whether a word that opens a claim is followed by what follows a name."""
        after = self._claim.text[fact.end :]
        if after.startswith(("'", "’")) or fact.text.casefold().endswith(("'s", "’s")):
            return True
        if fact.key.endswith(BODIES):
            return True
        beside = _beside(fact, self._claim)
        if beside and beside[0].kind_word and beside[0].start > fact.end:
            return True
        follower = tokens(after[:40])[:1] if after[:1].isspace() else []
        if not follower or follower[0] in FUNCTION_WORDS - AUXILIARIES:
            return False
        singular = not fact.text.endswith("s")
        verb = follower[0] in AUXILIARIES or (singular and is_past(follower[0]))
        return verb or any(
            list(map(sense, tokens(sentence.text[o.end :][:40])[:1])) == [sense(follower[0])]
            for o in sentence.names
        )

    def _opens_alike(self, fact: Name, other: Name, sentence: Reading) -> bool:
        """Whether two words that open their sentences are followed by the same word."""
        if fact.key.endswith(BODIES) and other.key.endswith(BODIES):
            return True
        return self._followed_alike(fact, other, sentence)

    def _followed_alike(self, fact: Fact, other: Fact, sentence: Reading) -> bool:
        mine = tokens(self._claim.text[fact.end :][:40])[:1]
        theirs = tokens(sentence.text[other.end :][:40])[:1]
        return bool(mine) and list(map(sense, mine)) == list(map(sense, theirs))

    def _fit(self, p: int, s: int, n: int) -> float:
        """How well a sentence, with what stands around it, fits the claim but for one fact."""
        whole, shares = self._fits[p][s]
        return whole - shares[n]

    @cached_property
    def _fits(self) -> list[list[tuple[float, tuple[float, ...]]]]:
        """The fit of every sentence with all facts, and what each fact adds to it."""
        return [
            [self._fit_of(p, s) for s in range(len(source.sentences))]
            for p, source in enumerate(self._sources)
        ]

    def _fit_of(self, p: int, s: int) -> tuple[float, tuple[float, ...]]:
        words, inside = self._claim.word_set, self._sources[p].sentences
        here = words & inside[s].word_set
        low, high = max(0, s - 1), s + 2
        beside = frozenset().union(*(words & each.word_set for each in inside[low:high])) - here
        around = self.held_in(p, low, high)
        shares = tuple(
            _weight(fact)
            * (
                1.0
                if self._held[p][s][m]
                else _BESIDE
                if m in around
                else _IN_PASSAGE
                if self._anywhere[p][m]
                else 0.0
            )
            for m, fact in enumerate(self.facts)
        )
        return len(here) + _WORD_BESIDE * len(beside) + sum(shares), shares

    def _most(self, n: int) -> float:
        others = sum(_weight(fact) for m, fact in enumerate(self.facts) if m != n)
        return max(1.0, len(self._claim.word_set) + others)

    def _in_passage(self, p: int, n: int) -> bool:
        if any(row[n] for row in self._held[p]):
            return True
        fact, source = self.facts[n], self._sources[p]
        if isinstance(fact, Date):
            return dates.held(fact, source.dates)
        if isinstance(fact, Name):
            return names.held(fact, source.keys, source.acronyms)
        return False

    def _somewhere(self, n: int) -> bool:
        return any(row[n] for row in self._anywhere)


def _weight(fact: Fact) -> float:
    return _NAME if isinstance(fact, Name) else _FIGURE


def _first(fact: Quantity) -> bool:
    """Whether it is a "first", which often counts nothing ("his first book")."""
    return fact.ordinal and fact.values[0] == 1


def _certain(fact: Fact) -> bool:
    """Whether a fact that no passage holds is wrong even where nothing stands in its place."""
    if isinstance(fact, Quantity):
        return not (fact.weak or fact.ordinal)
    # "CEO" may stand for what the passages spell out in small letters.
    return isinstance(fact, Date) or (fact.sure and not names.short_form(fact))


def _beside(name: Name, reading: Reading) -> list[Name]:
    """The words of names right after and right before one."""
    return [
        other
        for other in reading.names
        if reading.text[name.end : other.start].isspace() and other.start > name.end
    ] + [
        other
        for other in reading.names
        if other.end < name.start and reading.text[other.end : name.start].isspace()
    ]
