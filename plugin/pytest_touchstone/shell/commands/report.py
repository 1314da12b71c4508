"""`touchstone report`: a report in the form that its reader needs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_touchstone.annotations import Annotations
from pytest_touchstone.forms import FORMS
from pytest_touchstone.gate import Gate, Previous, gate_entries, parse
from pytest_touchstone.report.model import Report
from pytest_touchstone.report_file import read_report
from pytest_touchstone.run import report_again
from pytest_touchstone.settings import Settings
from pytest_touchstone.settings_file import SettingsError, load_settings
from pytest_touchstone.shell.plugin import DEFAULT_SETTINGS
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.rows import run_ids
from pytest_touchstone.unusable import Unusable

_LATEST = "latest"


class _UnknownRun(Unusable):
    """A run that neither a file nor the store holds."""


def add(commands: Any) -> None:
    """Describe the command."""
    report = commands.add_parser(
        "report",
        help="show a report as a page, as Markdown, CSV or JUnit XML",
        description="Write a report in another form.",
    )
    report.add_argument(
        "run",
        metavar="RUN",
        help=f"a report's .json file; or a run of the store: its id, or `{_LATEST}`",
    )
    report.add_argument(
        "--format", choices=list(FORMS), default="md", help="default: md, for reading"
    )
    report.add_argument("--output", metavar="FILE", type=Path, help="default: standard output")
    report.add_argument("--settings", metavar="FILE", help=f"default: {DEFAULT_SETTINGS}")
    report.set_defaults(command=_report)


def _report(options: argparse.Namespace) -> int:
    """Write the report; the exit code is one of pytest's."""
    try:
        text = FORMS[options.format](_found(options))
        if options.output is not None:
            options.output.write_bytes(text.encode())
    except (Unusable, SettingsError) as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(f"{error.filename}: {error.strerror}")
    if options.output is None:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()
    return int(pytest.ExitCode.OK)


def _refuse(message: str) -> int:
    sys.stderr.write("".join(f"touchstone: {line}\n" for line in message.splitlines()))
    return int(pytest.ExitCode.USAGE_ERROR)


def _found(options: argparse.Namespace) -> Report:
    file = Path(options.run)
    if file.suffix == ".json" or file.is_file():
        return read_report(file)
    return _stored(load_settings(Path(options.settings or DEFAULT_SETTINGS)), options.run)


def _stored(settings: Settings, name: str) -> Report:
    """The report of a run in the store, with the gates that it was held to.

    :raises _UnknownRun: where the store holds no such run, or several.
    """
    store = Store(settings.store_url, create=False)
    try:
        found = run_ids(store, "" if name == _LATEST else name)
    finally:
        store.close()
    if not found:
        raise _UnknownRun(f"{name}: is no file, and the store holds no run whose id begins so")
    if len(found) > 1 and name != _LATEST:
        raise _UnknownRun(f"{name}: the ids of {len(found)} runs begin so: {', '.join(found[:5])}")
    report = report_again(settings, found[0], Annotations(()))
    if report is None:
        raise _UnknownRun(f"{found[0]}: is not in the store any more")
    gates = [parse(text) for text in report["snapshot"]["settings"].get("gates") or ()]
    report["gates"] = gate_entries(gates, report, _previous(gates, settings))
    return report


def _previous(gates: Sequence[Gate], settings: Settings) -> Previous | None:
    """The report that some of a run's gates compare with, as the settings name it now."""
    if settings.previous is None or all(gate.reference != "previous" for gate in gates):
        return None
    return Previous(read_report(settings.previous), settings.previous.name)
