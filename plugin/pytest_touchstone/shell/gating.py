"""What a session does with the outcomes of its gates: terminal, pull request, JUnit file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import pytest

from pytest_touchstone.gate import Treatment, gate_lines, turns_red, workflow_commands
from pytest_touchstone.report.display import printable
from pytest_touchstone.report.model import GateEntry

_LONGEST_VALUE = 1000


def write_gates(
    reporter: pytest.TerminalReporter,
    entries: Sequence[GateEntry],
    treatment: Mapping[str, Treatment],
) -> None:
    """One line per gate, and on GitHub a remark on the pull request for each that did not pass."""
    for entry, line in zip(entries, gate_lines(entries, treatment), strict=True):
        red = turns_red(entry, treatment)
        green = entry["outcome"] == "pass"
        reporter.write_line(line, red=red, green=green, yellow=not red and not green)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for command in workflow_commands(entries, treatment):
            reporter.write_line(command)


def record_gates(config: pytest.Config, entries: Sequence[GateEntry]) -> None:
    """Properties of the test suite in the JUnit file, where one is written.

    It is what the fixture ``record_testsuite_property`` does, which has no use outside tests.
    """
    for plugin in config.pluginmanager.get_plugins():
        if hasattr(plugin, "add_global_property"):
            for entry in entries:
                value = f"{entry['outcome']}: {entry['why']}"
                plugin.add_global_property(
                    f"touchstone gate {entry['expression']}", printable(value, _LONGEST_VALUE)
                )
