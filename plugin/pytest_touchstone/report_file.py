"""Reports that were written before."""

from __future__ import annotations

from pathlib import Path

from pytest_touchstone.report import Report, ReportError, validate
from pytest_touchstone.report.display import printable
from pytest_touchstone.unusable import Unusable

_FAULTS_SHOWN = 3
_LONGEST = 300


class UnreadableReport(Unusable):
    """A file that is no report of this version: which one, and what is wrong with it."""


def read_report(path: Path) -> Report:
    """The report in a file, checked against the format.

    :raises UnreadableReport: in a few lines, each naming the file.
    """
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise UnreadableReport(f"{path}: is not UTF-8, so it is no report") from None
    except OSError as error:
        raise UnreadableReport(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return validate(text)
    except ReportError as error:
        faults = str(error).splitlines()
        lines = [f"{path}: is no report of this version: {printable(f, _LONGEST)}" for f in faults]
        if (more := len(lines) - _FAULTS_SHOWN) > 0:
            lines[_FAULTS_SHOWN:] = [f"{path}: and {more} more faults"]
        raise UnreadableReport("\n".join(lines)) from None
