"""Dates in text: full dates, months, years and financial years, English and Swedish."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

_MONTHS = (
    "january jan januari",
    "february feb februari",
    "march mar mars",
    "april apr",
    "may maj",
    "june jun juni",
    "july jul juli",
    "august aug augusti",
    "september sep sept",
    "october oct oktober okt",
    "november nov",
    "december dec",
)
_MONTH_OF = {name: n for n, names in enumerate(_MONTHS, start=1) for name in names.split()}
_WEEKDAYS = (
    "monday måndag",
    "tuesday tisdag",
    "wednesday onsdag",
    "thursday torsdag",
    "friday fredag",
    "saturday lördag",
    "sunday söndag",
)
_WEEKDAY_OF = {name: n for n, names in enumerate(_WEEKDAYS) for name in names.split()}
_MONTH = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_LONG_MONTH = "|".join(sorted((m for m in _MONTH_OF if len(m) > 3), key=len, reverse=True))
_WEEKDAY = "|".join(_WEEKDAY_OF)
_YEAR = r"(?:1[6-9]|20|21)\d\d"
_DATE = re.compile(
    rf"""
    (?P<iso>(?<![\d-])(?P<iy>{_YEAR})-(?P<im>0[1-9]|1[0-2])(?:-(?P<id>0[1-9]|[12]\d|3[01]))?(?![\d]))
    | (?P<fy>(?<![\d/-])(?:FY\s?)?(?P<fy1>{_YEAR})\s?[/–-]\s?(?P<fy2>{_YEAR}|\d\d)(?![\d/-]))
    | (?P<slash>(?<![\d/.])(?P<sa>\d?\d)[/.](?P<sb>\d?\d)[/.](?P<sy>{_YEAR})(?![\d/]))
    | (?P<dmy>(?<![\w.,])(?P<dd>\d?\d)(?:st|nd|rd|th|:[ae]|\.)?\s(?:day\s)?(?:of\s)?
        (?P<dm>{_MONTH})\b\.?,?(?:\s(?P<dy>{_YEAR}))?(?!\w))
    | (?P<mdy>\b(?P<mm>{_MONTH})\b\.?\s(?:the\s)?(?P<md>\d?\d)(?:st|nd|rd|th)?(?![\w%])
        (?:,?\s(?P<mdy_y>{_YEAR}))?(?!\d))
    | (?P<my>\b(?P<ym>{_MONTH})\b\.?,?\s(?:of\s|år\s)?(?P<yy>{_YEAR})(?!\w))
    | (?P<decade>(?<!\w)(?P<de>{_YEAR})(?:s\b|-tal(?:et|ets)?\b))
    | (?P<fyshort>\bFY\s?'?(?P<fs>\d\d|{_YEAR})(?![\d/]))
    | (?P<y>(?<![\w.,/-])(?P<year>{_YEAR})(?![\w/]|[.,-]\d))
    | (?P<weekday>\b(?P<wd>{_WEEKDAY})(?:s|en|ar)?\b)
    | (?P<m>\b(?P<month>{_LONG_MONTH})\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_YEAR_END = re.compile(
    r"(?:year|år)\w*\s+(?:(?:that\s+)?end(?:ed|ing)|closed|som slutade)\W+(?:on\s+)?(?:the\s+)?$",
    re.I,
)
_ENDS_IN = 6
"""Month in which a financial year ends that is named by two calendar years: June."""


@dataclass(frozen=True, slots=True)
class Date:
    """A date, as far as it is written.

    :param until: the second calendar year of a financial year such as 2021/22; ``year`` is its
        first.
    :param decade: ``year`` is the first year of ten.
    """

    text: str
    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    until: int | None = None
    weekday: int | None = None
    decade: bool = False

    @property
    def only_year(self) -> bool:
        """Whether it is a calendar year and nothing more."""
        return self.year is not None and self.month is None and not (self.until or self.decade)

    def same_kind(self, other: Date) -> bool:
        """Whether the two could stand in the same place: they share a part that is written."""
        return any(
            mine is not None and theirs is not None
            for mine, theirs in (
                (self.year, other.year),
                (self.month, other.month),
                (self.weekday, other.weekday),
            )
        )

    def spans(self, other: Date) -> bool:
        """Whether ``other`` lies within this date or says the same more or less exactly."""
        if self.until is not None and other.year in (self.year, self.until):
            return other.until is None or other.until == self.until
        return self.held_by(other) or other.held_by(self) or self.agrees(other)

    def held_by(self, other: Date) -> bool:
        """Whether ``other`` leaves no doubt about every part of this date."""
        if self.decade or other.decade:
            return self.decade and self._decade_holds(other)
        if self.until is not None:
            named_by_its_end = other.only_year and self.text[:2].upper() == "FY"
            if named_by_its_end and "/" not in self.text and other.year == self.until:
                return True
            return other.until == self.until and other.year == self.year
        if self.year is not None and other.until is not None and self.month is None:
            return self.year in (other.year, other.until)
        return all(
            mine is None or mine == theirs
            for mine, theirs in (
                (self.year, other.year),
                (self.month, other.month),
                (self.day, other.day),
                (self.weekday, other.weekday),
            )
        )

    def _decade_holds(self, other: Date) -> bool:
        return other.year is not None and self.year == other.year // 10 * 10

    def agrees(self, other: Date) -> bool:
        """Whether no part that both write differs, and they share one."""
        pairs = [
            (mine, theirs)
            for mine, theirs in (
                (self.year, other.year),
                (self.month, other.month),
                (self.day, other.day),
            )
            if mine is not None and theirs is not None
        ]
        same_span = self.until == other.until or None in (self.until, other.until)
        return bool(pairs) and same_span and all(mine == theirs for mine, theirs in pairs)


def dates(text: str) -> list[Date]:
    """The dates of a text, in order."""
    return [date for match in _DATE.finditer(text) for date in _date(text, match)]


def held(date: Date, written: Iterable[Date]) -> bool:
    """Whether dates together state a date: one of them, or two that agree with it and, between
    them, write each of its parts ("18 November … in 2021")."""
    written = list(written)
    if any(date.held_by(other) for other in written):
        return True
    if date.until is not None or date.weekday is not None:
        return False
    close = [other for other in written if date.agrees(other) and other.until is None]
    parts = {
        name
        for other in close
        for name in ("year", "month", "day")
        if getattr(other, name) is not None
    }
    wanted = {n for n in ("year", "month", "day") if getattr(date, n) is not None}
    return bool(close) and wanted <= parts and len(wanted) > 1


def _date(text: str, match: re.Match[str]) -> Iterator[Date]:
    at = (match[0].rstrip(" ,."), match.start(), match.end())
    for kind, reader in _READERS.items():
        if match[kind] is not None:
            yield from reader(match, at)
            break
    # The financial year that a "year ended 30 June 2022" is.
    year, month = match["dy"] or match["yy"], match["dm"] or match["ym"]
    if year and month and _month(month) == _ENDS_IN and _YEAR_END.search(text[: at[1]][-40:]):
        yield Date(*at, int(year) - 1, until=int(year))


_At = tuple[str, int, int]


def _financial(match: re.Match[str], at: _At) -> Iterator[Date]:
    first, second = int(match["fy1"]), int(match["fy2"])
    second += first // 100 * 100 if second < 100 else 0
    if second == first + 1:
        yield Date(*at, first, until=second)
    else:  # a span of years: both stand in the text
        yield Date(match["fy1"], *at[1:], first)
        yield Date(match["fy2"], *at[1:], second)


def _ending(match: re.Match[str], at: _At) -> Iterator[Date]:
    year = int(match["fs"])
    year += 2000 if year < 100 else 0
    yield Date(*at, year - 1, until=year)


def _iso(match: re.Match[str], at: _At) -> Iterator[Date]:
    yield Date(*at, int(match["iy"]), int(match["im"]), _int(match["id"]))


def _slash(match: re.Match[str], at: _At) -> Iterator[Date]:
    # Day first or month first: both readings stand where both are possible.
    a, b, year = int(match["sa"]), int(match["sb"]), int(match["sy"])
    if 1 <= a <= 31 and 1 <= b <= 12:
        yield Date(*at, year, b, a)
    if 1 <= b <= 31 and 1 <= a <= 12 and a != b:
        yield Date(*at, year, a, b)


def _day_first(match: re.Match[str], at: _At) -> Iterator[Date]:
    if 1 <= int(match["dd"]) <= 31:
        yield Date(*at, _int(match["dy"]), _month(match["dm"]), int(match["dd"]))


def _month_first(match: re.Match[str], at: _At) -> Iterator[Date]:
    if 1 <= int(match["md"]) <= 31 and _is_month(match["mm"]):
        yield Date(*at, _int(match["mdy_y"]), _month(match["mm"]), int(match["md"]))


def _month_alone(match: re.Match[str], at: _At) -> Iterator[Date]:
    if _is_month(match["month"]):
        yield Date(*at, month=_month(match["month"]))


_READERS: Mapping[str, Callable[[re.Match[str], _At], Iterator[Date]]] = {
    "iso": _iso,
    "fy": _financial,
    "slash": _slash,
    "dmy": _day_first,
    "mdy": _month_first,
    "my": lambda match, at: iter([Date(*at, int(match["yy"]), _month(match["ym"]))]),
    "decade": lambda match, at: iter([Date(*at, int(match["de"]) // 10 * 10, decade=True)]),
    "fyshort": _ending,
    "y": lambda match, at: iter([Date(*at, int(match["year"]))]),
    "weekday": lambda match, at: iter([Date(*at, weekday=_WEEKDAY_OF[match["wd"].casefold()])]),
    "m": _month_alone,
}


def _is_month(word: str) -> bool:
    """Whether a word is a month and not a verb or a word of another language.

    "may" is a verb and "mars" a planet; English writes months with a capital letter.
    """
    return (
        word.casefold() not in ("may", "march", "mars")
        or (word[0].isupper() and word.casefold() != "mars")
        or word == "mars"
    )


def _month(word: str) -> int:
    return _MONTH_OF[word.casefold()]


def _int(digits: str | None) -> int | None:
    return int(digits) if digits else None
