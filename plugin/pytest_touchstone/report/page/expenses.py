"""What a run cost, how long it took, and what it was made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_touchstone.report.model import Report, SystemCost
from pytest_touchstone.report.page.figure import dollars, figure, row, section, table, whole
from pytest_touchstone.report.page.markup import Html, Node, tag, untrusted


def costs(report: Report) -> Html | None:
    """Dollars, calls, tokens and times."""
    latency = {entry["system"]: entry for entry in report["timing"]["systems"]}
    rows = []
    for entry in report["cost"]["systems"]:
        times = latency.get(entry["system"])
        seconds = [times and figure(times[key] / 1000, 2) for key in ("p50_ms", "p95_ms")]
        cells: list[Node] = [
            dollars(entry["usd"]),
            whole(entry["turns"]),
            whole(entry["calls"]),
            *_tokens(entry),
            _counts(entry["unknown"]),
            *seconds,
        ]
        rows.append(row(untrusted(entry["system"]), cells))
    header = [
        "System",
        "USD",
        "Turns",
        "LLM calls",
        "Tokens in",
        "of them cached",
        "Tokens out",
        "Unknown",
        "p50 (s)",
        "p95 (s)",
    ]
    return section(
        "cost",
        "Cost and time",
        table(
            "What each system cost over all turns that it was asked", header, [tag("tbody", rows)]
        ),
        _evaluation(report),
        _models(report),
    )


def _tokens(entry: SystemCost) -> list[Html]:
    models = entry["models"]
    return [
        whole(sum(model["input_tokens"] for model in models)),
        whole(sum(model["cached_input_tokens"] for model in models)),
        whole(sum(model["output_tokens"] for model in models)),
    ]


def _counts(counts: Mapping[str, int]) -> Node:
    return [
        tag("span", untrusted(name), " ", whole(number), class_="reason")
        for name, number in counts.items()
    ]


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
        text = json.dumps(value, ensure_ascii=False, indent=1)
        lines = [[tag("bdi", _indented(line)), Html("\n")] for line in text.split("\n")]
        entries = "1 entry" if len(value) == 1 else f"{len(value)} entries"
        return tag("details", tag("summary", entries), tag("pre", lines))
    return tag("span", "none", class_="nothing") if value is None else untrusted(str(value))


def _indented(line: str) -> list[Node]:
    bare = line.lstrip(" ")
    return [Html(" " * (len(line) - len(bare))), bare]
