"""A session that only tells what another one would ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest


class PlanOnly:
    """Prints the plan where tests would be run.

    :param lines_of: the lines of the plan, when all is collected.
    """

    def __init__(self, lines_of: Callable[[pytest.Session], Iterable[str]]) -> None:
        self._lines_of = lines_of

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Say it, and run nothing."""
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        lines = list(self._lines_of(session))
        if reporter is not None:
            reporter.ensure_newline()
            for line in lines:
                reporter.write_line(line)
        return True
