"""The hook that a project's conftest may implement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_touchstone.systems.loading import Resources


@pytest.hookspec
def pytest_touchstone_systems(config: pytest.Config, resources: Resources) -> Mapping[str, object]:
    """Name systems that the settings can choose from.

    Called once per process, when the flight starts::

        def pytest_touchstone_systems(config, resources):
            return {"assistant": Assistant(resources.corpus)}

    :param resources: the collection, the generator, and a way to run blocking code.
    :return: name to an object with ``ask(messages, session)``, or to such a function.
    """
    raise AssertionError("a specification is not called")
