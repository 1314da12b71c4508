"""A report as tidy tables: each variable a column, each observation a row (Wickham, 2014).

Every row has all columns of its table, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_touchstone.report.model import Delta, MeasureEntry, Report, Result

Row = dict[str, Any]


def tables(report: Report) -> dict[str, list[Row]]:
    """Table name to rows: what :func:`pytest_touchstone.frames` makes data frames of."""
    return {
        "scores": list(score_rows(report)),
        "answers": list(answer_rows(report)),
        "measures": list(measure_rows(report)),
        "types": list(type_rows(report)),
        "gates": [_gate(entry) for entry in report["gates"]],
        "passages": list(passage_rows(report)),
    }


COLUMNS = {
    "scores": (
        "case",
        "type",
        "system",
        "mode",
        "repeat",
        "measure",
        "dimension",
        "value",
        "reason",
        "why",
        "question",
    ),
    "answers": (
        "case",
        "type",
        "system",
        "mode",
        "repeat",
        "question",
        "answer",
        "behavior",
        "cost_usd",
        "error",
    ),
    "measures": (
        "measure",
        "title",
        "dimension",
        "unit",
        "higher_is_better",
        "system",
        "role",
        "estimate",
        "ci_low",
        "ci_high",
        "ci_method",
        "n",
        "clusters",
        "unscored",
        "delta",
        "delta_ci_low",
        "delta_ci_high",
        "p_value",
        "p_adjusted",
        "pairs",
        "detectable",
    ),
    "types": ("measure", "type", "estimate", "ci_low", "ci_high", "n", "clusters", "unscored"),
    "gates": ("expression", "outcome", "value", "ci_low", "ci_high", "why"),
    "passages": ("case", "system", "mode", "repeat", "rank", "passage", "score", "gold"),
}
"""The columns of each table, also where it has no row."""


def score_rows(report: Report) -> Iterator[Row]:
    """One row per gold question, system, mode, repeat and measure."""
    dimensions = {entry["measure"]: entry["dimension"] for entry in report["measures"]}
    for case in report["cases"]:
        for measure, value in case["scores"].items():
            yield {
                "case": case["case"],
                "type": case["gold"]["type"],
                "system": case["system"],
                "mode": case["mode"],
                "repeat": case["repeat"],
                "measure": measure,
                "dimension": dimensions[measure],
                "value": value,
                "reason": case["reasons"].get(measure),
                "why": case["why"].get(measure),
                "question": case["gold"]["question"],
            }


def answer_rows(report: Report) -> Iterator[Row]:
    """One row per gold question, system, mode and repeat."""
    for case in report["cases"]:
        yield {
            "case": case["case"],
            "type": case["gold"]["type"],
            "system": case["system"],
            "mode": case["mode"],
            "repeat": case["repeat"],
            "question": case["gold"]["question"],
            "answer": case["answer"],
            "behavior": case["behavior"],
            "cost_usd": case["cost_usd"],
            "error": case["error"] and case["error"]["kind"],
        }


def measure_rows(report: Report) -> Iterator[Row]:
    """One row per measure and system, with the difference to the baseline where there is one."""
    roles = report["snapshot"]["roles"]
    for entry in report["measures"]:
        parts: list[tuple[str | None, str, Result | None, Delta | None]] = [
            (roles["system"], "system", entry["system"], entry["delta"]),
            (roles["baseline"], "baseline", entry["baseline"], None),
        ]
        for name, variant in entry["variants"].items():
            parts.append((name, "variant", variant, variant["delta"]))
        for system, role, result, delta in parts:
            if result is not None:
                yield _measure(entry, result, delta) | {"system": system, "role": role}


def _measure(entry: MeasureEntry, result: Result, delta: Delta | None) -> Row:
    found = _result(result)
    row = dict.fromkeys(COLUMNS["measures"])
    row |= {
        "measure": entry["measure"],
        "title": entry["title"],
        "dimension": entry["dimension"],
        "unit": entry["unit"],
        "higher_is_better": entry["higher_is_better"],
        **found,
    }
    if delta is not None:
        low, high = _ends(delta["ci"])
        row |= {
            "delta": delta["estimate"],
            "delta_ci_low": low,
            "delta_ci_high": high,
            "p_value": delta["p_value"],
            "p_adjusted": delta["p_adjusted"],
            "pairs": delta["pairs"],
            "detectable": delta["detectable"],
        }
    return row


def type_rows(report: Report) -> Iterator[Row]:
    """One row per measure and type of question, of the system under test."""
    for entry in report["measures"]:
        for name, result in entry["by_type"].items():
            found = _result(result)
            del found["ci_method"]
            yield {"measure": entry["measure"], "type": name, **found}


def passage_rows(report: Report) -> Iterator[Row]:
    """One row per passage that a system returned in the turn that is scored."""
    for case in report["cases"]:
        gold = _gold_ids(case["gold"])
        for rank, passage in enumerate(case["passages"], start=1):
            yield {
                "case": case["case"],
                "system": case["system"],
                "mode": case["mode"],
                "repeat": case["repeat"],
                "rank": rank,
                "passage": passage["id"],
                "score": passage["score"],
                "gold": passage["id"] in gold,
            }


def _gold_ids(gold: Any) -> frozenset[str]:
    """Ids of chunks that answer the question, equivalents included."""
    found: set[str] = set()
    for chunk in gold.get("gold_chunks", ()):
        if isinstance(chunk, str):
            found.add(chunk)
        elif chunk.get("grade", 1) > 0:
            found |= {chunk["id"], *chunk.get("equivalents", ())}
    return frozenset(found)


def _gate(entry: Any) -> Row:
    low, high = _ends(entry["ci"])
    return {
        "expression": entry["expression"],
        "outcome": entry["outcome"],
        "value": entry["value"],
        "ci_low": low,
        "ci_high": high,
        "why": entry["why"],
    }


def _result(result: Result) -> Row:
    low, high = _ends(result["ci"])
    return {
        "estimate": result["estimate"],
        "ci_low": low,
        "ci_high": high,
        "ci_method": result["ci_method"],
        "n": result["n"],
        "clusters": result["clusters"],
        "unscored": sum(result["unscored"].values()),
    }


def _ends(ci: list[float] | None) -> tuple[float | None, float | None]:
    return (None, None) if ci is None else (ci[0], ci[1])
