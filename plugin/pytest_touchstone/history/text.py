"""A history on a terminal, as CSV, and as JSON data."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from pytest_touchstone.history.series import Point, Series
from pytest_touchstone.report.display import printable
from pytest_touchstone.report.figures import NOTHING, ends, number
from pytest_touchstone.report.table import aligned
from pytest_touchstone.worksheet import cell

VERSION = 1
COLUMNS = (
    "measure",
    "title",
    "run",
    "label",
    "started_at",
    "commit",
    "system",
    "estimate",
    "ci_low",
    "ci_high",
    "n",
    "missing",
    "finished",
    "part",
    "changed",
)
_LONGEST = 1000
_BOM = "\ufeff"


def text_lines(found: Sequence[Series], *, width: int) -> Iterator[str]:
    """Measure by measure, a line a run; what changed since the run before stands beneath it.

    :param width: columns of the terminal.
    """
    for series in found:
        yield ""
        better = "" if series.higher_is_better else ", lower is better"
        unit = f" ({series.unit})" if series.unit else ""
        title = series.title if series.title.endswith(unit) else f"{series.title}{unit}"
        yield printable(f"{title}{better}", _LONGEST)
        yield from _with_marks(series, width)


def _with_marks(series: Series, width: int) -> Iterator[str]:
    rows = [_row(point, series.digits) for point in series.points]
    header, *lines = aligned([[*_header(series)], *rows], width - 2)
    yield f"  {header}"
    for point, line in zip(series.points, lines, strict=True):
        if point.changed:
            yield printable(f"    changed: {'; '.join(point.changed)}", _LONGEST)
        yield f"  {line}"


def _header(series: Series) -> list[str]:
    return ["Started", f"Score ({level(series)})", "n", "Commit", "System", "Run", ""]


def level(series: Series) -> str:
    """What the intervals of a series are."""
    if series.confidence is None:
        return "CIs of several levels"
    return f"{100 * series.confidence:g}% CI"


def _row(point: Point, digits: int) -> list[str]:
    return [
        point.started_at[:16].replace("T", " "),
        score(point, digits),
        count(point),
        NOTHING if point.commit is None else point.commit[:7],
        point.system,
        name(point),
        f"≠ {point.part}" if point.part else "",
    ]


def score(point: Point, digits: int) -> str:
    """A mean with its interval."""
    if point.estimate is None:
        return "unscored" if point.missing else "n/a"
    return number(point.estimate, digits) + ends(point.ci, digits)


def count(point: Point) -> str:
    """How many questions a mean is over, and how many it lacks."""
    return f"{point.n} (+{point.missing} unscored)" if point.missing else str(point.n)


def name(point: Point) -> str:
    """The run, by its label where it has one."""
    return point.label or point.run[:12]


def data(found: Sequence[Series]) -> dict[str, Any]:
    """The history as JSON data, as the model names its parts; ``version`` is that of it."""
    return {"version": VERSION, "measures": [asdict(series) for series in found]}


def csv_text(found: Sequence[Series]) -> str:
    """A row a measure and run (RFC 4180, behind a byte-order mark); no text is a formula."""
    out = io.StringIO()
    out.write(_BOM)
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for series in found:
        for point in series.points:
            low, high = point.ci or (None, None)
            row = {
                **asdict(point),
                "measure": series.measure,
                "title": series.title,
                "ci_low": low,
                "ci_high": high,
                "finished": "true" if point.finished else "false",
                "changed": "; ".join(point.changed),
            }
            writer.writerow({key: _shown(row[key]) for key in COLUMNS})
    return out.getvalue()


def _shown(value: Any) -> Any:
    return cell(value) if isinstance(value, str) else value
