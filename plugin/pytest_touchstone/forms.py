"""The forms of report, comparison and history, as text, with the files they are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from pytest_touchstone import comparing, history
from pytest_touchstone.comparing import Comparison
from pytest_touchstone.history import Series
from pytest_touchstone.report.junit import junit_xml
from pytest_touchstone.report.markdown import markdown
from pytest_touchstone.report.model import Report, to_json
from pytest_touchstone.report.page import Assets, page_pieces
from pytest_touchstone.report.spreadsheet import scores_csv

_PAGE = Path(__file__).with_name("report") / "page"
_VENDORED = ("vendor/d3.min.js", "vendor/plot.min.js")
_OWN = ("text.js", "charts.js", "case.js", "cases.js")
_OF_A_HISTORY = ("text.js", "charts.js", "history.js")
# A terminal obeys some of these, and others reorder what stands around them.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def page(report: Report) -> Iterator[str]:
    """The report as a page, in pieces: one HTML file that works offline."""
    return page_pieces(report, _assets())


def _page(report: Report) -> str:
    return "".join(page(report))


def _json(report: Report | Mapping[str, object]) -> str:
    """The report as JSON of the same content that a terminal can show."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", to_json(report))


def _comparison_page(found: Comparison) -> str:
    return comparing.page_html(found, _assets().style)


def _comparison_json(found: Comparison) -> str:
    return _json(comparing.data(found))


FORMS: Mapping[str, Callable[[Report], str]] = MappingProxyType(
    {"json": _json, "html": _page, "md": markdown, "csv": scores_csv, "junit": junit_xml}
)
"""Name of a form to what makes it."""

COMPARISON_FORMS: Mapping[str, Callable[[Comparison], str]] = MappingProxyType(
    {"json": _comparison_json, "html": _comparison_page, "md": comparing.markdown}
)
"""The same for a comparison of reports; on a terminal it is text."""


def _history_page(found: Sequence[Series], remarks: Sequence[str]) -> str:
    return history.page_html(found, remarks, _assets(_OF_A_HISTORY))


def _history_json(found: Sequence[Series], _: Sequence[str]) -> str:
    return _json(history.data(found))


def _history_csv(found: Sequence[Series], _: Sequence[str]) -> str:
    return history.csv_text(found)


HISTORY_FORMS: Mapping[str, Callable[[Sequence[Series], Sequence[str]], str]] = MappingProxyType(
    {"json": _history_json, "html": _history_page, "csv": _history_csv}
)
"""The same for measures over several runs, and remarks on the runs, a sentence each."""


@cache
def _assets(scripts: tuple[str, ...] = _OWN) -> Assets:
    vendored = [(_PAGE / name).read_text("utf-8") for name in _VENDORED]
    own = "\n".join((_PAGE / name).read_text("utf-8") for name in scripts)
    return Assets((_PAGE / "page.css").read_text("utf-8"), (*vendored, own))
