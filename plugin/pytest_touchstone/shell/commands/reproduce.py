"""`touchstone reproduce`: whether a report still comes out."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pytest_touchstone.report.display import printable
from pytest_touchstone.report.model import Report, report_name
from pytest_touchstone.report_file import read_report
from pytest_touchstone.reproducing.check import Item, after_a_run, checked
from pytest_touchstone.reproducing.here import without_project
from pytest_touchstone.reproducing.lines import check_lines, verdict_lines
from pytest_touchstone.reproducing.original import bundled_report, is_bundle
from pytest_touchstone.reproducing.verdict import reached
from pytest_touchstone.settings import Settings
from pytest_touchstone.settings_file import load_settings
from pytest_touchstone.shell.commands import run
from pytest_touchstone.shell.looking import Seen, interruptible, look
from pytest_touchstone.shell.named_report import NAMED, named_report
from pytest_touchstone.shell.plugin import DEFAULT_SETTINGS
from pytest_touchstone.shell.session import page_of
from pytest_touchstone.unusable import Unusable

_CAME_OUT, _DIFFERENT = range(2)
_TAKEN = ("system", "baseline", "split", "sample", "repeats", "budget", "gates")
"""Settings that a command line may have given: the run is told them as the report has them."""
_INSTRUMENTS = ("judge", "scorer")
"""Settings that only a variable may have given, and without which most measures are not taken."""
_FOLDER = "reproduced"
_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
_ALONE = "leave it out: the run is one of its own, in a new store"
_SAID_HERE = {
    "--touchstone-output": "write --output PATH before the report's name",
    "--touchstone-dataset": "write --dataset FILE before the report's name",
    "--touchstone-settings": "write --settings FILE before the report's name",
    "--touchstone-replay": "name the bundle in the place of the report",
    "--touchstone-plan": "write --check before the report's name",
    "--touchstone-resume": _ALONE,
    "--touchstone-join": _ALONE,
    "--touchstone-shards": _ALONE,
    "--touchstone-reuse-answers": _ALONE,
}
"""What a run must not be told beside what it is told here, and what to write instead."""


class _CannotReproduce(Unusable):
    """What a report needs is not here, or the run did not come to its end."""


def add(commands: Any) -> None:
    """Describe the command."""
    reproduce = commands.add_parser(
        "reproduce",
        help="check what a report was made of, make it again, and say whether it came out",
        description="Say for commit, dataset, settings and all else that a report rests on whether"
        " it still holds; then run again, or replay a bundle. Exit 0 where it came out again,"
        " identical or within the interval; 1 where it did not; 4 where that cannot be told.",
    )
    reproduce.add_argument("report", metavar="R", help=f"{NAMED}; or a bundle")
    reproduce.add_argument(
        "--check", action="store_true", help="run nothing; exit 1 where something does not hold"
    )
    reproduce.add_argument("--dataset", metavar="FILE", help="where the gold questions are now")
    reproduce.add_argument(
        "--output",
        metavar="PATH",
        type=Path,
        help=f"the new report: a .json file, or a folder; default: `{_FOLDER}` in the reports'",
    )
    reproduce.add_argument("--settings", metavar="FILE", help=f"default: {DEFAULT_SETTINGS}")
    reproduce.add_argument(
        "pytest", nargs="*", metavar="-- PYTEST", help="for the run, e.g. `-- -n 2`"
    )
    reproduce.set_defaults(command=_reproduce)


def _reproduce(options: argparse.Namespace) -> int:
    _refuse_words(options.pytest)
    try:
        with _terminated_as_interrupted():
            return _checked_and_made(options)
    except KeyboardInterrupt:
        raise _CannotReproduce("interrupted: the report was not made again") from None


def _checked_and_made(options: argparse.Namespace) -> int:
    file = Path(options.report)
    bundle = file if file.is_file() and is_bundle(file) else None
    report = bundled_report(bundle) if bundle else named_report(options.report, options.settings)
    project = _project(options, report, bundle)
    with _temporary_store(), _told(_as_reported(report, project)):
        seen = None
        if project is None:
            here = without_project(report, f"there is no {DEFAULT_SETTINGS} here")
        else:
            seen = look(_run_words(options, ["--dataset", str(project.dataset)], []), report)
            here = seen.here
        items = checked(report, here, _taken(report, project))
        run_id, started_at = (
            report["snapshot"]["run"]["id"],
            report["snapshot"]["run"]["started_at"],
        )
        _say([f"{options.report}: run {run_id[:12]} of {started_at}, against what is here:"])
        _say(check_lines(items))
        if options.check:
            _say(() if bundle or seen is None else seen.expected)
            return _DIFFERENT if any(item.standing == "differs" for item in items) else _CAME_OUT
        with _reserved(options.output or _reports(project) / _FOLDER, report) as target:
            again = _made_again(options, bundle, project, seen, target)
    return _judged(report, again, items, target, replayed=bundle is not None)


def _judged(
    report: Report, again: Report, items: Sequence[Item], target: Path, *, replayed: bool
) -> int:
    verdict = reached(report, again)
    items = items if replayed else after_a_run(items, report, again)
    width = shutil.get_terminal_size().columns
    _say([""])
    _say(verdict_lines(verdict, items, report, replayed=replayed, width=width))
    _say([f"made again: {target}"])
    return _DIFFERENT if verdict.word == "different" else _CAME_OUT


def _say(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _refuse_words(words: Sequence[str]) -> None:
    """Refuse what a run would be told twice, or of another run.

    :raises _CannotReproduce: naming what to write instead.
    """
    for word in words:
        option = word.partition("=")[0]
        if option in _SAID_HERE:
            raise _CannotReproduce(f"{option} behind `--`: {_SAID_HERE[option]}")


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """While this lasts, whoever ends the process by SIGTERM, as CI does, presses Ctrl-C."""
    alone = threading.current_thread() is threading.main_thread()
    if not alone or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def interrupt(*_: object) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


# -- what is here ---------------------------------------------------------------------------------


def _project(options: argparse.Namespace, report: Report, bundle: Path | None) -> Settings | None:
    """The settings here with the report's gold questions; ``None`` for a bundle far from them.

    :raises SettingsError: where they cannot be used.
    :raises _CannotReproduce: where the gold questions are not here.
    """
    file = Path(options.settings or DEFAULT_SETTINGS)
    there = options.settings is not None or file.is_file()
    if not there and bundle is not None:
        return None
    named = options.dataset or report["snapshot"]["dataset"]["path"]
    dataset = Path.cwd() / named
    if not dataset.is_file() and there and options.dataset is None:
        # Of a file outside the project a report has the name alone.
        beside = load_settings(file).dataset.parent / dataset.name
        dataset = beside if beside.is_file() else dataset
    if not dataset.is_file():
        raise _CannotReproduce(
            f"{named}: the gold questions of the report are not here; name them with --dataset"
        )
    return load_settings(file, overrides={"dataset": str(dataset)}, optional=not there)


def _reports(project: Settings | None) -> Path:
    return Path.cwd() / "reports" if project is None else project.reports


def _as_reported(report: Report, project: Settings | None) -> dict[str, Any]:
    """The settings of a run that a command line, or the environment, may have given."""
    settings = report["snapshot"]["settings"]
    taken = {name: settings[name] for name in _TAKEN if name in settings}
    for name in _INSTRUMENTS:
        if settings.get(name) and project is not None and getattr(project, name) is None:
            known = {key: value for key, value in settings[name].items() if value is not None}
            taken[name] = known
    if project is None or project.previous is None:
        # A report does not say which other one its gates compared it with.
        taken["gates"] = [gate for gate in taken.get("gates") or () if "previous" not in gate]
    return taken


def _taken(report: Report, project: Settings | None) -> list[str]:
    """What the run is told otherwise than the settings here say, a line each."""
    if project is None:
        return []
    here = project.public()
    return [
        f"{name} {_value(value)} (here: {_value(here[name])})"
        for name, value in _as_reported(report, project).items()
        if value != here[name]
    ]


def _value(value: Any) -> str:
    return "none" if value is None else printable(json.dumps(value, ensure_ascii=False), 200)


@contextmanager
def _told(settings: Mapping[str, Any]) -> Iterator[None]:
    """Settings as the environment gives them to a run and to all of its workers."""
    given = {
        f"TOUCHSTONE_{name.upper()}": value if isinstance(value, str) else json.dumps(value)
        for name, value in settings.items()
    }
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _temporary_store() -> Iterator[None]:
    """A store of the run's own: no answer is used again, and nothing of the past is touched."""
    folder = Path(tempfile.mkdtemp(prefix="touchstone-reproduce-"))
    try:
        with _told({"store": f"sqlite:///{folder / 'store.sqlite'}"}):
            yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# -- made again -----------------------------------------------------------------------------------


