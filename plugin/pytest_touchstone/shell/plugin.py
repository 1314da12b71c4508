"""The pytest plugin's entry: its options, and whether this session evaluates anything.

Every pytest start on a machine where the plugin is installed runs this module, so it imports
next to nothing but pytest.  All else happens in :mod:`pytest_touchstone.shell.hooks`, which is
registered only where a project has settings for an evaluation.
"""

from __future__ import annotations

import gc
import itertools
import os
import shlex
from collections.abc import Callable

import pytest

_MARKER = "touchstone(*measures): what this test module measures on every gold question"
DEFAULT_SETTINGS = "evaluation/settings.yaml"
_FILES = ("settings", "dataset", "output", "previous", "replay")
_PATHS = frozenset(f"--touchstone-{name}" for name in _FILES)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("touchstone", "evaluation against gold questions")
    group.addoption(
        "--touchstone-settings",
        metavar="FILE",
        help=f"settings of the evaluation (default: {DEFAULT_SETTINGS} under the rootdir)",
    )
    group.addoption(
        "--touchstone-dataset", metavar="FILE", help="gold questions, instead of the settings'"
    )
    group.addoption(
        "--touchstone-output",
        metavar="PATH",
        help="where the report goes: a .json file, or a folder",
    )
    group.addoption(
        "--touchstone-system", metavar="NAME", help="system under test, instead of the settings'"
    )
    group.addoption(
        "--touchstone-baseline",
        metavar="NAME",
        help="baseline, instead of the settings'; `none` for no comparison",
    )
    group.addoption(
        "--touchstone-split",
        choices=("dev", "test"),
        help="only this half of the gold questions: tune on one, report the other",
    )
    group.addoption(
        "--touchstone-sample",
        metavar="N",
        help="only so many gold questions, always the same ones, their types in proportion",
    )
    group.addoption(
        "--touchstone-repeats", metavar="K", help="ask each question so often (default: once)"
    )
    group.addoption(
        "--touchstone-gate",
        action="append",
        metavar="EXPR",
        help="fail unless this holds, e.g. 'Recall@5 >= 0.7'; beside the settings' own; repeatable",
    )
    group.addoption(
        "--touchstone-previous",
        metavar="FILE",
        help="the earlier report that gates call `previous`",
    )
    group.addoption(
        "--touchstone-resume",
        metavar="RUN",
        help="go on with a run that was cut short: its id, the beginning of it, or `latest`",
    )
    group.addoption(
        "--touchstone-join",
        metavar="RUN",
        help="share this run, of any name, with other shells or machines that say the same",
    )
    group.addoption(
        "--touchstone-shards", metavar="N", help="how many of them share the limits (default: 1)"
    )
    group.addoption(
        "--touchstone-reuse-answers",
        action="store_true",
        help="use stored answers of every system whose configuration has not changed",
    )
    group.addoption(
        "--touchstone-budget",
        metavar="USD",
        help="stop when so much was spent on judging and on the systems",
    )
    group.addoption(
        "--touchstone-plan",
        action="store_true",
        help="print the calls, tokens and cost to expect, and make none",
    )
    group.addoption(
        "--touchstone-replay",
        metavar="BUNDLE",
        help="make a report again from what `touchstone bundle` wrote, without network",
    )
    group.addoption(
        "--touchstone-show",
        action="append",
        metavar="CASE",
        help="print this case of the run whole at the end; select it alone with -k; repeatable",
    )
    group.addoption(
        "--touchstone-strict",
        action="store_true",
        help="a case under a measure's floor fails, instead of showing as `low`",
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_touchstone.shell import hookspec

    pluginmanager.add_hookspecs(hookspec)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    _refuse_misleading_words(config)
    naming = ("settings", "dataset", "replay")
    given = any(config.getoption(f"touchstone_{name}") for name in naming)
    if given or (config.rootpath / DEFAULT_SETTINGS).is_file():
        register = _imported()
        register(config, DEFAULT_SETTINGS)
    else:
        from pytest_touchstone.shell.refusal import Refusal

        config.pluginmanager.register(Refusal(config, _without_settings), "touchstone-refusal")


def _imported() -> Callable[[pytest.Config, str], None]:
    """What makes a session one that evaluates.

    Nobody need look for garbage in what is imported, now or when the process ends.  What is garbage
    already goes first, and is told of as ever.
    """
    gc.unfreeze()  # what an earlier session of this process left
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        from pytest_touchstone.shell.hooks import register
    finally:
        if enabled:
            gc.enable()
    gc.freeze()
    return register


def _without_settings(session: pytest.Session) -> str | None:
    """The fault of a session that has something to evaluate and no settings to do it with."""
    for item in session.items:
        if item.get_closest_marker("touchstone"):
            return (
                f"{item.nodeid} is marked `touchstone`, but there are no settings:"
                f" write {DEFAULT_SETTINGS} in {session.config.rootpath}, or name a file with"
                " --touchstone-settings=FILE"
            )
    return None


def _refuse_misleading_words(config: pytest.Config) -> None:
    """Refuse `--touchstone-settings /elsewhere/x.yaml`, where `=` would do no harm.

    pytest looks for its rootdir and ini-file before it knows the options of plugins, and takes
    every word that is an existing path for a path of tests.

    :raises pytest.UsageError: where such a path lies outside the working directory.
    """
    folder = config.invocation_params.dir
    words = [*shlex.split(os.environ.get("PYTEST_ADDOPTS", "")), *config.invocation_params.args]
    for option, word in itertools.pairwise(map(str, words)):
        if option not in _PATHS:
            continue
        path = folder / word
        if path.exists() and not path.resolve().is_relative_to(folder):
            raise pytest.UsageError(
                f"write {option}={word} with `=`: pytest takes a path outside {folder} that stands"
                " apart for a place of tests, and looks for its configuration there"
            )
