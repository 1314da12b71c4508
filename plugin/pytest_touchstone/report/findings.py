"""The findings of a report: lists of cases that a person should read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_touchstone.report.cited import uncovered, unresolved
from pytest_touchstone.report.faults import faults_of
from pytest_touchstone.report.index import Index, Unit
from pytest_touchstone.report.model import (
    BehaviorFinding,
    Findings,
    LowFinding,
    SystemErrorFinding,
    UnfoundQuotation,
)
from pytest_touchstone.report.people import agreements
from pytest_touchstone.report.repeats import flaky_findings, repeats_findings
from pytest_touchstone.report.rows import JsonText, ScoreRow
from pytest_touchstone.report.second_opinion import second_opinions
from pytest_touchstone.score import BUDGET

# What the behaviour measures put into a score's detail.
_SILENT = ("observed", "failed_silently")
_CONTRADICTED = ("contradicted", True)
_QUOTATION = "quotation_found"


def findings_of(index: Index, floors: Mapping[str, float], confidence: float) -> Findings:
    """Everything to read, in the order of the index.

    :param floors: measure to the value that a score of the system under test should reach.
    :param confidence: of intervals, within (0, 1).
    """
    errors = list(_system_errors(index))
    return {
        "system_errors": errors,
        "low": list(_low(index, floors)),
        "silent_failures": _with_detail(index, *_SILENT),
        "contradicted": _with_detail(index, *_CONTRADICTED),
        "unfound_quotations": _unfound_quotations(index),
        "uncovered": uncovered(index),
        "unresolved": unresolved(index),
        "second_opinion": second_opinions(index, floors),
        "agreement": agreements(index, confidence),
        "faults": faults_of(index, errors),
        "repeats": repeats_findings(index, floors),
        "flaky": flaky_findings(index, floors),
    }


def is_low(value: float, floor: float, *, higher_is_better: bool) -> bool:
    """Whether a value is beyond the floor of its measure, on the worse side."""
    return value < floor if higher_is_better else value > floor


def _scores(index: Index) -> Iterator[tuple[Unit, ScoreRow]]:
    for unit, planned in index.units.items():
        for info in index.measures:
            if info["measure"] in planned:
                yield unit, index.score(unit, info["measure"])


def _system_errors(index: Index) -> Iterator[SystemErrorFinding]:
    for unit in index.units:
        for turn in index.turns[unit]:
            if turn.error is not None and turn.error["kind"] != BUDGET:
                yield {
                    "case": unit.case,
                    "system": unit.system,
                    "repeat": unit.repeat,
                    "mode": unit.mode,
                    "turn": turn.turn,
                    "kind": turn.error["kind"],
                    "message": turn.error["message"],
                }


def _low(index: Index, floors: Mapping[str, float]) -> Iterator[LowFinding]:
    better = {info["measure"]: info["higher_is_better"] for info in index.measures}
    for unit, row in _scores(index):
        floor = floors.get(row.measure)
        if unit.system != index.roles["system"] or floor is None or row.value is None:
            continue
        if is_low(row.value, floor, higher_is_better=better[row.measure]):
            yield {
                "case": unit.case,
                "system": unit.system,
                "repeat": unit.repeat,
                "measure": row.measure,
                "value": row.value,
                "floor": floor,
                "why": row.why,
            }


def _with_detail(index: Index, key: str, value: object) -> list[BehaviorFinding]:
    """Units with this detail, each once although several measures may tell of it."""
    found: dict[Unit, BehaviorFinding] = {}
    for unit, row in _scores(index):
        if row.detail.get(key) == value and unit not in found:
            found[unit] = {
                "case": unit.case,
                "system": unit.system,
                "repeat": unit.repeat,
                "why": row.why,
            }
    return list(found.values())


def _unfound_quotations(index: Index) -> list[UnfoundQuotation]:
    """Each once a unit, although several measures may rest on one verdict."""
    found: dict[tuple[Unit, str], UnfoundQuotation] = {}
    for unit, row in _scores(index):
        detail = row.detail
        if isinstance(detail, JsonText) and not detail.mentions(_QUOTATION):
            continue
        for quotation in _unfound(detail):
            if (unit, quotation) not in found:
                found[unit, quotation] = {
                    "case": unit.case,
                    "system": unit.system,
                    "repeat": unit.repeat,
                    "measure": row.measure,
                    "quotation": quotation,
                }
    return list(found.values())


def _unfound(detail: Any) -> Iterator[str]:
    """Quotations anywhere in a score's detail that are marked as not found."""
    if isinstance(detail, Mapping):
        if detail.get(_QUOTATION) is False:
            yield str(detail["quotation"])
        for value in detail.values():
            yield from _unfound(value)
    elif isinstance(detail, list | tuple):
        for value in detail:
            yield from _unfound(value)
