"""Which of a judge's prompts a measure rests on: asked otherwise, it reads answers otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_touchstone.measures.base import Judgement, Measure

PROMPTS: Mapping[Judgement, tuple[str, ...]] = {
    "claims": ("judge_claims", "judge_claim_verdicts"),
    "relevance": ("judge_relevance",),
    "coherence": ("judge_coherence",),
    "coverage": ("judge_coverage",),
    "tone": ("judge_tone",),
    "support": ("judge_support",),
    "behaviour": ("judge_behaviour",),
    "conversation": ("judge_conversation",),
}
"""The prompts of the tasks that each judgement is made of."""

AGAIN = "judge_again"
"""Asks for another reply where one cannot be read: every judgement may rest on it."""


def prompts_of(measure: Measure) -> frozenset[str]:
    """The prompts behind everything that a measure reads of a judge; none where it reads nothing.

    What it only wants, and does without, counts too: where it was there it made the value.
    """
    read = measure.needs | measure.wants
    found = {name for need, names in PROMPTS.items() if need in read for name in names}
    return frozenset({*found, AGAIN} if found else ())
