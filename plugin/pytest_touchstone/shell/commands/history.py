"""`touchstone history`: each measure over the runs of a store."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_touchstone.annotations import Annotations
from pytest_touchstone.forms import HISTORY_FORMS
from pytest_touchstone.history import RunFigures, Series, series_of, text_lines
from pytest_touchstone.measures.base import counted
from pytest_touchstone.nearest import hint
from pytest_touchstone.report.display import printable
from pytest_touchstone.run import report_again
from pytest_touchstone.settings import Settings
from pytest_touchstone.shell.output import put
from pytest_touchstone.shell.plugin import DEFAULT_SETTINGS
from pytest_touchstone.shell.project import project_settings
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.rows import run_ids
from pytest_touchstone.unusable import Unusable

_TEXT = "text"
_LONGEST = 1000
_NAMED = 5


class _NoHistory(Unusable):
    """A store without runs, or a measure that none of them took."""


def add(commands: Any) -> None:
    """Describe the command."""
    history = commands.add_parser(
        "history",
        help="each measure over the runs of a store, with what changed on the way",
        description="Each measure over the runs of the settings' store: estimate, interval, and"
        " marks where commit, models, dataset or prompts changed since the run before.",
    )
    history.add_argument(
        "--measure", metavar="NAME", action="append", help="only this one; repeatable"
    )
    history.add_argument(
        "--all", action="store_true", help="runs that did not come to their end too"
    )
    history.add_argument(
        "--format",
        choices=[_TEXT, *HISTORY_FORMS],
        default=_TEXT,
        help=f"default: {_TEXT}, for a terminal",
    )
    history.add_argument("--output", metavar="FILE", type=Path, help="default: standard output")
    history.add_argument("--store", metavar="URL", help="default: the settings' store")
    history.add_argument("--settings", metavar="FILE", help=f"default: {DEFAULT_SETTINGS}")
    history.set_defaults(command=_history)


def _history(options: argparse.Namespace) -> int:
    """Write the history."""
    store = {} if options.store is None else {"store": options.store}
    settings = project_settings(options.settings, store)
    named = options.settings or DEFAULT_SETTINGS
    return put(_written(settings, options), options.output, (named, settings.dataset))


def _written(settings: Settings, options: argparse.Namespace) -> str:
    runs = list(_runs(settings))
    if not runs:
        raise _NoHistory("the store holds no run yet")
    shown = [run for run in runs if options.all or run.finished]
    left_out = [run for run in runs if run not in shown]
    series = _chosen(series_of(shown), options.measure)
    remarks = _remarks(left_out)
    if options.format != _TEXT:
        return HISTORY_FORMS[options.format](series, remarks)
    # A file has no columns: its titles are not cut.
    width = shutil.get_terminal_size().columns if options.output is None else sys.maxsize
    lines = [*text_lines(series, width=width), *(["", *remarks] if remarks else [])]
    return "".join(f"{line}\n" for line in lines[1:])


def _runs(settings: Settings) -> Iterator[RunFigures]:
    """The oldest first."""
    store = Store(settings.store_url, create=False)
    try:
        ids = run_ids(store, "")
    finally:
        store.close()
    for run_id in reversed(ids):
        report = report_again(settings, run_id, Annotations(()))
        if report is not None:
            yield RunFigures.of(report)


def _remarks(left_out: Sequence[RunFigures]) -> list[str]:
    if not left_out:
        return []
    names = [run.snapshot["run"]["label"] or run.snapshot["run"]["id"][:12] for run in left_out]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    told = f"{counted(len(names), 'run')} left out, for not having come to the end"
    return [printable(f"{told} (--all shows them): {', '.join(names[:_NAMED])}{more}", _LONGEST)]


def _chosen(found: Sequence[Series], names: Sequence[str] | None) -> list[Series]:
    """The measures that were named.

    :raises _NoHistory: where no run took one of them.
    """
    known = {series.measure: series for series in found}
    for name in names or ():
        if name not in known:
            raise _NoHistory(f"--measure {name}: no run took it; {hint(name, list(known))}")
    return list(found) if names is None else [known[name] for name in names]
