"""The format of a report: its types, its JSON Schema, its text and its file name.

The ``TypedDict`` classes here are the one definition: reports are built as plain dictionaries
that mypy checks against them, pydantic makes the schema out of them and validates with them.
A change of their meaning raises ``SCHEMA_VERSION``; ``report.schema.json`` beside this file is
the output of :func:`schema`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

SCHEMA_VERSION: Final = 1

closed = with_config(ConfigDict(extra="forbid"))
opened = with_config(ConfigDict(extra="allow"))

Interval = Annotated[list[float], Field(min_length=2, max_length=2)]
"""Lower and upper end."""
Range = Annotated[list[float | None], Field(min_length=2, max_length=2)]
"""Lowest and highest value; an upper end of ``null`` is open."""
Count = Annotated[int, Field(ge=0)]
Counts = dict[str, Count]
Json = dict[str, Any]


class ReportError(ValueError):
    """Rows that no report can be made of, or a report that does not have the format."""


@closed
class MeasureInfo(TypedDict):
    """What a measure is; ``title`` is its name for people."""

    measure: str
    title: str
    dimension: str
    unit: Annotated[str, Field(description="empty for shares")]
    range: Range
    higher_is_better: bool


@closed
class Roles(TypedDict):
    """Which system plays which part."""

    system: Annotated[str, Field(description="the system under test")]
    baseline: str | None
    variants: Annotated[list[str], Field(description="steps from the baseline to the system")]


@closed
class Dataset(TypedDict):
    """The gold questions; ``counts`` is by type."""

    path: str
    sha256: str
    counts: Counts


class Known(TypedDict):
    """What is known when a run starts."""

    plugin_version: str
    commit: str | None
    dirty: Annotated[bool | None, Field(description="whether the tree had uncommitted changes")]
    dataset: Dataset
    settings_sha256: str
    settings: Annotated[Json, Field(description="the effective settings, without secrets")]
    roles: Roles
    systems: Annotated[dict[str, Json], Field(description="identity of every system")]
    models: Annotated[
        dict[str, Json], Field(description="identity of generator, embedder, judge, scorer")
    ]
    prompts: Annotated[dict[str, str], Field(description="prompt name to SHA-256")]
    corpus: Annotated[Json | None, Field(description="collection, points, hash of its chunks")]
    prices: Annotated[Json, Field(description="prices that were used, with their date")]
    seed: int
    resamples: int
    confidence: float
    packages: Annotated[dict[str, str], Field(description="package name to version")]


class RunConfig(Known):
    """A run's ``config``: what is known at its start, and its measures in planned order."""

    measures: list[MeasureInfo]


@closed
class Run(TypedDict):
    """Which run this is; times are ISO 8601."""

    id: str
    label: str | None
    started_at: str
    finished_at: Annotated[str | None, Field(description="null where the run was cut short")]


class Identity(TypedDict):
    """Which format and which run."""

    schema_version: Literal[1]
    run: Run


@closed
class Snapshot(Identity, Known):
    """Everything that made the figures what they are."""

    results_sha256: Annotated[
        str, Field(description="SHA-256 of dataset digest, answers and scores alone")
    ]


@closed
class Result(TypedDict):
    """One measure of one system; the unit is the gold question, repeats are averaged first."""

    estimate: float | None
    ci: Interval | None
    ci_method: str
    n: Annotated[Count, Field(description="questions that the mean is over")]
    clusters: Count
    unscored: Annotated[Counts, Field(description="reason to number of questions without value")]
    origin: Annotated[Counts, Field(description="origin to number of scores, repeats included")]


@closed
class Delta(TypedDict):
    """A system minus the baseline, over the questions that both scored."""

    estimate: float
    ci: Interval | None
    p_value: float | None
    p_adjusted: float | None
    pairs: Count
    detectable: Annotated[float | None, Field(description="smallest difference one could see")]


@closed
class VariantResult(Result):
    """A variant's result; its ``delta`` is against the baseline, like the system's."""

    delta: Delta | None


@closed
class MeasureEntry(MeasureInfo):
    """One measure of the run."""

    system: Result | None
    baseline: Result | None
    delta: Delta | None
    by_type: Annotated[
        dict[str, Result], Field(description="the system under test, by type of question")
    ]
    variants: dict[str, VariantResult]
    calibrated: Json | None


@closed
class GateEntry(TypedDict):
    """A condition that the run had to meet."""

    expression: str
    value: float | None
    ci: Interval | None
    outcome: Literal["pass", "fail", "undecided", "not_run"]
    why: str


@closed
class ChatMessage(TypedDict):
    """One message of a conversation."""

    role: str
    content: str


@opened
class Gold(TypedDict):
    """A gold question, as its line in the gold file; labels that it has stand beside these."""

    id: str
    type: str
    question: str


@closed
class PassageEntry(TypedDict):
    """A retrieved passage; its text stands once, in the report's ``passages``."""

    id: str
    score: float | None
    digest: str


@closed
class ErrorEntry(TypedDict):
    """Why a system gave no usable answer."""

    kind: str
    message: str


class Turn(TypedDict):
    """What came back for one turn."""

    answer: Annotated[str | None, Field(description="null on an error or where not asked for")]
    passages: Annotated[list[PassageEntry], Field(description="best first")]
    filters: Annotated[Json | None, Field(description="null where the system infers none")]
    behavior: str | None
    usage: Annotated[list[Json] | None, Field(description="one entry per LLM call")]
    cost_usd: float | None
    cost_reason: str | None
    error: ErrorEntry | None


class Asked(TypedDict):
    """Which turn, and what was asked."""

    turn: Count
    question: str


@closed
class TurnEntry(Asked, Turn):
    """An earlier turn that was asked too."""


