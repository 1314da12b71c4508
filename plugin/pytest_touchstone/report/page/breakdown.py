"""The measures taken apart: by step, by type of question, and held to gates."""

from __future__ import annotations

from pytest_touchstone.report.figures import compared, decimals, shown, step_results, steps
from pytest_touchstone.report.model import Delta, GateEntry, MeasureEntry, Report, Result
from pytest_touchstone.report.page.figure import (
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

_SHADES = 9
_GATES = {"pass": "passed", "fail": "failed", "undecided": "undecided", "not_run": "not run"}


def ladder(report: Report) -> Html | None:
    """What each step from the baseline to the system brings."""
    if not report["snapshot"]["roles"]["variants"]:
        return None
    names = steps(report)
    rows = []
    for entry in filter(shown, report["measures"]):
        digits = decimals(entry)
        results = step_results(entry, report)
        cells: list[Node] = []
        for place, result in enumerate(results):
            before = results[place - 1] if place else None
            cells.append([mean(result, digits), _gain(before, result, digits)])
        rows.append(row(untrusted(entry["title"]), cells))
    return section(
        "ladder",
        "What each step brings",
        tag("div", id="steps", class_="charts small"),
        table(
            "Scores from the baseline to the system, one ingredient more at each step",
            ["Measure", *map(untrusted, names)],
            [tag("tbody", rows)],
        ),
        tag("p", "Below each score: the change from the step before.", class_="quiet"),
        _against_baseline(report),
    )


def _against_baseline(report: Report) -> Html | None:
    """Every step's difference to the baseline, with its interval."""
    if not compared(report):
        return None
    variants = report["snapshot"]["roles"]["variants"]
    rows = []
    for entry in filter(shown, report["measures"]):
        found = [entry["variants"].get(name) for name in variants]
        deltas = [*(variant and variant["delta"] for variant in found), entry["delta"]]
        rows.append(row(untrusted(entry["title"]), [_delta(one, entry) for one in deltas]))
    header = ["Measure", *map(untrusted, [*variants, report["snapshot"]["roles"]["system"]])]
    return disclosure(
        "Each step against the baseline",
        table("Steps against the baseline", header, [tag("tbody", rows)], class_="fine"),
    )


def _delta(delta: Delta | None, entry: MeasureEntry) -> Node:
    digits = decimals(entry)
    if delta is None:
        return figure(None, digits)
    return [
        figure(delta["estimate"], digits, signed=True),
        " ",
        interval(delta["ci"], digits, signed=True),
        " p ",
        figure(delta["p_adjusted"], 4),
    ]


def _gain(before: Result | None, result: Result | None, digits: int) -> Html | None:
    if before is None or result is None:
        return None
    if before["estimate"] is None or result["estimate"] is None:
        return None
    gained = result["estimate"] - before["estimate"]
    return tag("span", figure(gained, digits, signed=True), class_="gain")


def by_type(report: Report) -> Html | None:
    """Scores by type of question, as a heat map."""
    types = list(dict.fromkeys(name for entry in report["measures"] for name in entry["by_type"]))
    if not types:
        return None
    rows = []
    for entry in filter(shown, report["measures"]):
        cells = [_heat(entry, entry["by_type"].get(name)) for name in types]
        rows.append(tag("tr", tag("th", untrusted(entry["title"]), scope="row"), cells))
    return section(
        "types",
        "By type of question",
        table(
            "Mean and number of questions by type",
            ["Measure", *(name.replace("_", " ") for name in types)],
            [tag("tbody", rows)],
            class_="heat",
        ),
        tag(
            "p",
            "The bluer, the nearer to the best value of the measure; the more orange, the",
            " nearer to the worst.",
            class_="quiet",
        ),
    )


def _heat(entry: MeasureEntry, result: Result | None) -> Html:
    if result is None:
        return tag("td", tag("span", "-", class_="nothing"))
    low, high = entry["range"]
    shade = None
    value = result["estimate"]
    if value is not None and low is not None and high is not None:
        share = min(max((value - low) / (high - low), 0), 1)
        share = share if entry["higher_is_better"] else 1 - share
        shade = f"heat-{min(int(share * _SHADES), _SHADES - 1)}"
    n = tag("span", "n = ", whole(result["n"]), class_="n")
    return tag("td", mean(result, decimals(entry)), n, class_=shade)


def gates(report: Report) -> Html | None:
    """The conditions that the run had to meet."""
    if not report["gates"]:
        return None
    rows = [_gate(entry) for entry in report["gates"]]
    level = f"{100 * report['snapshot']['confidence']:g}% CI"
    return section(
        "gates",
        "Gates",
        table("Gates", ["Condition", "Outcome", f"Value ({level})", "Why"], [tag("tbody", rows)]),
    )


def _gate(entry: GateEntry) -> Html:
    outcome = entry["outcome"]
    return row(
        tag("code", entry["expression"], dir="auto"),
        [
            tag("span", _GATES[outcome], class_=f"gate gate-{outcome}"),
            [figure(entry["value"], 4), " ", interval(entry["ci"], 4)],
            untrusted(entry["why"]),
        ],
    )
