"""Cost: what does one answer cost in US dollars?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import Measure, Need, answered
from pytest_touchstone.score import NO_USAGE, Score, unscored
from pytest_touchstone.trace import Observation, Usage


@dataclass(frozen=True, repr=False)
class CostPerQueryMeasure(Measure):
    """Price of all LLM calls behind one answer, in US dollars; lower is better, no upper end."""

    dimension: ClassVar[str] = "cost"
    unit: ClassVar[str] = "USD"
    range: ClassVar[tuple[float, float | None]] = (0.0, None)
    higher_is_better: ClassVar[bool] = False
    needs: ClassVar[frozenset[Need]] = frozenset({"answer"})

    @property
    def name(self) -> str:
        return "CostPerQuery"

    @property
    def label(self) -> str:
        return "Cost per query"

    def applies(self, case: Case) -> bool:  # noqa: ARG002 (every answer costs something)
        return True

    def measure(self, case: Case, seen: Observation) -> Score:  # noqa: ARG002 (no label is needed)
        usage = answered(seen).usage
        cost = seen.last.cost_usd
        if cost is None:
            reason = seen.last.cost_reason or NO_USAGE
            return unscored(reason, f"no cost ({reason.replace('_', ' ')}); {_calls(usage)}")
        return Score(cost, _calls(usage), detail={"calls": None if usage is None else len(usage)})


def _calls(usage: tuple[Usage, ...] | None) -> str:
    """One line on the tokens that were paid for."""
    if usage is None:
        return "the system does not report its token usage"
    if not usage:
        return "no LLM call"
    models = ", ".join(dict.fromkeys(call.model for call in usage))
    cached = sum(call.cached_input_tokens for call in usage)
    return (
        f"{len(usage)} LLM call{'' if len(usage) == 1 else 's'} ({models}): "
        f"{sum(call.input_tokens for call in usage)} input tokens"
        + (f" ({cached} of them cached)" if cached else "")
        + f", {sum(call.output_tokens for call in usage)} output tokens"
    )


CostPerQuery = CostPerQueryMeasure()
