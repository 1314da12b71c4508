"""Negation and direction: whether two statements of the same words say the opposite.

Two sentences are opposed where one denies a head that the other affirms, or where they hold
opposite words of direction.  What could carry a denial in other words ("unaccounted", "failed to",
"only") close to the head excuses: a paraphrase is not to be taken for a contradiction.  What stands
word for word in a passage is opposed only by what stands around it there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from pytest_touchstone.judge.offline.denials import (
    INTE,
    NEGATORS,
    NOT,
    clauses,
    denied,
    heads_at,
    spoken,
)
from pytest_touchstone.judge.offline.verbatim import standing
from pytest_touchstone.judge.offline.wordlists import FUNCTION_WORDS, OPPOSITES, word_set
from pytest_touchstone.judge.offline.words import sense

_NONE_OF = word_set("no ingen inget inga zero noll")
_SEVERAL = word_set("several many all some numerous flera många alla några samtliga")
_PREFIXES = ("un", "o", "non")
_NO_PREFIX = word_set("less like der til")
_NEAR = 4
_OF_THE_SAME = 0.6
_GENERIC = word_set(
    """
    =give =get =create =use =say =want =show =help =need =cause tak go giv
    """
)
_FITS = 0.4
_DENIES = re.compile(
    r"""(?:not|no|never|none|neither|nor|cannot|without|nothing|inte|ej|icke|ingen|inget|inga|aldrig|
    utan|varken|fail\w*|lack\w*|miss(?:ing|ed)|absen\w*|unable|refus\w*|den(?:y|ied|ies)|only|few
      |little|
    outside|out|other|avoid\w*|reject\w*|against|oppos\w*|instead|zero|except|exclud\w*|
    un(?!der|it|iv|til|ion)\w{3,}|in(?:adequa|suffic|complet|accura|effic|elig|abil|valid
      |correct)\w*|
    im(?:poss|prop)\w*|ill?egal\w*|irreg\w*|non\w*|dis(?:allow|agree|approv|continu)\w*|prohib\w*|
    forbid\w*|ban(?:s|ned)?|stop\w*|neglect\w*|omit\w*|omission|withh\w+|close[sd]?|shut|lost|brok\w*
      |break\w*|overdue|idle|
    sakna\w*|brist\w*|förbj\w*|förbud\w*|avslå\w*|avslog|avsty\w*|nej|missa\w*|låt\w*|slut\w*|stäng\w*|emot
      |mot|
    o(?:möj|till|full|känd|giltig|bebo|betal|besatt|registr)\w*|bara|endast|enbart|stället|istället|
    undvik\w*|vägra\w*|vakan\w*|upphör\w*|stopp\w*|avstå\w*|först)""",
    re.VERBOSE,
)
_STRICT = NOT | INTE | word_set("no none neither nor ingen inget inga varken")
_ONLY = word_set("only bara endast enbart")
_LEAVES_OPEN = re.compile(
    "if|unless|whether|should|must|needs?|needed|verify|check|ensure|confirm|om|ifall|såvida|bör|måste"
    "|ska|kontrollera"
)
_NO_DENIAL = word_set("only other few little zero closed först bara endast enbart if om")
_NEARLY_ALL = 0.8
_SHORTEST_PREFIX = 4


def opposed(claim: str, sentences: Sequence[str]) -> str | None:
    """What opposes a claim to the sentences that match it best, or ``None``.

    :param sentences: neighbours in one passage, any of which may hold the same denial.
    :returns: a few words for a reader.
    """
    if quoted := standing(claim, sentences):
        return "the passage denies what the claim states" if quoted == "denied" else None
    mine = denied(claim)
    theirs: dict[str, frozenset[str]] = {}
    for each in sentences:
        theirs |= denied(each)
    fitting = [each for each in sentences if _shared(claim, each) >= _FITS]
    for each in fitting:
        if any(_contradicts(mine, head, each) for head in _alone(mine, theirs)):
            return "the claim denies what the passage states"
        others = [other for other in sentences if other is not each]
        for head in _alone(denied(each), mine):
            affirmed = any(_affirms(other, head) for other in others)
            if not affirmed and _contradicts(denied(each), head, claim):
                return "the claim states what the passage denies"
    if (
        _denies(claim)
        and _held(claim, sentences) >= _NEARLY_ALL
        and not any(map(_may_deny, sentences))
    ):
        return "the claim denies something, the passage nothing"
    if reason := _by_prefix(claim, fitting) or _of_none(claim, sentences):
        return reason
    if fitting and _denies_denial(claim) and not any(map(_denies_denial, sentences)):
        return "the claim denies what the passage misses"
    return _direction(claim, fitting)


def lacks(clause: str, other: str) -> bool:
    """Whether a clause has none of what another, which denies nothing, has: "17 had no water"."""
    for words in clauses(clause):
        for at, word in enumerate(words):
            heads = heads_at(words, at) if word in _NONE_OF else []
            affirmed = all(_affirms(other, sense(words[place])) for place in heads)
            if heads and not _may_deny(other) and affirmed:
                return True
    return False


def _by_prefix(claim: str, sentences: Sequence[str]) -> str | None:
    """Whether one side has "unspent" and the other "spent", with no denial about either."""
    mine = frozenset(spoken(claim))
    theirs = frozenset(word for each in sentences for word in spoken(each))
    if NEGATORS & (mine | theirs):
        return None
    for one, other in ((mine, theirs), (theirs, mine)):
        for word in sorted(one - _NO_PREFIX):
            for prefix in _PREFIXES if len(word) >= _SHORTEST_PREFIX else ():
                if prefix + word in other - one and word not in other:
                    return f"one has {word} where the other has {prefix}{word}"
    return None


def _of_none(claim: str, sentences: Sequence[str]) -> str | None:
    """Whether one side counts several of what the other has none of, saying the same of them."""
    none, some = _counted(claim)
    for each in sentences:
        no_other, others = _counted(each)
        for mine, theirs in ((some, no_other), (none, others)):
            if any(mine[head] & theirs[head] - {head} for head in mine.keys() & theirs.keys()):
                return "one has none of what the other has several of"
    return None


def _counted(text: str) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Senses of what "no" and what "several" stand right before, each with those of its clause."""
    none: dict[str, set[str]] = {}
    some: dict[str, set[str]] = {}
    for words in clauses(text):
        said = {sense(word) for word in words if word not in FUNCTION_WORDS}
        for before, word in pairwise(words):
            if word in FUNCTION_WORDS or not word.isalpha():
                continue
            if before in _NONE_OF:
                none[sense(word)] = said
            elif before in _SEVERAL and not _STRICT & set(words):
                some[sense(word)] = said
    return none, some


