"""The measures of a report: means with intervals, what is unscored, and the paired deltas."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_args

from pytest_touchstone.estimate import Estimate, Resampling, differences, mean_of_repeats
from pytest_touchstone.gold import CaseType
from pytest_touchstone.report.index import Index
from pytest_touchstone.report.model import Delta, MeasureEntry, MeasureInfo, Result
from pytest_touchstone.report.rows import ScoreRow
from pytest_touchstone.score import SYSTEM_ERROR

_TYPES: tuple[str, ...] = get_args(CaseType)
_DELTA = "delta"


class _Question(NamedTuple):
    """A question's scores of one measure and system, and their mean over the scored ones."""

    case: str
    value: float | None
    scores: tuple[ScoreRow, ...]


class _Cell(NamedTuple):
    """What a mean is over: a measure of a system, on all questions, on a type, or as delta."""

    measure: str
    system: str
    part: str = ""


def measure_entries(index: Index, resampling: Resampling) -> list[MeasureEntry]:
    """All planned measures, in the order of the index."""
    questions = _questions(index)
    values = {
        cell: {item.case: item.value for item in items if item.value is not None}
        for cell, items in questions.items()
    }
    for info in index.measures:
        baseline = _Cell(info["measure"], index.roles["baseline"] or "")
        for system in index.systems:
            cell = _Cell(info["measure"], system)
            if cell != baseline and {cell, baseline} <= questions.keys():
                delta = differences(values[cell], _answered(values[baseline], questions[baseline]))
                values[cell._replace(part=_DELTA)] = delta
    estimates = dict(zip(values, resampling.means(values.values()), strict=True))
    return [_entry(index, info, questions, estimates) for info in index.measures]


def _answered(values: Mapping[str, float], questions: Sequence[_Question]) -> dict[str, float]:
    """The baseline's values without those it got for failing.

    The worst value lowers its mean, but a pair with it would let a broken baseline make any
    system look better.
    """
    failed = {q.case for q in questions if any(row.reason == SYSTEM_ERROR for row in q.scores)}
    return {case: value for case, value in values.items() if case not in failed}


def _questions(index: Index) -> dict[_Cell, list[_Question]]:
    """The questions of every cell but the deltas, in file order."""
    grouped: dict[_Cell, dict[str, list[ScoreRow]]] = defaultdict(lambda: defaultdict(list))
    for unit, measures in index.units.items():
        for measure in measures:
            cell = _Cell(measure, unit.system)
            grouped[cell][unit.case].append(index.score(unit, measure))
    cells: dict[_Cell, list[_Question]] = defaultdict(list)
    for cell, cases in grouped.items():
        for case, scores in cases.items():
            values = [row.value for row in scores if row.value is not None]
            mean = mean_of_repeats(values) if values else None
            question = _Question(case, mean, tuple(scores))
            cells[cell].append(question)
            if cell.system == index.roles["system"]:
                cells[cell._replace(part=index.cases[case].type)].append(question)
    return dict(cells)


def _entry(
    index: Index,
    info: MeasureInfo,
    questions: Mapping[_Cell, Sequence[_Question]],
    estimates: Mapping[_Cell, Estimate],
) -> MeasureEntry:
    roles = index.roles

    def result(system: str, part: str = "") -> Result | None:
        cell = _Cell(info["measure"], system, part)
        return _result(estimates[cell], questions[cell]) if cell in questions else None

    def delta(system: str) -> Delta | None:
        return _delta(estimates.get(_Cell(info["measure"], system, _DELTA)))

    by_type = {name: result(roles["system"], name) for name in _TYPES}
    variants = {name: result(name) for name in roles["variants"]}
    return {
        **info,
        "system": result(roles["system"]),
        "baseline": result(roles["baseline"]) if roles["baseline"] else None,
        "delta": delta(roles["system"]),
        "by_type": {name: found for name, found in by_type.items() if found},
        "variants": {
            name: {**found, "delta": delta(name)} for name, found in variants.items() if found
        },
        "calibrated": None,
    }


def _result(estimate: Estimate, questions: Sequence[_Question]) -> Result:
    # A question without any value counts once, under the reason of its first repeat.
    unscored = Counter(
        item.scores[0].reason or "unknown" for item in questions if item.value is None
    )
    origin = Counter(
        row.origin for item in questions for row in item.scores if row.value is not None
    )
    return {
        "estimate": estimate.value,
        "ci": None if estimate.ci is None else list(estimate.ci),
        "ci_method": estimate.ci_method,
        "n": estimate.n,
        "clusters": estimate.clusters,
        "unscored": dict(sorted(unscored.items())),
        "origin": dict(sorted(origin.items())),
    }


def _delta(estimate: Estimate | None) -> Delta | None:
    if estimate is None or estimate.value is None:
        return None
    return {
        "estimate": estimate.value,
        "ci": None if estimate.ci is None else list(estimate.ci),
        "p_value": None,
        "p_adjusted": None,
        "pairs": estimate.n,
        "detectable": None,
    }
