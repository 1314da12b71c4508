"""A report as GitHub-flavoured Markdown: what a reviewer sees beside a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from pytest_touchstone.report.display import printable
from pytest_touchstone.report.figures import (
    compared,
    count,
    decimals,
    delta,
    detectable,
    ends,
    number,
    score,
    shown,
    step_rows,
)
from pytest_touchstone.report.model import GateEntry, MeasureEntry, Report
from pytest_touchstone.report.notes import notes, warnings
from pytest_touchstone.report.table import headline
from pytest_touchstone.report.verdict import standing, verdict

_LONGEST = 500
_READ = 20
_MARKS = {"better": "▲ ", "worse": "▼ ", "undecided": "○ "}
_GATES = {
    "pass": "✅ passed",
    "fail": "❌ failed",
    "undecided": "❔ undecided",
    "not_run": "➖ not run",
}
# What means something to GitHub within a line, or at its start.
_SPECIAL = re.compile(r"([\\`*\[\]|~$!]|(?<![^\W_])_|_(?![^\W_])|:(?=\S))")
_AT_START = re.compile(r"^(\s*\d*)([+\-](?=[\s-])|[=#]|(?<=\d)[.)](?=\s|$))")
# A name behind `@` would call somebody, a number behind `#` link somewhere, an address be a link;
# a comment within them is not seen.
_CALLING = re.compile(r"((?<!\w)@(?=\w)|#(?=\d)|\bwww(?=\.))")


def markdown(report: Report) -> str:
    """The report in Markdown: verdict, doubts, gates, scores, steps, types, and what to read."""
    parts = [
        f"## {escaped(_title(report))}",
        f"**{escaped(str(verdict(report)))}**",
        *(f"> ⚠️ {escaped(line)}" for line in warnings(report)),
        *_gates(report),
        *_scores(report),
        *_steps(report),
        *_types(report),
        *_reading(report),
        f"{escaped(headline(report))}, results `{report['snapshot']['results_sha256'][:12]}`",
    ]
    return "\n\n".join(parts) + "\n"


def escaped(text: str, limit: int = _LONGEST) -> str:
    """A text that Markdown shows as it stands, in one line of at most so many columns."""
    shown = _SPECIAL.sub(r"\\\1", printable(text, limit))
    shown = escape(_AT_START.sub(r"\1\\\2", shown), quote=False)
    return _CALLING.sub(r"\1<!-- -->", shown)


def _title(report: Report) -> str:
    roles = report["snapshot"]["roles"]
    against = f" against {roles['baseline']}" if compared(report) else ""
    return f"{roles['system']}{against}"


def table(rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already; the first row is the header."""
    header, *body = rows
    lines = [header, [" --- "] * len(header), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def more(summary: str, *parts: str) -> str:
    """What is read on demand; all of it is Markdown already."""
    inner = "\n\n".join(parts)
    return f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>"


def _gates(report: Report) -> Iterator[str]:
    if report["gates"]:
        rows = (_gate(entry) for entry in report["gates"])
        yield table([["Gate", "Outcome", "Value", "Why"], *rows])


def _gate(entry: GateEntry) -> list[str]:
    value = "-" if entry["value"] is None else number(entry["value"], 4) + ends(entry["ci"], 4)
    why = escaped(entry["why"])
    return [escaped(entry["expression"]), _GATES[entry["outcome"]], escaped(value), why]


def _scores(report: Report) -> Iterator[str]:
    beside = compared(report)
    level = f"({100 * report['snapshot']['confidence']:g}% CI)"
    header = ["Measure", f"Score {level}"]
    header += ["Baseline", f"Δ {level}", "p", "Detects"] if beside else []
    yield table(
        [
            [*header, "n"],
            *(_score(entry, report, beside) for entry in filter(shown, report["measures"])),
        ]
    )
    if beside:
        yield (
            "<sub>▲ better, ▼ worse, ○ undecided: against chance, with p corrected for the number"
            " of measures (Holm).</sub>"
        )


def _score(entry: MeasureEntry, report: Report, beside: bool) -> list[str]:
    digits = decimals(entry)
    found = entry["delta"]
    cells = [score(entry["system"], digits, interval=True)]
    if beside:
        p = None if found is None else found["p_adjusted"]
        cells += [
            score(entry["baseline"], digits, interval=True),
            delta(entry, digits),
            "-" if p is None else number(p, 4),
            detectable(found, digits),
        ]
    cells.append(count(entry["system"], found))
    shown = [escaped(cell) for cell in cells]
    mark = _MARKS.get(standing(entry, report["snapshot"]["confidence"]) or "", "")
    if beside:
        shown[2] = mark + shown[2]
    return [escaped(entry["title"]), *shown]


def _steps(report: Report) -> Iterator[str]:
    if report["snapshot"]["roles"]["variants"]:
        steps = table([escaped(cell) for cell in row] for row in step_rows(report))
        yield more("What each step brings", steps)


def _types(report: Report) -> Iterator[str]:
    types = list(dict.fromkeys(name for entry in report["measures"] for name in entry["by_type"]))
    if not types:
        return
    rows = [["Measure", *(escaped(name.replace("_", " ")) for name in types)]]
    for entry in filter(shown, report["measures"]):
        row = [escaped(entry["title"])]
        for name in types:
            result = entry["by_type"].get(name)
            text = score(result, decimals(entry), interval=True)
            row.append(escaped(text if result is None else f"{text} n = {result['n']}"))
        rows.append(row)
    yield more("By type of question", table(rows))


def _reading(report: Report) -> Iterator[str]:
    lines = [f"* {escaped(line.strip())}" for line in notes(report)]
    if lines:
        yield "\n".join(lines)
    low = report["findings"]["low"]
    rows = [
        [
            escaped(entry["case"]),
            escaped(entry["measure"]),
            escaped(number(entry["value"], 2)),
            escaped(entry["why"]),
        ]
        for entry in low[:_READ]
    ]
    if rows:
        rest = [f"{len(low) - _READ} more in the report."] if len(low) > _READ else []
        scores = table([["Case", "Measure", "Score", "Why"], *rows])
        yield more("Scores beyond a floor", scores, *rest)
