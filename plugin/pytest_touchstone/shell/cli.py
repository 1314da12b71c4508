"""The console script `touchstone`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pytest_touchstone.shell.commands import (
    annotate,
    bundle,
    compare,
    coverage,
    dataset,
    gate,
    history,
    report,
    reproduce,
    run,
)
from pytest_touchstone.shell.output import refused
from pytest_touchstone.unusable import Unusable


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one sub-command and return its exit code."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    # Options may stand between a report and its gates, which argparse alone does not take.
    if rest and (not hasattr(options, "gates") or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        options.gates += rest
    try:
        code: int = options.command(options)
    except Unusable as error:
        return refused(str(error).splitlines())
    except OSError as error:
        return refused([f"{error.filename}: {error.strerror}" if error.filename else str(error)])
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="touchstone",
        description="Evaluate a question-answering system against gold questions.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (
        run,
        report,
        compare,
        reproduce,
        history,
        gate,
        bundle,
        annotate,
        dataset,
        coverage,
    ):
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
