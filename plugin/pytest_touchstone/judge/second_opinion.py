"""A second opinion: another engine's value for a measure, beside ours and never in its place.

What an engine may claim is decided here and not by the engine: a share is reckoned from what was
asked, a value lies in its range, and what cannot be reckoned is no opinion, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import yaml

from pytest_touchstone.gold import Case
from pytest_touchstone.llm.prompts import Prompt, PromptError
from pytest_touchstone.measures import Faithfulness, Formality, KeyPointCoverage
from pytest_touchstone.measures.base import counted
from pytest_touchstone.score import NOT_APPLICABLE
from pytest_touchstone.trace import Answer
from pytest_touchstone.unusable import Unusable
from pytest_touchstone.verdicts import NoVerdict, Opinion

ENGINE_ERROR = "engine_error"
"""The other engine raised an exception of its own."""
CALLS: Mapping[str, int] = {Faithfulness.name: 3, KeyPointCoverage.name: 1, Formality.name: 1}
"""The measures that have a second opinion, each with its calls for one answer."""
CRITERIA: Mapping[str, str] = {
    KeyPointCoverage.name: "g_eval_key_point_coverage",
    Formality.name: "g_eval_formality",
}
"""The measures that are scored by G-Eval, each with the prompt file of its steps."""

Result = tuple[float, str] | NoVerdict
"""A value from 0 to 1 with what made it, or why there is none."""

_NAMED = 3  # claims that one line of explanation tells


class SecondOpinionError(Unusable):
    """The engine that the settings name cannot be used."""


class SecondOpinion(Protocol):
    """Anything that has opinions of its own on what a judge of ours judges too."""

    async def opinions(
        self, measures: Sequence[str], case: Case, answer: Answer
    ) -> Mapping[str, Opinion]:
        """An opinion for each of the measures, all of :data:`CALLS`; no exception for a fault of
        the engine or of the model behind it."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """What G-Eval (Liu et al., 2023) is to look at.

    :param steps: what to do, in order.
    :param outcomes: what each score means, by score; empty for the engine's own scale.
    """

    steps: tuple[str, ...]
    outcomes: Mapping[int, str]


def criterion(prompt: Prompt) -> Criterion:
    """The steps and outcomes in the body of a prompt file, which is YAML.

    :raises PromptError: where the body is something else.
    """
    try:
        body: Any = yaml.safe_load(prompt.body)
        steps, outcomes = body["steps"], body.get("outcomes", {})
        given = Criterion(tuple(steps), dict(outcomes))
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError):
        raise PromptError(
            f"prompt {prompt.name}: the body is YAML with `steps`, a list, and perhaps `outcomes`,"
            " score to text"
        ) from None
    texts = [*given.steps, *given.outcomes.values()]
    whole = all(isinstance(score, int) for score in given.outcomes)
    if not given.steps or not whole or not all(isinstance(text, str) and text for text in texts):
        raise PromptError(f"prompt {prompt.name}: steps and outcomes are texts, scores integers")
    return given


def share_agreed(claims: Sequence[str], verdicts: Sequence[tuple[str, str | None]]) -> Result:
    """The share of the claims *asked* that a verdict agrees with.

    :param verdicts: ``yes``, ``no`` or ``borderline`` (not found) and its reason, in the order of
        the claims.

    An answer without a claim has no share, and verdicts of another number than the claims belong
    to nobody knows which.
    """
    if not claims:
        return NoVerdict(NOT_APPLICABLE, "the engine finds no claim in the answer")
    if len(verdicts) != len(claims):
        found = f"{counted(len(verdicts), 'verdict')} for {counted(len(claims), 'claim')}"
        return NoVerdict("judge_unreadable", found)
    agreed = sum(label == "yes" for label, _ in verdicts)
    told = [
        f"{label}: {claim!r}" + (f" ({reason})" if reason else "")
        for claim, (label, reason) in zip(claims, verdicts, strict=True)
        if label != "yes"
    ]
    more = [f"and {len(told) - _NAMED} more"] if len(told) > _NAMED else []
    share = f"{agreed} of {counted(len(claims), 'claim')} agreed with"
    return agreed / len(claims), "; ".join([share, *told[:_NAMED], *more])


def within_range(share: float, why: str) -> Result:
    """A value that an engine gives for a score from 0 to 1, where it is one."""
    if not 0 <= share <= 1:  # also refuses NaN
        return NoVerdict("judge_unreadable", f"a score of {share:g} where 0 to 1 is the range")
    return share, why


def strict(schema: Any) -> Any:
    """A JSON Schema that structured output accepts: each object closed, all of it required.

    :param schema: as pydantic writes it.
    """
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items() if key != "default"}
    if "properties" in closed:
        closed |= {"additionalProperties": False, "required": list(closed["properties"])}
    return closed
