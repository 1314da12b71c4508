"""What the tests share: pytester, and projects that pytest is run on."""

from __future__ import annotations

import os

import pytest
from projects import Project

pytest_plugins = "pytester"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with settings, gold questions, systems and the shipped dimension modules."""
    for name in list(os.environ):
        if name.startswith(("TOUCHSTONE_", "OPENAI_", "QDRANT_", "PYTEST_", "GITHUB_")):
            monkeypatch.delenv(name)
    return Project(pytester)


@pytest.fixture
def judged(project: Project) -> Project:
    """A project with two gold questions and three systems to judge."""
    from judged import lay_out

    lay_out(project)
    return project
