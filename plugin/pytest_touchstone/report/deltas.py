"""Paired differences with their interval and p, adjusted for how many are tested together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from pytest_touchstone.estimate import Cell, Comparison, Resampling, holm
from pytest_touchstone.report.model import Delta

Key = TypeVar("Key", bound=Hashable)


def tested(
    cells: Mapping[Key, Cell], resampling: Resampling, family: Callable[[Key], Hashable]
) -> dict[Key, Delta]:
    """The difference of every cell in which there is a pair.

    :param family: what a cell is tested together with; p is adjusted within it (Holm 1979).
    """
    comparisons = dict(zip(cells, resampling.deltas(cells.values()), strict=True))
    families: dict[Hashable, dict[Key, float]] = defaultdict(dict)
    for key, comparison in comparisons.items():
        if comparison.p_value is not None:
            families[family(key)][key] = comparison.p_value
    adjusted = {key: p for found in families.values() for key, p in holm(found).items()}
    deltas = {key: _delta(one, adjusted.get(key)) for key, one in comparisons.items()}
    return {key: delta for key, delta in deltas.items() if delta is not None}


def _delta(comparison: Comparison, adjusted: float | None) -> Delta | None:
    estimate = comparison.estimate
    if estimate.value is None:
        return None
    return {
        "estimate": estimate.value,
        "ci": None if estimate.ci is None else list(estimate.ci),
        "ci_method": estimate.ci_method,
        "p_value": comparison.p_value,
        "p_adjusted": adjusted,
        "pairs": estimate.n,
        "detectable": comparison.detectable,
    }
