"""Words and phrases that the offline judge's rules look for: one module a language.

To add a language, write a module that makes a :class:`Language` and add it to ``LANGUAGES``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from pytest_touchstone.judge.offline.lexicon.en import ENGLISH
from pytest_touchstone.judge.offline.lexicon.language import Language
from pytest_touchstone.judge.offline.lexicon.others import FUNCTION_WORDS as _OTHERS
from pytest_touchstone.judge.offline.lexicon.sv import SWEDISH

LANGUAGES: tuple[Language, ...] = (ENGLISH, SWEDISH)

_OWN = tuple((language, frozenset(language.function_words.split())) for language in LANGUAGES)
FUNCTION_WORDS: frozenset[str] = frozenset(_OTHERS.split()).union(*(words for _, words in _OWN))
"""Articles, prepositions, pronouns, conjunctions and auxiliaries, in lower case; beyond the
languages above the commonest of eight others, by which connected text is known."""

_APOSTROPHES = str.maketrans("’‘ʼ`´", "'''''")
_WORD = re.compile(r"\w+")


def plain(text: str) -> str:
    """A text as phrases are looked for in it: NFC, case-folded, one kind of apostrophe and space;
    what only shapes or directs text is left out."""
    visible = text
    if not text.isascii():
        visible = "".join(c for c in text if c.isascii() or unicodedata.category(c) != "Cf")
    folded = unicodedata.normalize("NFC", visible).casefold().translate(_APOSTROPHES)
    return " ".join(folded.split())


def spoken(text: str) -> tuple[Language, ...]:
    """The languages that a :func:`plain` text may be in, by their function words: a phrase of one
    is an innocent word of another.  Texts without any may be in each."""
    words = _WORD.findall(text)
    counts = [sum(word in own for word in words) for _, own in _OWN]
    return tuple(
        language
        for (language, _), count in zip(_OWN, counts, strict=True)
        if 2 * count >= max(counts)
    )


@cache
def phrases(kind: str, languages: tuple[Language, ...] = LANGUAGES) -> re.Pattern[str]:
    """One pattern for the phrases of a kind, for :func:`plain` text; may match nothing at all.

    :param kind: name of a field of :class:`Language`.
    """
    every = [phrase for one in languages for phrase in getattr(one, kind)]
    return re.compile(rf"(?<!\w)(?:{'|'.join(every)})(?!\w)" if every else r"(?!)")
