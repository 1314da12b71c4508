"""The table at the end of a session, made from the report alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_touchstone.report.display import display_width, padded, printable
from pytest_touchstone.report.model import Delta, EvaluationCost, MeasureEntry, Report, Result
from pytest_touchstone.score import NOT_APPLICABLE

_NOTHING = "-"
_GAP = "  "
_NARROWEST_FIRST_COLUMN = 20
_LONGEST_NAME = 24
_LONGEST_TITLE = 48
_LONGEST_LINE = 1000
_SHOWN = 3


def table_lines(report: Report, *, width: int) -> list[str]:
    """The measures with baseline and delta, the steps between the two, and what to look at.

    `n/a` is a measure that says nothing about a system, `unscored` one that could not be
    obtained, `-` that there is nothing to compare.  Text from systems is made safe to print.

    :param width: columns of the terminal; titles are cut to it, messages never.
    """
    parts = [
        _aligned(_score_rows(report), width),
        _aligned(_step_rows(report), width) if report["snapshot"]["roles"]["variants"] else [],
        [printable(line, _LONGEST_LINE) for line in _notes(report)],
    ]
    lines: list[str] = []
    for part in filter(None, parts):
        lines += ["", *part] if lines else part
    return lines


def _score_rows(report: Report) -> Iterator[list[str]]:
    snapshot = report["snapshot"]
    roles = snapshot["roles"]
    compared = roles["baseline"] not in (None, roles["system"])
    interval = f"({100 * snapshot['confidence']:g}% CI)"
    header = ["Measure", f"Score {interval}", "Baseline", f"Δ {interval}", "n"]
    yield header if compared else [*header[:2], header[-1]]
    for entry in report["measures"]:
        decimals = _decimals(entry)
        row = [entry["title"], _score(entry["system"], decimals, interval=True)]
        if compared:
            row += [_score(entry["baseline"], decimals), _delta(entry, decimals)]
        yield [*row, _count(entry["system"], entry["delta"])]


def _step_rows(report: Report) -> Iterator[list[str]]:
    roles = report["snapshot"]["roles"]
    baseline = [roles["baseline"]] if roles["baseline"] not in (None, roles["system"]) else []
    yield ["Steps", *(str(name) for name in (*baseline, *roles["variants"], roles["system"]))]
    for entry in report["measures"]:
        results: list[Result | None] = [entry["baseline"]] if baseline else []
        results += [entry["variants"].get(name) for name in roles["variants"]]
        decimals = _decimals(entry)
        cells = (_score(result, decimals) for result in (*results, entry["system"]))
        yield [entry["title"], *cells]


def _score(result: Result | None, decimals: int, *, interval: bool = False) -> str:
    if result is None:
        return _NOTHING
    if result["estimate"] is None:
        return "n/a" if _not_applicable(result) else "unscored"
    text = _number(result["estimate"], decimals)
    return text + _interval(result["ci"], decimals) if interval else text


def _delta(entry: MeasureEntry, decimals: int) -> str:
    delta: Delta | None = entry["delta"]
    if delta is None:
        sides = (entry["system"], entry["baseline"])
        return "n/a" if any(side and _not_applicable(side) for side in sides) else _NOTHING
    text = _number(delta["estimate"], decimals, signed=True)
    return text + _interval(delta["ci"], decimals, signed=True)


def _not_applicable(result: Result) -> bool:
    return result["n"] == 0 and set(result["unscored"]) <= {NOT_APPLICABLE}


def _unscored(result: Result | None) -> dict[str, int]:
    """Reasons that a person may want to do something about."""
    reasons = result["unscored"] if result else {}
    return {reason: count for reason, count in reasons.items() if reason != NOT_APPLICABLE}


def _count(result: Result | None, delta: Delta | None) -> str:
    """Questions that the mean is over; what is missing, and how many pairs where they are fewer."""
    if result is None:
        return _NOTHING
    missing = sum(_unscored(result).values())
    notes = [f"+{missing} unscored"] if missing else []
    if delta is not None and delta["pairs"] != result["n"]:
        notes.append(_plural(delta["pairs"], "pair"))
    return f"{result['n']} ({', '.join(notes)})" if notes else str(result["n"])


def _decimals(entry: MeasureEntry) -> int:
    """Two for a bounded range; otherwise four, or what two digits of the smallest mean need."""
    results = (entry["system"], entry["baseline"], *entry["variants"].values())
    means = [abs(result["estimate"] or 0) for result in results if result]
    smallest = min(filter(None, means), default=None)
    if entry["range"][1] is not None or smallest is None:
        return 2
    return min(max(4, 1 - math.floor(math.log10(smallest))), 12)


def _number(value: float, decimals: int, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    if abs(value) >= 1e9:
        return f"{value:{sign}.3g}"
    text = f"{value:{sign}.{decimals}f}"
    return text if float(text) else text.lstrip("+-")


def _interval(ci: Sequence[float] | None, decimals: int, *, signed: bool = False) -> str:
    if ci is None:
        return ""
    return f" [{', '.join(_number(end, decimals, signed=signed) for end in ci)}]"


def _aligned(rows: Iterator[list[str]], width: int) -> list[str]:
    """Left-aligned columns; where they are wider than the terminal, the titles give way."""
    cells = [
        [
            printable(row[0], _LONGEST_TITLE),
            *(printable(cell, _LONGEST_NAME * 2) for cell in row[1:]),
        ]
        for row in rows
    ]
    widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    if excess > 0:
        widths[0] = min(widths[0], max(widths[0] - excess, _NARROWEST_FIRST_COLUMN))
        cells = [[printable(row[0], widths[0]), *row[1:]] for row in cells]
    return [_GAP.join(map(padded, row, widths)).rstrip() for row in cells]


def _notes(report: Report) -> Iterator[str]:
    """One line per finding that a person must see."""
    findings = report["findings"]
    under_test = report["snapshot"]["roles"]["system"]
    yield from _other_ids(report)
    yield from _judging(report["cost"]["evaluation"])
    yield from _errors(report)
    if findings["low"]:
        counts = Counter(low["measure"] for low in findings["low"])
        yield f"Low: {_plural(len(findings['low']), 'score')} beyond a floor ({_tally(counts)})"
    for name, cases in (
        ("Silent failures", findings["silent_failures"]),
        ("Contradicted behaviours", findings["contradicted"]),
    ):
        own = [case for case in cases if case["system"] == under_test]
        others = Counter(case["system"] for case in cases if case["system"] != under_test)
        if own or others:
            first = f", the first: {own[0]['case']}" if own else ""
            beside = f" (beside it: {_tally(others)})" if others else ""
            yield f"{name}: {len(own)}{first}{beside}"
    for entry in report["measures"]:
        if reasons := _unscored(entry["system"]):
            example = _example(report, entry["measure"])
            yield f"Unscored: {entry['title']}: {_tally(reasons)}{example}"
    yield from _without_interval(report["measures"])


def headline(report: Report) -> str:
    """Which system was asked what, and beside what it stands."""
    snapshot = report["snapshot"]
    roles = snapshot["roles"]
    asked = len({case["case"] for case in report["cases"]})
    known = sum(snapshot["dataset"]["counts"].values())
    compared = roles["baseline"] not in (None, roles["system"])
    against = f" against {roles['baseline']}" if compared else ""
    line = f"{roles['system']}{against}: {asked} of {known} gold questions"
    return printable(f"{line} ({snapshot['dataset']['path']})", _LONGEST_LINE)


def _other_ids(report: Report) -> Iterator[str]:
    """A system that names its passages otherwise than the gold file finds nothing, ever."""
    under_test = report["snapshot"]["roles"]["system"]
    returned: dict[str, None] = {}
    gold: dict[str, None] = {}
    for case in report["cases"]:
        if case["system"] == under_test:
            returned.update(dict.fromkeys(passage["id"] for passage in case["passages"]))
            chunks: Any = case["gold"].get("gold_chunks", [])
            for chunk in chunks:
                named = [chunk] if isinstance(chunk, str) else [chunk["id"]]
                gold.update(dict.fromkeys(named))
    if returned and gold and not returned.keys() & gold.keys():
        yield (
            f"No passage that {under_test} returned has the id of a gold chunk: it returns ids like"
            f" {next(iter(returned))!r}, gold chunks are called {next(iter(gold))!r}"
        )


def _judging(cost: EvaluationCost) -> Iterator[str]:
    if not cost["calls"] and not cost["cache_hits"]:
        return
    usd = "cost unknown" if cost["usd"] is None else f"{cost['usd']:.4f} USD"
    unknown = f", {cost['unknown']} of unknown cost" if cost["unknown"] else ""
    calls = _plural(cost["calls"], "call")
    yield f"Judging: {calls}, {cost['cache_hits']} known already, {usd}{unknown}"


def _errors(report: Report) -> Iterator[str]:
    errors = report["findings"]["system_errors"]
    if not errors:
        return
    yield f"System errors: {len(errors)} ({_tally(Counter(error['system'] for error in errors))})"
    under_test = report["snapshot"]["roles"]["system"]
    for error in sorted(errors, key=lambda error: error["system"] != under_test)[:_SHOWN]:
        yield f"  {error['case']} ({error['system']}): {error['kind']}: {error['message']}"
    if len(errors) > _SHOWN:
        yield f"  and {len(errors) - _SHOWN} more in the report"


def _example(report: Report, measure: str) -> str:
    """Why the first case of the system under test has no score, in its own words."""
    under_test = report["snapshot"]["roles"]["system"]
    for case in report["cases"]:
        reason = case["reasons"].get(measure, NOT_APPLICABLE)
        missing = case["scores"].get(measure) is None and reason != NOT_APPLICABLE
        if case["system"] == under_test and missing:
            return f"; {case['case']}: {case['why'].get(measure, reason)}"
    return ""


def _without_interval(measures: Sequence[MeasureEntry]) -> Iterator[str]:
    methods: dict[str, list[str]] = {}
    for entry in measures:
        result = entry["system"]
        if result and result["estimate"] is not None and result["ci"] is None:
            methods.setdefault(result["ci_method"], []).append(entry["title"])
    for method, titles in methods.items():
        yield f"No interval ({method.removeprefix('none: ')}): {', '.join(titles)}"


def _tally(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
