"""Numbers written in letters, English and Swedish, below a thousand."""

from __future__ import annotations

import re

_EN_UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_EN_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SV_UNITS = [
    "noll",
    "ett",
    "två",
    "tre",
    "fyra",
    "fem",
    "sex",
    "sju",
    "åtta",
    "nio",
    "tio",
    "elva",
    "tolv",
    "tretton",
    "fjorton",
    "femton",
    "sexton",
    "sjutton",
    "arton",
    "nitton",
]
_SV_TENS = ["tjugo", "trettio", "fyrtio", "femtio", "sextio", "sjuttio", "åttio", "nittio"]


def _below_a_thousand() -> dict[str, int]:
    found = {"en": 1, "a": 1, "dozen": 12, "dussin": 12, "hundra": 100, "hundred": 100}
    english = {word: n for n, word in enumerate(_EN_UNITS)}
    swedish = {word: n for n, word in enumerate(_SV_UNITS)}
    for n, (en, sv) in enumerate(zip(_EN_TENS, _SV_TENS, strict=True), start=2):
        english[en], swedish[sv] = 10 * n, 10 * n
        for unit in range(1, 10):
            english[f"{en} {_EN_UNITS[unit]}"] = 10 * n + unit
            swedish[sv + _SV_UNITS[unit]] = 10 * n + unit
            swedish[f"{sv} {_SV_UNITS[unit]}"] = 10 * n + unit
        swedish[f"{sv}en"] = 10 * n + 1
    for hundreds in range(1, 10):
        en, sv = f"{_EN_UNITS[hundreds]} hundred", f"{_SV_UNITS[hundreds]}hundra"
        found |= {en: 100 * hundreds, sv: 100 * hundreds}
        for word, n in english.items():
            found[f"{en} {word}"] = found[f"{en} and {word}"] = 100 * hundreds + n
        for word, n in swedish.items():
            found[sv + word] = found[f"{sv} {word}"] = 100 * hundreds + n
    return found | english | swedish


_VALUES = _below_a_thousand()
_WORDS = sorted({word for phrase in _VALUES for word in phrase.split()}, key=len, reverse=True)
_ANY = "|".join(map(re.escape, _WORDS))
_NEVER_FIRST = r"(?!(?:and|a)\b(?!\s+(?:hundred|dozen|thousand|million|billion|trillion)\b))"
NUMERAL = re.compile(
    rf"(?<![\w-]){_NEVER_FIRST}(?:{_ANY})(?:[\s-](?:{_ANY}))*(?![\w-])"
    r"(?!\s+(?:third|quarter|fifth|tredjedel|fjärdedel|femtedel))",
    re.IGNORECASE,
)
"""A run of numerals."""


def numeral(phrase: str) -> int | None:
    """The value of a number in letters, or ``None`` where the words make no number."""
    return _VALUES.get(" ".join(re.split(r"[\s-]+", phrase.casefold())))
