"""`touchstone gate`: conditions held to a report that is there already, without judging again."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_touchstone.gate import (
    GateError,
    Previous,
    Treatment,
    gate_entries,
    gate_lines,
    parse,
    turns_red,
    workflow_commands,
)
from pytest_touchstone.report.model import Report
from pytest_touchstone.report_file import read_report

_TREATMENTS = ("warn", "fail")


def add(commands: Any) -> None:
    """Describe the command."""
    gate = commands.add_parser(
        "gate",
        help="hold a report to conditions",
        description="Hold a report to conditions; exit 0 where all are met, 1 where one fails,"
        " 4 where something cannot be read.",
    )
    gate.add_argument("report", metavar="REPORT", type=Path, help="a report's .json file")
    gate.add_argument("gates", metavar="EXPR", nargs="*", help="e.g. 'Recall@5 >= 0.7'")
    gate.add_argument(
        "--previous", metavar="FILE", type=Path, help="the report that gates call `previous`"
    )
    for outcome, what in (("undecided", "the data leave open"), ("not_run", "cannot be held")):
        gate.add_argument(
            f"--{outcome.replace('_', '-')}",
            choices=_TREATMENTS,
            help=f"what a gate does that {what}; default: as in the report's settings",
        )
    gate.set_defaults(command=_gate)


def _gate(options: argparse.Namespace) -> int:
    """Print one line per gate; the exit code is one of pytest's."""
    gates = [parse(text) for text in options.gates]
    if not gates:
        raise GateError("nothing to hold the report to: write gates behind its name")
    against = [gate for gate in gates if gate.reference == "previous"]
    if against and options.previous is None:
        raise GateError(f"the gate `{against[0]}` needs --previous=FILE, the earlier report")
    report = read_report(options.report)
    previous = Previous(read_report(options.previous), options.previous.name) if against else None
    treatment = _treatment(options, report)
    entries = gate_entries(gates, report, previous)
    lines = gate_lines(entries, treatment)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        lines += workflow_commands(entries, treatment)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    red = any(turns_red(entry, treatment) for entry in entries)
    return int(pytest.ExitCode.TESTS_FAILED if red else pytest.ExitCode.OK)


def _treatment(options: argparse.Namespace, report: Report) -> dict[str, Treatment]:
    settings = report["snapshot"]["settings"]
    return {
        outcome: getattr(options, outcome) or settings.get(outcome, "warn")
        for outcome in ("undecided", "not_run")
    }
