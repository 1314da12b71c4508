"""Verdicts on claims and on whole answers, from what the passages hold.

The strength of a claim is a logistic function of its overlap with one place in the passages; where
words leave it open, the likeness of embeddings may raise it.  A claim is *at fault* where one of
its numbers, dates or names is missing or displaced, or where it says the opposite of the sentence
that fits it best: that outweighs every similarity.

What this cannot see: whether a number that is in no passage is their sum or difference; who did
what to whom, as long as the words are the same; a claim that is wrong only because of a word other
than a name, number, date, negation or direction ("teachers" for "doctors" is a weaker overlap
and no contradiction); what a pronoun stands for; irony; names in scripts without capital letters,
and in translation; and what only knowledge of the world connects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any, Literal

from pytest_touchstone.judge.offline.directions import turned
from pytest_touchstone.judge.offline.embedding import Embed, likeness
from pytest_touchstone.judge.offline.evidence import Reading, Source, read, source
from pytest_touchstone.judge.offline.facts import Fact, Facts, Fault, Place
from pytest_touchstone.judge.offline.negation import opposed
from pytest_touchstone.judge.offline.overlap import Overlap, overlap
from pytest_touchstone.judge.offline.quantities import Quantity
from pytest_touchstone.judge.offline.verbatim import standing
from pytest_touchstone.judge.offline.weights import WEIGHTS
from pytest_touchstone.judge.reading import occurs
from pytest_touchstone.verdicts import Claims, ClaimVerdict, Quotation

FLOOR = 0.66
"""Support below which an answer does not count as grounded, whatever the collection."""
AT_FAULT = 0.65
"""The most support of an answer one of whose claims is at fault: just below the floor."""
SUPPORTED = FLOOR
"""Strength from which on a claim is supported: an answer of such claims alone is grounded."""
_WEAKLY = 0.5
_LEFT_OF_A_FAULT = 0.1
_OPPOSABLE = 0.5
"""Overlap from which on a sentence is about the same, so that a claim can say its opposite."""
_LONGEST_QUOTATION = 400
_LONGEST_NAMED = 80


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim against passages.

    :param strength: from 0 to 1; at least :data:`SUPPORTED` where it is supported.
    :param near: overlap with the best place, from 0 to 1.
    :param fault: whether something outweighs its similarity.
    :param likeness: what embeddings add to the overlap.
    """

    verdict: ClaimVerdict
    strength: float
    near: float = 0.0
    fault: bool = False
    likeness: float = 0.0


def judge_claims(
    claims: Sequence[str],
    passages: Sequence[str],
    embed: Embed,
    about: Sequence[Mapping[str, Any]] = (),
) -> Claims:
    """A verdict on each claim, and how strongly the passages support the whole.

    :param passages: what the system had.
    :param about: the metadata of each; none of any where empty.
    :raises EmbedderError: where ``embed`` does.
    """
    numbered = sources(passages, about)
    found = [finding(claim, numbered, embed) for claim in claims]
    return Claims(tuple(each.verdict for each in found), answer_support(found))


def answer_support(found: Sequence[Finding]) -> float | None:
    """The mean strength of an answer's claims, from 0 to 1; ``None`` without claims.

    An answer one of whose claims is at fault has at most :data:`AT_FAULT`, however much it says
    that is right.
    """
    if not found:
        return None
    mean = sum(each.strength for each in found) / len(found)
    return min(mean, AT_FAULT) if any(each.fault for each in found) else mean


def sources(passages: Sequence[str], about: Sequence[Mapping[str, Any]] = ()) -> dict[int, Source]:
    """Passages taken apart, with their metadata, by number from 1."""
    known = about or [{}] * len(passages)
    return {n: source(*each) for n, each in enumerate(zip(passages, known, strict=True), start=1)}


