"""What the page's scripts read: the cases and the figures of the charts, each text once."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_touchstone.report.figures import decimals, steps
from pytest_touchstone.report.model import CaseEntry, MeasureEntry, PassageEntry, Report, Result
from pytest_touchstone.report.verdict import standing
from pytest_touchstone.score import NOT_APPLICABLE

OUTCOMES = {
    "error": "System error",
    "low": "Low score",
    "silent": "Silent failure",
    "behaviour": "Behaviour not as claimed",
    "contradiction": "Contradicts its passages",
    "uncovered": "Supported, low coverage",
    "unresolved": "Cites what is not there",
    "unfound": "Quotation not found",
    "unscored": "Unscored",
    "flaky": "Flaky",
    "fine": "Nothing to note",
}
"""What a case can be filtered by; the last is the absence of all others."""

CONTRADICTIONS, FAITHFULNESS = "Contradictions", "Faithfulness"
_SEEN_ANYWAY = ({"ranks", "found_as", "returned"}, {"expected", "found"}, {"if_none_inferred"})
"""Keys of details that only say what the page shows of passages and filters anyway."""


_SURROGATE = re.compile("[\ud800-\udfff]")
_LEVEL = 6

_Numbers = dict[tuple[str, str], int]
"""Id and digest of a passage to its number in the page."""


def page_data(report: Report) -> dict[str, Any]:
    """Cases and figures as JSON data.

    ``cases`` has an entry a gold question with one play for each system, mode and repeat, whose
    passages are pairs of a number of ``passages`` and a score.
    """
    passages: _Numbers = {}
    measures = [entry["measure"] for entry in report["measures"]]
    systems = list(
        dict.fromkeys([*reversed(steps(report)), *(c["system"] for c in report["cases"])])
    )
    plays: dict[str, list[CaseEntry]] = defaultdict(list)
    for case in report["cases"]:
        plays[case["case"]].append(case)
    outcomes = outcomes_of(report)
    cases = [
        {
            "id": name,
            "type": entries[0]["gold"]["type"],
            "gold": {k: v for k, v in entries[0]["gold"].items() if k not in ("id", "type")},
            "outcomes": outcomes[name],
            "plays": [_play(entry, systems, measures, passages) for entry in entries],
        }
        for name, entries in plays.items()
    ]
    roles = report["snapshot"]["roles"]
    return {
        "system": roles["system"],
        "baseline": roles["baseline"],
        "steps": steps(report),
        "confidence": report["snapshot"]["confidence"],
        "systems": systems,
        "outcomes": list(OUTCOMES.items()),
        "measures": [_measure(entry, report) for entry in report["measures"]],
        "cases": cases,
        "passages": [
            [name, report["passages"][digest]["text"], report["passages"][digest]["metadata"]]
            for name, digest in passages
        ],
    }


def packed(data: Mapping[str, Any]) -> str:
    """JSON data as the page's scripts unpack it: deflated (RFC 1950) and in base64.

    Judged cases say much alike, so that this is a quarter of the size; and there is nothing in it
    that a browser could take for markup.
    """
    text = json.dumps(
        data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
    )
    whole = _SURROGATE.sub("\ufffd", text).encode()
    return base64.b64encode(zlib.compress(whole, _LEVEL)).decode()


def case_numbers(report: Report) -> dict[str, int]:
    """Case to its number in the page, by which it can be linked to."""
    return {name: n for n, name in enumerate(dict.fromkeys(c["case"] for c in report["cases"]))}


def outcomes_of(report: Report) -> dict[str, list[str]]:
    """Case to what there is to note of the system under test on it, in the order of OUTCOMES."""
    found: dict[str, set[str]] = defaultdict(set)
    for outcome, case in _noted(report):
        found[case].add(outcome)
    return {
        name: [outcome for outcome in OUTCOMES if outcome in found[name]] or ["fine"]
        for name in case_numbers(report)
    }


def contradicting(report: Report) -> Iterator[CaseEntry]:
    """Plays of the system under test that contradict their passages."""
    for case in _own(report):
        if case["scores"].get(CONTRADICTIONS):
            yield case


def _own(report: Report) -> Iterator[CaseEntry]:
    under_test = report["snapshot"]["roles"]["system"]
    return (case for case in report["cases"] if case["system"] == under_test)


def _noted(report: Report) -> Iterator[tuple[str, str]]:
    findings = report["findings"]
    under_test = report["snapshot"]["roles"]["system"]
    lists: dict[str, Sequence[Mapping[str, Any]]] = {
        "error": findings["system_errors"],
        "low": findings["low"],
        "silent": findings["silent_failures"],
        "behaviour": findings["contradicted"],
        "uncovered": findings["uncovered"],
        "unresolved": findings["unresolved"],
        "unfound": findings["unfound_quotations"],
    }
    for outcome, entries in lists.items():
        yield from ((outcome, e["case"]) for e in entries if e["system"] == under_test)
    yield from (("flaky", entry["case"]) for entry in findings["flaky"])
    yield from (("contradiction", case["case"]) for case in contradicting(report))
    for case in _own(report):
        reasons = case["reasons"]
        missing = (m for m, value in case["scores"].items() if value is None)
        if any(reasons.get(m) != NOT_APPLICABLE for m in missing):
            yield "unscored", case["case"]


def _measure(entry: MeasureEntry, report: Report) -> dict[str, Any]:
    results: dict[str, Result | None] = {
        name: entry["variants"].get(name) for name in steps(report)
    }
    roles = report["snapshot"]["roles"]
    results[roles["baseline"] or ""] = entry["baseline"]
    results[roles["system"]] = entry["system"]
    delta = entry["delta"]
    return {
        "name": entry["measure"],
        "title": entry["title"],
        "unit": entry["unit"],
        "range": entry["range"],
        "better": "higher" if entry["higher_is_better"] else "lower",
        "digits": decimals(entry),
        "results": {name: [r["estimate"], r["ci"]] for name, r in results.items() if name and r},
        "delta": delta and [delta["estimate"], delta["ci"]],
        "standing": standing(entry, report["snapshot"]["confidence"]),
    }


def _play(
    entry: CaseEntry, systems: list[str], measures: list[str], passages: _Numbers
) -> dict[str, Any]:
    play: dict[str, Any] = {
        "system": systems.index(entry["system"]),
        "repeat": entry["repeat"],
        "mode": entry["mode"],
        "scores": [
            [
                measures.index(name),
                value,
                entry["reasons"].get(name),
                entry["why"].get(name, ""),
            ]
            for name, value in entry["scores"].items()
        ],
        "details": _details(entry, measures),
        **_turn(entry, passages),
    }
    # A conversation played live is its earlier turns.
    if entry["mode"] == "recorded" or not entry["earlier_turns"]:
        play["conversation"] = [
            [message["role"], message["content"]] for message in entry["conversation"]
        ]
    if entry["earlier_turns"]:
        play["earlier"] = [
            {"question": turn["question"], **_turn(turn, passages)}
            for turn in entry["earlier_turns"]
        ]
    return play


def _turn(turn: Mapping[str, Any], passages: _Numbers) -> dict[str, Any]:
    found: list[float | None] = []
    entries: Sequence[PassageEntry] = turn["passages"]
    for passage in entries:
        named = (passage["id"], passage["digest"])
        found += [passages.setdefault(named, len(passages)), passage["score"]]
    told = {
        "answer": turn["answer"],
        "passages": found,
        "filters": turn["filters"],
        "behavior": turn["behavior"],
        "usage": turn["usage"],
        "cost": turn["cost_usd"],
        "costReason": turn["cost_reason"],
        "error": turn["error"],
    }
    # `filters: {}` says that none were inferred; what is null or empty otherwise says nothing.
    return {k: v for k, v in told.items() if v is not None and (v != [] or k == "usage")}


def _details(entry: CaseEntry, measures: list[str]) -> list[Any]:
    """Evidence with the measures that it is of; that of several measures once."""
    by_text: dict[str, tuple[list[int], Any]] = {}
    for name, detail in entry["details"].items():
        told = name == CONTRADICTIONS and FAITHFULNESS in entry["details"]  # with all claims
        if told or any(detail.keys() <= seen for seen in _SEEN_ANYWAY):
            continue
        text = json.dumps(detail, sort_keys=True)
        by_text.setdefault(text, ([], detail))[0].append(measures.index(name))
    return [[numbers, detail] for numbers, detail in by_text.values()]
