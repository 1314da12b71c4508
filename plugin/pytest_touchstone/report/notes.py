"""What a person must see beside the table, one line each, made from the report alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_touchstone.estimate import MAY_BE_NARROW
from pytest_touchstone.measures.base import counted
from pytest_touchstone.report.cited import cited_lines
from pytest_touchstone.report.model import (
    BudgetEntry,
    CanaryEntry,
    EvaluationCost,
    FaultCount,
    FlakyFinding,
    MeasureEntry,
    Report,
    Result,
    SecondOpinion,
    SystemCost,
)
from pytest_touchstone.report.people import people_lines
from pytest_touchstone.report.substitutes import explained
from pytest_touchstone.score import NO_SCORER, NOT_APPLICABLE

_SHOWN = 3

_NO_MERE_MISS = 3
"""So many questions without a single find look like other ids."""


def warnings(report: Report) -> Iterator[str]:
    """What casts doubt on the scores themselves: it stands above them."""
    canaries = report["snapshot"]["canaries"]
    if canaries is None:
        return
    judge, asked = canaries["judge"], counted(canaries["asked"], "case")
    of = f"of {asked} whose verdict is known ({canaries['asked_at'][:16]})"
    if failed := canaries["failed"]:
        yield f"JUDGE IN DOUBT: {judge} is wrong on {len(failed)} {of}: {_wrong(failed)}"
    if drifted := canaries["drifted"]:
        since = (canaries["earlier_at"] or "")[:16]
        yield (
            f"JUDGE DRIFTED: {judge} says otherwise than on {since} on {len(drifted)} {of}:"
            f" {_changed(drifted)}"
        )
    if unanswered := canaries["unanswered"]:
        yield (
            f"JUDGE IN DOUBT: {judge} gave no verdict on {len(unanswered)} {of};"
            f" {unanswered[0]['canary']}: {unanswered[0]['why']}"
        )


def _wrong(entries: Sequence[CanaryEntry]) -> str:
    told = (f"{e['canary']} ({e['said']}, not {' or '.join(e['known'])})" for e in entries)
    return _first(list(told))


def _changed(entries: Sequence[CanaryEntry]) -> str:
    return _first([f"{e['canary']} ({e['earlier']}, now {e['said']})" for e in entries])


def _first(told: Sequence[str]) -> str:
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return "; ".join(told[:_SHOWN]) + more


def notes(report: Report) -> Iterator[str]:
    """One line per finding that a person must see."""
    findings = report["findings"]
    under_test = report["snapshot"]["roles"]["system"]
    yield from explained(report["snapshot"]["models"])
    yield from _other_ids(report)
    yield from _judging(report["cost"]["evaluation"])
    yield from _reused(report["cost"]["systems"])
    yield from _budget(report["cost"]["budget"], findings["faults"])
    yield from _errors(report)
    yield from _faults(findings["faults"])
    if findings["low"]:
        counts = Counter(low["measure"] for low in findings["low"])
        yield f"Low: {counted(len(findings['low']), 'score')} beyond a floor ({_tally(counts)})"
    for name, cases in (
        ("Silent failures", findings["silent_failures"]),
        ("Contradicted behaviours", findings["contradicted"]),
    ):
        own = [case for case in cases if case["system"] == under_test]
        others = Counter(case["system"] for case in cases if case["system"] != under_test)
        if own or others:
            first = f", the first: {own[0]['case']}" if own else ""
            beside = f" (beside it: {_tally(others)})" if others else ""
            yield f"{name}: {len(own)}{first}{beside}"
    if unfound := findings["unfound_quotations"]:
        first = unfound[0]["case"]
        yield f"The judge's quotations that are not in the text: {len(unfound)}, the first: {first}"
    yield from cited_lines(findings["uncovered"], findings["unresolved"], under_test)
    yield from _flaky(findings["flaky"])
    yield from people_lines(report["measures"], findings["agreement"])
    titles = {entry["measure"]: entry["title"] for entry in report["measures"]}
    for opinion in findings["second_opinion"]:
        yield _second_opinion(opinion, titles[opinion["measure"]])
    unscored = {
        entry["measure"]: reasons
        for entry in report["measures"]
        if (reasons := missing(entry["system"]))
    }
    examples = _examples(report, unscored)
    for name, reasons in unscored.items():
        yield f"Unscored: {titles[name]}: {_tally(reasons)}{examples.get(name, '')}"
    yield from _too_narrow(report["measures"])
    yield from _without_interval(report["measures"])


def _second_opinion(found: SecondOpinion, title: str) -> str:
    """What the other engine says of a measure, and how many of the answers it says it of."""
    none = f"; no opinion on {_tally(found['no_opinion'])}" if found["no_opinion"] else ""
    about = f"Second opinion ({found['engine']}): {title}"
    if found["mean"] is None or found["other_mean"] is None:
        return f"{about}: no answer that both scored{none}"
    apart = "" if found["apart"] is None else f"{found['apart']:g} in {found['far_apart']}"
    means = f"{found['mean']:.2f} here, {found['other_mean']:.2f} there"
    differ = f", differ by more than {apart}" if apart else ""
    return f"{about} {means}, {counted(found['n'], 'answer')}{differ}{none}"


def _flaky(flaky: Sequence[FlakyFinding]) -> Iterator[str]:
    if flaky:
        cases = dict.fromkeys(finding["case"] for finding in flaky)
        tally = _tally(Counter(finding["measure"] for finding in flaky))
        about = f"{counted(len(cases), 'question')} on which repeats disagree"
        yield f"Flaky: {about} ({tally}), the first: {next(iter(cases))}"


def _other_ids(report: Report) -> Iterator[str]:
    """A system that names its passages otherwise than the gold file finds nothing, ever."""
    under_test = report["snapshot"]["roles"]["system"]
    returned: dict[str, None] = {}
    gold: dict[str, None] = {}
    missed = 0
    for case in report["cases"]:
        if case["system"] == under_test:
            missed += bool(case["passages"] and case["gold"].get("gold_chunks"))
            returned.update(dict.fromkeys(passage["id"] for passage in case["passages"]))
            chunks: Any = case["gold"].get("gold_chunks", [])
            for chunk in chunks:
                named = [chunk] if isinstance(chunk, str) else [chunk["id"]]
                gold.update(dict.fromkeys(named))
            if not returned.keys().isdisjoint(gold):
                return
    if missed >= _NO_MERE_MISS:
        yield (
            f"No passage that {under_test} returned has the id of a gold chunk: it returns ids like"
            f" {next(iter(returned))!r}, gold chunks are called {next(iter(gold))!r}"
        )


def _judging(cost: EvaluationCost) -> Iterator[str]:
    if not cost["calls"] and not cost["cache_hits"]:
        return
    usd = "cost unknown" if cost["usd"] is None else f"{cost['usd']:.4f} USD"
    unknown = f", {cost['unknown']} of unknown cost" if cost["unknown"] else ""
    calls = counted(cost["calls"], "call")
    yield f"Judging: {calls}, {cost['cache_hits']} known already, {usd}{unknown}"


def _reused(systems: Sequence[SystemCost]) -> Iterator[str]:
    """Answers that nobody was asked for: their costs and times are those of then."""
    reused = {entry["system"]: entry["reused"] for entry in systems if entry["reused"]}
    if reused:
        yield (
            f"Reused answers of earlier runs, with their cost and latency: {_tally(reused)};"
            " nothing was paid for them now"
        )


def _budget(budget: BudgetEntry | None, faults: Sequence[FaultCount]) -> Iterator[str]:
    if budget is None:
        return
    said = f"Budget: {budget['spent']:.4f} of {budget['usd']:g} USD spent"
    if budget["stopped"]:
        left = sum(entry["count"] for entry in faults if entry["source"] == "budget")
        said += f", the rest was not asked ({counted(left, 'score')} without a value)"
    if budget["overshoot"]:
        said += f"; exceeded by {budget['overshoot']:.4f} USD, for calls cost more than expected"
    yield said


def _faults(faults: Sequence[FaultCount]) -> Iterator[str]:
    """What judge, scorer and measures failed on; systems' errors stand by themselves."""
    for entry in faults:
        if entry["source"] in ("judge", "scorer", "measure"):
            yield (
                f"Faults of the {entry['source']}: {entry['kind']} on"
                f" {counted(entry['count'], 'score')} of {entry['system']}; {entry['case']}:"
                f" {entry['message']}"
            )


