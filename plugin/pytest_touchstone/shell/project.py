"""The settings that a command goes by."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_touchstone.settings import Settings
from pytest_touchstone.settings_file import load_settings
from pytest_touchstone.shell.plugin import DEFAULT_SETTINGS

_IN_THE_STORE = "gold.jsonl"
"""Stands for the gold questions where no settings name any: what is stored holds its own."""


def project_settings(named: str | None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Of the file that a person named, or of the usual one, which a project need not have.

    :raises SettingsError: where they cannot be used, or the named file is missing.
    """
    file = Path(named or DEFAULT_SETTINGS)
    if named is None and not file.exists():
        overrides = {"dataset": _IN_THE_STORE, **(overrides or {})}
    return load_settings(file, overrides=overrides, optional=named is None)
