"""The table at the end of a session, made from the report alone."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_touchstone.report.cases import case_numbers
from pytest_touchstone.report.display import display_width, padded, printable
from pytest_touchstone.report.figures import compared, score_rows, step_rows
from pytest_touchstone.report.model import Report
from pytest_touchstone.report.notes import notes, warnings
from pytest_touchstone.report.substitutes import short

_GAP = "  "
_NARROWEST_FIRST_COLUMN = 20
_LONGEST_NAME = 24
_LONGEST_TITLE = 48
_LONGEST_LINE = 1000


def table_lines(report: Report, *, width: int) -> list[str]:
    """What casts doubt on all of it, the measures with baseline and delta, the steps between the
    two, and what to look at.

    `n/a` is a measure that says nothing about a system, `unscored` one that could not be
    obtained, `-` that there is nothing to compare.  Text from systems is made safe to print.

    :param width: columns of the terminal; titles are cut to it, messages never.
    """
    parts = [
        [printable(line, _LONGEST_LINE) for line in warnings(report)],
        aligned(score_rows(report), width),
        aligned(step_rows(report), width) if report["snapshot"]["roles"]["variants"] else [],
        [printable(line, _LONGEST_LINE) for line in notes(report)],
    ]
    lines: list[str] = []
    for part in filter(None, parts):
        lines += ["", *part] if lines else part
    return lines


def aligned(rows: Iterable[list[str]], width: int) -> list[str]:
    """Rows in left-aligned columns; where they are wider than the terminal, titles give way."""
    cells = [
        [
            printable(short(row[0]), _LONGEST_TITLE),
            *(printable(cell, _LONGEST_NAME * 2) for cell in row[1:]),
        ]
        for row in rows
    ]
    widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    if excess > 0:
        widths[0] = min(widths[0], max(widths[0] - excess, _NARROWEST_FIRST_COLUMN))
        cells = [[printable(row[0], widths[0]), *row[1:]] for row in cells]
    return [_GAP.join(map(padded, row, widths)).rstrip() for row in cells]


def headline(report: Report) -> str:
    """Which system was asked what, and beside what it stands."""
    snapshot = report["snapshot"]
    roles = snapshot["roles"]
    asked = len(case_numbers(report))
    known = sum(snapshot["dataset"]["counts"].values())
    against = f" against {roles['baseline']}" if compared(report) else ""
    line = f"{roles['system']}{against}: {asked} of {known} gold questions"
    return printable(f"{line} ({snapshot['dataset']['path']})", _LONGEST_LINE)
