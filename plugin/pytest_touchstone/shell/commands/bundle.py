"""`touchstone bundle`: one file with everything that a report is made of."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_touchstone.bundling.collect import bundled
from pytest_touchstone.bundling.file import BundleError, packed, read_bundle
from pytest_touchstone.report_file import read_report
from pytest_touchstone.shell.output import NotReplaced
from pytest_touchstone.shell.plugin import DEFAULT_SETTINGS
from pytest_touchstone.shell.project import project_settings


def add(commands: Any) -> None:
    """Describe the command."""
    bundle = commands.add_parser(
        "bundle",
        help="pack what a report is made of into one file",
        description="Pack answers, verdicts, gold questions and prompts of a report's run into one"
        " file, from which `pytest --touchstone-replay` makes it again without network.",
    )
    bundle.add_argument("report", metavar="REPORT", type=Path, help="a report's .json file")
    bundle.add_argument(
        "--output", metavar="FILE", type=Path, help="default: beside the report, `.bundle.zip`"
    )
    bundle.add_argument("--settings", metavar="FILE", help=f"default: {DEFAULT_SETTINGS}")
    bundle.set_defaults(command=_bundle)


def _bundle(options: argparse.Namespace) -> int:
    """Write the file and say where; the exit code is one of pytest's."""
    output = options.output or options.report.with_suffix(".bundle.zip")
    _refuse_to_replace(output)
    settings = project_settings(options.settings)
    bundle, notices = bundled(read_report(options.report), settings)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(packed(bundle))
    lines = [f"note: {notice}" for notice in notices]
    lines.append(f"bundle: {output}; make the report again with --touchstone-replay={output}")
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return int(pytest.ExitCode.OK)


def _refuse_to_replace(output: Path) -> None:
    """A bundle may take the place of an older one, and of nothing else.

    :raises NotReplaced: where it would.
    """
    if not output.exists():
        return
    try:
        read_bundle(output)
    except BundleError as error:
        raise NotReplaced(
            f"{error}; a bundle replaces nothing but a bundle: name another file with --output"
        ) from None
