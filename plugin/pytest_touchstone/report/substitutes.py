"""Substitutes are named: figures by rules, or by a proxy, say so wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_touchstone.report.model import Json, MeasureEntry

OFFLINE, PROXY = "offline", "proxy"
EMBEDDED = "embedded"
"""What settings call the scorer that is a proxy; a report has the name of its embedder."""
_SIGNS = {OFFLINE: "°", PROXY: "~"}
"""What stands for the words where columns are few."""


def marked(entry: MeasureEntry, models: Mapping[str, Json]) -> MeasureEntry:
    """The measure, its title saying so where a substitute made its values.

    :param models: identity of judge and scorer, as in the snapshot.
    """
    results = (entry["system"], entry["baseline"])
    origins = {origin for result in results if result for origin in result["origin"]}
    by = [mark for origin, mark in _substitutes(models) if origin in origins]
    marks = "".join(f" ({mark})" for mark in by)
    return {**entry, "title": entry["title"] + marks} if by else entry


def short(title: str) -> str:
    """A title with signs for the words that mark substitutes."""
    for mark, sign in _SIGNS.items():
        title = title.replace(f" ({mark})", f" {sign}")
    return title


def explained(models: Mapping[str, Json]) -> Iterator[str]:
    """One line for each substitute: what it is, and how well it agrees with people."""
    judge, scorer = models.get("judge") or {}, models.get("scorer") or {}
    if judge.get("model") == OFFLINE:
        yield f"{_SIGNS[OFFLINE]} {OFFLINE}: judged by rules, no model. {_agreement(judge)}"
    if scorer.get("scale") == PROXY:
        what = "covered as an embedder sees it, no cross-encoder"
        yield f"{_SIGNS[PROXY]} {PROXY}: {what}. {_agreement(scorer)}"


def _substitutes(models: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    if (models.get("judge") or {}).get("model") == OFFLINE:
        yield "judge", OFFLINE
    if (models.get("scorer") or {}).get("scale") == PROXY:
        yield "scorer", PROXY


def _agreement(identity: Mapping[str, Any]) -> str:
    said = identity.get("agreement")
    return f"Agreement with people: {said}" if said else "Its agreement with people is not known."
