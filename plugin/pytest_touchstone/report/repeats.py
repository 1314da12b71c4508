"""What the repeats of a run tell: the variance of each measure, and flaky questions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from pytest_touchstone.repeats import components, disagree
from pytest_touchstone.report.index import Index
from pytest_touchstone.report.model import FlakyFinding, MeasureInfo, RepeatsFinding


def repeats_findings(index: Index, floors: Mapping[str, float]) -> list[RepeatsFinding]:
    """One entry per measure of the system under test; none where each question is asked once."""
    if not any(unit.repeat for unit in index.units):
        return []
    flaky = Counter(finding["measure"] for finding in flaky_findings(index, floors))
    found: list[RepeatsFinding] = []
    for info in index.measures:
        if questions := _values(index, info["measure"]):
            parts = components(list(questions.values()))
            found.append(
                {
                    "measure": info["measure"],
                    "questions": len(questions),
                    "between": parts.between,
                    "within": parts.within,
                    "flaky": flaky[info["measure"]],
                }
            )
    return found


def flaky_findings(index: Index, floors: Mapping[str, float]) -> list[FlakyFinding]:
    """Questions on which the system under test contradicts itself, by measure in file order."""
    if not any(unit.repeat for unit in index.units):
        return []
    return [
        {"case": case, "measure": info["measure"], "values": values}
        for info in index.measures
        for case, values in _values(index, info["measure"]).items()
        if _is_flaky(info, values, floors.get(info["measure"]))
    ]


def _is_flaky(info: MeasureInfo, values: list[float], floor: float | None) -> bool:
    better = info["higher_is_better"]
    return disagree(values, floor=floor, higher_is_better=better, range_=info["range"])


def _values(index: Index, measure: str) -> dict[str, list[float]]:
    """The scored repeats of each question."""
    values: dict[str, list[float]] = defaultdict(list)
    for unit, planned in index.units.items():
        if unit.system == index.roles["system"] and measure in planned:
            value = index.score(unit, measure).value
            if value is not None:
                values[unit.case].append(value)
    return dict(values)
