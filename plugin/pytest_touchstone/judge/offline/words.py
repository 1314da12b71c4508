"""Words for comparison: stems, content words, synonyms and spelling likeness.

English and Swedish have lists and endings; every other script is compared word by word (letter by
letter where it puts no space between words), as :mod:`pytest_touchstone.tokens` takes it apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from pytest_touchstone.judge.offline.wordlists import FUNCTION_WORDS, PAST, SYNONYMS
from pytest_touchstone.tokens import tokens

_LIKE_ENOUGH = 0.6
_INFLECTED = 0.8
_PART = 0.5
_BOTH_PARTS = 0.9
_SHORTEST_ALIKE = 4
_SHORTEST_PART = 5
_SHORTEST_STEM = 3
_SHORTEST_COMMON = 5
_COMMON_ENDINGS = (
    *(
        "ing",
        "ings",
        "ly",
        "tion",
        "tions",
        "ment",
        "ments",
        "ness",
        "ities",
        "ity",
        "ance",
        "ence",
    ),
    *("ors", "ers", "ions", "ures", "ists", "ians", "ives", "ages", "ants", "ents", "ables"),
    *("ning", "ningar", "ningen", "arna", "erna", "orna", "ande", "ende", "heter", "heten", "else"),
    *("ed", "ful", "ous", "ble", "ive", "ical", "ional", "ligt", "liga"),
)
# Longest first.  English and Swedish endings of nouns, verbs and adjectives, and the genitive.
_ENDINGS = tuple(
    sorted(
        (
            *("s", "es", "ed", "ing", "ings", "ly", "er", "ers", "ies", "ied", "ment", "ments"),
            *("ion", "ions", "ation", "ations", "al", "ance", "ence", "or", "ors", "e", "d", "y"),
            *("en", "et", "n", "t", "a", "ar", "arna", "erna", "orna", "na", "ens", "ets"),
            *("ade", "at", "ad", "ande", "ande", "ningen", "ning", "ningar", "ningarna", "te"),
            *("de", "dde", "tt", "are", "arnas", "ernas", "ornas", "ast", "aste", "igt", "iga"),
            *("lig", "ligt", "liga", "het", "heten", "heter", "else", "elser", "elsen", "as"),
        ),
        key=len,
        reverse=True,
    )
)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A case-folded word without its ending; words that differ in inflection alone mostly agree.

    A light stemmer in the manner of Savoy (2006, "Light stemming approaches"): at most two endings,
    the longest that leave at least three letters.
    """
    if not word.isalpha():
        return word
    for _ in range(2):  # "discovered" loses two, so that "discover" may lose one
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= max(
                _SHORTEST_STEM, len(ending)
            ):
                word = word[: -len(ending)]
                break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2]:
        word = word[:-1]  # stopped, planning
    return word


def _senses() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for group in SYNONYMS:
        members = group.split()
        for member in members:
            found.setdefault(stem(member), f"={members[0]}")
    return found


_SENSES = _senses()


@lru_cache(maxsize=65536)
def sense(word: str) -> str:
    """What a word is compared by: the head of its group of synonyms, else its stem."""
    base = stem(word)
    return _SENSES.get(base, base)


def content(text: str) -> list[tuple[str, str]]:
    """The words that carry content, in order, each as its sense and as it is written (case-folded);
    all words where none does."""
    words = tokens(text)
    kept = [(sense(word), word) for word in words if word not in FUNCTION_WORDS]
    return kept or [(sense(word), word) for word in words]


@lru_cache(maxsize=65536)
def _grams(word: str) -> frozenset[str]:
    padded = f"^{word}$"
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


class Spellings:
    """The words of a text, to find those that are spelt alike, or that are parts of each other.

    :param words: case-folded.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(w for w in dict.fromkeys(words) if len(w) >= _SHORTEST_ALIKE)
        self._stems = frozenset(map(stem, self._words))
        self._by_gram: dict[str, list[str]] = {}
        for word in self._words:
            for gram in _grams(word):
                self._by_gram.setdefault(gram, []).append(word)

    def alike(self, word: str) -> float:
        """How much of a word the text has in another spelling, inflection or compound, 0 to 1."""
        if len(word) < _SHORTEST_ALIKE or not word.isalpha():
            return 0.0
        return max(_INFLECTED * self._dice(word), self._compound(word))

    def _dice(self, word: str) -> float:
        """The Dice coefficient of the trigrams of the most similar word; nothing below 0.6."""
        own = _grams(word)
        shared: dict[str, int] = {}
        for gram in own:
            for other in self._by_gram.get(gram, ()):
                shared[other] = shared.get(other, 0) + 1
        best = max((2 * n / (len(own) + len(_grams(o))) for o, n in shared.items()), default=0.0)
        return best if best >= _LIKE_ENOUGH else 0.0

    def _compound(self, word: str) -> float:
        """Both parts of a compound count in full, one part as half, as does a compound's part."""
        best = 0.0
        for cut in range(_SHORTEST_ALIKE, len(word) - _SHORTEST_ALIKE + 1):
            parts = (stem(word[:cut]) in self._stems) + (stem(word[cut:]) in self._stems)
            best = max(best, (0.0, _PART, _BOTH_PARTS)[parts])
        if best < _PART and (base := stem(word)) and len(base) >= _SHORTEST_PART:
            inside = any(
                len(w) >= len(base) + _SHORTEST_ALIKE and (w.startswith(base) or w.endswith(word))
                for w in self._words
            )
            best = _PART if inside else best
        return best


def is_common(word: str) -> bool:
    """Whether a case-folded word is plainly no name: on a list, or of a common ending."""
    return (
        word in FUNCTION_WORDS
        or stem(word) in _SENSES
        or (len(word) > _SHORTEST_COMMON and word.endswith(_COMMON_ENDINGS))
    )


def is_past(word: str) -> bool:
    """Whether a case-folded word looks like a verb in the past tense."""
    return word in PAST or (len(word) > _SHORTEST_COMMON and word.endswith(("ed", "ade", "dde")))
