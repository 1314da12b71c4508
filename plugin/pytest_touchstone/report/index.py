"""The rows of a run, checked and put in the one order that everything in a report follows."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from pytest_touchstone.estimate import usable
from pytest_touchstone.gold import Case
from pytest_touchstone.report.model import MeasureInfo, ReportError, Roles
from pytest_touchstone.report.rows import (
    CaseRow,
    JsonText,
    PlanRow,
    QuestionRow,
    RunRecord,
    ScoreRow,
)
from pytest_touchstone.score import NO_FILTERS, NOT_APPLICABLE, SYSTEM_ERROR

NOT_RUN = "not_run"
"""Planned, but the run ended before it was scored."""
NOT_FINITE = "not_finite"
"""A stored value that is no number to reckon with."""

_DIMENSIONS = (
    "retrieval",
    "paragraphs",
    "filters",
    "relaxation",
    "faithfulness",
    "citations",
    "summarisation",
    "tone",
    "multi_turn",
    "cost",
)

Row = TypeVar("Row")


class Unit(NamedTuple):
    """One system's whole conversation over one case."""

    case: str
    system: str
    mode: str
    repeat: int


@dataclass(frozen=True)
class Index:
    """The planned part of a run; rows outside its plan are not in it.

    :param cases: planned cases in file order.
    :param systems: planned systems: system under test, baseline, variants, any other by name.
    :param measures: planned measures by dimension, then in planned order.
    :param units: planned units in the order of cases, systems, mode and repeat, each with its
        planned measures.
    :param turns: what was asked in each unit, in order.
    """

    roles: Roles
    cases: Mapping[str, Case]
    systems: tuple[str, ...]
    measures: tuple[MeasureInfo, ...]
    units: Mapping[Unit, frozenset[str]]
    turns: Mapping[Unit, tuple[QuestionRow, ...]]
    scored: Mapping[tuple[Unit, str], ScoreRow]

    def score(self, unit: Unit, measure: str) -> ScoreRow:
        """The planned score; one that was never made is unscored ``not_run``."""
        row = self.scored.get((unit, measure))
        if row is not None:
            return row
        why = "planned, but the run ended before it was scored"
        return ScoreRow(unit.case, unit.system, measure, None, why, NOT_RUN, unit.repeat, unit.mode)


def index_rows(
    run: RunRecord,
    *,
    cases: Iterable[CaseRow],
    plan: Iterable[PlanRow],
    questions: Iterable[QuestionRow],
    scores: Iterable[ScoreRow],
) -> Index:
    """Order the rows of a run; their own order does not matter.

    :raises ReportError: where two rows contradict each other, or the plan names a case or a
        measure that the run does not describe.
    """
    roles = run.config["roles"]
    planned: dict[Unit, frozenset[str]] = {}
    # Of what is the same in thousands of places, one is kept.
    same_names: dict[frozenset[str], frozenset[str]] = {}
    for entry in plan:
        unit = _unit(entry)
        names = planned.get(unit, frozenset()) | {entry.measure}
        planned[unit] = same_names.setdefault(names, names)
    same_unit = {unit: unit for unit in planned}
    known = {row.case.id: row for row in cases}
    if missing := sorted({unit.case for unit in planned} - known.keys()):
        raise ReportError(f"run {run.id}: planned cases without gold question: {missing}")
    asked = _unique(questions, lambda row: (_unit(row), row.turn), f"run {run.id}: turn")
    turns: dict[Unit, list[QuestionRow]] = defaultdict(list)
    for (unit, _), question in sorted(asked.items(), key=lambda item: item[0]):
        turns[unit].append(question)
    scored = _unique(
        map(_sound, scores),
        lambda row: (same_unit.get(unit := _unit(row), unit), row.measure),
        f"run {run.id}: score",
    )
    in_roles = [roles["system"], roles["baseline"], *roles["variants"]]
    systems = {unit.system for unit in planned}
    systems_in_order = [name for name in dict.fromkeys(in_roles) if name in systems]
    systems_in_order += sorted(systems.difference(in_roles))

    def place(unit: Unit) -> tuple[int, str, int, str, int]:
        at = known[unit.case].position
        return at, unit.case, systems_in_order.index(unit.system), unit.mode, unit.repeat

    units = {unit: planned[unit] for unit in sorted(planned, key=place)}
    return Index(
        roles=roles,
        cases={unit.case: known[unit.case].case for unit in units},
        systems=tuple(systems_in_order),
        measures=_measures(run, {name for names in planned.values() for name in names}),
        units=units,
        turns={unit: tuple(turns.get(unit, ())) for unit in units},
        scored=_with_filters_settled({key: row for key, row in scored.items() if key[0] in units}),
    )


