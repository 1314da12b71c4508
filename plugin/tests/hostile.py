"""A report all of whose texts were written by somebody who means harm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pytest_touchstone.gold import Case, CaseType, GoldChunk, GoldMessage
from pytest_touchstone.measures import parse
from pytest_touchstone.report import Report, RunConfig, build_report, measure_info
from pytest_touchstone.report.model import CanaryEntry
from pytest_touchstone.report.rows import (
    CanaryRows,
    CaseRow,
    PassageRef,
    PlanRow,
    QuestionRow,
    RunRecord,
    ScoreRow,
    StoredPassage,
)

TEXTS = (
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 2</script>",
    "<!--<script>window.hit = 3",
    '"><img src=x onerror="window.hit = 4">',
    "' onmouseover='window.hit = 5",
    "[here](javascript:window.hit=6) javascript:window.hit=7 https://example.org/?q=1",
    "{{constructor.constructor('window.hit = 8')()}} ${window.hit = 9} <%= 10 %> #{11}",
    "\x1b[31mred\x1b[2J\x07 \x9b31m \x00 \x7f",
    "\u202egnp.exe\u2066 \u200f abc \u2028 \u2029 \ufeff",
    "=cmd|'/c calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    "]]> &lt; &amp; &#60;script> | cell ` code ` *b* _i_ ~~s~~ $x$ <b>bold</b>",
    "# heading\n\n- list\n1. item\n> quote @someone #12",
    "half \ud800 a pair",
    "långt 漢字 עברית العربية 👩‍👩‍👧",
    "e" + "\u0301" * 50,
)
"""What nobody's text may do anything with."""

SYSTEM, BASELINE, STEP = "mine <b>", '"plain" & =old', "+step\u202e"
MEASURES = (
    "Recall@5", "FilterExactMatch", "Faithfulness", "Contradictions", "CitationCoverage",
    "Formality", "CostPerQuery",
)  # fmt: skip
_TYPES: tuple[CaseType, ...] = get_args(CaseType)


