"""What a report is built from: the rows of one run, as plain values.

The store fills these; nothing here knows a database.  ``filters``, ``usage`` and ``error`` are
parsed JSON; so is ``detail``, which may be a :class:`JsonText`, for ten thousand cases have more of
it than of all else.  What there are ten thousands of are named tuples, which are made in a third of
the time of frozen dataclasses.
"""

from __future__ import annotations

import json
import math
from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from pytest_touchstone.gold import Case
from pytest_touchstone.report.model import (
    BudgetEntry,
    CanaryEntry,
    EvaluationCost,
    RunConfig,
)


def nothing_judged() -> EvaluationCost:
    """The cost of a run in which no judge was called."""
    return {
        "usd": 0.0,
        "calls": 0,
        "cache_hits": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "unknown": 0,
    }


class JsonText(Mapping[str, Any]):
    """A JSON object that stays text until somebody looks into it, and after: a fifth of the memory.

    What is no finite number in it reads as ``null``.

    :param text: as `json.dumps` writes it, so that a key which is not in the text is not there.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    @property
    def parsed(self) -> dict[str, Any]:
        """The object, made anew each time."""
        found: dict[str, Any] = _DECODER.decode(self._text)
        return found

    def __getitem__(self, key: str) -> Any:
        if not self.mentions(key):
            raise KeyError(key)
        return self.parsed[key]

    def get(self, key: str, default: Any = None) -> Any:
        return self.parsed.get(key, default) if self.mentions(key) else default

    def mentions(self, key: str) -> bool:
        """Whether the key stands somewhere in it, however deep; also where a text looks like it."""
        return _quoted(key) in self._text

    def __iter__(self) -> Iterator[str]:
        return iter(self.parsed)

    def __len__(self) -> int:
        return len(self.parsed)

    def items(self) -> ItemsView[str, Any]:
        return self.parsed.items()

    def values(self) -> ValuesView[Any]:
        return self.parsed.values()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._text!r})"


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=lambda _: None)
_quoted = lru_cache(json.dumps)
_NOTHING = JsonText("{}")


@dataclass(frozen=True, slots=True)
class CanaryRows:
    """What a run's judge said of its canaries."""

    judge: str
    asked_at: str
    earlier_at: str | None
    entries: Sequence[CanaryEntry]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run.

    :param started_at: ISO 8601; without an offset it is read as UTC.
    :param finished_at: likewise; ``None`` where the run was cut short.
    :param config: everything that is known when a run starts.
    :param peak_in_flight: most calls that were in flight at once, where it was counted.
    :param judging: what judging cost.
    :param canaries: ``None`` where the judge was not asked any.
    :param budget: ``None`` where the run had none.
    """

    id: str
    started_at: str
    finished_at: str | None
    config: RunConfig
    label: str | None = None
    peak_in_flight: int | None = None
    judging: EvaluationCost = field(default_factory=nothing_judged)
    canaries: CanaryRows | None = None
    budget: BudgetEntry | None = None


class CaseRow(NamedTuple):
    """A gold question of the run and its place in the gold file."""

    case: Case
    position: int


class PlanRow(NamedTuple):
    """A score that the run set out to make."""

    case_id: str
    system: str
    measure: str
    repeat: int = 0
    mode: str = "recorded"


class PassageRef(NamedTuple):
    """A retrieved passage: its chunk id, its score, and the digest of its text and metadata."""

    id: str
    score: float | None
    digest: str


class StoredPassage(NamedTuple):
    """Text and metadata of a passage, kept once under their digest."""

    text: str
    metadata: Mapping[str, Any] = _NOTHING


class QuestionRow(NamedTuple):
    """One turn that a system was asked.

    :param turn: index of the user message; the highest of a case is the one that is scored.
    :param answer: ``None`` where the system failed or only its passages were asked for.
    :param usage: one mapping per LLM call (the fields of :class:`pytest_touchstone.trace.Usage`);
        ``None`` where the system does not report it.
    :param cost_usd: US dollars, or ``None`` with ``cost_reason``.
    :param duration_ms: wall time of the call in milliseconds.
    :param error: ``kind`` and ``message`` of a system fault.
    :param reused_from: the run that asked, where it was an earlier one.
    """

    case_id: str
    system: str
    question: str
    turn: int = 0
    repeat: int = 0
    mode: str = "recorded"
    answer: str | None = None
    passages: Sequence[PassageRef] = ()
    filters: Mapping[str, Any] | None = None
    behavior: str | None = None
    usage: Sequence[Mapping[str, Any]] | None = None
    cost_usd: float | None = None
    cost_reason: str | None = None
    duration_ms: float | None = None
    error: Mapping[str, str] | None = None
    reused_from: str | None = None


class ScoreRow(NamedTuple):
    """The score of one unit; see :class:`pytest_touchstone.score.Score`."""

    case_id: str
    system: str
    measure: str
    value: float | None
    why: str
    reason: str | None = None
    repeat: int = 0
    mode: str = "recorded"
    origin: str = "computed"
    engine: str = "touchstone"
    detail: Mapping[str, Any] = _NOTHING
