"""Canaries: inputs whose verdict is known beforehand, put to a judge to see whether it can judge.

A judge that misses one, or that says otherwise than it did before, is named at the top of the
report.  The inputs stand in ``evaluation/prompts/canaries.jsonl``, one JSON object a line: ``id``,
``lang``, ``task``, what is ``given``, and the labels ``known`` to be right.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_touchstone.judge.tasks import (
    BehaviourTask,
    ClaimsTask,
    ClaimVerdictsTask,
    CoherenceTask,
    ConversationTask,
    CoverageTask,
    RelevanceTask,
    SupportTask,
    Task,
    ToneTask,
)
from pytest_touchstone.paragraphs import paragraphs
from pytest_touchstone.shipped import shipped
from pytest_touchstone.verdicts import (
    BehaviourVerdict,
    Claims,
    Coherence,
    Conversation,
    Coverage,
    ParagraphSupport,
    Relevance,
    Tone,
)


@dataclass(frozen=True, slots=True)
class Canary:
    """One input with the labels that a good judge may give it.

    :param lang: language of the input, ISO 639-1.
    :param known: labels as :func:`label` writes them; any of them is right.
    """

    id: str
    lang: str
    task: Task[Any]
    known: tuple[str, ...]


_TASKS: Mapping[str, Callable[[Mapping[str, Any]], Task[Any]]] = {
    "claims": lambda given: ClaimsTask(given["question"], given["answer"]),
    "claim_verdicts": lambda given: ClaimVerdictsTask(
        tuple(given["claims"]), tuple(given["passages"])
    ),
    "relevance": lambda given: RelevanceTask(given["question"], tuple(given["passages"])),
    "coherence": lambda given: CoherenceTask(given["text"]),
    "coverage": lambda given: CoverageTask(tuple(given["key_points"]), given["answer"]),
    "tone": lambda given: ToneTask(given["question"], given["answer"]),
    "support": lambda given: SupportTask(paragraphs(given["answer"]), tuple(given["passages"])),
    "behaviour": lambda given: BehaviourTask(given["question"], given["filters"], given["answer"]),
    "conversation": lambda given: ConversationTask(
        tuple((user, answer) for user, answer in given["turns"]), given["gold"]
    ),
}


def read_canaries(text: str) -> tuple[Canary, ...]:
    """The canaries in the text of a JSONL file.

    :raises KeyError, ValueError: where a line is not of the form.
    """
    found = []
    for line in filter(str.strip, text.splitlines()):
        data = json.loads(line)
        task = _TASKS[data["task"]](data["given"])
        found.append(Canary(data["id"], data["lang"], task, tuple(data["known"])))
    return tuple(found)


def shipped_canaries() -> tuple[Canary, ...]:
    """The canaries that ship with the judge's prompts."""
    return read_canaries(shipped("evaluation/prompts/canaries.jsonl").read_text("utf-8"))


def form_of(canaries: Iterable[Canary], prompts: Mapping[str, str]) -> str:
    """What a round of canaries was, as a SHA-256: verdicts of two rounds compare where it is equal.

    :param prompts: name of each of the judge's prompts to its digest.
    """
    asked = [[one.id, one.task.prompt, dict(one.task.data), list(one.known)] for one in canaries]
    data = json.dumps([asked, dict(sorted(prompts.items()))], sort_keys=True)
    return hashlib.sha256(data.encode()).hexdigest()


def label(verdict: object) -> str:
    """The judgement in a verdict without its words: what is compared with what is known.

    Labels of several items stand in order, with commas between them.  Of a tone the two scores are
    told as low (1 or 2), middling (3) or high (4 or 5); of claims, whether there are any.

    :raises TypeError: for what no task gives.
    """
    match verdict:
        case tuple():
            return "some" if verdict else "none"
        case Claims() | Relevance() | ParagraphSupport():
            return ", ".join(one.label for one in verdict.verdicts)
        case Coverage():
            return ", ".join(point.label for point in verdict.points)
        case Tone():
            return f"formality {_third(verdict.formality)}, caution {_third(verdict.caution)}"
        case Coherence() | BehaviourVerdict() | Conversation():
            return verdict.label
    raise TypeError(f"{type(verdict).__name__} is no verdict of a task")


def _third(score: int) -> str:
    return "low" if score <= 2 else "middling" if score == 3 else "high"
