"""`touchstone compare`: runs beside each other."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

from pytest_touchstone.comparing import Comparison, compare, text_lines
from pytest_touchstone.comparing.compare import SHOWN
from pytest_touchstone.forms import COMPARISON_FORMS
from pytest_touchstone.shell.named_report import NAMED, named_report
from pytest_touchstone.shell.output import put
from pytest_touchstone.shell.plugin import DEFAULT_SETTINGS

_TEXT = "text"


def add(commands: Any) -> None:
    """Describe the command."""
    compare_ = commands.add_parser(
        "compare",
        help="compare runs: what they were made of, their scores, the cases that moved",
        description="Compare runs with the first one. Exit 0 whatever differs (gates decide, not"
        " comparisons), 4 where something cannot be read.",
    )
    compare_.add_argument("yardstick", metavar="A", help=NAMED)
    compare_.add_argument("others", metavar="B", nargs="+", help="what is compared with it")
    compare_.add_argument(
        "--format",
        choices=[_TEXT, *COMPARISON_FORMS],
        default=_TEXT,
        help=f"default: {_TEXT}, for a terminal",
    )
    compare_.add_argument("--output", metavar="FILE", type=Path, help="default: standard output")
    compare_.add_argument(
        "--cases",
        metavar="N",
        type=_count,
        default=SHOWN,
        help=f"how many of the cases that moved most, in each direction; default: {SHOWN}",
    )
    compare_.add_argument("--settings", metavar="FILE", help=f"default: {DEFAULT_SETTINGS}")
    compare_.set_defaults(command=_compare)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r}: must be a whole number, 0 or more")
    return int(text)


def _compare(options: argparse.Namespace) -> int:
    """Write the comparison."""
    names = (options.yardstick, *options.others)
    yardstick, *others = (named_report(name, options.settings) for name in names)
    written = _written(compare(yardstick, others, shown=options.cases), options)
    return put(written, options.output, (*names, options.settings or DEFAULT_SETTINGS))


def _written(found: Comparison, options: argparse.Namespace) -> str:
    if options.format != _TEXT:
        return COMPARISON_FORMS[options.format](found)
    # A file has no columns: its titles are not cut.
    width = shutil.get_terminal_size().columns if options.output is None else sys.maxsize
    return "".join(f"{line}\n" for line in text_lines(found, width=width))