def hostile_report(*, cases: int = len(TEXTS), longest: int = 0) -> Report:
    """A report with so many cases.

    :param longest: characters of one answer, one question and one passage.
    """
    long = {0: "x" * longest, 1: "ett ord " * (longest // 8)} if longest else {}
    gold = [_gold(n, long.get(n, "")) for n in range(cases)]
    systems = (SYSTEM, BASELINE, STEP)
    plan = [
        PlanRow(case.id, system, name) for case in gold for system in systems for name in MEASURES
    ]
    report = build_report(
        RunRecord(
            "run<1>",
            "2026-11-30T14:30:00Z",
            "2026-11-30T14:31:00Z",
            _config(cases),
            label=_text(1),
            canaries=CanaryRows(
                _text(3), "2026-11-30T14:30:00Z", None, [_canary(n) for n in range(4)]
            ),
        ),
        cases=[CaseRow(case, place) for place, case in enumerate(gold)],
        plan=plan,
        questions=[
            _asked(n, case, system, long.get(n, ""))
            for n, case in enumerate(gold)
            for system in systems
        ],
        scores=[
            score
            for n, case in enumerate(gold)
            for system in systems
            for score in _scores(n, case, system)
        ],
        passages={
            f"d{n}": StoredPassage(
                f"Before. {_text(n)} After. {long.get(n, '')}", {_text(n): _text(n + 1)}
            )
            for n in range(cases)
        },
    )
    report["gates"] = [
        {
            "expression": "Recall@5 >= 0.7",
            "value": 0.5,
            "ci": [0.25, 0.75],
            "outcome": "undecided",
            "why": _text(n),
        }
        for n in range(4)
    ]
    _find(report)
    return report


def bare_report() -> Report:
    """A report with one system, one case and nothing to note."""
    bare = hostile_report(cases=1)
    bare["snapshot"]["roles"] = {"system": SYSTEM, "baseline": None, "variants": []}
    bare["snapshot"]["canaries"] = None
    bare["cost"]["budget"] = None
    bare["gates"] = []
    bare["cases"] = [case for case in bare["cases"] if case["system"] == SYSTEM]
    for case in bare["cases"]:
        case["scores"]["Contradictions"] = 0.0
    for entry in bare["measures"]:
        entry["baseline"] = entry["delta"] = entry["calibrated"] = None
        entry["variants"], entry["by_type"] = {}, {}
    for found in bare["findings"].values():
        assert isinstance(found, list)
        found.clear()
    return bare


def _text(n: int) -> str:
    return TEXTS[n % len(TEXTS)]


def _gold(n: int, long: str) -> Case:
    return Case(
        f"case-{n}",
        _TYPES[n % len(_TYPES)],
        f"{_text(n)} {long}",
        answer=_text(n + 1),
        history=(GoldMessage("user", _text(n + 2)), GoldMessage("assistant", _text(n + 3)))
        if n % 2
        else (),
        key_points=(_text(n + 4),),
        gold_chunks=(GoldChunk(f"<chunk {n}>"),),
        filters={_text(n): _text(n + 1)},
        tags=(_text(n + 5),),
    )


def _asked(n: int, case: Case, system: str, long: str) -> QuestionRow:
    failed = n % 7 == 3 and system == SYSTEM
    return QuestionRow(
        case.id,
        system,
        case.question,
        answer=None if failed else f"{_text(n)} {system} {long}",
        passages=[PassageRef(f"<chunk {n}>", 0.5, f"d{n}"), PassageRef(_text(n), None, "d0")],
        filters={_text(n): _text(n)},
        usage=[
            {"model": _text(n), "input_tokens": 9, "cached_input_tokens": 1, "output_tokens": 2}
        ],
        cost_usd=0.001 * n,
        duration_ms=100.0,
        error={"kind": "raised", "message": _text(n)} if failed else None,
    )


def _scores(n: int, case: Case, system: str) -> Iterator[ScoreRow]:
    better = {SYSTEM: 0.9, STEP: 0.7, BASELINE: 0.3}[system]
    value = min(1.0, better + (n % 5) / 50)
    claims = [
        {
            "claim": _text(n), "label": label, "rationale": _text(n + 1), "passage": 1,
            "passage_id": f"<chunk {n}>", "quotation": _text(n), "quotation_found": n % 2 == 0,
        }
        for label in ("supported", "contradicted")
    ]  # fmt: skip
    covered = {"paragraph": 0, "text": _text(n), "coverage": 0.25, "verdict": "supported"}
    sources = [
        {"source": 1, "passage_id": _text(n), "coverage": 0.25, "windows": 1, "reason": None}
    ]
    details: dict[str, Any] = {
        "Faithfulness": {"claims": claims},
        "Contradictions": {"claims": claims[1:]},
        "CitationCoverage": {
            "paragraphs": [{**covered, "sources": sources}],
            "scorer": _text(n),
            "scale": "proxy",
            _text(n): _text(n),
        },
        "Formality": {"rationale": _text(n)},
    }
    for name in MEASURES:
        at = {"Formality": 1 + 4 * value, "Contradictions": 1 - value, "CostPerQuery": 0.001 * n}
        detail = details.get(name, {})
        if name == "Formality" and n % 4 == 0:
            yield ScoreRow(case.id, system, name, None, _text(n), "judge_unreadable")
        else:
            yield ScoreRow(case.id, system, name, at.get(name, value), _text(n), detail=detail)


def _canary(n: int) -> CanaryEntry:
    return {
        "canary": _text(n), "lang": "sv", "known": ["supported"], "said": "contradicted",
        "earlier": "supported", "why": _text(n),
    }  # fmt: skip


def _find(report: Report) -> None:
    """Something in every reading list."""
    findings: Any = report["findings"]
    report["cost"]["budget"] = {"usd": 0.25, "spent": 0.3125, "overshoot": 0.0625, "stopped": True}
    report["cost"]["systems"][0]["reused"] = 4
    for n in range(12):
        place: Any = {"case": f"case-{n % 3}", "system": (SYSTEM, BASELINE)[n % 2], "repeat": 0}
        findings["silent_failures"].append({**place, "why": _text(n)})
        findings["contradicted"].append({**place, "why": _text(n)})
        findings["unfound_quotations"].append(
            {**place, "measure": "Faithfulness", "quotation": _text(n)}
        )
        source: Any = {"source": 1, "passage_id": _text(n), "coverage": 0.125}
        findings["uncovered"].append(
            {
                **place,
                "paragraph": 0,
                "text": _text(n),
                "coverage": 0.125,
                "sources": [source],
                "scorer": _text(n),
                "scale": "proxy",
            }
        )
        findings["unresolved"].append({**place, "paragraph": 0, "text": _text(n), "numbers": [7]})
        findings["flaky"].append(
            {"case": f"case-{n % 3}", "measure": "Recall@5", "values": [0.0, 1.0]}
        )
    findings["repeats"] = [
        {"measure": "Recall@5", "questions": 9, "between": 0.0625, "within": 0.03125, "flaky": 3}
    ]
    findings["agreement"] = [
        {
            "measure": "Faithfulness", "level": "interval", "answers": 9, "pairs": 11,
            "clusters": 8, "raw": 0.71875, "difference": -0.15625,
            "kappa": {"value": 0.65625, "ci": [0.5, 0.8125]}, "kappa_weights": "quadratic",
            "alpha": {"value": 0.59375, "ci": None},
            "confusion": {"values": [_text(0), "1"], "counts": [[3, 1], [2, 5]]},
            "between_people": {"answers": 4, "alpha": 0.84375},
        }
    ]  # fmt: skip
    findings["second_opinion"] = [
        {
            "measure": "Faithfulness", "engine": _text(0), "n": 17, "mean": 0.78125,
            "other_mean": 0.90625, "difference": 0.109375, "threshold": 0.5, "agreement": 0.921875,
            "correlation": 0.53125, "apart": 0.25, "far_apart": 4, "no_opinion": {_text(1): 2},
            "most_apart": [
                {
                    "case": "case-1", "system": SYSTEM, "repeat": 0, "value": 0.34375,
                    "other": 0.96875, "why": _text(2), "other_why": _text(3),
                }
            ],
        }
    ]  # fmt: skip
    for entry in report["measures"]:
        if entry["measure"] == "Faithfulness":
            entry["calibrated"] = {
                "estimate": 0.6875, "ci": [0.625, 0.75], "ci_method": _text(4),
                "judge": {"estimate": 0.8125, "ci": [0.75, 0.875]},
                "people": {"estimate": 0.46875, "ci": None}, "labels": 13, "population": 19,
                "slope": 0.4375, "left_out": {"not_drawn": 3},
            }  # fmt: skip


def _config(cases: int) -> RunConfig:
    return {
        "plugin_version": "0.1.0",
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "dirty": True,
        "dataset": {"path": _text(3), "sha256": "ab" * 32, "counts": {"factual": cases}},
        "selection": {"split": None, "sample": None, "applicable": {}},
        "settings_sha256": "cd" * 32,
        "settings": {"floors": {"Recall@5": 0.92}, _text(0): [_text(1), {_text(2): None}]},
        "roles": {"system": SYSTEM, "baseline": BASELINE, "variants": [STEP]},
        "systems": {SYSTEM: {"ask": _text(1)}},
        "models": {"judge": {"model": _text(3)}},
        "prompts": {_text(0): "ef" * 32},
        "corpus": None,
        "prices": {},
        "seed": 7,
        "resamples": 200,
        "confidence": 0.95,
        "packages": {"numpy": "2.0"},
        "measures": [measure_info(parse(name)) for name in MEASURES],
    }
