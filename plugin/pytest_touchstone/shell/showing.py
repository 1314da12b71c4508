"""`--touchstone-show`: one case, whole, at the end of a session."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_touchstone.report.case_text import UnknownCase, case_lines
from pytest_touchstone.report.display import printable
from pytest_touchstone.report.model import Report

_LONGEST_NAME = 60


class ShowCase:
    """Prints a case of this run behind its summary.

    :param case: id of a gold question that was selected.
    :param report_of: the run's report, where there is one.
    """

    def __init__(self, case: str, report_of: Callable[[], Report | None]) -> None:
        self._case = case
        self._report_of = report_of

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        report = self._report_of()
        if report is None:
            return
        width = terminalreporter.config.get_terminal_writer().fullwidth
        terminalreporter.section(f"touchstone: {printable(self._case, _LONGEST_NAME)}")
        try:
            lines = case_lines(report, self._case, width=width)
        except UnknownCase as error:  # a run that was resumed with another selection
            terminalreporter.write_line(f"ERROR: {error}", red=True)
            return
        for line in lines:
            terminalreporter.write_line(line)
