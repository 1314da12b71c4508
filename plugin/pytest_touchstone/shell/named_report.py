"""The report that somebody names: by its file, or as a run of the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_touchstone.annotations import Annotations
from pytest_touchstone.gate import Gate, Previous, gate_entries, parse
from pytest_touchstone.report.model import Report
from pytest_touchstone.report_file import read_report
from pytest_touchstone.run import report_again
from pytest_touchstone.settings import Settings
from pytest_touchstone.shell.project import project_settings
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.rows import run_ids
from pytest_touchstone.unusable import Unusable

LATEST = "latest"
NAMED = f"a report's .json file; or a run of the store: its id, or `{LATEST}`"
"""What a person may name, for the help of a command."""


class UnknownRun(Unusable):
    """A run that neither a file nor the store holds."""


def named_report(name: str, settings_file: str | None) -> Report:
    """The report in a file, or that of a run with the gates that it was held to.

    :param settings_file: what names the store; ``None`` for the default. A file needs none.
    :raises Unusable: where there is none, or several whose ids begin so.
    :raises SettingsError: where the settings cannot be read.
    """
    file = Path(name)
    if file.suffix == ".json" or file.is_file():
        return read_report(file)
    return _stored(project_settings(settings_file), name)


def _stored(settings: Settings, name: str) -> Report:
    store = Store(settings.store_url, create=False)
    try:
        found = run_ids(store, "" if name == LATEST else name)
    finally:
        store.close()
    if not found:
        raise UnknownRun(f"{name}: is no file, and the store holds no run whose id begins so")
    if len(found) > 1 and name != LATEST:
        raise UnknownRun(f"{name}: the ids of {len(found)} runs begin so: {', '.join(found[:5])}")
    report = report_again(settings, found[0], Annotations(()))
    if report is None:
        raise UnknownRun(f"{found[0]}: is not in the store any more")
    gates = [parse(text) for text in report["snapshot"]["settings"].get("gates") or ()]
    report["gates"] = gate_entries(gates, report, _previous(gates, settings))
    return report


def _previous(gates: Sequence[Gate], settings: Settings) -> Previous | None:
    """The report that some of a run's gates compare with, as the settings name it now."""
    if settings.previous is None or all(gate.reference != "previous" for gate in gates):
        return None
    return Previous(read_report(settings.previous), settings.previous.name)
