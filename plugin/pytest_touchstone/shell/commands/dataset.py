"""`touchstone dataset`: what can be said of a set of gold questions before anything is run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_touchstone.dataset import read_gold
from pytest_touchstone.estimate import MIN_CLUSTERS, Plan
from pytest_touchstone.shell.output import refused

_RATES = (0.5, 0.8, 0.95)


def add(commands: Any) -> None:
    """Describe the command."""
    dataset = commands.add_parser("dataset", help="check and plan gold questions")
    tasks = dataset.add_subparsers(required=True, metavar="TASK")
    power = tasks.add_parser("power", help="the smallest difference that a set could detect")
    power.add_argument(
        "dataset", nargs="?", type=Path, metavar="FILE", help="gold questions to count, JSONL"
    )
    power.add_argument("--questions", type=int, metavar="N", help="of a set that is planned")
    power.add_argument(
        "--clusters", type=int, metavar="K", help="default: every question is its own"
    )
    power.add_argument(
        "--rate", type=float, metavar="P", help="mean of a yes/no measure; default: 0.5, 0.8, 0.95"
    )
    power.add_argument(
        "--deviation", type=float, metavar="S", help="standard deviation of a score instead"
    )
    power.add_argument(
        "--correlation", type=float, default=0.5, metavar="R", help="between systems (0.5)"
    )
    power.add_argument("--icc", type=float, default=0.3, metavar="R", help="within clusters (0.3)")
    power.set_defaults(command=_power)


def _power(options: argparse.Namespace) -> int:
    """Print what is detectable; the exit code."""
    try:
        lines = list(power_lines(options))
    except ValueError as error:
        return refused([str(error)])
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def power_lines(options: argparse.Namespace) -> Iterator[str]:
    """One line a set: all questions, and each type of a file.

    :raises GoldError: for a file that cannot be read.
    :raises ValueError: for numbers that contradict each other or the file.
    """
    measures = list(_measures(options))
    sets = _sets(options)
    yield (
        "Smallest true difference between two systems that the 95% interval shows in 80% of such"
        f" sets (correlation {options.correlation:g} between systems, {options.icc:g} in clusters):"
    )
    widest = max(len(name) for name, _, _ in sets)
    for name, questions, clusters in sets:
        said = f"{name:{widest}}  {questions} questions in {clusters} clusters: "
        if clusters < MIN_CLUSTERS:
            yield f"{said}none, with fewer than {MIN_CLUSTERS} clusters"
            continue
        plan = Plan(questions, clusters, options.icc, options.correlation)
        found = (
            f"{plan.of_scores(value) if kind == 'deviation' else plan.of_rate(value):.3f} at"
            f" {kind} {value:g}"
            for kind, value in measures
        )
        yield said + ", ".join(found)


def _measures(options: argparse.Namespace) -> Iterator[tuple[str, float]]:
    if options.deviation is not None:
        if not options.deviation > 0:
            raise ValueError(f"--deviation {options.deviation:g}: must be above 0")
        yield "deviation", options.deviation
        return
    for rate in _RATES if options.rate is None else (options.rate,):
        if not 0 < rate < 1:
            raise ValueError(f"--rate {rate:g}: must lie between 0 and 1")
        yield "rate", rate


def _sets(options: argparse.Namespace) -> list[tuple[str, int, int]]:
    """Name, questions and clusters of each set."""
    if (options.dataset is None) == (options.questions is None):
        raise ValueError("name either a file of gold questions or --questions N")
    if options.dataset is None:
        clusters = options.questions if options.clusters is None else options.clusters
        if not 1 <= clusters <= options.questions:
            raise ValueError(
                f"--clusters {clusters} of --questions {options.questions}: every cluster needs a"
                " question"
            )
        return [("planned", options.questions, clusters)]
    if options.clusters is not None:
        raise ValueError("--clusters: those of a file are counted; leave it out")
    cases = read_gold(options.dataset).cases
    types = dict.fromkeys(case.type for case in cases)
    kinds = {"all": list(cases)} | {kind: [c for c in cases if c.type == kind] for kind in types}
    return [
        (name, len(members), len({case.cluster or case.id for case in members}))
        for name, members in kinds.items()
    ]
