"""Gold questions: what is asked, and what a good answer finds, says and costs.

One case is one JSON object of a gold file; ``reading`` makes cases of lines, :func:`case_to_json`
the object of a case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from sys import intern
from typing import Any, Literal, get_args

from pytest_touchstone.unusable import Unusable

CaseType = Literal["factual", "comparative", "summary", "multi_turn", "edge_case"]

CASE_TYPES: tuple[CaseType, ...] = get_args(CaseType)
"""The types of gold questions, in the order in which every table lists them."""


@dataclass(frozen=True, slots=True)
class GoldChunk:
    """A chunk that answers the question; its equivalents count as the same find.

    ``grade`` 0 means judged and not relevant; higher is better (linear gain in nDCG).
    """

    id: str
    grade: int = 1
    equivalents: tuple[str, ...] = ()

    @property
    def ids(self) -> frozenset[str]:
        """All ids that count as this find."""
        return frozenset((self.id, *self.equivalents))


@dataclass(frozen=True, slots=True)
class GoldMessage:
    """An earlier message; ``filters`` are the gold filters of a user turn, where labelled."""

    role: Literal["user", "assistant"]
    content: str
    filters: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One gold question.  ``cluster`` is the unit of resampling and defaults to the case's id."""

    id: str
    type: CaseType
    question: str
    answer: str = ""
    history: tuple[GoldMessage, ...] = ()
    key_points: tuple[str, ...] = ()
    gold_chunks: tuple[GoldChunk, ...] = ()
    filters: Mapping[str, Any] | None = None
    behavior: tuple[str, ...] = ()
    cluster: str = ""
    split: Literal["dev", "test"] | None = None
    lang: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None
    annotator: str | None = None
    reviewer: str | None = None
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if not self.cluster:
            object.__setattr__(self, "cluster", self.id)


@dataclass(frozen=True, slots=True)
class GoldFault:
    """One thing that is wrong in a gold file.

    :param line: 1-based line number; 0 where the fault is in no line (an unreadable file).
    :param field: where in the line's object, e.g. ``gold_chunks[1].grade``; ``""`` for the
        line as a whole.
    """

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (where, self.field, self.message) if part)


class GoldError(Unusable):
    """Gold questions that cannot be used; ``faults`` holds all that is wrong, in line order."""

    def __init__(self, faults: Sequence[GoldFault]) -> None:
        self.faults = tuple(faults)
        count = f"{len(self.faults)} fault{'s' if len(self.faults) != 1 else ''}"
        super().__init__("\n".join([*map(str, self.faults), f"{count} in the gold questions"]))


@dataclass(frozen=True)
class GoldSet:
    """All gold questions of one file, in file order; ``sha256`` is that of the file's bytes."""

    file: str
    sha256: str
    cases: tuple[Case, ...]

    @cached_property
    def by_id(self) -> Mapping[str, Case]:
        """Case id to case, in file order."""
        return {case.id: case for case in self.cases}

    @cached_property
    def counts(self) -> Mapping[CaseType, int]:
        """Number of cases of each type, all types in their fixed order."""
        found = Counter(case.type for case in self.cases)
        return {kind: found[kind] for kind in CASE_TYPES}


def case_to_json(case: Case) -> dict[str, Any]:
    """The case as the JSON object of its line, with the labelled fields only.

    ``parse_gold`` of the dumped object gives an equal case, and so does :func:`case_from_json`.
    """
    data: dict[str, Any] = {
        "id": case.id,
        "type": case.type,
        "question": case.question,
        "history": [_message_to_json(message) for message in case.history],
        "answer": case.answer,
        "key_points": list(case.key_points),
        "gold_chunks": [_chunk_to_json(chunk) for chunk in case.gold_chunks],
        "filters": None if case.filters is None else dict(case.filters),
        "behavior": list(case.behavior),
        "cluster": None if case.cluster == case.id else case.cluster,
        "split": case.split,
        "lang": case.lang,
        "tags": list(case.tags),
        "source": case.source,
        "annotator": case.annotator,
        "reviewer": case.reviewer,
    }
    # `"filters": {}` is a label ("none should be inferred"), an empty list is none.
    return {name: value for name, value in data.items() if value is not None and value != []}


def case_from_json(data: Mapping[str, Any]) -> Case:
    """The case of what :func:`case_to_json` gave; what people write is read by ``parse_gold``.

    :raises KeyError, TypeError: where it is anything else.
    """
    values: dict[str, Any] = {
        name: tuple(it) if isinstance(it, list) else it for name, it in data.items()
    }
    values["id"] = intern(data["id"])  # these stand in many rows
    values["type"] = intern(data["type"])
    values["question"] = intern(data["question"])
    if "history" in data:
        values["history"] = tuple(GoldMessage(**message) for message in data["history"])
    if "gold_chunks" in data:
        values["gold_chunks"] = tuple(map(_chunk_from_json, data["gold_chunks"]))
    return Case(**values)


def _message_to_json(message: GoldMessage) -> dict[str, Any]:
    data: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.filters is not None:
        data["filters"] = dict(message.filters)
    return data


def _chunk_to_json(chunk: GoldChunk) -> str | dict[str, Any]:
    if chunk.grade == 1 and not chunk.equivalents:
        return chunk.id
    data: dict[str, Any] = {"id": chunk.id, "grade": chunk.grade}
    if chunk.equivalents:
        data["equivalents"] = list(chunk.equivalents)
    return data


def _chunk_from_json(data: str | Mapping[str, Any]) -> GoldChunk:
    if isinstance(data, str):
        return GoldChunk(intern(data))
    equivalents = tuple(map(intern, data.get("equivalents", ())))
    return GoldChunk(intern(data["id"]), data["grade"], equivalents)
