"""A session that sees what it would evaluate, and evaluates nothing."""

from __future__ import annotations

import contextlib
import io
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from pytest_touchstone.gold import Case
from pytest_touchstone.report.model import Report
from pytest_touchstone.reproducing.here import Here
from pytest_touchstone.unusable import Unusable


class CannotLook(Unusable):
    """The project's tests cannot be collected, or none of them is about the report."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a session like that of a report would do here.

    :param here: what it would be made of.
    :param tests: words for pytest that select what the report measured; empty where that is all.
    :param expected: what it would ask of whom, a line each.
    """

    here: Here
    tests: Sequence[str]
    expected: Sequence[str]


def look(arguments: Sequence[str], report: Report) -> Seen:
    """Collect as pytest would with these arguments, and look around.

    :raises CannotLook: where there is nothing to see; what pytest says of it is printed.
    :raises KeyboardInterrupt: where somebody wants it to end.
    """
    looking = _Looking(report)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = interruptible([*arguments, "--collect-only"], looking)
    if code == pytest.ExitCode.USAGE_ERROR and looking.seen is None:
        raise CannotLook("nothing can be evaluated here before that is mended")
    if looking.nothing and code == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise CannotLook("no test that is collected here measures what the report did")
    if looking.seen is None:
        sys.stdout.write(said.getvalue())
        raise CannotLook("the tests that the report rests on cannot be collected here")
    return looking.seen


def interruptible(arguments: Sequence[str], *plugins: object) -> int:
    """A session of pytest; its exit code, unless it was interrupted.

    :raises KeyboardInterrupt: once the session has ended for one.
    """
    interruption = _Interruption()
    code = pytest.main(list(arguments), plugins=[*plugins, interruption])
    if interruption.seen:
        raise KeyboardInterrupt
    return int(code)


class _Interruption:
    """Sees whether a person, or a signal, ended the session."""

    def __init__(self) -> None:
        self.seen = False

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Not what pytest makes of errors in collection and of `pytest.exit`."""
        self.seen = excinfo.type is KeyboardInterrupt


class _Looking:
    """Selects what a report measured, and takes the look when all is collected."""

    def __init__(self, report: Report) -> None:
        self.seen: Seen | None = None
        self.nothing = False
        self._report = report
        self._tests: Sequence[str] = ()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep what the report rests on."""
        kept = _resting_on(self._report, items)
        self.nothing = bool(items) and not kept
        self._tests = _words(kept, items)
        items[:] = kept

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Look around, now that the selection is known."""
        hooks = session.config.pluginmanager.get_plugin("touchstone-hooks")
        if session.testsfailed or not session.items or hooks is None:
            return
        expected = hooks.plan(session)
        self.seen = Seen(hooks.evaluation.look_around(self._report), self._tests, expected)


def _resting_on(report: Report, items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests that together take what the report took, and as little else as can be."""
    planned: dict[str, set[str]] = defaultdict(set)
    for entry in report["cases"]:
        planned[entry["case"]] |= entry["scores"].keys()
    asked = {item: _asked(item, planned) for item in items}
    covered: dict[str, set[str]] = defaultdict(set)
    kept = set()
    for item, (case, measures) in asked.items():
        if measures and measures <= planned[case]:
            kept.add(item)
            covered[case] |= measures
    # A test may declare more than it did: it is taken where no other takes what is left.
    for item, (case, measures) in asked.items():
        if item not in kept and measures & (planned[case] - covered[case]):
            kept.add(item)
            covered[case] |= measures
    return [item for item in items if item in kept]


def _asked(item: pytest.Item, planned: Mapping[str, set[str]]) -> tuple[str, set[str]]:
    """Case and measures of a test; none where it is about no case of the report."""
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get("case") if callspec is not None else None
    marker = item.get_closest_marker("touchstone")
    if marker is None or not isinstance(case, Case) or case.id not in planned:
        return "", set()
    return case.id, {measure.name for measure in marker.args if measure.applies(case)}


def _words(kept: Sequence[pytest.Item], items: Sequence[pytest.Item]) -> list[str]:
    """Paths and node ids, as few as can be."""
    if len(kept) == len(items):
        return []
    whole: dict[str, list[pytest.Item]] = defaultdict(list)
    some: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        whole[_function(item)].append(item)
    for item in kept:
        some[_function(item)].append(item)
    words = []
    for function, found in some.items():
        every = len(found) == len(whole[function])
        words += [function] if every else [f"{function}{_parameters(item)}" for item in found]
    return words


def _function(item: pytest.Item) -> str:
    return f"{item.path}::{item.nodeid.split('::', 1)[1].partition('[')[0]}"


def _parameters(item: pytest.Item) -> str:
    return "".join(item.nodeid.partition("[")[1:])
