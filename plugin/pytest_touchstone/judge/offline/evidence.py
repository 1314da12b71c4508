"""Texts taken apart for comparison: sentences with their words, numbers, dates, names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from pytest_touchstone.judge.offline.claims import plain, whole_sentences
from pytest_touchstone.judge.offline.dates import Date, dates
from pytest_touchstone.judge.offline.names import Name, acronyms_of, name_key, names, runs
from pytest_touchstone.judge.offline.quantities import Quantity, parts, presuming, quantities
from pytest_touchstone.judge.offline.units import CURRENCIES
from pytest_touchstone.judge.offline.words import Spellings, content
from pytest_touchstone.tokens import tokens

_LONGEST_TEXT = 200_000
_LONGEST_SENTENCE = 4_000
_LONGEST_ACRONYM = 6
_LONGEST_VALUE = 80
_LABEL = re.compile(
    r"\b(?:pages?|tables?|figures?|notes?|sid(?:a|an|or)|tabell|figur|not)\.?\s$", re.I
)
_VERBS = (" ha", " m", " h", " l", " g", " min", " mil")
"""Units that are words too: "2021 ha" is no area."""
_YEARS = range(1600, 2200)
WINDOW = 1
"""Sentences on either side that belong to a sentence's window."""


@dataclass(frozen=True)
class Reading:
    """One sentence, or one claim, taken apart.

    :param words: its words of content without those of its numbers and dates: sense to the word
        as it is written, case-folded.
    """

    text: str
    words: Mapping[str, str]
    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    names: tuple[Name, ...]
    keys: frozenset[str]
    acronyms: frozenset[str]
    parts: frozenset[float]

    @cached_property
    def word_set(self) -> frozenset[str]:
        """Its words, each once."""
        return frozenset(self.words)


@lru_cache(maxsize=16384)
def read(sentence: str) -> Reading:
    """A sentence taken apart."""
    text = plain(sentence[:_LONGEST_SENTENCE])
    every = dates(text)
    numbers = _apart(text, quantities(text), every)
    spans = [(d.start, d.end) for d in every] + [(q.start, q.end) for q in numbers]
    written = [d for d in every if not _covered(d, numbers)]
    found = names(text, spans)
    keys = frozenset(map(name_key, tokens(text)))
    short = frozenset(
        n.key for n in found if n.text.isupper() and 2 <= len(n.text) <= _LONGEST_ACRONYM
    )
    long = frozenset().union(*(acronyms_of(n.text for n in run) for run in runs(found, text)))
    return Reading(
        text,
        dict(content(_blanked(text, spans))),
        tuple(numbers),
        tuple(written),
        tuple(found),
        keys | frozenset(n.key for n in found),
        short | long,
        parts(text),
    )


@dataclass(frozen=True)
class Source:
    """A passage taken apart.

    :param originals: its sentences as they are written, but for white space.
    :param about: its metadata, which hold of each of its sentences.
    """

    text: str
    originals: tuple[str, ...]
    sentences: tuple[Reading, ...]
    about: Reading

    @cached_property
    def windows(self) -> tuple[frozenset[str], ...]:
        """Words of each sentence and its neighbours, and of the metadata."""
        every = [each.word_set for each in self.sentences]
        return tuple(
            self.about.word_set.union(*every[max(0, s - WINDOW) : s + WINDOW + 1])
            for s in range(len(every))
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """Senses of all its words of content."""
        return self.about.word_set.union(*(each.word_set for each in self.sentences))

    @cached_property
    def spellings(self) -> Spellings:
        """Its words, to be found by likeness."""
        return Spellings(word for each in self.sentences for word in each.words.values())

    @cached_property
    def keys(self) -> frozenset[str]:
        """What names may be compared with."""
        return self.about.keys.union(*(each.keys for each in self.sentences))

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """What its names abbreviate to, and the acronyms that it holds."""
        return self.about.acronyms.union(*(each.acronyms for each in self.sentences))

    @cached_property
    def sure_names(self) -> frozenset[str]:
        """Keys of the words that are names beyond doubt."""
        parts = (self.about, *self.sentences)
        return frozenset(n.key for each in parts for n in each.names if n.sure)

    @cached_property
    def dates(self) -> tuple[Date, ...]:
        """All its dates."""
        return tuple(date for each in (self.about, *self.sentences) for date in each.dates)


def source(passage: str, about: Mapping[str, Any] | None = None) -> Source:
    """A passage taken apart; remembered, since several claims and answers use the same.

    :param about: its metadata; short texts and years count.
    """
    values = (value for _, value in sorted((about or {}).items()))
    # "of", so that a capital letter is none that merely opens a sentence.
    return _source(passage, "; ".join(f"of {text}" for value in values for text in _texts(value)))


@lru_cache(maxsize=4096)
def _source(passage: str, about: str) -> Source:
    found = whole_sentences(passage[:_LONGEST_TEXT])
    return Source(passage, found, _with_currency(tuple(map(read, found))), read(about))


def _with_currency(read_ones: tuple[Reading, ...]) -> tuple[Reading, ...]:
    """Sentences whose numbers without a unit are taken for no money but the one named."""
    named = {q.unit for each in read_ones for q in each.quantities if q.unit in CURRENCIES}
    if len(named) != 1:
        return read_ones
    currency = str(*named)
    return tuple(
        replace(each, quantities=presuming(each.quantities, currency)) for each in read_ones
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str) and len(value) <= _LONGEST_VALUE:
        yield value
    elif isinstance(value, int) and not isinstance(value, bool) and value in _YEARS:
        yield str(value)


def _apart(text: str, numbers: Sequence[Quantity], written: Sequence[Date]) -> list[Quantity]:
    """The numbers that are no parts of dates and number no page; a bare year with a unit is one."""
    kept: list[Quantity] = []
    for number in numbers:
        if _LABEL.search(text[max(0, number.start - 12) : number.start]):
            continue
        overlapping = [d for d in written if d.start < number.end and number.start < d.end]
        year_alone = all(d.text.isdigit() for d in overlapping)
        if kept and number.start < kept[-1].end:
            continue
        if not overlapping or (number.unit and year_alone and not number.text.endswith(_VERBS)):
            kept.append(number)
    return kept


def _covered(date: Date, numbers: Sequence[Quantity]) -> bool:
    return any(n.start < date.end and date.start < n.end for n in numbers)


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text
