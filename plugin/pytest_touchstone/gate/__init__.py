"""Gates: conditions that a run's estimates have to meet, read from text and held to a report."""

from pytest_touchstone.gate.evaluate import Previous, gate_entries, not_held
from pytest_touchstone.gate.expression import Gate, GateError, parse
from pytest_touchstone.gate.lines import Treatment, gate_lines, turns_red, workflow_commands

__all__ = [
    "Gate",
    "GateError",
    "Previous",
    "Treatment",
    "gate_entries",
    "gate_lines",
    "not_held",
    "parse",
    "turns_red",
    "workflow_commands",
]
