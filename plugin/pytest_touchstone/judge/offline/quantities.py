"""Numbers in text, with their scale and unit, as values that compare across formats.

"UGX 1.2bn", "1,200,000,000 shillings" and "1 200 miljoner shilling" are one quantity; "12 %" and
"12 percentage points" are two.  Where a separator may mean two things ("3.109") both readings
stand, and either may match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isclose, isfinite

from pytest_touchstone.judge.offline.numerals import NUMERAL, numeral
from pytest_touchstone.judge.offline.ranks import CLOCK, TIMES, rank_or_share, written_ranks
from pytest_touchstone.judge.offline.units import (
    CURRENCIES,
    CURRENCY_BEFORE,
    CURRENCY_SCALES,
    SCALES,
    UNITS,
)

_SPACE = " \u00a0\u2009\u202f"
_DIGITS = (
    rf"\d{{1,3}}(?:[{_SPACE}'’]\d{{3}})+(?!\d)(?:[.,]\d+)?"  # 14 200 / 14'200,5
    r"|\d+(?:[.,٫٬]\d+)*"
)
_NUMBER = re.compile(
    rf"(?<![^\W_])(?P<before>(?:{CURRENCY_BEFORE})[{_SPACE}]?)?(?<![\d.,])"
    rf"(?P<digits>{_DIGITS})(?P<ordinal>(?:st|nd|rd|th)\b|:[ae]\b)?",
    re.IGNORECASE,
)
_WORD = re.compile(rf"[{_SPACE}]?(?:-[{_SPACE}]?)?(%-?(?:enhet(?:er)?)?|‰|[€$£¥]|[^\W\d_]+\.?)")
_TWO_WORDS = re.compile(
    rf"[{_SPACE}]?(per (?:cent|mille)|percentage points?|square (?:kilo)?met(?:re|er)s?|US dollars?"
    r"|(?:kenyan|ugandan|tanzanian) shillings?|swedish kron(?:or|a)|svenska kronor|british pounds?"
    r"|sq\.? ?km|kvadratkilometer)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|more than|close to|"
    r"at least|just (?:over|under)|under|less than|up to|ca\.?|c\.|circa|cirka|ungefär|omkring|"
    r"runt|nästan|drygt|knappt|närmare|över|mer än|fler än|minst|högst|uppemot|~|≈)"
    r"\s*(?:[A-Z]{3}\s*|\$)?$",
    re.IGNORECASE,
)
_JOINS = re.compile(
    r"\s?(?:[–—-]|/)\s?|,?\s(?:to|and|or|of|out of|against|from|till|och|eller|av|mot|från)\s",
    re.IGNORECASE,
)
_LAST_HOUR = 24
_SIGNIFICANT_TO_ROUND = 2
_HEDGED = 0.05
_DAYS = {"days": 1.0, "months": 30.4, "hours": 1 / 24}
_MONTH_OF_30_DAYS = 0.02
_FEW = 5
_ALIKE = 1000.0
"""Of two numbers without a unit, the most that one is of the other if they count the same."""
_BIG = 1e5  # sums of money, mostly, whether or not the currency is said again


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number in a text.

    :param text: as written, with scale and unit.
    :param values: its readings, in base units.
    :param unit: dimension or currency; ``None`` where none that is known is named.
    :param hedged: whether the text admits that it is rounded.
    :param step: what the last digit written is worth: a rounding lies within half of it.
    :param digits: significant digits written.
    :param ordinal: a place in an order ("30th").
    :param spelt: written in letters.
    :param size: of the unit written, in base units.
    :param scale: what is written multiplies the digits by, with the unit.
    :param presumed: the one currency of the text around, where this number names none.
    """

    text: str
    start: int
    end: int
    values: tuple[float, ...]
    unit: str | None = None
    hedged: bool = False
    step: float = 1.0
    digits: int = 1
    ordinal: bool = False
    spelt: bool = False
    size: float = 1.0
    scale: float = 1.0
    presumed: str | None = None

    @property
    def weak(self) -> bool:
        """Whether it may well be the writer's own count ("two points", "half") and no fact."""
        return self.spelt and (
            (self.unit is None and self.values[0] <= _FEW) or self.unit in ("%", TIMES)
        )

    def same_kind(self, other: Quantity) -> bool:
        """Whether the two could stand in the same place of a sentence."""
        if self.ordinal != other.ordinal:
            return False
        one, two = max(self.values), max(other.values)
        big = None in (self.unit, other.unit) and min(one, two) >= _BIG
        same_digits = _digits(self.text) == _digits(other.text)
        alike = self.unit is not None or max(one, two) <= _ALIKE * max(1.0, min(one, two))
        return (self.unit == other.unit and alike) or big or same_digits

    def held_by(self, other: Quantity) -> bool:
        """Whether ``other`` states this quantity: equal, or rounded as the text admits."""
        if self.ordinal != other.ordinal:
            return False
        if self.unit in CURRENCIES and other.presumed and self.unit != other.presumed:
            return False
        if self.unit and other.unit and self.unit != other.unit:
            days = _DAYS.get(self.unit), _DAYS.get(other.unit)
            if None in days:
                return False
            # Months are no fixed number of days, so that a month is one of 30 days, or so.
            return any(
                isclose(mine * (days[0] or 1), theirs * (days[1] or 1), rel_tol=_MONTH_OF_30_DAYS)
                for mine in self.values
                for theirs in other.values
            )
        # "142 of 345 km": a number without a unit may be one of any.
        one, two = (self.size, other.size) if None in (self.unit, other.unit) else (1.0, 1.0)
        return any(
            self._near(mine / one, theirs / two, self.step / one)
            for mine in self.values
            for theirs in other.values
        )

    def _near(self, mine: float, theirs: float, step: float) -> bool:
        if isclose(mine, theirs, rel_tol=1e-9):
            return True
        if self.hedged and abs(mine - theirs) <= _HEDGED * abs(theirs):
            return True
        # Rounding that nobody announces: kept two digits, and a scale or decimals tell it is one.
        rounded = self.digits >= _SIGNIFICANT_TO_ROUND and step != 1.0
        return rounded and abs(mine - theirs) <= step / 2 * (1 + 1e-9)


