"""The console script `touchstone`: the same evaluation outside pytest's vocabulary."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_touchstone.shipped import shipped


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command; the exit code is pytest's."""
    options = _parser().parse_args(arguments)
    return int(pytest.main(run_arguments(options, Path.cwd())))


def run_arguments(options: argparse.Namespace, folder: Path) -> list[str]:
    """What ``touchstone run`` says to pytest.

    The project's own dimension modules are run where ``tests/`` has some; otherwise the shipped
    ones, so that a project needs only settings and gold questions.
    """
    arguments = ["--rootdir", str(folder), "-p", "no:deepeval"]
    for name in ("settings", "dataset", "output", "system", "baseline"):
        value = getattr(options, name)
        if value is not None:
            arguments += [f"--touchstone-{name}", value]
    if options.strict:
        arguments.append("--touchstone-strict")
    dimensions = shipped("tests")
    own = folder / "tests"
    if any((own / module.name).is_file() for module in dimensions.glob("test_*.py")):
        return [*arguments, str(own)]
    return [*arguments, str(dimensions)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="touchstone",
        description="Evaluate a question-answering system against gold questions.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="evaluate, print the table, write the report")
    run.add_argument("--settings", metavar="FILE", help="default: evaluation/settings.yaml")
    run.add_argument("--dataset", metavar="FILE", help="gold questions, JSONL")
    run.add_argument("--output", metavar="PATH", help="report: a .json file, or a folder")
    run.add_argument("--system", metavar="NAME", help="system under test")
    run.add_argument("--baseline", metavar="NAME", help="`none` for no comparison")
    run.add_argument("--strict", action="store_true", help="low cases fail")
    return parser


if __name__ == "__main__":
    sys.exit(main())
