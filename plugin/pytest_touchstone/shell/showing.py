"""`--touchstone-show`: cases, each whole, at the end of a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from pytest_touchstone.report.case_text import UnknownCase, case_lines
from pytest_touchstone.report.display import printable
from pytest_touchstone.report.model import Report

_LONGEST_NAME = 60


class ShowCases:
    """Prints cases of this run behind its summary, each once.

    :param cases: ids of gold questions that were selected.
    :param report_of: the run's report, where there is one.
    """

    def __init__(self, cases: Sequence[str], report_of: Callable[[], Report | None]) -> None:
        self._cases = tuple(dict.fromkeys(cases))
        self._report_of = report_of

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if (report := self._report_of()) is None:
            return
        for case in self._cases:
            _show(case, report, terminalreporter)


def _show(case: str, report: Report, terminalreporter: pytest.TerminalReporter) -> None:
    width = terminalreporter.config.get_terminal_writer().fullwidth
    terminalreporter.section(f"touchstone: {printable(case, _LONGEST_NAME)}")
    try:
        lines = case_lines(report, case, width=width)
    except UnknownCase as error:  # a run that was resumed with another selection
        terminalreporter.write_line(f"ERROR: {error}", red=True)
        return
    for line in lines:
        terminalreporter.write_line(line)
