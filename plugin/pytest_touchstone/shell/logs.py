"""Log records and captured output without secrets, while an evaluation runs.

Libraries log what they send: the SDK of a model its requests, an HTTP client its URLs.  pytest
shows that with a failure, live, in a file and in JUnit XML.
"""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pytest_touchstone.redact import Redact

_FORMATTER = logging.Formatter()


class RedactedLogs:
    """Takes secrets out of every log record that is made between :meth:`begin` and :meth:`end`."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._before: Any = None

    def begin(self) -> None:
        """Have records made without secrets."""
        if self._before is None:
            self._before = logging.getLogRecordFactory()
            logging.setLogRecordFactory(self._record)

    def end(self) -> None:
        """Have them made as before, unless somebody else changed that meanwhile."""
        if self._before is not None and logging.getLogRecordFactory() == self._record:
            logging.setLogRecordFactory(self._before)
        self._before = None

    def _record(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record: logging.LogRecord = self._before(*args, **kwargs)
        try:
            said = record.getMessage()
        except Exception:  # noqa: BLE001 - as wrong as without us: the handler tells
            return record
        if (redacted := self._redact(said)) != said:
            record.msg, record.args = redacted, ()
        if record.exc_info:
            # What a formatter finds here it does not make again.
            record.exc_text = self._redact(_FORMATTER.formatException(record.exc_info))
        return record


def without_secrets(report: pytest.TestReport, redact: Redact) -> None:
    """Take secrets out of what was captured while the test ran: systems print and log beside it."""
    if report.sections:
        report.sections = [(title, redact(content)) for title, content in report.sections]
