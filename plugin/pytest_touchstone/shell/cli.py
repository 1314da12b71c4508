"""The console script `touchstone`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pytest_touchstone.shell.commands import annotate, bundle, coverage, dataset, gate, report, run


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one sub-command and return its exit code."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    # Options may stand between a report and its gates, which argparse alone does not take.
    if rest and (not hasattr(options, "gates") or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        options.gates += rest
    code: int = options.command(options)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="touchstone",
        description="Evaluate a question-answering system against gold questions.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (run, report, gate, bundle, annotate, dataset, coverage):
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
