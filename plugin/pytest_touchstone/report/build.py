"""From the rows of a run to its report: a pure function, so that any run can be reported again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from pytest_touchstone.estimate import Resampling
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.report.cases import CaseEntries, PassageTexts
from pytest_touchstone.report.cost import cost_of, timing_of
from pytest_touchstone.report.digest import results_sha256
from pytest_touchstone.report.findings import findings_of
from pytest_touchstone.report.index import Index, index_rows, json_data
from pytest_touchstone.report.model import (
    SCHEMA_VERSION,
    Canaries,
    Known,
    MeasureInfo,
    Report,
    ReportError,
    RunConfig,
    Snapshot,
)
from pytest_touchstone.report.people import calibrations
from pytest_touchstone.report.results import measure_entries
from pytest_touchstone.report.rows import (
    CanaryRows,
    CaseRow,
    PlanRow,
    QuestionRow,
    RunRecord,
    ScoreRow,
    StoredPassage,
)
from pytest_touchstone.report.substitutes import marked


def measure_info(measure: Measure) -> MeasureInfo:
    """What a report must know of a measure, to stand in a run's config under ``measures``."""
    return {
        "measure": measure.name,
        "title": measure.title,
        "dimension": measure.dimension,
        "unit": measure.unit,
        "range": list(measure.range),
        "higher_is_better": measure.higher_is_better,
    }


def build_report(
    run: RunRecord,
    *,
    cases: Iterable[CaseRow],
    plan: Iterable[PlanRow],
    questions: Iterable[QuestionRow],
    scores: Iterable[ScoreRow],
    passages: Mapping[str, StoredPassage],
) -> Report:
    """The report of a run; the order of its rows does not matter.

    A planned score without a row is unscored ``not_run``; rows outside the plan are ignored.
    Floors are those of ``config["settings"]["floors"]``.

    :raises ReportError: where the config lacks a key, rows contradict each other, or a case,
        measure or passage that they name is missing.
    """
    config = _checked(run)
    index = index_rows(run, cases=cases, plan=plan, questions=questions, scores=scores)
    resampling = Resampling(
        {case.id: case.cluster or case.id for case in index.cases.values()},
        type_of={case.id: case.type for case in index.cases.values()},
        seed=config["seed"],
        resamples=config["resamples"],
        confidence=config["confidence"],
    )
    calibrated = calibrations(index, config["confidence"])
    return {
        "snapshot": _snapshot(run, index),
        "measures": [
            marked({**entry, "calibrated": calibrated.get(entry["measure"])}, config["models"])
            for entry in measure_entries(index, resampling)
        ],
        "gates": [],
        "cases": CaseEntries(index),
        "cost": cost_of(run, index),
        "findings": findings_of(index, config["settings"].get("floors", {}), config["confidence"]),
        "timing": timing_of(run, index),
        "passages": PassageTexts(index, passages),
    }


def _checked(run: RunRecord) -> RunConfig:
    if missing := sorted(RunConfig.__annotations__.keys() - run.config.keys()):
        raise ReportError(f"run {run.id}: its config lacks {', '.join(missing)}")
    return run.config


def _snapshot(run: RunRecord, index: Index) -> Snapshot:
    known = {key: json_data(run.config[key]) for key in Known.__annotations__}  # type: ignore[literal-required]
    plan = (
        PlanRow(unit.case, unit.system, measure, unit.repeat, unit.mode)
        for unit, measures in index.units.items()
        for measure in measures
    )
    questions = (turn for turns in index.turns.values() for turn in turns)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": {
            "id": run.id,
            "label": run.label,
            "started_at": run.started_at,
            "finished_at": run.finished_at,
        },
        **cast(Known, known),
        "canaries": _canaries(run.canaries),
        "results_sha256": results_sha256(
            run.config["dataset"]["sha256"], plan, questions, index.scored.values()
        ),
    }


def _canaries(rows: CanaryRows | None) -> Canaries | None:
    if rows is None:
        return None
    answered = [one for one in rows.entries if one["said"] is not None]
    return {
        "judge": rows.judge,
        "asked_at": rows.asked_at,
        "earlier_at": rows.earlier_at,
        "asked": len(rows.entries),
        "failed": [one for one in answered if one["said"] not in one["known"]],
        "drifted": [one for one in answered if one["earlier"] not in (None, one["said"])],
        "unanswered": [one for one in rows.entries if one["said"] is None],
    }