def _run_words(
    options: argparse.Namespace, words: Sequence[str], tests: Sequence[str]
) -> list[str]:
    """What `touchstone run` would say to pytest."""
    parser = argparse.ArgumentParser()
    run.add(parser.add_subparsers())
    settings = ["--settings", options.settings] if options.settings else []
    given = parser.parse_args(["run", *settings, *words, "--", *tests])
    return run.run_arguments(given, Path.cwd())


def _made_again(
    options: argparse.Namespace,
    bundle: Path | None,
    project: Settings | None,
    seen: Seen | None,
    target: Path,
) -> Report:
    """Run, or replay.

    :raises _CannotReproduce: where no whole report came of it.
    """
    if bundle is not None:
        without = argparse.Namespace(settings=None)
        words = ["--replay", str(bundle.resolve()), "--output", str(target)]
        arguments = _run_words(without, words, options.pytest)
    else:
        dataset, tests = (str(project.dataset), seen.tests) if project and seen else ("", ())
        words = ["--dataset", dataset, "--output", str(target)]
        arguments = _run_words(options, words, [*tests, *options.pytest])
    code = interruptible(arguments)
    if code not in _ENDED:
        raise _CannotReproduce(f"the run did not come to its end (exit code {code})")
    if _is_empty(target):
        raise _CannotReproduce("the run wrote no report: what stands behind `--` keeps it from it")
    return read_report(target)