def _with_filters_settled(
    scored: dict[tuple[Unit, str], ScoreRow],
) -> dict[tuple[Unit, str], ScoreRow]:
    """The scores, with it settled whether a system infers filters at all.

    One that never reports any is ``n/a`` on filter measures, also where it failed: an error must
    not turn that into a mean of 0 over a single case.  One that reports some here and none there
    inferred none there.
    """
    silent = {(u.system, m) for (u, m), row in scored.items() if row.reason == NO_FILTERS}
    if not silent:
        return scored
    reporting = {
        unit.system
        for (unit, measure), row in scored.items()
        if (unit.system, measure) in silent and row.value is not None and row.reason is None
    }
    return {
        (unit, measure): _settled(row, unit.system in reporting)
        if (unit.system, measure) in silent
        else row
        for (unit, measure), row in scored.items()
    }


def _settled(row: ScoreRow, reports: bool) -> ScoreRow:
    if row.reason == NO_FILTERS and reports:
        value = row.detail.get("if_none_inferred")
        why = f"{row.why} here, which it does elsewhere: none were inferred"
        return row._replace(
            value=value, reason=None if value is not None else NOT_APPLICABLE, why=why
        )
    if row.reason in (NO_FILTERS, SYSTEM_ERROR) and not reports:
        return row._replace(value=None, reason=NOT_APPLICABLE)
    return row


def json_data(value: Any) -> Any:
    """Parsed JSON as plain lists and dictionaries, with ``null`` for NaN and infinity."""
    kind = type(value)
    # The same in two steps: a report has millions of values, and abstract types are slow to ask.
    if kind is str or kind is int or value is None or kind is bool:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is JsonText:
        return value.parsed
    if kind is dict:
        return {key: json_data(item) for key, item in value.items()}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: json_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_data(item) for item in value]
    return value


def _unit(row: PlanRow | QuestionRow | ScoreRow) -> Unit:
    return Unit(row.case_id, row.system, row.mode, row.repeat)


def _sound(row: ScoreRow) -> ScoreRow:
    if row.value is None or usable(row.value):
        return row
    why = f"the stored value {row.value!r} is no finite number"
    return row._replace(value=None, reason=NOT_FINITE, why=why)


Key = TypeVar("Key", bound=Hashable)


def _unique(rows: Iterable[Row], key_of: Callable[[Row], Key], what: str) -> dict[Key, Row]:
    found: dict[Key, Row] = {}
    for row in rows:
        key = key_of(row)
        first = found.setdefault(key, row)
        if first is not row and first != row:
            raise ReportError(f"{what} {key!r}: two rows that contradict each other")
    return found


def _measures(run: RunRecord, planned: set[str]) -> tuple[MeasureInfo, ...]:
    described = run.config["measures"]
    if missing := sorted(planned - {info["measure"] for info in described}):
        raise ReportError(
            f"run {run.id}: planned measures that `measures` in its config does not describe: "
            f"{', '.join(missing)}"
        )
    dimensions = list(dict.fromkeys((*_DIMENSIONS, *(info["dimension"] for info in described))))
    chosen = (info for info in described if info["measure"] in planned)
    return tuple(sorted(chosen, key=lambda info: dimensions.index(info["dimension"])))
