"""Whether the figures of a report came out again.

Identical: the same ``results_sha256``.  Otherwise a measure of a system has moved where its paired
differences, question by question, are beyond chance by the rule that reports, comparisons and
gates go by: sign flips of clusters, p adjusted by Holm over all measures in which anything differs.
It fits here better than anywhere: if system and judge are what they were, the two runs are
exchangeable, and flipping signs is exact.  The old mean's own interval would be the wrong
yardstick: it says how far another set of questions might lie, and the questions are the same, so a
system that loses a little on every one of them stays within it.

Where the questions are so few that no p could be small enough, the old mean's interval is taken
all the same, since it does see a large shift; and where there is none, whatever differs has moved.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pytest_touchstone.annotations import own_value
from pytest_touchstone.estimate import Cell, Estimate, mean_of_repeats, usable
from pytest_touchstone.report.deltas import tested
from pytest_touchstone.report.figures import decimals
from pytest_touchstone.report.model import CaseEntry, Delta, MeasureEntry, Report
from pytest_touchstone.report.pairs import resampling_of

Word = Literal["identical", "within the interval", "different"]

_SAME = 1e-9
"""Values nearer than this are the same: their digest has nine digits."""
_ENOUGH = 0.5
"""Share of the questions scored then that must be scored now, as for a gate."""

_Part = tuple[str, str]
"""A measure and a system."""


@dataclass(frozen=True, slots=True)
class Movement:
    """One measure of one system, in which something differs.

    Means are over the questions scored both times, before people's word; ``None`` where none was.

    :param then: the old mean with its interval.
    :param delta: the new mean minus the old one.
    :param lost: questions scored then and not now, by reason.
    :param gained: questions scored now and not then.
    :param moved: whether this is more than chance, or too little was scored to tell.
    """

    entry: MeasureEntry
    system: str
    then: Estimate
    delta: Delta | None
    lost: Mapping[str, int]
    gained: int
    moved: bool

    @property
    def now(self) -> float | None:
        """The new mean."""
        if self.then.value is None or self.delta is None:
            return None
        return self.then.value + self.delta["estimate"]

    @property
    def digits(self) -> int:
        """Decimals for a reader."""
        return decimals(self.entry)


@dataclass(frozen=True, slots=True)
class CaseMove:
    """A question whose score differs.

    :param by: how far, as a share of the measure's range.
    """

    case: str
    system: str
    entry: MeasureEntry
    then: float
    now: float
    by: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a report came out again.

    :param movements: every measure in which anything differs, those that moved first.
    :param cases: every question whose score differs, the furthest first.
    :param answers: how many answers differ, and how many were given both times.
    :param confidence: of the intervals; 1 minus it is the level of the tests.
    """

    word: Word
    movements: Sequence[Movement]
    cases: Sequence[CaseMove]
    answers: tuple[int, int]
    confidence: float


def reached(then: Report, now: Report) -> Verdict:
    """The verdict on a report and the one that was made again.

    Questions are paired by their id, whatever their labels say now: a changed label is a reason
    for another figure, not a way around it.
    """
    movements = _movements(then, now)
    same = then["snapshot"]["results_sha256"] == now["snapshot"]["results_sha256"]
    moved = any(movement.moved for movement in movements)
    word: Word = "identical" if same else "different" if moved else "within the interval"
    return Verdict(
        word, movements, _cases(then, now), _answers(then, now), then["snapshot"]["confidence"]
    )


