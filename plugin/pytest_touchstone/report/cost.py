"""What a run cost and how long its answers took."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from pytest_touchstone.report.index import Index
from pytest_touchstone.report.model import Cost, Latency, ModelCost, SystemCost, Timing, parse_time
from pytest_touchstone.report.rows import QuestionRow, RunRecord
from pytest_touchstone.score import BUDGET


def cost_of(run: RunRecord, index: Index) -> Cost:
    """The cost of each system over every turn it was asked, earlier turns of a case included."""
    return {
        "systems": [_system_cost(name, _turns(index, name)) for name in index.systems],
        "evaluation": run.judging,
        "budget": run.budget,
    }


def timing_of(run: RunRecord, index: Index) -> Timing:
    """Latency of answered turns per system (linear percentiles), and the run's own times."""
    latencies = (_latency(name, _turns(index, name)) for name in index.systems)
    wall = None
    if run.finished_at is not None:
        wall = (parse_time(run.finished_at) - parse_time(run.started_at)).total_seconds()
        wall = None if wall < 0 else wall  # the clock was set back meanwhile
    return {
        "systems": [found for found in latencies if found],
        "wall_s": wall,
        "peak_in_flight": run.peak_in_flight,
    }


def _turns(index: Index, system: str) -> list[QuestionRow]:
    """The turns that the system was asked, in this run or an earlier one."""
    units = (unit for unit in index.units if unit.system == system)
    turns = (turn for unit in units for turn in index.turns[unit])
    return [turn for turn in turns if turn.error is None or turn.error["kind"] != BUDGET]


def _system_cost(system: str, turns: Sequence[QuestionRow]) -> SystemCost:
    known = [cost for turn in turns if (cost := _known_cost(turn)) is not None]
    unknown = Counter(turn.cost_reason or "unknown" for turn in turns if _known_cost(turn) is None)
    models = _models(turns)
    return {
        "system": system,
        "turns": len(turns),
        "usd": math.fsum(known) if known else None,
        "calls": sum(model["calls"] for model in models),
        "models": models,
        "unknown": dict(sorted(unknown.items())),
        "reused": sum(turn.reused_from is not None for turn in turns),
    }


def _known_cost(turn: QuestionRow) -> float | None:
    return turn.cost_usd if turn.cost_usd is not None and math.isfinite(turn.cost_usd) else None


def _models(turns: Sequence[QuestionRow]) -> list[ModelCost]:
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for turn in turns:
        for call in turn.usage or ():
            totals[call["model"]] += Counter(
                calls=1,
                input_tokens=call["input_tokens"],
                cached_input_tokens=call["cached_input_tokens"],
                output_tokens=call["output_tokens"],
            )
    return [
        {
            "model": model,
            "calls": total["calls"],
            "input_tokens": total["input_tokens"],
            "cached_input_tokens": total["cached_input_tokens"],
            "output_tokens": total["output_tokens"],
        }
        for model, total in sorted(totals.items())
    ]


def _latency(system: str, turns: Sequence[QuestionRow]) -> Latency | None:
    answered = [
        (turn.duration_ms, turn.reused_from is not None)
        for turn in turns
        if turn.error is None and turn.duration_ms is not None and math.isfinite(turn.duration_ms)
    ]
    if not answered:
        return None
    p50, p95 = np.percentile([time for time, _ in answered], [50, 95]).tolist()
    return {
        "system": system,
        "p50_ms": p50,
        "p95_ms": p95,
        "n": len(answered),
        "reused": sum(reused for _, reused in answered),
    }
