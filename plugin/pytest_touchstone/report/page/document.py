"""The page as one file that asks for nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_touchstone.report.cases import case_numbers
from pytest_touchstone.report.figures import compared
from pytest_touchstone.report.model import Report
from pytest_touchstone.report.page.breakdown import by_type, gates, ladder
from pytest_touchstone.report.page.data import packed, page_data
from pytest_touchstone.report.page.expenses import costs, origins
from pytest_touchstone.report.page.judging import judging
from pytest_touchstone.report.page.markup import Html, tag
from pytest_touchstone.report.page.reading import reading_lists
from pytest_touchstone.report.page.results import doubts, scores, top

PLOT_STYLE = """:where(.plot-d6a7b5) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.plot-d6a7b5 text),
:where(.plot-d6a7b5 tspan) {
  white-space: pre;
}"""
"""What Observable Plot puts into every chart; the page's policy names it by its hash."""

_PARTS = {
    "warnings": "Warnings",
    "scores": "Scores",
    "ladder": "Steps",
    "types": "By type",
    "gates": "Gates",
    "cost": "Cost",
    "judge": "Judge",
    "reading": "To read",
    "cases": "Cases",
    "snapshot": "Made of",
}


@dataclass(frozen=True, slots=True)
class Assets:
    """What the page is made of beside the report.

    :param style: one style sheet.
    :param scripts: in the order in which they run.
    """

    style: str
    scripts: Sequence[str]


_DATA = Html("<the-data>")
"""Where the packed data comes in; no text can hold it, since texts are escaped."""


def page_pieces(report: Report, assets: Assets) -> Iterator[str]:
    """A report as a page, in pieces: one HTML file that works offline.

    All text of the report is untrusted. What stands in the page is escaped, what the scripts show
    is packed JSON that they put into text nodes, and the page's own content security policy lets no
    other script or style run and nothing be fetched.
    """
    numbers = case_numbers(report)
    parts = [
        doubts(report),
        scores(report),
        ladder(report),
        by_type(report),
        gates(report),
        costs(report),
        judging(report, numbers),
        reading_lists(report, numbers),
        _cases(len(numbers)),
        origins(report),
    ]
    main = Html("\n".join(part for part in parts if part is not None))
    there = [name for name in _PARTS if f'<section id="{name}"' in main]
    body = tag(
        "body",
        tag("a", "Skip to the scores", href="#scores", class_="skip"),
        top(report),
        _contents(there),
        tag("main", main),
        tag("footer", f"pytest-touchstone {report['snapshot']['plugin_version']}"),
        tag("script", _DATA, type="application/octet-stream", id="data"),
        [tag("script", Html(script)) for script in assets.scripts],
    )
    roles = report["snapshot"]["roles"]
    against = f" against {roles['baseline']}" if compared(report) else ""
    title = f"{roles['system']}{against}: evaluation report"
    before, behind = document(title, body, assets).split(_DATA)
    yield before
    # By itself: within the page it would be copied again and again, at twice the size.
    yield packed(page_data(report))
    yield behind


def document(title: str, body: Html, assets: Assets) -> str:
    """A file that asks for nothing from anywhere, and runs nothing but these assets."""
    return f"<!doctype html>\n{tag('html', _head(title, assets), body, lang='en')}\n"


def _head(title: str, assets: Assets) -> Html:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(assets)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", Html(assets.style)),
    )


def _policy(assets: Assets) -> str:
    """Nothing but these very scripts and styles (W3C, Content Security Policy Level 3)."""
    scripts = " ".join(map(_hash, assets.scripts))
    styles = " ".join(map(_hash, (assets.style, PLOT_STYLE)))
    return (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _contents(there: Sequence[str]) -> Html:
    items = [tag("li", tag("a", _PARTS[name], href=f"#{name}")) for name in there]
    return tag("nav", tag("ul", items), aria_label="Parts of this page")


def _cases(number: int) -> Html:
    """The frame of the list of cases; the scripts fill it."""
    return tag(
        "section",
        tag("h2", "Cases", id="cases-title"),
        tag(
            "form",
            _control(
                "search", "Search", tag("input", type="search", id="search", autocomplete="off")
            ),
            _control("type", "Type", tag("select", id="type")),
            _control("outcome", "Outcome", tag("select", id="outcome")),
            _control("measure", "Measure", tag("select", id="measure")),
            _control("order", "Order", tag("select", id="order")),
            tag("button", "Reset", type="reset"),
            id="filters",
            role="search",
            aria_label="Find cases",
        ),
        tag("p", id="found", role="status", aria_live="polite"),
        tag("div", id="list"),
        tag(
            "noscript",
            tag(
                "p", f"The {number} cases need scripts to be shown; the report's JSON has them too."
            ),
        ),
        id="cases",
        aria_labelledby="cases-title",
    )


def _control(name: str, label: str, control: Html) -> Html:
    return tag("div", tag("label", label, for_=name), control, class_="control")
