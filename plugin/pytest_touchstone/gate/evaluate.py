"""Gates held to a report.

What is absolute passes or fails.  What is relative has a third outcome: it passes where the whole
interval of the difference meets the bound, fails where none of it does, and is undecided where the
bound lies within.  A gate is `not_run` where its figure would be one of something else: of part of
the questions, of another judge, of nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from pytest_touchstone.estimate import Cell, Resampling
from pytest_touchstone.gate.expression import Gate, number
from pytest_touchstone.measures import parse
from pytest_touchstone.measures.base import counted
from pytest_touchstone.nearest import nearest
from pytest_touchstone.report.index import NOT_RUN
from pytest_touchstone.report.instruments import INSTRUMENTS, other_instrument
from pytest_touchstone.report.model import GateEntry, MeasureEntry, Report, Result
from pytest_touchstone.report.pairs import (
    Pairs,
    against_baseline,
    against_previous,
    resampling_of,
)
from pytest_touchstone.report.substitutes import EMBEDDED, PROXY
from pytest_touchstone.score import BUDGET, NOT_APPLICABLE

Outcome = Literal["pass", "fail", "undecided", "not_run"]

_ENOUGH = 0.5
"""Share of the questions that must be scored: where a judge was away for most, what it did reach
says nothing about the rest."""
_NOT_APPLICABLE = "the measure says nothing about what this system does"


@dataclass(frozen=True, slots=True)
class Previous:
    """An earlier report, and the name by which a reader knows it."""

    report: Report
    name: str


class _Finding(NamedTuple):
    outcome: Outcome
    why: str
    value: float | None = None
    ci: Sequence[float] | None = None


def gate_entries(
    gates: Iterable[Gate], report: Report, previous: Previous | None = None
) -> list[GateEntry]:
    """The report's ``gates``: one entry per gate, in their order.

    :param previous: what gates against `previous` are compared with; without it they are not run.
    """
    held = _Held(report, previous)
    return [_entry(gate, held.finding(gate)) for gate in gates]


def not_held(gates: Iterable[Gate], why: str) -> list[GateEntry]:
    """Entries of gates for which there is no report."""
    return [_entry(gate, _not_run(why)) for gate in gates]


def _entry(gate: Gate, found: _Finding) -> GateEntry:
    return {
        "expression": str(gate),
        "value": found.value,
        "ci": None if found.ci is None else list(found.ci),
        "outcome": found.outcome,
        "why": found.why,
    }


def decided(gate: Gate, interval: Sequence[float]) -> Outcome:
    """The outcome of a relative gate, given the interval of the difference."""
    met = [_meets(gate)(end) for end in interval]
    return "pass" if all(met) else "undecided" if any(met) else "fail"


class _Held:
    """Gates are held to this report."""

    def __init__(self, report: Report, previous: Previous | None) -> None:
        self._report = report
        self._previous = previous
        self._measures = {entry["measure"]: entry for entry in report["measures"]}

    def finding(self, gate: Gate) -> _Finding:
        entries = [
            entry
            for entry in self._measures.values()
            if gate.subject in (entry["measure"], entry["dimension"])
        ]
        if gate.subject in self._measures:
            entries = [self._measures[gate.subject]]
        if not entries:
            return _not_run(self._not_measured(gate.subject))
        results: dict[str, Result] = {}
        for entry in entries:
            result = _result(entry, gate.kind)
            if result is None:
                return _not_run(f"no question of type {gate.kind} was asked for {entry['measure']}")
            if why := _taken_away(self._report, entry, result, gate.kind) or self._substituted(
                result
            ):
                return _not_run(why)
            results[entry["measure"]] = result
        if gate.quantity == "unscored":
            return _unscored(gate, results)
        result = results[gate.subject]
        estimate = result["estimate"]
        if estimate is None or (result["n"] < _ENOUGH * _wanted(result)):
            return _not_run(_too_little(result))
        if gate.reference is None:
            return _absolute(gate, estimate, result)
        return self._relative(gate)

    # -- why not ------------------------------------------------------------------------------

    def _not_measured(self, subject: str) -> str:
        settings = self._report["snapshot"]["settings"]
        try:
            judged = parse(subject).judged
        except ValueError:
            judged = False
        if judged and not settings.get("judge"):
            return "no judge is configured (setting `judge`)"
        close = nearest(subject, tuple(self._measures))
        beside = f"; {close} was" if close else ""
        return f"{subject} was not measured in this run{beside}"

    def _substituted(self, result: Result) -> str | None:
        """Whether something else judged or scored than the settings name."""
        snapshot = self._report["snapshot"]
        for role in INSTRUMENTS:
            if role not in result["origin"]:
                continue
            named = (snapshot["settings"].get(role) or {}).get("model")
            used = snapshot["models"].get(role, {}).get("model")
            if named == EMBEDDED and snapshot["models"][role].get("scale") == PROXY:
                continue
            if named != used:
                return (
                    f"the settings name {named or 'no'} as {role}, and {used or 'another'} was it"
                )
        return None

    def _other_instrument(self, measure: str, previous: Report) -> str | None:
        """Whether two reports were judged or scored by different means."""
        found = other_instrument(self._report, previous, measure)
        if found is None:
            return None
        if found.prompts:
            return f"the judge was asked with other prompts then: {', '.join(found.prompts)}"
        return (
            f"the {found.role} was {found.then or 'nobody'} then and is {found.now or 'nobody'} now"
        )

    # -- differences --------------------------------------------------------------------------

    def _relative(self, gate: Gate) -> _Finding:
        if gate.reference == "previous":
            return self._against_previous(gate)
        roles = self._report["snapshot"]["roles"]
        if roles["baseline"] in (None, roles["system"]):
            return _not_run("the run has no baseline to compare with")
        entry = self._measures[gate.subject]
        if entry["baseline"] and (missing := entry["baseline"]["unscored"].get(NOT_RUN)):
            return _not_run(f"the run ended before {missing} answers of the baseline were scored")
        if entry["baseline"] and (missing := entry["baseline"]["unscored"].get(BUDGET)):
            return _not_run(
                f"the budget was spent before {missing} answers of the baseline were scored"
            )
        pairs = against_baseline(self._report, gate.subject, gate.kind)
        return self._compared(gate, pairs, str(roles["baseline"]))

    def _against_previous(self, gate: Gate) -> _Finding:
        previous = self._previous
        if previous is None:
            return _not_run("no earlier report was named (setting or option `previous`)")
        entry = next((e for e in previous.report["measures"] if e["measure"] == gate.subject), None)
        before = entry["system"] if entry else None
        if entry is None or before is None:
            return _not_run(f"{previous.name} has no {gate.subject}")
        if why := _taken_away(previous.report, entry, before, None):
            return _not_run(f"{previous.name}: {why}")
        if why := self._other_instrument(gate.subject, previous.report):
            return _not_run(f"{why} ({previous.name}): the scores cannot be compared")
        pairs = against_previous(self._report, previous.report, gate.subject, gate.kind)
        return self._compared(gate, pairs, previous.name)

    def _compared(self, gate: Gate, pairs: Pairs, other: str) -> _Finding:
        differences = pairs.differences
        low, high = self._measures[gate.subject]["range"]
        estimate = self._resampling.mean(Cell(differences, (low, high), paired=True))
        if estimate.value is None:
            return _not_run(f"no question was scored both here and in {other}")
        notes = [f"over {counted(len(differences), 'pair')} with {other}"]
        if pairs.unlike:
            notes.append(f"{counted(pairs.unlike, 'question')} not asked alike there")
        if pairs.failed:
            notes.append(f"it failed on {pairs.failed}")
        about = ", ".join(notes)
        if not any(differences.values()) and _meets(gate)(0.0):
            return _Finding("pass", f"no score differs {about}", 0.0, estimate.ci)
        if estimate.ci is None:
            reason = estimate.ci_method.removeprefix("none: ")
            shown = _shown(estimate.value, gate.bound, signed=True)
            return _Finding("undecided", f"Δ {shown} {about}: {reason}", estimate.value)
        outcome = decided(gate, estimate.ci)
        said = {
            "pass": "all of the interval meets",
            "fail": "none of the interval meets",
            "undecided": "too few questions to tell: the interval holds",
        }[outcome]
        shown = _with_interval(estimate.value, estimate.ci, gate.bound, signed=True)
        why = f"Δ {shown} {about}: {said} {number(gate.bound)}"
        return _Finding(outcome, why, estimate.value, estimate.ci)

    @cached_property
    def _resampling(self) -> Resampling:
        return resampling_of(self._report)


def _result(entry: MeasureEntry, kind: str | None) -> Result | None:
    return entry["system"] if kind is None else entry["by_type"].get(kind)


def _taken_away(
    report: Report, entry: MeasureEntry, result: Result, kind: str | None
) -> str | None:
    """Why a report has only part of the questions that a measure applies to, if it has."""
    counts = report["snapshot"]["selection"]["applicable"].get(entry["measure"], {})
    wanted = sum(counts.values()) if kind is None else counts.get(kind, 0)
    planned = result["n"] + sum(result["unscored"].values())
    if planned < wanted:
        return (
            f"{planned} of {wanted} questions were selected for {entry['measure']}:"
            " an estimate over part of them is another figure"
        )
    if missing := result["unscored"].get(NOT_RUN):
        return f"the run ended before {missing} of {wanted} questions were scored"
    if missing := result["unscored"].get(BUDGET):
        return f"the budget was spent before {missing} of {wanted} questions were scored"
    return None


def _missing(result: Result) -> dict[str, int]:
    """Reasons for which questions that the measure applies to have no score."""
    reasons = result["unscored"].items()
    return {reason: count for reason, count in reasons if reason != NOT_APPLICABLE}


def _wanted(result: Result) -> int:
    """Questions that the measure applies to."""
    return result["n"] + sum(_missing(result).values())


def _too_little(result: Result) -> str:
    missing = _missing(result)
    if not missing:
        return _NOT_APPLICABLE
    tally = ", ".join(f"{reason} {count}" for reason, count in missing.items())
    return f"{result['n']} of {_wanted(result)} questions have a score ({tally})"


def _unscored(gate: Gate, results: Mapping[str, Result]) -> _Finding:
    """The largest share among the measures, since one that is away hides behind the others."""
    shares = {}
    for name, result in results.items():
        if wanted := _wanted(result):
            missing = sum(_missing(result).values())
            shares[name] = (missing / wanted, missing, wanted)
    if not shares:
        return _not_run(_NOT_APPLICABLE)
    name = max(shares, key=lambda name: shares[name][0])
    share, missing, wanted = shares[name]
    met = _meets(gate)(share)
    which = "" if name == gate.subject else f" of {name}"
    why = f"{_shown(share, gate.bound)}: {missing} of {wanted} questions{which} have no score"
    return _Finding("pass" if met else "fail", why, share)


def _absolute(gate: Gate, estimate: float, result: Result) -> _Finding:
    ci = result["ci"]
    over = f"over {counted(result['n'], 'question')}"
    if gate.quantity == "estimate":
        value = estimate
        shown = _with_interval(value, ci, gate.bound)
    elif ci is None:
        reason = result["ci_method"].removeprefix("none: ")
        return _Finding(
            "undecided", f"{_shown(estimate, gate.bound)} {over} has no interval: {reason}"
        )
    else:
        value = ci[0] if gate.quantity == "lower" else ci[1]
        ends = ", ".join(_shown(end, gate.bound) for end in ci)
        shown = f"the {gate.quantity} end of {_shown(estimate, gate.bound)} [{ends}]"
    met = _meets(gate)(value)
    short = "" if met else f" is {'below' if gate.at_least else 'above'} {number(gate.bound)}"
    return _Finding("pass" if met else "fail", f"{shown} {over}{short}", value, ci)


def _meets(gate: Gate) -> Callable[[float], bool]:
    """Whether a value is on the good side of the bound, the last bits of a mean aside."""

    def meets(value: float) -> bool:
        if math.isclose(value, gate.bound, rel_tol=1e-9, abs_tol=1e-12):
            return True
        return value > gate.bound if gate.at_least else value < gate.bound

    return meets


def _not_run(why: str) -> _Finding:
    return _Finding("not_run", why)


def _with_interval(
    value: float, ci: Sequence[float] | None, bound: float, *, signed: bool = False
) -> str:
    shown = _shown(value, bound, signed=signed)
    if ci is None:
        return shown
    return f"{shown} [{', '.join(_shown(end, bound, signed=signed) for end in ci)}]"


def _shown(value: float, bound: float, *, signed: bool = False) -> str:
    """A number with three digits, or as many as show on which side of the bound it lies."""
    sign = "+" if signed else ""
    for digits in range(3, 17):
        text = f"{value:{sign}.{digits}g}"
        if (float(text) < bound) == (value < bound) and (float(text) > bound) == (value > bound):
            return text
    return f"{value:{sign}.17g}"
