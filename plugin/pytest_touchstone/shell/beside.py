"""`-v`: the score and its first reason beside each case."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import pytest

from pytest_touchstone.floors import CaseScores
from pytest_touchstone.report.display import display_width, printable
from pytest_touchstone.report.figures import number
from pytest_touchstone.score import NOT_APPLICABLE

_LONGEST_WHY = 1000
_PROGRESS = " [100%]"
_FEWEST = 40  # columns of a reason, also where the row is full of the test's name and wraps
_LETTERS = {"passed": ".", "failed": "F"}


def add_beside(config: pytest.Config) -> None:
    """Register it where it is asked for."""
    if config.get_verbosity(pytest.Config.VERBOSITY_TEST_CASES) > 0:
        config.pluginmanager.register(Beside(config), "touchstone-beside")


class Beside:
    """Puts them behind the outcome while tests run; the summary at the end has room for more."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._running = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        self._running = True
        try:
            return (yield)
        finally:
            self._running = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        scores = getattr(item, "funcargs", {}).get("scores")
        if call.when == "call" and isinstance(scores, CaseScores):
            # Builtins only: these travel from worker to controller.
            report.touchstone_beside = told(scores)  # type: ignore[attr-defined]
        return report

    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, str | tuple[str, Mapping[str, bool]]] | None:
        beside: tuple[str, str] | None = getattr(report, "touchstone_beside", None)
        if not self._running or beside is None or hasattr(report, "wasxfail"):
            return None
        if hasattr(report, "touchstone_low"):
            return "low", "l", (self._fitted("LOW", beside, report), {"yellow": True})
        if report.outcome not in _LETTERS:
            return None
        word = self._fitted(report.outcome.upper(), beside, report)
        return report.outcome, _LETTERS[report.outcome], word

    def _fitted(
        self,
        outcome: str,
        beside: tuple[str, str],
        report: pytest.CollectReport | pytest.TestReport,
    ) -> str:
        value, why = beside
        word = f"{outcome} {value}"
        if self._config.get_verbosity(pytest.Config.VERBOSITY_TEST_CASES) > 1:
            return f"{word} ({why})"
        room = self._room(report) - display_width(word) - len(" ()")
        return f"{word} ({printable(why, max(room, _FEWEST))})"

    def _room(self, report: pytest.CollectReport | pytest.TestReport) -> int:
        """Columns that pytest leaves for the outcome."""
        writer = self._config.get_terminal_writer()
        room: int = writer.fullwidth - len(_PROGRESS) - 1
        worker = getattr(report, "node", None)
        if worker is None:  # the test's name stands before it already
            return room - writer.width_of_current_line
        return room - len(f"[{worker.gateway.id}] ") - display_width(report.nodeid)


def told(scores: CaseScores) -> tuple[str, str] | None:
    """Value and reason of a case in words that are safe to print."""
    found = scores.first()
    if found is None:
        return None
    measure, score = found
    why = printable(score.why, _LONGEST_WHY)
    if score.value is None:
        return "n/a" if score.reason == NOT_APPLICABLE else "unscored", why
    bounded = measure.range[1] is not None
    return number(score.value, 2) if bounded else f"{score.value:.4g}", why
