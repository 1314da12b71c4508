"""A difference drawn as a line with a dot, for a cell of a table that says the same in figures."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_touchstone.comparing.model import MeasureDelta
from pytest_touchstone.report.page.markup import Html, tag

_WIDTH, _HEIGHT = 120, 14


def reach_of(measures: Sequence[MeasureDelta]) -> float:
    """How far strips reach to either side, as a share of the range: the furthest of all ends."""
    return max((_reach(one) / one.span for one in measures if one.span is not None), default=0.0)


def strip(one: MeasureDelta, reach: float) -> Html | None:
    """The interval of a difference around 0; measures without a closed range have their own scale.

    :param reach: what the strip's half is, as a share of the range.
    """
    full = _reach(one) if one.span is None else reach * one.span
    if not full:
        return None
    value, ci = one.delta["estimate"], one.delta["ci"]

    def at(x: float) -> str:
        return f"{_WIDTH / 2 * (1 + 0.95 * x / full):.1f}"

    middle, half = f"{_WIDTH / 2:g}", f"{_HEIGHT / 2:g}"
    low, high = ci or (value, value)
    return tag(
        "svg",
        tag("line", x1=middle, x2=middle, y1=0, y2=_HEIGHT, stroke="currentColor", opacity="0.4"),
        tag(
            "line", x1=at(low), x2=at(high), y1=half, y2=half, stroke="currentColor",
            stroke_width=2,
        ),
        tag("circle", cx=at(value), cy=half, r="3.5", fill="currentColor"),
        width=_WIDTH,
        height=_HEIGHT,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        aria_hidden="true",
    )  # fmt: skip


def _reach(one: MeasureDelta) -> float:
    ends: list[float] = [one.delta["estimate"], *(one.delta["ci"] or [])]
    return max(map(abs, ends))