def parts(text: str) -> frozenset[float]:
    """The numbers that stand in a row with only spaces between, as in the rows of a table."""
    return frozenset(
        float(part)
        for match in _NUMBER.finditer(text)
        if " " in match["digits"]
        for part in match["digits"].split(" ")
        if part.isdigit()
    )


def quantities(text: str) -> list[Quantity]:
    """The numbers of a text in digits and in letters, in order."""
    others = [*_in_ranks(text), *_of_the_clock(text)]
    taken = [(each.start, each.end) for each in others]
    plain = (
        each
        for each in (*_in_digits(text), *_in_letters(text))
        if not any(start < each.end and each.start < end for start, end in taken)
    )
    found = sorted((*others, *plain), key=lambda each: each.start)
    return [*(_sharing(text, *pair) for pair in pairwise(found)), *found[-1:]]


def presuming(found: Sequence[Quantity], currency: str) -> tuple[Quantity, ...]:
    """Numbers, those without a unit marked with the one currency that the text names."""
    return tuple(q if q.unit else replace(q, presumed=currency) for q in found)


def _sharing(text: str, one: Quantity, other: Quantity) -> Quantity:
    """A number with the scale of the one that it is joined to as a second reading.

    "From 215 to 340 million", "10,6 av 11,2 miljarder".
    """
    joined = _JOINS.fullmatch(text[one.end : other.start])
    if not joined or one.scale != 1.0 or other.scale == 1.0 or one.spelt or one.ordinal:
        return one
    if None not in (one.unit, other.unit) and one.unit != other.unit:
        return one
    scaled = tuple(value * other.scale for value in one.values)
    return replace(one, values=(*one.values, *scaled))


def _in_ranks(text: str) -> Iterator[Quantity]:
    for match in written_ranks(text):
        value, unit = rank_or_share(match)
        yield Quantity(
            match[0].strip(),
            *match.span(),
            (value,),
            unit,
            hedged=unit is not None,
            ordinal=unit is None,
            spelt=True,
        )


def _of_the_clock(text: str) -> Iterator[Quantity]:
    for match in CLOCK.finditer(text):
        hour = int(match["h"] or match["kl"] or match["hh"])
        minute = int(match["m"] or match["klm"] or match["mm"] or 0)
        if match["half"]:
            hour = hour % 12 + (12 if match["half"].casefold() == "p" else 0)
        if hour <= _LAST_HOUR:
            yield Quantity(match[0].strip(), *match.span(), (hour * 60.0 + minute,), "clock")


