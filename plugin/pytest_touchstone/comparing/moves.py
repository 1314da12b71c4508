"""The cases that moved most.

A case moves by the sum over dimensions of the mean move of their measures, so that ten kinds of
recall do not outweigh one of faithfulness.  A measure's move is a share of its range; one with an
open range, such as cost, has none and does not enter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from statistics import fmean
from typing import Any, Literal

from pytest_touchstone.annotations import REPLACED
from pytest_touchstone.comparing.deltas import Compared, unmoved
from pytest_touchstone.comparing.model import MeasureMove, Move, Moves, Said
from pytest_touchstone.comparing.pairs import Plays, measured, same_answers, same_output
from pytest_touchstone.comparing.repeated import differing
from pytest_touchstone.report.model import CaseEntry
from pytest_touchstone.report.pairs import Pair


def moves(compared: Sequence[Compared], yardstick: Plays, other: Plays, shown: int) -> Moves:
    """The cases that moved most to the better and to the worse; ties in the order of their ids."""
    totals = _totals(compared)
    better = sorted((-total, case) for case, total in totals.items() if total > 0)
    worse = sorted((total, case) for case, total in totals.items() if total < 0)

    def told(found: Iterable[tuple[float, str]]) -> tuple[Move, ...]:
        return tuple(
            _move(case, totals[case], compared, yardstick[case], other[case]) for _, case in found
        )

    return Moves(told(better[:shown]), told(worse[:shown]), len(better), len(worse))


def _totals(compared: Sequence[Compared]) -> dict[str, float]:
    """Case to how far it moved, above 0 to the better."""
    by_dimension: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in compared:
        for case, pair in one.values.items():
            move = _share(one, pair)
            if move is not None:
                by_dimension[case][one.delta.dimension].append(move)
    return {
        case: fsum(fmean(found) for found in dimensions.values())
        for case, dimensions in by_dimension.items()
    }


def _share(one: Compared, pair: Pair) -> float | None:
    """The move of a pair as a share of the range, above 0 to the better."""
    if one.delta.span is None:
        return None
    if unmoved(pair):
        return 0.0
    share = (pair.now - pair.then) / one.delta.span
    return share if one.delta.higher_is_better else -share


def _move(
    case: str,
    total: float,
    compared: Sequence[Compared],
    yardstick: Sequence[CaseEntry],
    other: Sequence[CaseEntry],
) -> Move:
    found = [
        (share, one)
        for one in compared
        if one.moved(case) and (share := _share(one, one.values[case])) is not None
    ]
    found.sort(key=lambda item: (-abs(item[0]), item[1].delta.measure))
    leading = found[0][1]
    name = leading.delta.measure
    plays = (measured(yardstick, name), measured(other, name))
    shown = differing(plays, name, leading.values[case])
    return Move(
        case=case,
        type=other[0]["gold"]["type"],
        question=other[0]["gold"]["question"],
        move=total,
        measures=tuple(
            _measure(share, one, one.values[case], (yardstick, other), shown)
            for share, one in found
        ),
        yardstick=_said(shown[0], plays[0]),
        other=_said(shown[1], plays[1]),
        same=_same(*plays),
    )


def _measure(
    share: float,
    one: Compared,
    pair: Pair,
    sides: tuple[Sequence[CaseEntry], Sequence[CaseEntry]],
    shown: tuple[CaseEntry, CaseEntry],
) -> MeasureMove:
    delta = one.delta
    plays = (measured(sides[0], delta.measure), measured(sides[1], delta.measure))
    whys = [_why(each, delta.measure) for each in differing(plays, delta.measure, pair, shown)]
    return MeasureMove(
        measure=delta.measure,
        title=delta.title,
        digits=delta.digits,
        move=share,
        yardstick=pair.then,
        other=pair.now,
        yardstick_why=whys[0],
        other_why=whys[1],
        other_instrument=delta.instrument is not None,
    )


def _why(entry: CaseEntry, measure: str) -> str:
    """The reason of the value that is compared: the instrument's own, not people's."""
    detail: Mapping[str, Any] = entry["details"].get(measure, {})
    own = detail.get(REPLACED)
    return str(own["why"]) if own else entry["why"].get(measure, "")


def _said(entry: CaseEntry, plays: Sequence[CaseEntry]) -> Said:
    return Said(entry["answer"], entry["error"], len(plays), entry["repeat"] + 1)


def _same(one: Sequence[CaseEntry], two: Sequence[CaseEntry]) -> Literal["answer", "output"] | None:
    if same_output(one, two):
        return "output"
    return "answer" if one[0]["answer"] is not None and same_answers(one, two) else None
