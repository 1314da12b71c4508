"""What gates say: to a terminal, to GitHub, and whether they turn a run red."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from pytest_touchstone.report.display import printable
from pytest_touchstone.report.model import GateEntry

Treatment = Literal["warn", "fail"]
"""What becomes of a run with a gate that neither passed nor failed."""

_LONGEST = 1000
_LABELS = {"pass": "PASS", "fail": "FAIL", "undecided": "UNDECIDED", "not_run": "NOT RUN"}


def turns_red(entry: GateEntry, treatment: Mapping[str, Treatment]) -> bool:
    """Whether a gate's outcome makes the run fail.

    :param treatment: what `undecided` and `not_run` do.
    """
    return entry["outcome"] == "fail" or treatment.get(entry["outcome"]) == "fail"


def gate_lines(entries: Iterable[GateEntry], treatment: Mapping[str, Treatment]) -> list[str]:
    """One line per gate: outcome, condition, and the figures behind it."""
    lines = []
    for entry in entries:
        outcome = entry["outcome"]
        fails = treatment.get(outcome) == "fail"
        counts = f" (`{outcome}: fail` makes this a failure)" if fails else ""
        line = f"GATE {_LABELS[outcome]}: {_sentence(entry)}{counts}"
        lines.append(printable(line, _LONGEST))
    return lines


def workflow_commands(
    entries: Iterable[GateEntry], treatment: Mapping[str, Treatment]
) -> list[str]:
    """Workflow commands that show on a pull request: errors and warnings, nothing on a pass.

    The format is GitHub's: https://docs.github.com/actions/reference/workflow-commands
    """
    lines = []
    for entry in entries:
        if entry["outcome"] != "pass":
            level = "error" if turns_red(entry, treatment) else "warning"
            title = _escaped(f"Gate {_LABELS[entry['outcome']].lower()}", in_property=True)
            message = _escaped(printable(_sentence(entry), _LONGEST), in_property=False)
            lines.append(f"::{level} title={title}::{message}")
    return lines


def _sentence(entry: GateEntry) -> str:
    return f"{entry['expression']}: {entry['why']}"


def _escaped(text: str, *, in_property: bool) -> str:
    """Percent signs and line ends as GitHub reads them back; in a property `:` and `,` too."""
    marks = "%\r\n:," if in_property else "%\r\n"  # the percent sign first: the others add some
    for mark in marks:
        text = text.replace(mark, f"%{ord(mark):02X}")
    return text
