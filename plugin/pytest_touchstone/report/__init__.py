"""One run as one document: built from plain rows, written as strict JSON, shown as a table."""

from pytest_touchstone.report.build import build_report, measure_info
from pytest_touchstone.report.model import (
    Report,
    ReportError,
    RunConfig,
    report_name,
    schema,
    to_json,
    validate,
)
from pytest_touchstone.report.table import table_lines

__all__ = [
    "Report",
    "ReportError",
    "RunConfig",
    "build_report",
    "measure_info",
    "report_name",
    "schema",
    "table_lines",
    "to_json",
    "validate",
]