def _movements(then: Report, now: Report) -> list[Movement]:
    before, after = _values(then), _values(now)
    entries = {entry["measure"]: entry for entry in then["measures"]}
    differing = {
        part: values
        for part, values in before.items()
        if part[0] in entries and _differs(values, after.get(part, {}))
    }
    resampling = resampling_of(then)
    both = {part: values.keys() & after.get(part, {}).keys() for part, values in differing.items()}
    means = resampling.means(
        Cell({case: differing[part][case] for case in cases}, _range(entries[part[0]]))
        for part, cases in both.items()
    )
    cells = {
        part: Cell(_differences(values, after.get(part, {})), _range(entries[part[0]]), paired=True)
        for part, values in differing.items()
    }
    deltas = tested(cells, resampling, lambda _: None)
    reasons = _reasons(now)
    found = []
    for part, mean in zip(differing, means, strict=True):
        gone = (reasons.get((*part, case)) for case in differing[part].keys() - both[part])
        movement = Movement(
            entries[part[0]],
            part[1],
            mean,
            deltas.get(part),
            Counter(reason or "not part of the run" for reason in gone),
            len(after.get(part, {}).keys() - both[part]),
            moved=False,
        )
        alpha = 1 - then["snapshot"]["confidence"]
        found.append(replace(movement, moved=_has_moved(movement, len(cells), alpha)))
    return sorted(found, key=lambda movement: not movement.moved)


def _has_moved(movement: Movement, tests: int, alpha: float) -> bool:
    """:param tests: over how many p was adjusted."""
    then, delta, now = movement.then, movement.delta, movement.now
    if then.n < _ENOUGH * (then.n + sum(movement.lost.values())):
        return True
    if delta is None or now is None or not delta["estimate"]:
        return False
    p = delta["p_adjusted"]
    # Of so many clusters, one in 2^(clusters - 1) flips leaves all signs as they are.
    if p is not None and tests * 2.0 ** (1 - then.clusters) <= alpha:
        return p <= alpha
    return then.ci is None or not then.ci[0] - _SAME <= now <= then.ci[1] + _SAME


def _range(entry: MeasureEntry) -> tuple[float | None, float | None]:
    low, high = entry["range"]
    return low, high


def _values(report: Report) -> dict[_Part, dict[str, float]]:
    """What the instrument itself gave: of each measure and system, a value a question."""
    repeats: dict[_Part, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in report["cases"]:
        for measure, score in case["scores"].items():
            value = own_value(score, case["details"].get(measure, {}))
            if value is not None:
                repeats[measure, case["system"]][case["case"]].append(value)
    return {
        part: {case: mean_of_repeats(several) for case, several in cases.items()}
        for part, cases in repeats.items()
    }


def _differs(then: Mapping[str, float], now: Mapping[str, float]) -> bool:
    return then.keys() != now.keys() or any(
        abs(value - now[case]) > _SAME for case, value in then.items()
    )


def _differences(then: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    pairs = {case: now[case] - value for case, value in then.items() if case in now}
    return {case: by if abs(by) > _SAME else 0.0 for case, by in pairs.items() if usable(by)}


def _reasons(report: Report) -> dict[tuple[str, str, str], str]:
    """Why a measure of a system has no score on a question."""
    return {
        (measure, case["system"], case["case"]): reason
        for case in report["cases"]
        for measure, reason in case["reasons"].items()
    }


def _cases(then: Report, now: Report) -> list[CaseMove]:
    before, after = _values(then), _values(now)
    found = []
    for entry in then["measures"]:
        for (measure, system), values in before.items():
            if measure != entry["measure"]:
                continue
            for case, value in values.items():
                other = after.get((measure, system), {}).get(case)
                if other is not None and abs(other - value) > _SAME:
                    by = _share(entry, value, other)
                    found.append(CaseMove(case, system, entry, value, other, by))
    return sorted(found, key=lambda move: (-move.by, move.case))


def _share(entry: MeasureEntry, one: float, other: float) -> float:
    low, high = _range(entry)
    whole = max(abs(one), abs(other)) if low is None or high is None else high - low
    return abs(other - one) / whole


def _answers(then: Report, now: Report) -> tuple[int, int]:
    before, after = ({_place(case): _said(case) for case in one["cases"]} for one in (then, now))
    both = before.keys() & after.keys()
    return sum(before[place] != after[place] for place in both), len(both)


def _place(case: CaseEntry) -> tuple[str, str, int, str]:
    return case["case"], case["system"], case["repeat"], case["mode"]


def _said(case: CaseEntry) -> list[Any]:
    """What the digest of results holds of an answer."""
    turns = [*case["earlier_turns"], case]
    return [
        [turn["answer"], turn["filters"], turn["behavior"], turn["error"] and turn["error"]["kind"]]
        for turn in turns
    ]
