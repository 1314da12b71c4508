"""Question by question: how a system's scores differ from the baseline's or an earlier report's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pytest_touchstone.annotations import own_value
from pytest_touchstone.estimate import differences, mean_of_repeats
from pytest_touchstone.report.model import CaseEntry, Report
from pytest_touchstone.score import SYSTEM_ERROR

_NOT_THE_TASK = frozenset(
    {"annotator", "cluster", "lang", "reviewer", "source", "split", "tags", "type"}
)
"""Labels of a gold question that change nothing in what is asked or expected."""


class Pairs(NamedTuple):
    """The differences by case, over what both sides scored, and what a reader should know of it.

    :param unlike: questions of the run that the earlier report asked otherwise, or not at all.
    :param failed: pairs in which the earlier report's system had failed.
    """

    differences: Mapping[str, float]
    unlike: int = 0
    failed: int = 0


class _Asked(NamedTuple):
    """One question of one system: its mean score over repeats, and whether the system failed."""

    entry: CaseEntry
    value: float | None
    failed: bool


def against_baseline(report: Report, measure: str, kind: str | None) -> Pairs:
    """System minus baseline.  Where the baseline failed there is no pair: a broken baseline must
    make no system look better."""
    roles = report["snapshot"]["roles"]
    system = _asked(report, roles["system"], measure, kind)
    baseline = _asked(report, roles["baseline"] or "", measure, kind)
    whole = {case: asked for case, asked in baseline.items() if not asked.failed}
    return Pairs(_differences(system, whole))


def against_previous(report: Report, previous: Report, measure: str, kind: str | None) -> Pairs:
    """This run's system minus that of the earlier report.

    Only questions that both asked alike are paired; the type is that of this run.  Failures of
    either side count with the worst value: left out on one side only, a system that fails now
    and then would seem to have become worse though nothing changed.
    """
    now = _asked(report, report["snapshot"]["roles"]["system"], measure, kind)
    then = _asked(previous, previous["snapshot"]["roles"]["system"], measure, None)
    alike = {
        case: asked
        for case, asked in then.items()
        if case in now and _task(now[case].entry) == _task(asked.entry)
    }
    found = _differences(now, alike)
    failed = sum(alike[case].failed for case in found)
    return Pairs(found, unlike=len(now) - len(alike), failed=failed)


def _differences(one: Mapping[str, _Asked], other: Mapping[str, _Asked]) -> dict[str, float]:
    scored = {case: asked.value for case, asked in one.items() if asked.value is not None}
    besides = {case: asked.value for case, asked in other.items() if asked.value is not None}
    return differences(scored, besides)


def _asked(report: Report, system: str, measure: str, kind: str | None) -> dict[str, _Asked]:
    entries: dict[str, list[CaseEntry]] = defaultdict(list)
    for case in report["cases"]:
        wanted = case["system"] == system and measure in case["scores"]
        if wanted and kind in (None, case["gold"]["type"]):
            entries[case["case"]].append(case)
    return {case: _of_repeats(repeats, measure) for case, repeats in entries.items()}


def _of_repeats(repeats: Iterable[CaseEntry], measure: str) -> _Asked:
    repeats = list(repeats)
    scores = [
        own_value(entry["scores"][measure], entry["details"].get(measure, {})) for entry in repeats
    ]
    values = [value for value in scores if value is not None]
    failed = any(entry["reasons"].get(measure) == SYSTEM_ERROR for entry in repeats)
    return _Asked(repeats[0], mean_of_repeats(values) if values else None, failed)


def _task(entry: CaseEntry) -> dict[str, object]:
    return {name: value for name, value in entry["gold"].items() if name not in _NOT_THE_TASK}