def _denies(text: str) -> bool:
    return any(word in _STRICT for words in clauses(text) for word in words)


def _held(claim: str, sentences: Sequence[str]) -> float:
    """The share of a claim's words of content that sentences hold."""
    mine = {sense(w) for w in spoken(claim) if w not in FUNCTION_WORDS and w.isalpha()}
    theirs = {sense(w) for each in sentences for w in spoken(each)}
    return len(mine & theirs) / max(1, len(mine))


def _denies_denial(text: str) -> bool:
    """Whether a negator stands right before a word that lacks or denies: "not missing"."""
    return any(
        word in NOT | INTE and _DENIES.fullmatch(after) and after not in _NO_DENIAL
        for words in clauses(text)
        for word, after in pairwise(words)
    )


def _may_deny(text: str) -> bool:
    """Whether a text holds anything that could carry a denial."""
    return any(_DENIES.fullmatch(word) for words in clauses(text) for word in words)


def _alone(
    denials: Mapping[str, frozenset[str]], others: Mapping[str, frozenset[str]]
) -> list[str]:
    """Heads that the other text does not deny, in these or in other words."""
    also = frozenset().union(*others.values())
    return sorted(h for h, scope in denials.items() if not scope & also)


def _contradicts(denials: Mapping[str, frozenset[str]], head: str, text: str) -> bool:
    """Whether a text affirms a head that is denied, of the same things."""
    scope, words = denials[head], {sense(word) for word in spoken(text)}
    if head in _GENERIC:  # "give" and the like say nothing without what follows them
        scope -= {head}
    return bool(scope) and _affirms(text, head) and len(scope & words) >= _OF_THE_SAME * len(scope)


def _shared(claim: str, sentence: str) -> float:
    """The share of the shorter text's words of content that the other has."""
    mine, theirs = (
        {sense(w) for w in spoken(text) if w not in FUNCTION_WORDS} for text in (claim, sentence)
    )
    return len(mine & theirs) / max(1, min(len(mine), len(theirs)))


def _affirms(text: str, head: str) -> bool:
    """Whether a text holds a word, with nothing near it that might deny it or leave it open."""
    for words in clauses(text):
        for n, word in enumerate(words):
            if _is(sense(word), head):
                near = (*words[max(0, n - _NEAR) : n], *words[n + 1 : n + _NEAR + 1])
                excused = (NEGATORS | _ONLY) & set(words) or any(map(_DENIES.fullmatch, near))
                if not (excused or any(map(_LEAVES_OPEN.fullmatch, words[:n]))):
                    return True
    return False


def _is(one: str, head: str) -> bool:
    if one == head:
        return True
    short, long = sorted((one, head), key=len)
    return len(short) >= _SHORTEST_PREFIX and long.startswith(short) and len(long) - len(short) <= 2


def _direction(claim: str, sentences: Sequence[str]) -> str | None:
    mine = _poles(claim)
    theirs: dict[int, set[int]] = {}
    for sentence in sentences:
        for pair, poles in _poles(sentence).items():
            theirs.setdefault(pair, set()).update(poles)
    denials = {bool(denied(text)) for text in (claim, *sentences)}
    for pair in sorted(mine.keys() & theirs.keys()):
        opposite = {-pole for pole in mine[pair]}
        if len(opposite) == 1 and theirs[pair] == opposite and len(denials) == 1:
            return f"opposite directions ({_two_words(OPPOSITES[pair])})"
    return None


def _two_words(pair: str) -> str:
    one, other = pair.split(" / ")
    return f"{one.split()[0]}, {other.split()[0]}"


@lru_cache(maxsize=16384)
def _poles(text: str) -> Mapping[int, frozenset[int]]:
    found: dict[int, set[int]] = {}
    for word in spoken(text):
        for pair, pole in _POLES.get(word, ()):
            found.setdefault(pair, set()).add(pole)
    return {pair: frozenset(poles) for pair, poles in found.items()}


def _pole_words(pairs: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for number, pair in enumerate(pairs):
        for pole, words in zip((1, -1), pair.split(" / "), strict=True):
            for word in words.split():
                found.setdefault(word, []).append((number, pole))
    return found


_POLES = _pole_words(OPPOSITES)
