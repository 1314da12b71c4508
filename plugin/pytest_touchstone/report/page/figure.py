"""Figures as HTML: what is shown is rounded, what stands behind it is the report's own number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_touchstone.report.figures import NOTHING, not_applicable, number
from pytest_touchstone.report.model import Result
from pytest_touchstone.report.page.markup import Html, Node, markup, tag, untrusted


def figure(value: float | None, digits: int, *, signed: bool = False) -> Html:
    """A number with so many decimals."""
    if value is None:
        return tag("span", NOTHING, class_="nothing")
    return tag("data", number(value, digits, signed=signed), value=repr(value))


def whole(value: int) -> Html:
    """A count, with thousands set apart."""
    return tag("data", f"{value:,}", value=str(value))


def interval(ci: Sequence[float] | None, digits: int, *, signed: bool = False) -> Html | None:
    """An interval."""
    if ci is None:
        return None
    low, high = (figure(end, digits, signed=signed) for end in ci)
    return tag("span", "[", low, ", ", high, "]", class_="ci")


def mean(result: Result | None, digits: int) -> Node:
    """A mean with its interval, or why there is none."""
    if result is None:
        return tag("span", NOTHING, class_="nothing")
    if result["estimate"] is None:
        return tag("span", "n/a" if not_applicable(result) else "unscored", class_="nothing")
    return [figure(result["estimate"], digits), " ", interval(result["ci"], digits)]


def counts(found: Mapping[str, int]) -> Node:
    """Reasons with their numbers."""
    return [
        tag("span", untrusted(name), " ", whole(number), class_="reason")
        for name, number in found.items()
    ]


def dollars(value: float | None) -> Html:
    """An amount, or that it is not known."""
    return tag("span", "not known", class_="nothing") if value is None else figure(value, 4)


def table(
    caption: str, header: Sequence[Node], bodies: Sequence[Node], *, class_: str = ""
) -> Html:
    """A table that scrolls within itself where the page is narrow.

    :param bodies: rows, or whole bodies.
    """
    head = tag("thead", tag("tr", [tag("th", cell, scope="col") for cell in header]))
    inner = tag("table", tag("caption", caption), head, bodies, class_=class_)
    return tag("div", inner, class_="scroll", tabindex=0, role="group", aria_label=caption)


def row(name: Node, cells: Sequence[Node], *, class_: str | None = None) -> Html:
    """A row whose first cell is its header."""
    head = tag("th", name, scope="row")
    return tag("tr", head, [tag("td", cell) for cell in cells], class_=class_)


def section(name: str, title: str, *children: Node) -> Html | None:
    """A part of the page with its heading; none where there is nothing in it."""
    inner = markup(children)
    if not inner:
        return None
    heading = tag("h2", title, id=f"{name}-title")
    return tag("section", heading, inner, id=name, aria_labelledby=f"{name}-title")


def disclosure(summary: str, *children: Node, opened: bool = False) -> Html:
    """What is read on demand."""
    return tag("details", tag("summary", summary), children, open=opened)
