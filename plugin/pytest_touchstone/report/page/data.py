"""What the page's scripts read: the cases and the figures of the charts, each text once."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from pytest_touchstone.report.figures import decimals, steps
from pytest_touchstone.report.model import CaseEntry, MeasureEntry, PassageEntry, Report, Result
from pytest_touchstone.report.substitutes import short
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
    passages are pairs of a number of ``passages`` and a score.  Both are made while they are gone
    through, once: all of them together would take more memory than the report.
    """
    passages: _Numbers = {}
    # Those that the cases name beside come behind them, when the cases have been gone through.
    systems = list(dict.fromkeys(reversed(steps(report))))
    roles = report["snapshot"]["roles"]
    return {
        "system": roles["system"],
        "baseline": roles["baseline"],
        "steps": steps(report),
        "confidence": report["snapshot"]["confidence"],
        "systems": systems,
        "outcomes": list(OUTCOMES.items()),
        "measures": [_measure(entry, report) for entry in report["measures"]],
        "cases": _cases(report, systems, passages),
        "passages": _texts(report, passages),
    }


def _cases(report: Report, systems: list[str], passages: _Numbers) -> Iterator[dict[str, Any]]:
    """The cases; a report has all entries of one of them in a row."""
    measures = [entry["measure"] for entry in report["measures"]]
    noted = _noted(report)
    under_test = report["snapshot"]["roles"]["system"]
    for name, group in groupby(report["cases"], key=itemgetter("case")):
        entries = list(group)
        gold = entries[0]["gold"]
        yield {
            "id": name,
            "type": gold["type"],
            "gold": {k: v for k, v in gold.items() if k not in ("id", "type")},
            "outcomes": _outcomes(entries, noted.get(name, ()), under_test),
            "plays": [_play(entry, systems, measures, passages) for entry in entries],
        }


def _texts(report: Report, passages: _Numbers) -> Iterator[list[Any]]:
    for name, digest in passages:
        passage = report["passages"][digest]
        yield [name, passage["text"], passage["metadata"]]


def packed(data: Mapping[str, Any]) -> str:
    """JSON data as the page's scripts unpack it: deflated (RFC 1950) and in base64.

    Judged cases say much alike, so that this is a quarter of the size; and there is nothing in it
    that a browser could take for markup.
    """
    packer = zlib.compressobj(_LEVEL)
    whole = [packer.compress(_SURROGATE.sub("\ufffd", piece).encode()) for piece in _pieces(data)]
    return base64.b64encode(b"".join((*whole, packer.flush()))).decode()


_dumps = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
).encode


def _pieces(data: Mapping[str, Any]) -> Iterator[str]:
    """The text of JSON data, its keys in order; what is to be gone through item by item."""
    before = "{"
    for key, value in sorted(data.items()):
        yield f"{before}{_dumps(key)}:"
        if isinstance(value, Iterator):
            between = "["
            for item in value:
                yield f"{between}{_dumps(item)}"
                between = ","
            yield "[]" if between == "[" else "]"
        else:
            yield _dumps(value)
        before = ","
    yield "{}" if before == "{" else "}"


def _outcomes(entries: Sequence[CaseEntry], noted: Iterable[str], under_test: str) -> list[str]:
    """What there is to note of the system under test on a case, in the order of OUTCOMES."""
    found = set(noted)
    for entry in entries:
        if entry["system"] == under_test:
            reasons = entry["reasons"]
            missing = (m for m, value in entry["scores"].items() if value is None)
            if any(reasons.get(m) != NOT_APPLICABLE for m in missing):
                found.add("unscored")
            if _contradicts(entry):
                found.add("contradiction")
    return [outcome for outcome in OUTCOMES if outcome in found] or ["fine"]


def contradicting(report: Report) -> Iterator[CaseEntry]:
    """Plays of the system under test that contradict their passages."""
    if all(entry["measure"] != CONTRADICTIONS for entry in report["measures"]):
        return
    under_test = report["snapshot"]["roles"]["system"]
    for case in report["cases"]:
        if case["system"] == under_test and _contradicts(case):
            yield case


def _contradicts(entry: CaseEntry) -> bool:
    return bool(entry["scores"].get(CONTRADICTIONS))


def _noted(report: Report) -> dict[str, set[str]]:
    """Case to what the findings have of the system under test on it."""
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
    noted: dict[str, set[str]] = defaultdict(set)
    for outcome, entries in lists.items():
        for entry in entries:
            if entry["system"] == under_test:
                noted[entry["case"]].add(outcome)
    for flaky in findings["flaky"]:
        noted[flaky["case"]].add("flaky")
    return noted


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
        "short": short(entry["title"]),
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
    if entry["system"] not in systems:
        systems.append(entry["system"])
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