class Play(TypedDict):
    """One system's conversation over one gold question, up to the turn that is scored."""

    case: str
    system: str
    repeat: Count
    mode: str
    gold: Gold
    conversation: Annotated[list[ChatMessage], Field(description="what the system was sent")]
    earlier_turns: list[TurnEntry]


@closed
class CaseEntry(Play, Turn):
    """One gold question and one system: what it did in the turn that is scored, and its scores."""

    scores: dict[str, float | None]
    reasons: Annotated[dict[str, str], Field(description="measure to reason, where it has one")]
    why: Annotated[dict[str, str], Field(description="measure to what made its number")]
    details: Annotated[dict[str, Json], Field(description="measure to its evidence")]


@closed
class ModelCost(TypedDict):
    """Calls and tokens of one model; ``input_tokens`` includes the cached ones."""

    model: str
    calls: Count
    input_tokens: Count
    cached_input_tokens: Count
    output_tokens: Count


@closed
class SystemCost(TypedDict):
    """What one system cost over all turns that it was asked."""

    system: str
    turns: Count
    usd: Annotated[float | None, Field(description="sum of known costs; null where none is known")]
    calls: Annotated[Count, Field(description="LLM calls")]
    models: list[ModelCost]
    unknown: Annotated[Counts, Field(description="reason to number of turns of unknown cost")]


@closed
class EvaluationCost(TypedDict):
    """What judging cost; ``unknown`` counts calls without a price or without usage."""

    usd: Annotated[float | None, Field(description="null where no cost is known")]
    calls: Annotated[Count, Field(description="calls made in this run, asking again included")]
    cache_hits: Annotated[Count, Field(description="results that were there already")]
    input_tokens: Count
    output_tokens: Count
    unknown: Count


@closed
class Cost(TypedDict):
    """What the run cost."""

    systems: list[SystemCost]
    evaluation: EvaluationCost


class Place(TypedDict):
    """Where to look."""

    case: str
    system: str
    repeat: Count


@closed
class SystemErrorFinding(Place):
    """A turn on which a system failed."""

    mode: str
    turn: Count
    kind: str
    message: str


@closed
class LowFinding(Place):
    """A score of the system under test that is beyond its measure's floor."""

    measure: str
    value: float
    floor: float
    why: str


@closed
class BehaviorFinding(Place):
    """A case to read because of what the system did when its filters matched nothing."""

    why: str


@closed
class FaultCount(TypedDict):
    """How often a system failed in one way."""

    system: str
    kind: str
    count: Count


@closed
class Findings(TypedDict):
    """Reading lists."""

    system_errors: list[SystemErrorFinding]
    low: list[LowFinding]
    silent_failures: list[BehaviorFinding]
    contradicted: Annotated[
        list[BehaviorFinding],
        Field(description="the behaviour that a system claims is not what the facts show"),
    ]
    faults: list[FaultCount]


@closed
class Latency(TypedDict):
    """Milliseconds per answered turn."""

    system: str
    p50_ms: float
    p95_ms: float
    n: Count


@closed
class Timing(TypedDict):
    """Times: no measure, and the only place where they stand."""

    systems: list[Latency]
    wall_s: float | None
    peak_in_flight: Count | None


@closed
class PassageText(TypedDict):
    """Text and metadata of a passage."""

    text: str
    metadata: Json


@closed
class Report(TypedDict):
    """One run of an evaluation."""

    snapshot: Snapshot
    measures: list[MeasureEntry]
    gates: list[GateEntry]
    cases: list[CaseEntry]
    cost: Cost
    findings: Findings
    timing: Timing
    passages: Annotated[dict[str, PassageText], Field(description="digest to passage")]


@cache
def _adapter() -> TypeAdapter[Report]:
    return TypeAdapter(Report)


def schema() -> Json:
    """The format as a JSON Schema (Draft 2020-12)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_adapter().json_schema(),
    }


def validate(text: str) -> Report:
    """A report read back from its JSON text.

    :raises ReportError: where the text does not have the format, with one line per fault.
    """
    try:
        return _adapter().validate_json(text, strict=True)
    except ValidationError as error:
        faults = (
            f"{'.'.join(str(part) for part in fault['loc']) or '(whole file)'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise ReportError("\n".join(faults)) from None


_SURROGATE = re.compile("[\ud800-\udfff]")


def to_json(report: Report) -> str:
    """The report as strict JSON for UTF-8: one line per measure, case and passage.

    Half surrogate pairs, which no UTF-8 can hold, become U+FFFD.

    :raises ValueError: for NaN or infinity, which a built report never holds.
    """
    blocks = [f"{_dumps(key)}: {_lines(value)}" for key, value in report.items()]
    return _SURROGATE.sub("\ufffd", "{\n" + ",\n".join(blocks) + "\n}\n")


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(value: Any) -> str:
    # Python's own encoder is C only without `indent`, and a case a line suits grep and diff.
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(map(_dumps, value)) + "\n]"
    if isinstance(value, Mapping) and value:
        items = (f"{_dumps(key)}: {_dumps(item)}" for key, item in value.items())
        return "{\n" + ",\n".join(items) + "\n}"
    return _dumps(value)


def parse_time(text: str) -> datetime:
    """A time in UTC from ISO 8601; one without an offset is taken as UTC."""
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def report_name(started_at: str, commit: str | None) -> str:
    """File name of a report: start in UTC and 12 digits of the commit, or ``nocommit``."""
    known = re.fullmatch("[0-9a-f]{7,64}", commit or "")
    return (
        f"{parse_time(started_at):%Y-%m-%dT%H%M%SZ}_{known[0][:12] if known else 'nocommit'}.json"
    )
