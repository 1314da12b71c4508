"""The forms of a report other than its JSON, with the files that they are made of."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pytest_touchstone.report.model import Report
from pytest_touchstone.report.page import Assets, page_html

_PAGE = Path(__file__).with_name("report") / "page"
_VENDORED = ("vendor/d3.min.js", "vendor/plot.min.js")
_OWN = ("text.js", "charts.js", "case.js", "cases.js")


def page(report: Report) -> str:
    """The report as a page: one HTML file that works offline."""
    return page_html(report, _assets())


@cache
def _assets() -> Assets:
    vendored = [(_PAGE / name).read_text("utf-8") for name in _VENDORED]
    own = "\n".join((_PAGE / name).read_text("utf-8") for name in _OWN)
    return Assets((_PAGE / "page.css").read_text("utf-8"), (*vendored, own))
