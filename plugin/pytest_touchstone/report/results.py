"""The measures of a report: means with intervals, what is unscored, and the paired deltas."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, get_args

from pytest_touchstone.annotations import own_value
from pytest_touchstone.estimate import (
    Cell,
    Estimate,
    Range,
    Resampling,
    differences,
    mean_of_repeats,
)
from pytest_touchstone.gold import CaseType
from pytest_touchstone.report.deltas import tested
from pytest_touchstone.report.index import Index
from pytest_touchstone.report.model import Delta, MeasureEntry, MeasureInfo, Result
from pytest_touchstone.report.rows import ScoreRow
from pytest_touchstone.score import SYSTEM_ERROR

_TYPES: tuple[str, ...] = get_args(CaseType)


class _Question(NamedTuple):
    """A question's scores of one measure and system, and their mean over the scored ones.

    :ivar compared: the same mean before people's word replaced any score.
    """

    case: str
    value: float | None
    compared: float | None
    scores: tuple[ScoreRow, ...]


class _Part(NamedTuple):
    """What a mean is over: a measure of a system, on all questions or on those of a type."""

    measure: str
    system: str
    type: str = ""


def measure_entries(index: Index, resampling: Resampling) -> list[MeasureEntry]:
    """All planned measures, in the order of the index."""
    questions = _questions(index)
    ranges = {info["measure"]: _range(info) for info in index.measures}
    cells = {
        part: Cell(
            {item.case: item.value for item in items if item.value is not None},
            ranges[part.measure],
        )
        for part, items in questions.items()
    }
    estimates = dict(zip(cells, resampling.means(cells.values()), strict=True))
    # Each system's measures are one family of tests.
    pairs = _differences(index, questions, cells)
    deltas = tested(pairs, resampling, lambda part: part.system)
    return [_entry(index, info, questions, estimates, deltas) for info in index.measures]


def _range(info: MeasureInfo) -> Range:
    low, high = info["range"]
    return low, high


def _differences(
    index: Index, questions: Mapping[_Part, Sequence[_Question]], cells: Mapping[_Part, Cell]
) -> dict[_Part, Cell]:
    """The system under test and each variant minus the baseline, over what both answered."""
    found: dict[_Part, Cell] = {}
    for info in index.measures:
        baseline = _Part(info["measure"], index.roles["baseline"] or "")
        for system in index.systems:
            part = _Part(info["measure"], system)
            if part != baseline and {part, baseline} <= questions.keys():
                answered = _answered(_compared(questions[baseline]), questions[baseline])
                values = differences(_compared(questions[part]), answered)
                found[part] = Cell(values, cells[part].range, paired=True)
    return found


def _compared(questions: Sequence[_Question]) -> dict[str, float]:
    return {item.case: item.compared for item in questions if item.compared is not None}


def _answered(values: Mapping[str, float], questions: Sequence[_Question]) -> dict[str, float]:
    """The baseline's values without those it got for failing.

    The worst value lowers its mean, but a pair with it would let a broken baseline make any
    system look better.
    """
    failed = {q.case for q in questions if any(row.reason == SYSTEM_ERROR for row in q.scores)}
    return {case: value for case, value in values.items() if case not in failed}


def _questions(index: Index) -> dict[_Part, list[_Question]]:
    """The questions of every part, in file order."""
    grouped: dict[_Part, dict[str, list[ScoreRow]]] = defaultdict(lambda: defaultdict(list))
    for unit, measures in index.units.items():
        for measure in measures:
            cell = _Part(measure, unit.system)
            grouped[cell][unit.case].append(index.score(unit, measure))
    cells: dict[_Part, list[_Question]] = defaultdict(list)
    for cell, cases in grouped.items():
        for case, scores in cases.items():
            mean = _mean(row.value for row in scores)
            compared = _mean(own_value(row.value, row.detail) for row in scores)
            question = _Question(case, mean, compared, tuple(scores))
            cells[cell].append(question)
            if cell.system == index.roles["system"]:
                cells[cell._replace(type=index.cases[case].type)].append(question)
    return dict(cells)


def _mean(values: Iterable[float | None]) -> float | None:
    scored = [value for value in values if value is not None]
    return mean_of_repeats(scored) if scored else None


def _entry(
    index: Index,
    info: MeasureInfo,
    questions: Mapping[_Part, Sequence[_Question]],
    estimates: Mapping[_Part, Estimate],
    deltas: Mapping[_Part, Delta],
) -> MeasureEntry:
    roles = index.roles

    def result(system: str, kind: str = "") -> Result | None:
        part = _Part(info["measure"], system, kind)
        return _result(estimates[part], questions[part]) if part in questions else None

    def delta(system: str) -> Delta | None:
        return deltas.get(_Part(info["measure"], system))

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
