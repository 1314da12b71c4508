"""What went wrong, by kind: each with how often, and one case to read."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_touchstone.report.index import Index
from pytest_touchstone.report.model import FaultCount, FaultSource, SystemErrorFinding
from pytest_touchstone.report.rows import ScoreRow
from pytest_touchstone.score import BUDGET, MEASURE_ERROR, NOT_RECORDED

_KINDS: dict[str, FaultSource] = {
    BUDGET: "budget",
    MEASURE_ERROR: "measure",
    NOT_RECORDED: "replay",
    "no_judge": "judge",
}
_SOURCES: tuple[FaultSource, ...] = ("system", "judge", "scorer", "measure", "budget", "replay")


def faults_of(index: Index, errors: list[SystemErrorFinding]) -> list[FaultCount]:
    """Faults of systems by turn, then those of judge, scorer and measures by score without value.

    :param errors: turns on which a system failed.
    """
    found: dict[tuple[FaultSource, str, str], FaultCount] = {}
    for source, system, kind, case, message in (*_asked(errors), *_scored(index)):
        entry = found.setdefault(
            (source, system, kind),
            {
                "source": source,
                "system": system,
                "kind": kind,
                "count": 0,
                "case": case,
                "message": message,
            },
        )
        entry["count"] += 1
    return sorted(
        found.values(),
        key=lambda entry: (
            _SOURCES.index(entry["source"]),
            index.systems.index(entry["system"]),
            entry["kind"],
        ),
    )


_Fault = tuple[FaultSource, str, str, str, str]


def _asked(errors: list[SystemErrorFinding]) -> Iterator[_Fault]:
    for error in errors:
        yield "system", error["system"], error["kind"], error["case"], error["message"]


def _scored(index: Index) -> Iterator[_Fault]:
    for unit in index.units:
        for info in index.measures:
            row = index.scored.get((unit, info["measure"]))
            source = None if row is None else _source(row)
            if row is not None and row.reason is not None and source is not None:
                yield source, unit.system, row.reason, unit.case, row.why


def _source(row: ScoreRow) -> FaultSource | None:
    if row.value is not None or row.reason is None:
        return None
    if row.reason.startswith("judge_"):
        return "judge"
    if row.reason.startswith("scorer_"):
        return "scorer"
    return _KINDS.get(row.reason)