def finding(claim: str, passages: Mapping[int, Source], embed: Embed) -> Finding:
    """One claim against all the passages together.

    :param passages: by the number that verdicts are to give.
    """
    texts = _Texts(tuple(passages.values()), tuple(passages))
    if not any(each.sentences for each in texts.sources):
        return Finding(ClaimVerdict(claim, "not_found", "The passages hold no words."), 0.0)
    reading = read(claim)
    facts = Facts(reading, texts.sources)
    match = overlap(reading, texts.sources, facts)
    faults = facts.faults()
    denial = _denial(reading, texts, match)
    if faults or denial:
        verdict = _at_fault(claim, texts, match, faults, denial)
        return Finding(verdict, _LEFT_OF_A_FAULT * _strength(match.near), match.near, fault=True)
    alike = _likeness(claim, texts, match, embed)
    strength = _strength(match.near + alike)
    verdict = _by_strength(claim, texts, match, strength)
    return Finding(verdict, strength, match.near, likeness=alike)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Passages taken apart, with their numbers."""

    sources: tuple[Source, ...]
    numbers: tuple[int, ...]

    def number(self, place: Place) -> int:
        return self.numbers[place.passage]

    def sentence(self, place: Place) -> str:
        return self.sources[place.passage].originals[place.at]


def _strength(near: float) -> float:
    return 1 / (1 + exp(-(WEIGHTS.intercept + WEIGHTS.near * near)))


def _likeness(claim: str, texts: _Texts, match: Overlap, embed: Embed) -> float:
    """What embeddings add to the overlap; they are asked only where words leave it open."""
    if not WEIGHTS.open_from <= match.near < WEIGHTS.open_to:
        return 0.0
    return WEIGHTS.likeness * likeness(claim, texts.sources[match.place.passage].text, embed)


def _denial(claim: Reading, texts: _Texts, match: Overlap) -> str | None:
    if match.near < _OPPOSABLE:
        return None
    at, inside = match.place.at, texts.sources[match.place.passage].sentences
    near = inside[max(0, at - 1) : at + 2]
    found = opposed(claim.text, _written(near)) or turned(claim, near)
    if found and any(
        standing(claim.text, _written(each.sentences)) == "stated" for each in texts.sources
    ):
        return None
    return found


def _written(sentences: Sequence[Reading]) -> list[str]:
    return [each.text for each in sentences]


def _at_fault(
    claim: str, texts: _Texts, match: Overlap, faults: Sequence[Fault], denial: str | None
) -> ClaimVerdict:
    # A fact with another in its place says more than one that is merely nowhere.
    fault = next((each for each in faults if each.place), faults[0] if faults else None)
    if fault is None:
        where = f"passage {texts.number(match.place)}"
        said = _cut(texts.sentence(match.place), _LONGEST_NAMED)
        why = f'Compared with {where} ("{said}"), {denial}'
        return _resting(claim, "contradicted", why, texts, match.place)
    if fault.place is None or fault.other is None:
        derived = "; sums are not worked out" if isinstance(fault.fact, Quantity) else ""
        return ClaimVerdict(claim, "not_found", f"{_named(fault.fact)} is in no passage{derived}")
    where = f"passage {texts.number(fault.place)}"
    if fault.held:
        why = f"{_named(fault.fact)} stands elsewhere; here {where} has {_named(fault.other)}"
    else:
        why = f"{_named(fault.fact)} is in no passage; nearest: {_named(fault.other)} in {where}"
    return _resting(claim, "contradicted", why, texts, fault.place)


def _by_strength(claim: str, texts: _Texts, match: Overlap, strength: float) -> ClaimVerdict:
    share = f"{match.near:.0%} of its words and facts"
    where = f"passage {texts.number(match.place)}"
    if strength < SUPPORTED:
        why = f"Only {share} stand together anywhere, in {where}"
        if strength >= _WEAKLY:
            why += f": weak support, {strength:.2f}, below the floor of {FLOOR}"
        return ClaimVerdict(claim, "not_found", why)
    why = f"{share} stand together in {where}, and nothing speaks against it"
    return _resting(claim, "supported", why, texts, match.place)


def _resting(
    claim: str, label: Literal["supported", "contradicted"], why: str, texts: _Texts, place: Place
) -> ClaimVerdict:
    text = _cut(texts.sentence(place), _LONGEST_QUOTATION)
    quotation = Quotation(text, occurs(text, texts.sources[place.passage].text))
    return ClaimVerdict(claim, label, why, texts.number(place), quotation)


def _named(fact: Fact) -> str:
    return f'"{_cut(fact.text, _LONGEST_NAMED)}"'


def _cut(text: str, longest: int) -> str:
    """The start of a text, word for word."""
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0]
