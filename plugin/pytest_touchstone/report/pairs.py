"""Question by question: how a system's scores differ from the baseline's or an earlier report's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pytest_touchstone.annotations import own_value
from pytest_touchstone.estimate import Resampling, differences, mean_of_repeats, usable
from pytest_touchstone.report.model import CaseEntry, Gold, Report
from pytest_touchstone.score import SYSTEM_ERROR

_NOT_THE_TASK = frozenset(
    {"annotator", "cluster", "lang", "reviewer", "source", "split", "tags", "type"}
)
"""Labels of a gold question that change nothing in what is asked or expected."""


class Pair(NamedTuple):
    """One question's mean over repeats, before people's word replaced any score."""

    then: float
    now: float


class Pairs(NamedTuple):
    """The differences by case, over what both sides scored, and what a reader should know of it.

    :param values: what the differences are of.
    :param unlike: questions of the run that the earlier report asked otherwise, or not at all.
    :param failed: pairs in which the earlier report's system had failed.
    :param unpaired: questions asked alike that only the earlier report scored, and only this one,
        in their order.
    """

    differences: Mapping[str, float]
    values: Mapping[str, Pair]
    unlike: int = 0
    failed: int = 0
    unpaired: tuple[Sequence[str], Sequence[str]] = ((), ())


class _Asked(NamedTuple):
    """One question of one system: its mean score over repeats, and whether the system failed."""

    entry: CaseEntry
    value: float | None
    failed: bool


def resampling_of(report: Report) -> Resampling:
    """The draws that differences over a report's questions are estimated with."""
    snapshot = report["snapshot"]
    gold = {case["case"]: case["gold"] for case in report["cases"]}
    return Resampling(
        {name: str(case.get("cluster", name)) for name, case in gold.items()},
        type_of={name: case["type"] for name, case in gold.items()},
        seed=snapshot["seed"],
        resamples=snapshot["resamples"],
        confidence=snapshot["confidence"],
    )


def against_baseline(report: Report, measure: str, kind: str | None) -> Pairs:
    """System minus baseline.  Where the baseline failed there is no pair: a broken baseline must
    make no system look better."""
    roles = report["snapshot"]["roles"]
    system = _asked(report, roles["system"], measure, kind)
    baseline = _asked(report, roles["baseline"] or "", measure, kind)
    whole = {case: asked for case, asked in baseline.items() if not asked.failed}
    return _pairs(system, whole)


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
        if case in now and not changed_labels(now[case].entry["gold"], asked.entry["gold"])
    }
    found = _pairs({case: now[case] for case in alike}, alike)
    failed = sum(alike[case].failed for case in found.differences)
    return found._replace(unlike=len(now) - len(alike), failed=failed)


def changed_labels(one: Gold, other: Gold) -> list[str]:
    """What two versions of a gold question ask or expect differently; nothing: they are alike."""
    names = sorted((one.keys() | other.keys()) - _NOT_THE_TASK)
    return [name for name in names if one.get(name, ...) != other.get(name, ...)]


def _pairs(one: Mapping[str, _Asked], other: Mapping[str, _Asked]) -> Pairs:
    now, then = _scored(one), _scored(other)
    # A difference of two values that are in a report need not be one that can be reckoned with.
    found = {case: one for case, one in differences(now, then).items() if usable(one)}
    unpaired = (
        [case for case in then if case not in now],
        [case for case in now if case not in then],
    )
    return Pairs(found, {case: Pair(then[case], now[case]) for case in found}, unpaired=unpaired)


def _scored(asked: Mapping[str, _Asked]) -> dict[str, float]:
    return {case: one.value for case, one in asked.items() if one.value is not None}


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
    values = [value for value in scores if value is not None and usable(value)]
    failed = any(entry["reasons"].get(measure) == SYSTEM_ERROR for entry in repeats)
    return _Asked(repeats[0], mean_of_repeats(values) if values else None, failed)
