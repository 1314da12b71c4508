"""Which of several times that a question was asked shows how it moved."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_touchstone.annotations import own_value
from pytest_touchstone.estimate import usable
from pytest_touchstone.report.model import CaseEntry
from pytest_touchstone.report.pairs import Pair

Sides = tuple[CaseEntry, CaseEntry]


def differing(
    plays: tuple[Sequence[CaseEntry], Sequence[CaseEntry]],
    measure: str,
    means: Pair,
    shown: Sides | None = None,
) -> Sides:
    """A play of each side, between which a measure moved as its means did.

    The plays that are shown already, where they do; else the first of the same repeat that do;
    else, since repeats may have changed places, the one furthest off on each side.

    :param plays: those that the measure was taken on.
    :param means: of the two sides; they are not the same.
    """
    up = means.now > means.then
    then, now = (_scored(side, measure) for side in plays)
    same = [(a, b) for a, _ in then for b, _ in now if a["repeat"] == b["repeat"]]
    for one, two in [shown, *same] if shown else same:
        pair = (_own(one, measure), _own(two, measure))
        if pair[0] is not None and pair[1] is not None and _rises(pair[0], pair[1], up=up):
            return one, two
    low, high = (min, max) if up else (max, min)
    return low(then, key=_value)[0], high(now, key=_value)[0]


def _rises(one: float, two: float, *, up: bool) -> bool:
    return two > one if up else two < one


def _value(item: tuple[CaseEntry, float]) -> float:
    return item[1]


def _scored(plays: Sequence[CaseEntry], measure: str) -> list[tuple[CaseEntry, float]]:
    values = [(entry, _own(entry, measure)) for entry in plays]
    return [(entry, value) for entry, value in values if value is not None]


def _own(entry: CaseEntry, measure: str) -> float | None:
    value = own_value(entry["scores"].get(measure), entry["details"].get(measure, {}))
    return value if value is not None and usable(value) else None
