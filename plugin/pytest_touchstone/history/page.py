"""A history as a page: one HTML file that works offline, in the look of a report's page.

All text is untrusted: what stands in the page is escaped, and the charts put it into text nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_touchstone.history.series import Point, Series
from pytest_touchstone.history.text import count, data, level, name
from pytest_touchstone.report.page.data import packed
from pytest_touchstone.report.page.document import Assets, document
from pytest_touchstone.report.page.figure import disclosure, figure, interval, row, section, table
from pytest_touchstone.report.page.markup import Html, Node, tag, untrusted


def page_html(found: Sequence[Series], remarks: Sequence[str], assets: Assets) -> str:
    """The history as a page.

    :param remarks: what else there is to say of the runs, a sentence each.
    """
    runs = dict.fromkeys(point.run for series in found for point in series.points)
    about = f"{len(found)} measures over {len(runs)} runs"
    sections = [section(f"measures-{n}", title, inner) for n, (title, inner) in _parts(found)]
    body = tag(
        "body",
        tag("a", "Skip to the measures", href="#measures-0", class_="skip"),
        tag(
            "header",
            tag("h1", "History"),
            tag("p", about, class_="verdict"),
            [tag("p", untrusted(remark), class_="quiet") for remark in remarks],
            tag(
                "p",
                "A rule marks a run before which something that the measure rests on was changed;"
                " a hollow point is over a part of the questions, and not to be compared with"
                " others.",
                class_="quiet",
            ),
            class_="top",
        ),
        tag("main", sections),
        tag("script", Html(packed(data(found))), type="application/octet-stream", id="data"),
        [tag("script", Html(script)) for script in assets.scripts],
    )
    return document("History of runs", body, assets)


def _parts(found: Sequence[Series]) -> Iterator[tuple[int, tuple[str, Node]]]:
    """The measures of each dimension, with their place among all."""
    dimensions: dict[str, list[tuple[int, Series]]] = {}
    for place, series in enumerate(found):
        dimensions.setdefault(series.dimension, []).append((place, series))
    for number, (dimension, members) in enumerate(dimensions.items()):
        title = dimension.replace("_", " ").capitalize()
        charts = tag(
            "div",
            [tag("div", data_series=str(place), class_="chart") for place, _ in members],
            class_="charts",
        )
        tables = [disclosure(f"{series.title}: figures", _table(series)) for _, series in members]
        yield number, (title, [charts, tables])


def _table(series: Series) -> Html:
    header = ["Started", f"Score ({level(series)})", "n", "Commit", "System", "Run", "Note"]
    rows = [_row(point, series.digits) for point in series.points]
    return table(f"{series.title} by run", header, [tag("tbody", rows)], class_="fine")


def _row(point: Point, digits: int) -> Html:
    notes = [f"≠ {point.part}"] if point.part else []
    notes += [f"changed: {'; '.join(point.changed)}"] if point.changed else []
    return row(
        point.started_at[:16].replace("T", " "),
        [
            [figure(point.estimate, digits), " ", interval(point.ci, digits)],
            count(point),
            untrusted((point.commit or "-")[:7]),
            untrusted(point.system),
            untrusted(name(point)),
            [tag("div", untrusted(note)) for note in notes],
        ],
    )
