"""The top of the page: verdict, doubts, the measures and how their figures were made."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_touchstone.report.figures import compared, count, decimals, shown
from pytest_touchstone.report.model import MeasureEntry, Report, Result
from pytest_touchstone.report.notes import missing, notes, warnings
from pytest_touchstone.report.page.figure import (
    counts,
    disclosure,
    figure,
    interval,
    mean,
    row,
    section,
    table,
    whole,
)
from pytest_touchstone.report.page.markup import Html, Node, tag, untrusted
from pytest_touchstone.report.table import headline
from pytest_touchstone.report.verdict import standing, verdict

_STANDINGS = {"better": ("▲", "better"), "worse": ("▼", "worse"), "undecided": ("○", "undecided")}


def top(report: Report) -> Html:
    """Title and verdict."""
    snapshot = report["snapshot"]
    said = verdict(report)
    about = [
        ("Run", snapshot["run"]["label"] or snapshot["run"]["id"][:12]),
        ("Started", snapshot["run"]["started_at"]),
        ("Commit", _commit(report)),
        ("Results", snapshot["results_sha256"][:12]),
    ]
    return tag(
        "header",
        tag("h1", "How good is ", untrusted(snapshot["roles"]["system"]), "?"),
        tag("p", untrusted(said.comparison), class_="verdict"),
        tag("p", said.gates, class_="verdict-gates") if said.gates else None,
        tag("p", untrusted(headline(report)), class_="quiet"),
        _definitions(about, class_="about"),
        class_="top",
    )


def _commit(report: Report) -> str:
    snapshot = report["snapshot"]
    dirty = " with uncommitted changes" if snapshot["dirty"] else ""
    return (snapshot["commit"] or "unknown")[:12] + dirty


def _definitions(pairs: list[tuple[str, str]], *, class_: str) -> Html:
    items = (tag("div", tag("dt", term), tag("dd", untrusted(text))) for term, text in pairs)
    return tag("dl", items, class_=class_)


def doubts(report: Report) -> Html | None:
    """What casts doubt on the scores themselves."""
    lines = [tag("li", untrusted(line)) for line in warnings(report)]
    return section("warnings", "Warnings", tag("ul", lines, class_="warnings") if lines else None)


def scores(report: Report) -> Html | None:
    """The measures with baseline and difference, and a chart of their intervals."""
    beside = compared(report)
    level = f"{100 * report['snapshot']['confidence']:g}% CI"
    header = ["Measure", f"Score ({level})"]
    header += [f"Baseline ({level})", f"Δ ({level})", "p", "Detects"] if beside else []
    bodies = [
        tag(
            "tbody",
            tag(
                "tr",
                tag("th", dimension.replace("_", " "), scope="rowgroup", colspan=len(header) + 2),
                class_="group",
            ),
            [_score_row(entry, report, beside) for entry in entries],
        )
        for dimension, entries in _by_dimension(report)
    ]
    return section(
        "scores",
        "Scores",
        tag("div", id="forest", class_="charts"),
        table("Scores of the system under test", [*header, "n", "Unscored"], bodies),
        tag(
            "p",
            "▲ better, ▼ worse, ○ undecided: the difference to the baseline, against chance, with p"
            " corrected for the number of measures (Holm). Detects: the true difference that such a"
            " set of questions would show in 80% of cases. n/a: the measure says nothing about the"
            " system; unscored: the score could not be obtained."
            if beside
            else "n/a: the measure says nothing about the system; unscored: the score could not be"
            " obtained.",
            class_="quiet",
        ),
        _methods(report),
        _remarks(report),
    )


def _by_dimension(report: Report) -> Iterator[tuple[str, list[MeasureEntry]]]:
    found: dict[str, list[MeasureEntry]] = {}
    for entry in filter(shown, report["measures"]):
        found.setdefault(entry["dimension"], []).append(entry)
    yield from found.items()


def _score_row(entry: MeasureEntry, report: Report, beside: bool) -> Html:
    digits = decimals(entry)
    cells: list[Node] = [mean(entry["system"], digits)]
    delta = entry["delta"]
    if beside:
        cells.append(mean(entry["baseline"], digits))
        if delta is None:
            cells += [mean(None, digits)] * 3
        else:
            found = standing(entry, report["snapshot"]["confidence"]) or "undecided"
            sign, word = _STANDINGS[found]
            cells += [
                [
                    tag("span", sign, class_=f"standing {found}", aria_hidden="true"),
                    tag("span", word, class_="unseen"),
                    " ",
                    figure(delta["estimate"], digits, signed=True),
                    " ",
                    interval(delta["ci"], digits, signed=True),
                ],
                figure(delta["p_adjusted"], 4),
                figure(delta["detectable"], digits),
            ]
    system = entry["system"]
    cells.append(_count(system, entry))
    cells.append(counts(missing(system)))
    better = "" if entry["higher_is_better"] else " ↓"
    about = tag("span", better, title="lower is better", class_="quiet") if better else None
    return row([untrusted(entry["title"]), about], cells)


def _count(system: Result | None, entry: MeasureEntry) -> Node:
    if system is None:
        return count(None, None)
    delta = entry["delta"]
    pairs = None
    if delta is not None and delta["pairs"] != system["n"]:
        pairs = tag("span", " (", whole(delta["pairs"]), " pairs)", class_="quiet")
    return [whole(system["n"]), pairs]


def _methods(report: Report) -> Html:
    rows = []
    for entry in filter(shown, report["measures"]):
        system, delta = entry["system"], entry["delta"]
        low, high = entry["range"]
        spread = f"{_end(low)} to {_end(high)}"
        better = "higher" if entry["higher_is_better"] else "lower"
        cells: list[Node] = [
            spread,
            better,
            system and system["ci_method"],
            system and whole(system["clusters"]),
            system and counts(system["origin"]),
            system and counts(system["unscored"]),
            delta and delta["ci_method"],
            delta and [figure(delta["p_value"], 4), " / ", figure(delta["p_adjusted"], 4)],
        ]
        rows.append(row(untrusted(entry["title"]), cells))
    header = [
        "Measure",
        "Range",
        "Better",
        "Interval by",
        "Clusters",
        "Origin of scores",
        "Without value",
        "Interval of Δ by",
        "p / adjusted",
    ]
    return disclosure(
        "How these figures were made",
        table("Methods behind the scores", header, [tag("tbody", rows)], class_="fine"),
    )


def _end(value: float | None) -> str:
    return "open" if value is None else f"{value:g}"


def _remarks(report: Report) -> Html | None:
    lines = [tag("li", untrusted(line.strip())) for line in notes(report)]
    return disclosure("What to note", tag("ul", lines), opened=True) if lines else None
