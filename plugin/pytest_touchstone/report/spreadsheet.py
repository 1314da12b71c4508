"""A report's scores as CSV (RFC 4180) that any spreadsheet opens and none takes for formulas."""

from __future__ import annotations

import csv
import io
from typing import Any

from pytest_touchstone.report.model import Report
from pytest_touchstone.report.tidy import COLUMNS, score_rows
from pytest_touchstone.worksheet import cell

_BOM = "\ufeff"


def scores_csv(report: Report) -> str:
    """One row per gold question, system, mode, repeat and measure, behind a byte-order mark.

    Numbers are numbers, in full; texts go through :func:`pytest_touchstone.worksheet.cell`. What
    is unscored is an empty cell with a reason beside it.
    """
    out = io.StringIO()
    out.write(_BOM)
    writer = csv.DictWriter(out, COLUMNS["scores"], lineterminator="\r\n")
    writer.writeheader()
    for row in score_rows(report):
        writer.writerow({name: _shown(value) for name, value in row.items()})
    return out.getvalue()


def _shown(value: Any) -> Any:
    return cell(value) if isinstance(value, str) else value
