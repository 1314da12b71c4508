"""A session in which nothing can be evaluated: it ends with one message, and runs no test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

_FAULT = "touchstone_fault"


class Refusal:
    """Ends the session before its first test where there is a fault, in whichever process.

    A worker that raised would look as if it had crashed: it hands the fault to the controller,
    which says it once.

    :param fault_of: what is wrong, or ``None``; called when the session is about to run tests.
    """

    def __init__(
        self, config: pytest.Config, fault_of: Callable[[pytest.Session], str | None]
    ) -> None:
        self._fault_of = fault_of
        self._worker_output: dict[str, object] | None = getattr(config, "workeroutput", None)
        self._from_worker: str | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Keep the tests from running where there is a fault.

        :raises pytest.UsageError: the fault, except in a worker.
        """
        fault = self._fault_of(session)
        if fault is None:
            return None
        if self._worker_output is None:
            raise pytest.UsageError(fault)
        self._worker_output[_FAULT] = fault
        session.shouldstop = "nothing can be evaluated"
        return True

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", None) or {}
        self._from_worker = self._from_worker or output.get(_FAULT)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._from_worker is not None:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._from_worker is not None:
            terminalreporter.section("touchstone", red=True)
            terminalreporter.write_line(f"ERROR: {self._from_worker}", red=True)
