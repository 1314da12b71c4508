"""The steps offline: rules for filters and follow-ups, words for reranking, extraction."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_touchstone import Message, Passage, Usage
from pytest_touchstone.systems.single_shot import extract, words

Found = dict[str, Any]

_FISCAL_YEAR = re.compile(r"(?<!\d)(?:20)?(\d\d)\s*[/–-]\s*(?:20)?(\d\d)(?!\d)")
_SHORT_YEAR = re.compile(r"\bfy\s*'?(\d\d)\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)20\d\d(?!\d)")
_NUMBERS = {"two": 2, "three": 3, "två": 2, "tre": 3}
_YEAR_AFTER = re.compile(
    r"\b(?:(?:(two|three|två|tre) )?(?:years?|år) (?:after|later|senare)"
    r"|(?:following|next) year|året efter)\b",
    re.IGNORECASE,
)
_YEAR_BEFORE = re.compile(
    r"\b(?:(?:(two|three|två|tre) )?(?:years?|år) (?:before|earlier|tidigare)"
    r"|(?:previous|prior) year|året (?:innan|före))\b",
    re.IGNORECASE,
)
_ALIKE = 0.84
"""Least similarity of a misspelt name: `Kibale` is Kibaale (0.92), Kabale is not (0.77)."""
_SHORTEST_FUZZY = 5
_FOLLOW_UP_WORDS = 2
_PARAGRAPHS = 3
_STOP_TEXT = """
    a about across all also an and any are as at be been but by can compare could did do does
    for from had has have how i if in into is it its me more most much many no not of on or our
    out over same should so some summarise summary tell than that the their them then there these
    they this those to too under us vs was we were what when where which who whose why with would
    year years you your fy
    alla att av bland blev där de dem den deras det detta du efter ej eller en ett få fick för från
    ha hade han har hon hur i inte ja jag kan kom med men mer mot mycket många när nu och om
    på sa sade sedan sig ska så sin säger till under upp ut vad var varför vem vi vilka vilken
    vilket vill än är över år
"""
_STOP_WORDS = frozenset(_STOP_TEXT.split())


class RuleSteps:
    """Carries out the assistant's steps without a model.

    :param fields: metadata fields to filter by.
    :param exclusive: fields of which a question means only one at a time, each with the words
        that say so: ``{"city": ["city", "town clerk"], "district": ["district"]}``.
    """

    def __init__(self, fields: Sequence[str], exclusive: Mapping[str, Sequence[str]]) -> None:
        self._fields = tuple(fields)
        self._exclusive = {field: [words(cue) for cue in cues] for field, cues in exclusive.items()}

    async def standalone(self, messages: Sequence[Message], usage: list[Usage | None]) -> str:
        """The last message; where it says too little by itself, after the one it follows."""
        users = [message.content for message in messages if message.role == "user"]
        question = [users[-1]]
        for earlier in reversed(users[:-1]):
            if len(_content(" ".join(question))) > _FOLLOW_UP_WORDS:
                break
            question.insert(0, earlier)
        return " ".join(question)

    async def filters(
        self,
        messages: Sequence[Message],
        known: Mapping[str, Sequence[Any]],
        usage: list[Usage | None],
    ) -> Found:
        """What the user's messages name; a later mention replaces an earlier one."""
        found: Found = {}
        for message in messages:
            if message.role == "user":
                said = self._named(message.content, known, found)
                if self._exclusive.keys() & said.keys():
                    found = {f: v for f, v in found.items() if f not in self._exclusive}
                found |= said
        return {field: found[field] for field in self._fields if field in found}

    async def rerank(
        self, question: str, passages: Sequence[Passage], usage: list[Usage | None]
    ) -> tuple[Passage, ...]:
        """By the question's words that a passage holds, the vectors' rank, and its form."""
        texts = [_grams(passage.text) for passage in passages]
        spread = Counter(gram for grams in texts for gram in grams)
        wanted = {gram: _weight(spread[gram], len(texts)) for gram in _grams(question)}
        total = sum(wanted.values()) or 1.0

        def worth(place: int) -> float:
            shared = sum(weight for gram, weight in wanted.items() if gram in texts[place])
            return shared / total + 1 / (2 + place) + _form(passages[place].text)

        order = sorted(range(len(passages)), key=lambda place: (-worth(place), place))
        return tuple(passages[place] for place in order)

    async def answer(
        self, question: str, passages: Sequence[Passage], usage: list[Usage | None]
    ) -> str:
        """A paragraph from each of the first passages: its sentences nearest to the question."""
        paragraphs = []
        for number, passage in enumerate(passages[:_PARAGRAPHS], start=1):
            if text := extract(question, [passage]).replace(" [1]", ""):
                paragraphs.append(f"{text} [{number}]")
        return "\n\n".join(paragraphs)

    def _named(
        self, text: str, known: Mapping[str, Sequence[Any]], before: Mapping[str, Any]
    ) -> Found:
        named: Found = {}
        for field in self._fields:
            if field == "year":
                values = _years(text, before.get("year"))
            else:
                # `district` in a question is no district report, but the kind of place.
                values = [
                    value
                    for value in _mentioned(text, known.get(field, ()))
                    if value not in self._fields
                ]
            if values:
                named[field] = values[0] if len(values) == 1 else values
        return self._one_kind(text, named, before)

    def _one_kind(self, text: str, named: Found, before: Mapping[str, Any]) -> Found:
        """Of fields that may share a name (a district and a city), the one that is meant."""
        said = words(text)
        cued = [f for f, cues in self._exclusive.items() if any(_says(said, c) for c in cues)]
        rivals = [field for field in self._exclusive if field in named]
        others = {f: v for f, v in named.items() if f not in self._exclusive}
        if not rivals:
            held = [field for field in self._exclusive if field in before]
            moved = len(cued) == 1 and held and cued[0] not in held
            return others | {cued[0]: before[held[0]]} if moved else others
        if len(rivals) == 1 and rivals[0] in cued:
            return named
        if len(cued) > 1:
            # A comparison across kinds: no single filter covers both sides.
            return others
        if len(cued) == 1 and _says_next(said, named[rivals[0]], self._exclusive[cued[0]]):
            return others | {cued[0]: named[rivals[0]]}
        meant = [*(f for f in cued if f in rivals), *(f for f in rivals if f in before), *rivals][0]
        return others | {meant: named[meant]}


