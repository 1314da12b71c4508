"""Each measure of two runs: the paired difference, and what to know of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from pytest_touchstone.comparing.model import LeftOut, MeasureDelta, OneSided
from pytest_touchstone.comparing.onesided import one_sided
from pytest_touchstone.comparing.pairs import Plays, measured, same_output
from pytest_touchstone.estimate import Cell, Range
from pytest_touchstone.measures import CostPerQuery
from pytest_touchstone.report.deltas import tested
from pytest_touchstone.report.figures import decimals
from pytest_touchstone.report.instruments import OtherInstrument, other_instrument
from pytest_touchstone.report.model import Delta, MeasureEntry, Report
from pytest_touchstone.report.pairs import Pair, Pairs, against_previous, resampling_of
from pytest_touchstone.report.verdict import shown_by

_DEFINING = {"range": "range", "unit": "unit", "higher_is_better": "direction"}
"""What must be the same for two values to be of one measure, and its name for people."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure that was compared.

    :param values: case to the two values, over all pairs.
    """

    delta: MeasureDelta
    values: Mapping[str, Pair]

    def moved(self, case: str) -> bool:
        """Whether there is a pair whose two values differ."""
        return case in self.values and not unmoved(self.values[case])


@dataclass(frozen=True, slots=True)
class Measures:
    """What could be compared, and what could not."""

    compared: Sequence[Compared]
    left_out: Sequence[LeftOut]
    one_sided: Sequence[OneSided]


class _Sides(NamedTuple):
    """A measure as the yardstick has it, and as the other report does."""

    then: MeasureEntry
    now: MeasureEntry


def unmoved(pair: Pair) -> bool:
    """Whether two values are the same, the last bits of a mean aside."""
    return math.isclose(pair.then, pair.now, rel_tol=1e-9, abs_tol=1e-12)


def measure_deltas(yardstick: Report, other: Report, plays: Plays, others: Plays) -> Measures:
    """The measures in the order of the other report.

    The differences, their intervals and p are those of gates and reports, over the other report's
    questions; the measures of one comparison are one family of tests.

    :param plays: what the yardstick's system did; ``others`` what the other's did.
    """
    sides, left_out = _common(yardstick, other)
    pairs = {name: against_previous(other, yardstick, name, None) for name in sides}
    cells = {
        name: Cell(found.differences, _range(sides[name].now), paired=True)
        for name, found in pairs.items()
    }
    deltas = tested(cells, resampling_of(other), lambda _: None)
    compared = []
    for name, side in sides.items():
        if name not in deltas:
            why = "no question that both asked alike has a score in both"
            left_out.append(LeftOut(side.now["title"], why))
            continue
        instrument = _instrument(other_instrument(other, yardstick, name))
        confidence = other["snapshot"]["confidence"]
        alike = _same_output(side, pairs[name], plays, others)
        delta = _delta(side, pairs[name], deltas[name], confidence, instrument, alike)
        compared.append(Compared(delta, pairs[name].values))
    titles = {name: side.now["title"] for name, side in sides.items()}
    return Measures(compared, left_out, one_sided(titles, pairs, plays, others))


def _same_output(side: _Sides, pairs: Pairs, plays: Plays, others: Plays) -> int | None:
    """In how many of the pairs that moved the system did the same."""
    if side.now["dimension"] == CostPerQuery.dimension:
        return None
    name = side.now["measure"]
    moved = (case for case, pair in pairs.values.items() if not unmoved(pair))
    return sum(
        same_output(measured(plays[case], name), measured(others[case], name)) for case in moved
    )


def _common(yardstick: Report, other: Report) -> tuple[dict[str, _Sides], list[LeftOut]]:
    """The measures that both have, and the others with the reason."""
    before = {entry["measure"]: entry for entry in yardstick["measures"]}
    sides, left_out = {}, []
    for now in other["measures"]:
        then = before.pop(now["measure"], None)
        if then is None:
            left_out.append(LeftOut(now["title"], "the yardstick does not have it"))
        elif differing := [
            what for key, what in _DEFINING.items() if now.get(key) != then.get(key)
        ]:
            left_out.append(LeftOut(now["title"], f"its {differing[0]} is another"))
        else:
            sides[now["measure"]] = _Sides(then, now)
    left_out += [LeftOut(then["title"], "only the yardstick has it") for then in before.values()]
    return sides, left_out


def _range(entry: MeasureEntry) -> Range:
    low, high = entry["range"]
    return low, high


def _delta(
    side: _Sides,
    pairs: Pairs,
    delta: Delta,
    confidence: float,
    instrument: str | None,
    same_output: int | None,
) -> MeasureDelta:
    low, high = side.now["range"]
    higher = side.now["higher_is_better"]
    values = pairs.values.values()
    up = sum(pair.now > pair.then for pair in values if not unmoved(pair))
    down = sum(pair.now < pair.then for pair in values if not unmoved(pair))
    return MeasureDelta(
        measure=side.now["measure"],
        title=side.now["title"],
        dimension=side.now["dimension"],
        unit=side.now["unit"],
        higher_is_better=higher,
        span=None if low is None or high is None or low == high else high - low,
        digits=max(map(decimals, side)),
        yardstick=fmean(pair.then for pair in values),
        other=fmean(pair.now for pair in values),
        delta=delta,
        standing=shown_by(delta, higher_is_better=higher, confidence=confidence),
        instrument=instrument,
        better=up if higher else down,
        worse=down if higher else up,
        same_output=same_output,
        only_yardstick=len(pairs.unpaired[0]),
        only_other=len(pairs.unpaired[1]),
    )


def _instrument(found: OtherInstrument | None) -> str | None:
    if found is None:
        return None
    if found.prompts:
        return f"the judge was asked with another {', '.join(found.prompts)}"
    return f"the {found.role} was {found.then or 'nobody'} and is {found.now or 'nobody'}"
