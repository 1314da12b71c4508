"""What a run cost, how long it took, and what it was made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_touchstone.report.model import BudgetEntry, Report, SystemCost
from pytest_touchstone.report.page.figure import counts, dollars, figure, row, section, table, whole
from pytest_touchstone.report.page.markup import Html, Node, tag, untrusted


def costs(report: Report) -> Html | None:
    """Dollars, calls, tokens and times."""
    latency = {entry["system"]: entry for entry in report["timing"]["systems"]}
    rows = []
    for entry in report["cost"]["systems"]:
        times = latency.get(entry["system"])
        cells: list[Node] = [
            dollars(entry["usd"]),
            whole(entry["turns"]),
            whole(entry["reused"]),
            whole(entry["calls"]),
            *_tokens(entry),
            counts(entry["unknown"]),
            times and figure(times["p50_ms"], 0),
            times and figure(times["p95_ms"], 0),
            times and [whole(times["n"]), _of_then(times["reused"])],
        ]
        rows.append(row(untrusted(entry["system"]), cells))
    header = [
        "System",
        "USD",
        "Turns",
        "of them reused",
        "LLM calls",
        "Tokens in",
        "of them cached",
        "Tokens out",
        "Unknown",
        "p50 (ms)",
        "p95 (ms)",
        "Times",
    ]
    return section(
        "cost",
        "Cost and time",
        table(
            "What each system cost over all turns that it was asked", header, [tag("tbody", rows)]
        ),
        _evaluation(report),
        _budget(report["cost"]["budget"]),
        _models(report),
    )


def _tokens(entry: SystemCost) -> list[Html]:
    models = entry["models"]
    return [
        whole(sum(model["input_tokens"] for model in models)),
        whole(sum(model["cached_input_tokens"] for model in models)),
        whole(sum(model["output_tokens"] for model in models)),
    ]


def _of_then(reused: int) -> Html | None:
    return tag("span", " (", whole(reused), " reused)", class_="quiet") if reused else None


def _budget(budget: BudgetEntry | None) -> Html | None:
    if budget is None:
        return None
    stopped = " Calls were left out for want of money." if budget["stopped"] else None
    over = [" It was exceeded by ", figure(budget["overshoot"], 4), " USD."]
    return tag(
        "p",
        "Budget: ",
        figure(budget["spent"], 4),
        " of ",
        figure(budget["usd"], 4),
        " USD spent.",
        stopped,
        over if budget["overshoot"] else None,
    )


def _evaluation(report: Report) -> Html:
    cost = report["cost"]["evaluation"]
    timing = report["timing"]
    unknown = [", ", whole(cost["unknown"]), " calls of unknown cost"] if cost["unknown"] else None
    wall: Node = None
    if timing["wall_s"] is not None:
        wall = [" The run took ", figure(timing["wall_s"], 1), " s."]
    peak: Node = None
    if timing["peak_in_flight"] is not None:
        peak = [" At most ", whole(timing["peak_in_flight"]), " calls were in flight at once."]
    return tag(
        "p",
        "Judging: ",
        dollars(cost["usd"]),
        " USD, ",
        whole(cost["calls"]),
        " calls, ",
        whole(cost["cache_hits"]),
        " results known already, ",
        whole(cost["input_tokens"]),
        " tokens in, ",
        whole(cost["output_tokens"]),
        " out",
        unknown,
        ".",
        wall,
        peak,
    )


def _models(report: Report) -> Html | None:
    rows = [
        row(
            untrusted(entry["system"]),
            [
                untrusted(model["model"]),
                whole(model["calls"]),
                whole(model["input_tokens"]),
                whole(model["cached_input_tokens"]),
                whole(model["output_tokens"]),
            ],
        )
        for entry in report["cost"]["systems"]
        for model in entry["models"]
    ]
    if not rows:
        return None
    header = ["System", "Model", "Calls", "Tokens in", "of them cached", "Tokens out"]
    return tag(
        "details",
        tag("summary", "By model"),
        table("Calls and tokens by model", header, [tag("tbody", rows)]),
    )


def origins(report: Report) -> Html | None:
    """Everything that made the figures what they are."""
    snapshot: Mapping[str, Any] = {
        key: value for key, value in report["snapshot"].items() if key != "canaries"
    }
    items = [
        tag("div", tag("dt", name.replace("_", " ")), tag("dd", _value(value)))
        for name, value in snapshot.items()
    ]
    return section("snapshot", "What the figures were made of", tag("dl", items, class_="snapshot"))


def _value(value: Any) -> Node:
    if isinstance(value, dict | list):
        if not value:
            return tag("span", "none", class_="nothing")
        text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
        lines = [[tag("bdi", _indented(line)), Html("\n")] for line in text.split("\n")]
        entries = "1 entry" if len(value) == 1 else f"{len(value)} entries"
        return tag("details", tag("summary", entries), tag("pre", lines))
    return tag("span", "none", class_="nothing") if value is None else untrusted(str(value))


def _indented(line: str) -> list[Node]:
    bare = line.lstrip(" ")
    return [Html(" " * (len(line) - len(bare))), bare]
