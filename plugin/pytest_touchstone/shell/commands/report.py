"""`touchstone report`: a report in the form that its reader needs."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

from pytest_touchstone.forms import FORMS
from pytest_touchstone.report.case_text import case_lines
from pytest_touchstone.report.model import Report
from pytest_touchstone.shell.named_report import NAMED, named_report
from pytest_touchstone.shell.output import put
from pytest_touchstone.shell.plugin import DEFAULT_SETTINGS

_ELSEWHERE = (100, 24)  # columns and rows of what is no terminal


def add(commands: Any) -> None:
    """Describe the command."""
    report = commands.add_parser(
        "report",
        help="show a report as a page, as Markdown, CSV or JUnit XML",
        description="Write a report in another form.",
    )
    report.add_argument("run", metavar="RUN", help=NAMED)
    form = report.add_mutually_exclusive_group()
    form.add_argument(
        "--format", choices=list(FORMS), default="md", help="default: md, for reading"
    )
    form.add_argument("--case", metavar="CASE", help="this case alone, whole, as text")
    report.add_argument("--output", metavar="FILE", type=Path, help="default: standard output")
    report.add_argument("--settings", metavar="FILE", help=f"default: {DEFAULT_SETTINGS}")
    report.set_defaults(command=_report)


def _report(options: argparse.Namespace) -> int:
    """Write the report; the exit code is one of pytest's."""
    report = named_report(options.run, options.settings)
    text = FORMS[options.format](report) if options.case is None else _whole(report, options)
    return put(text, options.output, (options.run, options.settings or DEFAULT_SETTINGS))


def _whole(report: Report, options: argparse.Namespace) -> str:
    width = shutil.get_terminal_size(_ELSEWHERE).columns
    return "".join(f"{line}\n" for line in case_lines(report, options.case, width=width))