def _errors(report: Report) -> Iterator[str]:
    errors = report["findings"]["system_errors"]
    if not errors:
        return
    yield f"System errors: {len(errors)} ({_tally(Counter(error['system'] for error in errors))})"
    under_test = report["snapshot"]["roles"]["system"]
    for error in sorted(errors, key=lambda error: error["system"] != under_test)[:_SHOWN]:
        yield f"  {error['case']} ({error['system']}): {error['kind']}: {error['message']}"
    if len(errors) > _SHOWN:
        yield f"  and {len(errors) - _SHOWN} more in the report"


def _examples(report: Report, measures: Iterable[str]) -> dict[str, str]:
    """Why the first case of the system under test has no score, in its own words, by measure."""
    under_test = report["snapshot"]["roles"]["system"]
    found: dict[str, str] = {}
    left = set(measures)
    for case in report["cases"] if left else ():
        for measure in sorted(left) if case["system"] == under_test else ():
            reason = case["reasons"].get(measure, NOT_APPLICABLE)
            if case["scores"].get(measure) is None and reason != NOT_APPLICABLE:
                found[measure] = f"; {case['case']}: {case['why'].get(measure, reason)}"
                left.remove(measure)
        if not left:
            break
    return found


def _too_narrow(measures: Sequence[MeasureEntry]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for entry in measures:
        if entry["system"]:
            _, _, reason = entry["system"]["ci_method"].partition(f"{MAY_BE_NARROW}: ")
            reasons.setdefault(reason, []).append(entry["title"])
    reasons.pop("", None)
    for reason, titles in reasons.items():
        yield f"Interval {MAY_BE_NARROW} ({reason}): {', '.join(titles)}"


def _without_interval(measures: Sequence[MeasureEntry]) -> Iterator[str]:
    methods: dict[str, list[str]] = {}
    for entry in measures:
        result = entry["system"]
        if result and result["estimate"] is not None and result["ci"] is None:
            methods.setdefault(result["ci_method"], []).append(entry["title"])
    for method, titles in methods.items():
        yield f"No interval ({method.removeprefix('none: ')}): {', '.join(titles)}"


def missing(result: Result | None) -> dict[str, int]:
    """Reasons that a person may want to do something about."""
    reasons = result["unscored"] if result else {}
    known = (NOT_APPLICABLE, NO_SCORER)
    return {reason: count for reason, count in reasons.items() if reason not in known}


def _tally(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
