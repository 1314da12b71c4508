"""What the page's scripts read: the cases and the figures of the charts, each text once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_touchstone.report.figures import decimals, steps
from pytest_touchstone.report.model import CaseEntry, MeasureEntry, PassageEntry, Report, Result
from pytest_touchstone.report.page.markup import Html
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

CONTRADICTIONS = "Contradictions"
_SEEN_ANYWAY = ({"ranks", "found_as", "returned"}, {"expected", "found"}, {"if_none_inferred"})
"""Keys of details that only say what the page shows of passages and filters anyway."""


class _Once:
    """Values by number, each once.

    A text stands in a report as often as systems gave it; in the page it stands once.
    """

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value, from 0."""
        return self._numbers.setdefault(value, len(self._numbers))

    @property
    def values(self) -> list[Any]:
        """The values in the order of their numbers."""
        return list(self._numbers)


def page_data(report: Report) -> dict[str, Any]:
    """Cases and figures as JSON data.

    ``cases`` has an entry a gold question with one play for each system, mode and repeat. There,
    answers and explanations are numbers of ``texts``; passages are pairs of a number of
    ``passages`` and a score.
    """
    texts, passages = _Once(), _Once()
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
            "plays": [_play(entry, systems, measures, texts, passages) for entry in entries],
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
        "outcomes": OUTCOMES,
        "measures": [_measure(entry, report) for entry in report["measures"]],
        "cases": cases,
        "texts": texts.values,
        "passages": [
            [name, report["passages"][digest]["text"], report["passages"][digest]["metadata"]]
            for name, digest in passages.values
        ],
    }


def embedded(data: Mapping[str, Any]) -> Html:
    """JSON that can stand within a script element, whatever it holds.

    ``<``, ``>`` and ``&`` are escaped as JSON has it, so that no end tag and no comment is seen in
    it, and the two line separators with them.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Html(text.encode("utf-8", "replace").decode("utf-8"))


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
    entry: CaseEntry, systems: list[str], measures: list[str], texts: _Once, passages: _Once
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
                texts.number(entry["why"].get(name, "")),
            ]
            for name, value in entry["scores"].items()
        ],
        "details": _details(entry, measures),
        **_turn(entry, texts, passages),
    }
    if entry["earlier_turns"]:
        play["earlier"] = [
            {"question": texts.number(turn["question"]), **_turn(turn, texts, passages)}
            for turn in entry["earlier_turns"]
        ]
    else:
        play["conversation"] = [
            [message["role"], texts.number(message["content"])] for message in entry["conversation"]
        ]
    return play


def _turn(turn: Mapping[str, Any], texts: _Once, passages: _Once) -> dict[str, Any]:
    found: list[float | None] = []
    entries: Sequence[PassageEntry] = turn["passages"]
    for passage in entries:
        found += [passages.number((passage["id"], passage["digest"])), passage["score"]]
    told = {
        "answer": None if turn["answer"] is None else texts.number(turn["answer"]),
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
        if any(detail.keys() <= seen for seen in _SEEN_ANYWAY):
            continue
        text = json.dumps(detail, sort_keys=True)
        by_text.setdefault(text, ([], detail))[0].append(measures.index(name))
    return [[numbers, detail] for numbers, detail in by_text.values()]
