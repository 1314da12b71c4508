"""The reading lists of citations, and the lines that point to them."""

from __future__ import annotations

from typing import Any

from pytest_touchstone.gold import Case
from pytest_touchstone.measures import CitationCoverage, Unresolved
from pytest_touchstone.report.build import measure_info
from pytest_touchstone.report.cited import cited_lines, uncovered, unresolved
from pytest_touchstone.report.index import Index, Unit
from pytest_touchstone.report.rows import ScoreRow


def index(*rows: ScoreRow) -> Index:
    units = dict.fromkeys(Unit(row.case_id, row.system, row.mode, row.repeat) for row in rows)
    return Index(
        roles={"system": "own", "baseline": "plain", "variants": []},
        cases={row.case_id: Case(row.case_id, "factual", "?") for row in rows},
        systems=("own", "plain"),
        measures=tuple(measure_info(measure) for measure in (CitationCoverage, Unresolved)),
        units={unit: frozenset({"CitationCoverage", "Unresolved"}) for unit in units},
        turns={},
        scored={
            (Unit(row.case_id, row.system, row.mode, row.repeat), row.measure): row for row in rows
        },
    )


def covered(
    case: str, *paragraphs: tuple[str | None, float | None], system: str = "own"
) -> ScoreRow:
    detail: dict[str, Any] = {
        "scorer": "bge",
        "scale": "probability",
        "paragraphs": [
            {
                "paragraph": place,
                "text": f"{case} {place}",
                "coverage": coverage,
                "verdict": verdict,
                "sources": [
                    {"source": 1, "passage_id": "p", "coverage": coverage, "windows": 1,
                     "reason": None}
                ],
            }
            for place, (verdict, coverage) in enumerate(paragraphs)
        ],
    }  # fmt: skip
    return ScoreRow(case, system, "CitationCoverage", 0.5, "", detail=detail)


def test_supported_and_not_covered_lowest_first() -> None:
    found = uncovered(
        index(
            covered("q1", ("supported", 0.39), ("supported", 0.4), ("partial", 0.1), (None, 0.1)),
            covered("q2", ("supported", 0.05), ("supported", None)),
            covered("q2", ("supported", 0.2), system="plain"),
            ScoreRow("q3", "own", "CitationCoverage", None, "", "no_scorer"),
        )
    )
    assert [(one["case"], one["system"], one["coverage"]) for one in found] == [
        ("q2", "own", 0.05),
        ("q2", "plain", 0.2),
        ("q1", "own", 0.39),
    ]
    assert found[0] == {
        "case": "q2",
        "system": "own",
        "repeat": 0,
        "paragraph": 0,
        "text": "q2 0",
        "coverage": 0.05,
        "sources": [{"source": 1, "passage_id": "p", "coverage": 0.05}],
        "scorer": "bge",
        "scale": "probability",
    }


def test_what_is_cited_and_not_there() -> None:
    broken = {"unresolved": [{"paragraph": 2, "text": "So [9].", "numbers": [9]}]}
    rows = [
        ScoreRow("q1", "own", "Unresolved", 0.5, "", detail=broken),
        ScoreRow("q2", "own", "Unresolved", 0.0, "", detail={"unresolved": []}),
    ]
    found = unresolved(index(*rows))
    assert found == [
        {"case": "q1", "system": "own", "repeat": 0, "paragraph": 2, "text": "So [9].",
         "numbers": [9]}
    ]  # fmt: skip


def test_one_line_points_to_each_list() -> None:
    bare = uncovered(
        index(covered("q1", ("supported", 0.1)), covered("q1", ("supported", 0.1), system="plain"))
    )
    assert list(cited_lines(bare, [], "own")) == [
        "Supported by the judge, but not covered by what is cited: 1 paragraph, the first: q1"
        " (beside it: plain 1)"
    ]
    assert list(cited_lines([], [], "own")) == []