def _in_digits(text: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text):
        end = match.end("digits")
        if match["ordinal"] is None and _joins_letters(text, match.start(), end):
            continue
        readings = _readings(match["digits"])
        if not readings:
            continue
        digits = match["digits"]
        decimals = len(re.split(r"[.,٫]", digits)[-1]) if re.search(r"[.,٫]", digits) else 0
        bare = re.sub(r"\D", "", digits)
        yield _quantity(
            text,
            match.start(),
            match.end(),
            readings,
            before=(match["before"] or "").strip().casefold(),
            step=10.0 ** -min(decimals, 12),
            digits=len(bare.strip("0")) if decimals == 0 else len(bare.lstrip("0")),
            ordinal=match["ordinal"] is not None,
        )


def _in_letters(text: str) -> Iterator[Quantity]:
    for match in NUMERAL.finditer(text):
        value = numeral(match[0])
        if value is None:
            continue
        each = _quantity(text, match.start(), match.end(), (value,), before="", spelt=True)
        # "en", "ett", "one" are articles and pronouns unless a scale follows.
        if value != 1 or each.values[0] > 1:
            yield each


def _quantity(
    text: str,
    start: int,
    end: int,
    readings: tuple[float, ...],
    *,
    before: str,
    step: float = 1.0,
    digits: int = 1,
    ordinal: bool = False,
    spelt: bool = False,
) -> Quantity:
    unit = UNITS.get(before, (None, 1.0))[0] if before else None
    factor = size = 1.0
    for _ in range(2):
        word, stop = _next_word(text, end)
        scale = SCALES.get(word)
        if word == "m" and unit is None:
            scale = None
        if scale is None or (factor != 1.0 and word in ("m", "k")):
            break
        factor, end = factor * scale, stop
        unit = unit or CURRENCY_SCALES.get(word)
    scaled = factor != 1.0
    word, stop = _next_word(text, end)
    if word in UNITS and not (unit and UNITS[word][0] != unit):
        unit, size = UNITS[word]
        factor, end = factor * size, stop
    if scaled and "." in text[start:end]:
        readings = readings[:1]  # nobody groups thousands by a full stop before "million"
    values = tuple(value * factor for value in readings if isfinite(value * factor))
    return Quantity(
        text[start:end].strip(" .\u00a0"),
        start,
        end,
        values or readings,
        unit,
        _HEDGE.search(text[max(0, start - 24) : start]) is not None,
        step * factor,
        digits,
        ordinal,
        spelt,
        size,
        factor,
    )


def _next_word(text: str, at: int) -> tuple[str, int]:
    two = _TWO_WORDS.match(text, at)
    match = two or _WORD.match(text, at)
    if match is None:
        return "", at
    word = match[1].casefold()
    return (word if word in SCALES or word in UNITS else word.rstrip(".")), match.end()


def _joins_letters(text: str, start: int, end: int) -> bool:
    """Whether a number is part of a code such as APP-001, v2.1 or 5G: a name, not a quantity."""
    before = text[max(0, start - 2) : start]
    if len(before) == 2 and before[1] in "-_./\\" and before[0].isalpha():
        return True
    if before[-1:] == "/" or (text[end : end + 1] == "/" and text[end + 1 : end + 2].isdigit()):
        return True  # 24/7, 1/3
    word, stop = _next_word(text, end)
    joined = end < len(text) and text[end].isalpha()
    return joined and word not in SCALES and word not in UNITS and stop > end


def _readings(digits: str) -> tuple[float, ...]:
    """What digits with separators may mean; nothing for versions and the like (6.16.0)."""
    plain = re.sub(rf"[{_SPACE}'’]", "", digits).replace("٫", ".").replace("٬", ",")
    if len(plain) > 40:
        return ()
    marks = [mark for mark in plain if mark in ".,"]
    if not marks:
        return (float(plain),)
    parts = re.split(r"[.,]", plain)
    grouped = all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3
    if len(set(marks)) == 2 and marks.count(marks[-1]) == 1:
        return (float("".join(parts[:-1]) + "." + parts[-1]),)
    if len(marks) > 1:
        return (float("".join(parts)),) if grouped else ()
    decimal = float(".".join(parts))
    if grouped and parts[0].strip("0"):
        return (
            (float("".join(parts)), decimal)
            if marks[0] == ","
            else (decimal, float("".join(parts)))
        )
    return (decimal,)


def _digits(text: str) -> str:
    return re.sub(r"[^\d.,]", "", text) or text
