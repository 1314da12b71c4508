"""`touchstone annotate`: judged answers out to people, and what they say of them back."""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_touchstone.annotations import Annotations
from pytest_touchstone.calibrate import MIN_LABELS
from pytest_touchstone.dataset import annotation_lines, append_annotations
from pytest_touchstone.drawing import Stratum, draw
from pytest_touchstone.gate import gate_entries, parse
from pytest_touchstone.report.display import printable
from pytest_touchstone.report.model import Report
from pytest_touchstone.report.people import people_lines
from pytest_touchstone.report_file import read_report
from pytest_touchstone.run import report_again
from pytest_touchstone.settings import Settings
from pytest_touchstone.shell.plugin import DEFAULT_SETTINGS
from pytest_touchstone.shell.project import project_settings
from pytest_touchstone.shell.session import Finished, previous_report
from pytest_touchstone.unusable import Unusable
from pytest_touchstone.worksheet import additions, read_worksheet, worksheet

_FILE = "annotations.jsonl"
_LONGEST_LINE = 1000


class _Misuse(Unusable):
    """Options that do not go together, or files that are not there."""


def add(commands: Any) -> None:
    """Describe the command."""
    annotate = commands.add_parser(
        "annotate",
        help="have people read some of the judged answers",
        description="Draw judged answers into a worksheet for people, or read back what they"
        " filled in.",
    )
    what = annotate.add_mutually_exclusive_group(required=True)
    what.add_argument("--draw", metavar="SHARE", type=_share, help="e.g. 10%%; needs --csv")
    what.add_argument(
        "--read", metavar="FILE", type=Path, help="a worksheet filled in; needs --annotator"
    )
    annotate.add_argument("--csv", metavar="FILE", type=Path, help="worksheet to write")
    annotate.add_argument(
        "--report",
        metavar="FILE",
        type=Path,
        help="to draw from (default: the last one); with --read: to write again, with its figures",
    )
    annotate.add_argument("--annotator", metavar="NAME", help="who filled the worksheet in")
    annotate.add_argument("--settings", metavar="FILE", help=f"default: {DEFAULT_SETTINGS}")
    annotate.set_defaults(command=_annotate)


def _annotate(options: argparse.Namespace) -> int:
    """Print what was done; the exit code is one of pytest's."""
    settings = project_settings(options.settings)
    lines = _drawn(options, settings) if options.draw else _read(options, settings)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return int(pytest.ExitCode.OK)


def _drawn(options: argparse.Namespace, settings: Settings) -> Iterator[str]:
    if options.csv is None or options.annotator is not None:
        raise _Misuse("--draw goes with --csv=FILE, and without --annotator")
    path = options.report or _last_report(settings.reports)
    report = read_report(path)
    try:
        questions, strata = draw(report, options.draw)
    except ValueError as error:  # a measure that this version does not know
        raise _Misuse(f"{path}: {error}") from None
    if not questions:
        raise _Misuse(f"{path}: no answer of the system under test was judged")
    try:
        # Never over a worksheet that somebody may have filled in.
        with options.csv.open("x", encoding="utf-8", newline="") as file:
            file.write(worksheet(questions))
    except FileExistsError:
        raise _Misuse(f"{options.csv}: is there already; move it, or name another file") from None
    answers = len({(one.case, one.answer_sha256) for one in questions})
    yield f"{options.csv}: {len(questions)} rows on {answers} answers, drawn from {path}"
    yield from _by_measure(strata)
    yield (
        "fill in the column `value` (empty: not read), save as CSV UTF-8, then:"
        f" touchstone annotate --read {options.csv} --annotator NAME"
    )


def _by_measure(strata: Sequence[Stratum]) -> Iterator[str]:
    counts: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for stratum in strata:
        drawn, judged = counts[stratum.measure]
        counts[stratum.measure] = drawn + stratum.drawn, judged + stratum.judged
    for measure, (drawn, judged) in counts.items():
        few = ""
        if drawn < MIN_LABELS:
            few = f": too few to correct the judge's mean by ({MIN_LABELS} are needed)"
        yield f"  {measure}: {drawn} of {judged}{few}"


def _read(options: argparse.Namespace, settings: Settings) -> Iterator[str]:
    annotator = (options.annotator or "").strip()
    if not annotator or options.csv is not None:
        raise _Misuse("--read goes with --annotator=NAME, and without --csv")
    earlier = None if options.report is None else read_report(options.report)
    folder = settings.dataset.parent
    sheet = read_worksheet(options.read.read_bytes(), file=str(options.read), annotator=annotator)
    existing = annotation_lines(folder)
    new = additions(sheet, existing, file=str(options.read), annotator=annotator)
    target = folder / _FILE
    if new:
        append_annotations(target, new)
    there = len(sheet.annotations) + len(sheet.blank) - len(new)
    yield f"{target}: {len(new)} annotations by {annotator} added"
    if there:
        yield f"  {there} rows added nothing: left empty, or read in before"
    if earlier is None:
        yield "a run that gets the same answers takes them into account, and so does --report=FILE"
    else:
        yield from _again(options.report, earlier, settings, Annotations([*existing, *new]))


def _again(path: Path, earlier: Report, settings: Settings, people: Annotations) -> Iterator[str]:
    """Write a report again, from the rows of its run and what people said since."""
    report = report_again(settings, earlier["snapshot"]["run"]["id"], people)
    if report is None:
        raise _Misuse(f"{path}: the store does not hold this run any more, so it stays as it is")
    gates = [parse(entry["expression"]) for entry in earlier["gates"]]
    report["gates"] = gate_entries(gates, report, previous_report(settings))
    Finished(report, ()).write(path)
    lines = list(people_lines(report["measures"], report["findings"]["agreement"]))
    yield from (printable(line, _LONGEST_LINE) for line in lines)
    yield f"report: {path}"


def _last_report(folder: Path) -> Path:
    """The report of the last run: their names begin with its time."""
    found = sorted(folder.glob("[0-9]*.json"))
    if not found:
        raise _Misuse(f"{folder}: holds no report: run an evaluation, or name one with --report")
    return found[-1]


def _share(text: str) -> float:
    match = re.fullmatch(r"(\d{1,3}(?:\.\d+)?)%", text.strip())
    share = float(match[1]) / 100 if match else 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"write a share like 10%, up to 100%, not {text!r}")
    return share