@contextmanager
def _reserved(output: Path, report: Report) -> Iterator[Path]:
    """A file for the report that was not there, and whose page was not there, kept from others.

    :raises _CannotReproduce: where one was, and no other was left to choose.
    """
    target = _target(output, report).resolve()
    try:
        yield target
    finally:
        if _is_empty(target):
            target.unlink(missing_ok=True)


def _target(output: Path, report: Report) -> Path:
    if output.suffix == ".json":
        output.parent.mkdir(parents=True, exist_ok=True)
        if not _taken_hold_of(output):
            page = page_of(output)
            there = output if os.path.lexists(output) else page
            raise _CannotReproduce(f"{there}: is there already; name another file")
        return output
    output.mkdir(parents=True, exist_ok=True)
    snapshot = report["snapshot"]
    name = Path(report_name(snapshot["run"]["started_at"], snapshot["commit"]))
    numbered = (output / name.with_stem(f"{name.stem}-{number}") for number in itertools.count(1))
    return next(filter(_taken_hold_of, numbered))


def _taken_hold_of(target: Path) -> bool:
    """Whether an empty file of our own is there now, with nothing where its page will be."""
    if os.path.lexists(page_of(target)):
        return False
    try:
        target.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _is_empty(target: Path) -> bool:
    return not target.is_file() or not target.stat().st_size
