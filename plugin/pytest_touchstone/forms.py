"""The forms of a report, as text, with the files that they are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from pytest_touchstone.report.junit import junit_xml
from pytest_touchstone.report.markdown import markdown
from pytest_touchstone.report.model import Report, to_json
from pytest_touchstone.report.page import Assets, page_html
from pytest_touchstone.report.spreadsheet import scores_csv

_PAGE = Path(__file__).with_name("report") / "page"
_VENDORED = ("vendor/d3.min.js", "vendor/plot.min.js")
_OWN = ("text.js", "charts.js", "case.js", "cases.js")
# A terminal obeys some of these, and others reorder what stands around them.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def page(report: Report) -> str:
    """The report as a page: one HTML file that works offline."""
    return page_html(report, _assets())


def _json(report: Report) -> str:
    """The report as JSON of the same content that a terminal can show."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", to_json(report))


FORMS: Mapping[str, Callable[[Report], str]] = MappingProxyType(
    {"json": _json, "html": page, "md": markdown, "csv": scores_csv, "junit": junit_xml}
)
"""Name of a form to what makes it."""


@cache
def _assets() -> Assets:
    vendored = [(_PAGE / name).read_text("utf-8") for name in _VENDORED]
    own = "\n".join((_PAGE / name).read_text("utf-8") for name in _OWN)
    return Assets((_PAGE / "page.css").read_text("utf-8"), (*vendored, own))
