"""What a judge says that knows every canary, and one that is wrong where it is told to be."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_touchstone.judge.canaries import Canary, shipped_canaries
from pytest_touchstone.judge.tasks import (
    BehaviourTask,
    ClaimsTask,
    ClaimVerdictsTask,
    CoverageTask,
    SupportTask,
    ToneTask,
)

CANARIES = shipped_canaries()
_SCORES = {"low": 1, "middling": 3, "high": 5}


def canary_of(prompt: str) -> Canary | None:
    """The canary that a prompt asks about, or ``None`` where it asks about anything else."""
    asking = (one for one in CANARIES if all(data in prompt for data in one.task.data.values()))
    # Two canaries may share a passage, but no two all of their data.
    return max(asking, key=lambda one: sum(map(len, one.task.data.values())), default=None)


def reply(canary: Canary, said: str) -> str:
    """A well-formed reply that gives a canary this label."""
    return json.dumps(_data(canary.task, said.split(", ")))


def _data(task: object, said: Sequence[str]) -> Mapping[str, Any]:
    why = {"rationale": "It says so."}
    match task:
        case ClaimsTask():
            claims = [{"sentence": 1, "claim": "One."}] if said == ["some"] else []
            return {"claims": claims}
        case ClaimVerdictsTask():
            place = {"passage": 1, "quotation": task.passages[0]}
            nowhere = {"passage": None, "quotation": None}
            return {
                "verdicts": [
                    {"claim": n, **(nowhere if label == "not_found" else place), **why,
                     "label": label}
                    for n, label in enumerate(said, start=1)
                ]
            }  # fmt: skip
        case CoverageTask():
            points = [
                {"point": n, "quotation": None if label == "absent" else task.sentences[0], **why,
                 "label": label}
                for n, label in enumerate(said, start=1)
            ]  # fmt: skip
            places = range(1, len(task.sentences) + 1)
            return {"points": points, "sentences": [{"sentence": n, "serves": []} for n in places]}
        case ToneTask():
            scores = [{**why, "score": _SCORES[part.split()[1]]} for part in said]
            return {"formality": scores[0], "caution": scores[1]}
        case SupportTask():
            return {
                "paragraphs": [
                    {"paragraph": n, "sources": [{"source": n, "label": label}], **why,
                     "label": label}
                    for n, label in enumerate(said, start=1)
                ]
            }  # fmt: skip
        case BehaviourTask():
            quotation = None if said == ["failed_silently"] else task.answer
            return {"quotation": quotation, **why, "label": said[0]}
    name = type(task).__name__
    if name == "RelevanceTask":
        return {
            "verdicts": [{"passage": n, **why, "label": label} for n, label in enumerate(said, 1)]
        }
    if name == "ConversationTask":
        turns = [{"turn": n, **why, "on_topic": True} for n in (1, 2)]
        return {"turns": turns, **why, "label": said[0]}
    return {**why, "label": said[0]}
