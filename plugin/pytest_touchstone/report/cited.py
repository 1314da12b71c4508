"""The reading lists of citations: supported yet not covered, and cited but not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_touchstone.citing import band
from pytest_touchstone.measures.base import counted
from pytest_touchstone.report.index import Index, Unit
from pytest_touchstone.report.model import UncoveredFinding, UnresolvedFinding
from pytest_touchstone.report.rows import ScoreRow

_COVERAGE, _UNRESOLVED = "CitationCoverage", "Unresolved"


def uncovered(index: Index) -> list[UncoveredFinding]:
    """Paragraphs that a judge found supported and whose sources do not cover them, lowest first.

    Claims that are technically defensible and practically misleading stand here, or a verdict
    that is wrong.
    """
    found: list[UncoveredFinding] = [
        {
            "case": unit.case,
            "system": unit.system,
            "repeat": unit.repeat,
            "paragraph": one["paragraph"],
            "text": one["text"],
            "coverage": one["coverage"],
            "sources": [
                {key: source[key] for key in ("source", "passage_id", "coverage")}  # type: ignore[misc]
                for source in one["sources"]
            ],
            "scorer": row.detail["scorer"],
            "scale": row.detail["scale"],
        }
        for unit, row in _rows(index, _COVERAGE)
        for one in row.detail.get("paragraphs", ())
        if one["verdict"] == "supported"
        and one["coverage"] is not None
        and band(one["coverage"]) == "does_not_support"
    ]
    return sorted(found, key=lambda one: one["coverage"])


def unresolved(index: Index) -> list[UnresolvedFinding]:
    """Paragraphs that cite what is no passage, in the order of the index."""
    return [
        {
            "case": unit.case,
            "system": unit.system,
            "repeat": unit.repeat,
            "paragraph": one["paragraph"],
            "text": one["text"],
            "numbers": one["numbers"],
        }
        for unit, row in _rows(index, _UNRESOLVED)
        for one in row.detail.get("unresolved", ())
    ]


def cited_lines(
    bare: Sequence[UncoveredFinding], broken: Sequence[UnresolvedFinding], under_test: str
) -> Iterator[str]:
    """One line for each of the two lists that is not empty."""
    for name, found in (
        ("Supported by the judge, but not covered by what is cited", bare),
        ("Citations of no passage", broken),
    ):
        own = [one["case"] for one in found if one["system"] == under_test]
        others = Counter(one["system"] for one in found if one["system"] != under_test)
        if own or others:
            first = f", the first: {own[0]}" if own else ""
            told = ", ".join(f"{system} {number}" for system, number in others.items())
            beside = f" (beside it: {told})" if told else ""
            yield f"{name}: {counted(len(own), 'paragraph')}{first}{beside}"


def _rows(index: Index, measure: str) -> Iterator[tuple[Unit, ScoreRow]]:
    for unit, planned in index.units.items():
        if measure in planned:
            yield unit, index.score(unit, measure)
