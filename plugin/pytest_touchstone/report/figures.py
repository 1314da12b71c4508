"""Figures in words: what every form of a report shows of a number, so that all show the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pytest_touchstone.measures.base import counted
from pytest_touchstone.report.model import Delta, MeasureEntry, Report, Result
from pytest_touchstone.report.notes import missing
from pytest_touchstone.score import NO_SCORER, NOT_APPLICABLE

NOTHING = "-"
"""There is nothing to show, or to compare."""


def compared(report: Report) -> bool:
    """Whether the system under test stands beside a baseline other than itself."""
    roles = report["snapshot"]["roles"]
    return roles["baseline"] not in (None, roles["system"])


def steps(report: Report) -> list[str]:
    """The systems from the baseline to the one under test, one ingredient more at each step."""
    roles = report["snapshot"]["roles"]
    baseline = [str(roles["baseline"])] if compared(report) else []
    return [*baseline, *roles["variants"], roles["system"]]


def step_results(entry: MeasureEntry, report: Report) -> list[Result | None]:
    """What :func:`steps` got on one measure."""
    results: list[Result | None] = [entry["baseline"]] if compared(report) else []
    results += [entry["variants"].get(name) for name in report["snapshot"]["roles"]["variants"]]
    return [*results, entry["system"]]


def shown(entry: MeasureEntry) -> bool:
    """Whether a measure has a row: not where nobody named the scorer that it needs."""
    result = entry["system"]
    return result is None or result["n"] > 0 or NO_SCORER not in result["unscored"]


def score_rows(report: Report) -> Iterator[list[str]]:
    """The measures as rows of text, the header first."""
    beside = compared(report)
    interval = f"({100 * report['snapshot']['confidence']:g}% CI)"
    header = ["Measure", f"Score {interval}", "Baseline", f"Δ {interval}", "Detects", "n"]
    yield header if beside else [*header[:2], header[-1]]
    for entry in filter(shown, report["measures"]):
        digits = decimals(entry)
        row = [entry["title"], score(entry["system"], digits, interval=True)]
        if beside:
            row += [score(entry["baseline"], digits), delta(entry, digits)]
            row.append(detectable(entry["delta"], digits))
        yield [*row, count(entry["system"], entry["delta"])]


def step_rows(report: Report) -> Iterator[list[str]]:
    """The steps as rows of text, the header first."""
    yield ["Steps", *steps(report)]
    for entry in filter(shown, report["measures"]):
        digits = decimals(entry)
        cells = (score(result, digits) for result in step_results(entry, report))
        yield [entry["title"], *cells]


def score(result: Result | None, digits: int, *, interval: bool = False) -> str:
    """A mean, `n/a` where the measure says nothing about the system, or `unscored`."""
    if result is None:
        return NOTHING
    if result["estimate"] is None:
        return "n/a" if not_applicable(result) else "unscored"
    text = number(result["estimate"], digits)
    return text + ends(result["ci"], digits) if interval else text


def delta(entry: MeasureEntry, digits: int) -> str:
    """The difference to the baseline with its interval."""
    found: Delta | None = entry["delta"]
    if found is None:
        sides = (entry["system"], entry["baseline"])
        return "n/a" if any(side and not_applicable(side) for side in sides) else NOTHING
    text = number(found["estimate"], digits, signed=True)
    return text + ends(found["ci"], digits, signed=True)


def detectable(found: Delta | None, digits: int) -> str:
    """The smallest true difference that such a set of questions would show."""
    if found is None or found["detectable"] is None:
        return NOTHING
    return number(found["detectable"], digits)


def not_applicable(result: Result) -> bool:
    """Whether the measure says nothing about the system, on any question."""
    return result["n"] == 0 and set(result["unscored"]) <= {NOT_APPLICABLE}


def count(result: Result | None, found: Delta | None) -> str:
    """Questions that the mean is over; what is missing, and how many pairs where they are fewer."""
    if result is None:
        return NOTHING
    unscored = sum(missing(result).values())
    beside = [f"+{unscored} unscored"] if unscored else []
    if found is not None and found["pairs"] != result["n"]:
        beside.append(counted(found["pairs"], "pair"))
    return f"{result['n']} ({', '.join(beside)})" if beside else str(result["n"])


def decimals(entry: MeasureEntry) -> int:
    """Two for a bounded range; otherwise four, or what two digits of the smallest mean need."""
    results = (entry["system"], entry["baseline"], *entry["variants"].values())
    means = [abs(result["estimate"] or 0) for result in results if result]
    smallest = min(filter(None, means), default=None)
    if entry["range"][1] is not None or smallest is None:
        return 2
    return min(max(4, 1 - math.floor(math.log10(smallest))), 12)


def number(value: float, digits: int, *, signed: bool = False) -> str:
    """A value with so many decimals; 0 has no sign."""
    sign = "+" if signed else ""
    if abs(value) >= 1e9:
        return f"{value:{sign}.3g}"
    text = f"{value:{sign}.{digits}f}"
    return text if float(text) else text.lstrip("+-")


def ends(ci: Sequence[float] | None, digits: int, *, signed: bool = False) -> str:
    """An interval behind a mean."""
    if ci is None:
        return ""
    return f" [{', '.join(number(end, digits, signed=signed) for end in ci)}]"
