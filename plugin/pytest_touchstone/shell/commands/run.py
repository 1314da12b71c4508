"""`touchstone run`: the evaluation outside pytest's vocabulary."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_touchstone.shell.plugin import DEFAULT_SETTINGS
from pytest_touchstone.shipped import shipped

_PASSED_ON = (
    "settings",
    "dataset",
    "output",
    "system",
    "baseline",
    "split",
    "sample",
    "repeats",
    "previous",
    "resume",
    "join",
    "shards",
    "budget",
    "replay",
)
_REPEATED = ("gate", "show")
_FLAGS = ("strict", "reuse_answers", "plan")
# The console script lives in the package whose assertions pytest would rewrite; it has none.
_ALREADY_IMPORTED = "ignore:Module already imported so cannot be rewritten; pytest_touchstone"


def add(commands: Any) -> None:
    """Describe the command."""
    run = commands.add_parser("run", help="evaluate, print the table, write the report")
    run.add_argument("--settings", metavar="FILE", help=f"default: {DEFAULT_SETTINGS}")
    run.add_argument("--dataset", metavar="FILE", help="gold questions, JSONL")
    run.add_argument("--output", metavar="PATH", help="report: a .json file, or a folder")
    run.add_argument("--system", metavar="NAME", help="system under test, or `module:function`")
    run.add_argument("--baseline", metavar="NAME", help="`none` for no comparison")
    run.add_argument("--split", choices=("dev", "test"), help="one half of the gold questions")
    run.add_argument("--sample", metavar="N", help="so many gold questions, types in proportion")
    run.add_argument("--repeats", metavar="K", help="ask each question so often")
    run.add_argument(
        "--gate", metavar="EXPR", action="append", help="fail unless this holds; repeatable"
    )
    run.add_argument("--previous", metavar="FILE", help="the report that gates call `previous`")
    run.add_argument("--resume", metavar="RUN", help="go on with a run: id, beginning, `latest`")
    run.add_argument("--join", metavar="RUN", help="share this run with other shells or machines")
    run.add_argument("--shards", metavar="N", help="how many of them share the limits")
    run.add_argument(
        "--reuse-answers", action="store_true", help="use stored answers of unchanged systems"
    )
    run.add_argument("--budget", metavar="USD", help="stop when so much was spent")
    run.add_argument("--plan", action="store_true", help="print what it would cost, ask nobody")
    run.add_argument("--replay", metavar="BUNDLE", help="make a report again, without network")
    run.add_argument(
        "--show",
        metavar="CASE",
        action="append",
        help="print this case whole at the end; repeatable",
    )
    run.add_argument("--strict", action="store_true", help="low cases fail")
    run.add_argument(
        "pytest", nargs="*", metavar="-- PYTEST", help="for pytest, e.g. `-- -k retrieval -n 2`"
    )
    run.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    """Evaluate; the exit code is pytest's."""
    folder = Path.cwd()
    named = options.settings or options.dataset or options.replay
    if named is None and not (folder / DEFAULT_SETTINGS).is_file():
        sys.stderr.write(
            f"touchstone: {folder} has no {DEFAULT_SETTINGS}: start from the project's folder,"
            " name the file with --settings, or do without: --dataset gold.jsonl"
            " --system package.module:function --baseline none\n"
        )
        return pytest.ExitCode.USAGE_ERROR
    return int(pytest.main(run_arguments(options, folder)))


def run_arguments(options: argparse.Namespace, folder: Path) -> list[str]:
    """What ``touchstone run`` says to pytest.

    The project's own dimension modules are run where ``tests/`` has some; otherwise the shipped
    ones, so that a project needs only settings and gold questions.
    """
    arguments = [f"--rootdir={folder}", "-p", "no:deepeval", "-W", _ALREADY_IMPORTED]
    for name in _PASSED_ON:
        value = getattr(options, name)
        if value is not None:
            arguments.append(f"--touchstone-{name}={value}")
    for name in _REPEATED:
        arguments += [f"--touchstone-{name}={text}" for text in getattr(options, name) or ()]
    given = (name for name in _FLAGS if getattr(options, name))
    arguments += [f"--touchstone-{name.replace('_', '-')}" for name in given]
    own = folder / "tests"
    rest = [_located(word, folder) for word in options.pytest]
    chosen = rest != options.pytest or any(_is_target(word, folder) for word in options.pytest)
    if any(_is_dimension(module) for module in own.glob("test_*.py")):
        return [*arguments, "-m", "touchstone", *([] if chosen else [str(own)]), *rest]
    # From outside the project pytest would find neither its configuration nor its conftest.
    conftest = folder / "conftest.py"
    collected = [conftest] if conftest.is_file() else []
    if not chosen:
        collected.append(shipped("tests"))
    return [*arguments, "-c", _configuration(folder), *map(str, collected), *rest]


def _is_target(word: str, folder: Path) -> bool:
    """Whether a word names tests: a file, or a test in it."""
    file = word.split("::")[0]
    return not word.startswith("-") and file.endswith(".py") and (folder / file).is_file()


def _located(word: str, folder: Path) -> str:
    """``tests/test_x.py::test_y`` names a shipped module where the project has none of its own."""
    file, *node = word.split("::")
    if word.startswith("-") or not file.endswith(".py") or (folder / file).exists():
        return word
    module = shipped("tests") / Path(file).name
    return "::".join([str(module), *node]) if module.is_file() else word


def _is_dimension(module: Path) -> bool:
    return "mark.touchstone" in module.read_text("utf-8", errors="replace")


def _configuration(folder: Path) -> str:
    """The file that configures pytest in a project, as pytest itself would choose it."""
    sections = {
        "pytest.toml": "",
        ".pytest.toml": "",
        "pytest.ini": "",
        ".pytest.ini": "",
        "pyproject.toml": "[tool.pytest",
        "tox.ini": "[pytest]",
        "setup.cfg": "[tool:pytest]",
    }
    for name, section in sections.items():
        file = folder / name
        if file.is_file() and section in file.read_text("utf-8", errors="replace"):
            return str(file)
    return os.devnull
