"""Each measure over several runs, with marks where what it rests on has changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_touchstone.comparing.model import Difference
from pytest_touchstone.comparing.snapshots import snapshot_differences
from pytest_touchstone.comparing.words import values
from pytest_touchstone.report.figures import decimals, shown
from pytest_touchstone.report.index import NOT_RUN
from pytest_touchstone.report.instruments import INSTRUMENTS
from pytest_touchstone.report.model import MeasureEntry, Report, Result, Snapshot
from pytest_touchstone.report.notes import missing
from pytest_touchstone.score import BUDGET

_PARTS = ("commit", "dataset", "selection", "roles", "systems", "models", "prompts", "corpus")
"""Of the snapshot, what a figure rests on; settings show in systems, models and selection."""
_AS_ONE = ("dataset", "corpus")
"""What has changed there is a matter of files, not of keys."""
_WITH_VALUES = ("commit", "selection", "roles", "models")
"""Whose values are short enough to be told."""


class RunFigures(NamedTuple):
    """Of a report what stands in a history."""

    snapshot: Snapshot
    measures: Sequence[MeasureEntry]

    @classmethod
    def of(cls, report: Report) -> RunFigures:
        """Those of a whole report."""
        return cls(report["snapshot"], report["measures"])

    @property
    def finished(self) -> bool:
        """Whether everything that was planned was asked."""
        results = (entry["system"] for entry in self.measures)
        cut = any(result and {NOT_RUN, BUDGET} & result["unscored"].keys() for result in results)
        return self.snapshot["run"]["finished_at"] is not None and not cut


@dataclass(frozen=True, slots=True)
class Point:
    """A measure in one run, of the run's system under test, as the run's report has it.

    :param missing: questions that it applies to and that have no score.
    :param finished: whether everything that was planned was asked.
    :param part: of which questions, where not of all that the measure applies to, and whether the
        run was cut short; points of different parts are not comparable.
    :param changed: what it rests on and was otherwise in the run before.
    """

    run: str
    label: str | None
    started_at: str
    commit: str | None
    system: str
    estimate: float | None
    ci: tuple[float, float] | None
    n: int
    missing: int
    finished: bool
    part: str
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """A measure over the runs that took it, the oldest first.

    :param confidence: of the intervals, where all runs have the same.
    """

    measure: str
    title: str
    dimension: str
    unit: str
    range: tuple[float | None, float | None]
    higher_is_better: bool
    digits: int
    confidence: float | None
    points: tuple[Point, ...]


def series_of(runs: Sequence[RunFigures]) -> list[Series]:
    """The measures, in the order in which runs bring them up.

    :param runs: the oldest first.
    """
    taken: dict[str, list[tuple[RunFigures, MeasureEntry]]] = {}
    for run in runs:
        for entry in filter(shown, run.measures):
            taken.setdefault(entry["measure"], []).append((run, entry))
    between = _Between()
    return [_series(found, between) for found in taken.values()]


class _Between:
    """Differences of two runs' snapshots, found once for all measures."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[Difference]] = {}

    def __call__(self, then: Snapshot, now: Snapshot) -> list[Difference]:
        key = then["run"]["id"], now["run"]["id"]
        if key not in self._found:
            self._found[key] = snapshot_differences(then, now)
        return self._found[key]


def _series(found: Sequence[tuple[RunFigures, MeasureEntry]], between: _Between) -> Series:
    points = []
    before: Snapshot | None = None
    for run, entry in found:
        snapshot, result = run.snapshot, entry["system"]
        origin = {} if result is None else result["origin"]
        marks = () if before is None else _changed(between(before, snapshot), origin)
        points.append(_point(run, entry, tuple(marks)))
        before = snapshot
    last = found[-1][1]
    low, high = last["range"]
    levels = {run.snapshot["confidence"] for run, _ in found}
    return Series(
        last["measure"],
        last["title"],
        last["dimension"],
        last["unit"],
        (low, high),
        last["higher_is_better"],
        max(decimals(entry) for _, entry in found),
        levels.pop() if len(levels) == 1 else None,
        tuple(points),
    )


def _point(figures: RunFigures, entry: MeasureEntry, changed: tuple[str, ...]) -> Point:
    snapshot, result = figures.snapshot, entry["system"]
    ci = None if result is None or result["ci"] is None else (result["ci"][0], result["ci"][1])
    run = snapshot["run"]
    return Point(
        run["id"],
        run["label"],
        run["started_at"],
        snapshot["commit"],
        snapshot["roles"]["system"],
        None if result is None else result["estimate"],
        ci,
        0 if result is None else result["n"],
        sum(missing(result).values()),
        figures.finished,
        _part(figures, entry["measure"], result),
        changed,
    )


def _part(figures: RunFigures, measure: str, result: Result | None) -> str:
    """Of which questions a figure is, where not of all: cut short, split, sample, or selected."""
    selection = figures.snapshot["selection"]
    told = [] if figures.finished else ["cut short"]
    if selection["split"] is not None:
        told.append(f"split {selection['split']}")
    if selection["sample"] is not None:
        told.append(f"sample of {selection['sample']}")
    applicable = sum(selection["applicable"].get(measure, {}).values())
    planned = 0 if result is None else result["n"] + sum(result["unscored"].values())
    if planned < applicable:
        told.append(f"{planned} of {applicable} questions")
    return ", ".join(told)


def _changed(differences: Sequence[Difference], origin: Mapping[str, int]) -> Iterator[str]:
    """What a figure rests on and what is not the same, in few words each.

    :param origin: who gave its scores: what nobody of these did has not changed it.
    """
    told = (_told(one) for one in differences if one.part in _PARTS and not _of_others(one, origin))
    yield from dict.fromkeys(told)


def _told(one: Difference) -> str:
    if one.part in _AS_ONE:
        return one.part
    name = f"{one.part} {one.key}".strip()
    return f"{name} {_value(one)}" if one.part in _WITH_VALUES else name


def _of_others(one: Difference, origin: Mapping[str, int]) -> bool:
    """Whether a difference is about who gave no score of a figure."""
    role = one.key.split(".")[0]
    if one.part == "prompts":
        return role.startswith("judge") and "judge" not in origin
    return one.part == "models" and role in INSTRUMENTS and role not in origin


def _value(one: Difference) -> str:
    before, after = values(one)
    return f"{before} → {after}"