def _says(said: Sequence[str], cue: Sequence[str]) -> bool:
    return any(said[at : at + len(cue)] == cue for at in range(len(said) - len(cue) + 1))


def _says_next(said: Sequence[str], value: Any, cues: Sequence[Sequence[str]]) -> bool:
    """Whether a cue follows the name at once: ``Kasese City``."""
    return isinstance(value, str) and any(_says(said, [*words(value), *cue]) for cue in cues)


def _years(text: str, before: Any) -> list[str]:
    """Years as the collection writes them: FY 2021/22 is 2022; so is FY22."""
    plain = _FISCAL_YEAR.sub(_fiscal, text)
    plain = _SHORT_YEAR.sub(lambda year: f"20{year[1]}", plain)
    years = set(_YEAR.findall(plain))
    known = years or ({before} if isinstance(before, str) else set())
    for pattern, sign in ((_YEAR_AFTER, 1), (_YEAR_BEFORE, -1)):
        if len(known) == 1 and (found := pattern.search(plain)):
            step = sign * _NUMBERS.get((found[1] or "").casefold(), 1)
            years.add(str(int(next(iter(known))) + step))
    return sorted(years)


def _fiscal(found: re.Match[str]) -> str:
    first, second = int(found[1]), int(found[2])
    return f"20{second:02}" if second == first + 1 else found[0]


def _mentioned(text: str, values: Iterable[Any]) -> list[str]:
    """The values that a text names: by an own word of theirs, or as an acronym."""
    names = {value: words(value) for value in values if isinstance(value, str)}
    spread = Counter(word for parts in names.values() for word in set(parts))
    said = words(text)
    # A name that is spelt right is no misspelling of another one.
    unknown = [word if spread[word] == 0 else "" for word in said]
    found = {}
    for value, parts in names.items():
        # What most values of a field share, such as `ministry`, has to be said as well.
        shared = {word for word in parts if len(names) > 2 and spread[word] > len(names) / 2}
        own = [word for word in parts if spread[word] == 1 and word not in _STOP_WORDS]
        kind = shared - _STOP_WORDS
        by_word = not kind or bool(kind & set(said)) or any(f"{w[:-1]}ies" in said for w in kind)
        place = _place(said, own) if by_word else None
        if place is None and by_word:
            place = _misspelt(unknown, own)
        if place is None and len(parts) > 2:
            place = _place(said, _acronyms(parts))
        if place is not None:
            found[value] = place
    return sorted(found, key=lambda value: found[value])


def _acronyms(parts: Sequence[str]) -> list[str]:
    initials = [word[0] for word in parts if word != "and"]
    return ["".join(initials), "".join(w[0] for w in parts if w not in _STOP_WORDS)]


def _place(said: Sequence[str], names: Sequence[str]) -> int | None:
    """Where the first of the names is said."""
    return next((place for place, word in enumerate(said) if word in names), None)


def _misspelt(said: Sequence[str], names: Sequence[str]) -> int | None:
    """Where a word is much like one of the longer names."""
    long = [name for name in names if len(name) >= _SHORTEST_FUZZY]
    for place, word in enumerate(said):
        if len(word) >= _SHORTEST_FUZZY and difflib.get_close_matches(word, long, 1, _ALIKE):
            return place
    return None


def _content(text: str) -> list[str]:
    return [word for word in words(text) if word not in _STOP_WORDS and not word.isdecimal()]


def _grams(text: str) -> frozenset[str]:
    """Words cut to their first six letters, so that inflections meet."""
    return frozenset(word[:6] for word in _content(text))


def _weight(spread: int, total: int) -> float:
    return math.log(1 + total / spread) if spread else 0.0


def _form(text: str) -> float:
    """Less for what a chunker leaves of tables, headers and cut sentences."""
    letters = sum(character.isalpha() or character.isspace() for character in text)
    cut = not text[:1].isupper() or text.rstrip()[-1:] not in '.!?”")'
    return -0.4 * (letters < 0.8 * len(text)) - 0.2 * cut
