"""The pytest plugin's entry: its options, and whether this session evaluates anything.

Every pytest start on a machine where the plugin is installed runs this module, so it imports
nothing but pytest.  All else happens in :mod:`pytest_touchstone.hooks`, which is registered only
where a project has settings for an evaluation.
"""

from __future__ import annotations

import pytest

_MARKER = "touchstone(*measures): what this test module measures on every gold question"
_DEFAULT_SETTINGS = "evaluation/settings.yaml"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("touchstone", "evaluation against gold questions")
    group.addoption(
        "--touchstone-settings",
        metavar="FILE",
        help=f"settings of the evaluation (default: {_DEFAULT_SETTINGS} under the rootdir)",
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
        "--touchstone-strict",
        action="store_true",
        help="a case under a measure's floor fails, instead of showing as `low`",
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_touchstone import hookspec

    pluginmanager.add_hookspecs(hookspec)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    given = config.getoption("touchstone_settings") or config.getoption("touchstone_dataset")
    if given or (config.rootpath / _DEFAULT_SETTINGS).is_file():
        from pytest_touchstone.hooks import register

        register(config, _DEFAULT_SETTINGS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.pluginmanager.has_plugin("touchstone-hooks"):
        return
    for item in items:
        if item.get_closest_marker("touchstone"):
            raise pytest.UsageError(
                f"{item.nodeid} is marked `touchstone`, but there are no settings:"
                f" write {_DEFAULT_SETTINGS} in {config.rootpath}, or name a file with"
                " --touchstone-settings"
            )
