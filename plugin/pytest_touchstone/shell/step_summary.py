"""The summary of a step on GitHub: what a reviewer sees of a run without opening anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_touchstone.report.markdown import markdown
from pytest_touchstone.report.model import Report

VARIABLE = "GITHUB_STEP_SUMMARY"
"""Names the file; https://docs.github.com/actions/reference/workflow-commands"""


def append_summary(environment: Mapping[str, str], report: Report) -> str | None:
    """Append the report in Markdown to the step's summary, where there is one.

    :return: why it could not be written; that is no reason to fail a run.
    """
    target = environment.get(VARIABLE)
    if not target:
        return None
    try:
        with Path(target).open("a", encoding="utf-8") as file:
            file.write(f"{markdown(report)}\n")
    except OSError as error:
        return f"{VARIABLE}: {target} cannot be written: {error.strerror}"
    return None
