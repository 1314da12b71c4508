"""A comparison as JSON data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pytest_touchstone.comparing.model import Comparison

VERSION = 1


def data(found: Comparison) -> dict[str, Any]:
    """The comparison with whole texts, as the model names its parts; ``version`` is that of it."""
    return {"version": VERSION, **asdict(found)}
