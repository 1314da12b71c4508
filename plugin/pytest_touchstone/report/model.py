"""The format of a report: its types, its JSON Schema, its text and its file name.

The ``TypedDict`` classes here are the one definition: reports are built as plain dictionaries
that mypy checks against them, pydantic makes the schema out of them and validates with them.
A change of their meaning raises ``SCHEMA_VERSION``; ``report.schema.json`` beside this file is
the output of :func:`schema`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

SCHEMA_VERSION: Final = 1

closed = with_config(ConfigDict(extra="forbid", allow_inf_nan=False))
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


@closed
class Selection(TypedDict):
    """Which gold questions the run was about; what it planned beneath that was taken away."""

    split: Annotated[str | None, Field(description="the one half that was asked for")]
    sample: Annotated[Count | None, Field(description="size of the sample that was asked for")]
    applicable: Annotated[
        dict[str, Counts],
        Field(description="measure to type to number of these questions that it applies to"),
    ]


class Known(TypedDict):
    """What is known when a run starts."""

    plugin_version: str
    commit: str | None
    dirty: Annotated[bool | None, Field(description="whether the tree had uncommitted changes")]
    dataset: Dataset
    selection: Selection
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
class CanaryEntry(TypedDict):
    """An input whose verdict is known, and what the judge said of it."""

    canary: str
    lang: str
    known: Annotated[list[str], Field(description="labels that are right")]
    said: Annotated[str | None, Field(description="null where the judge gave no verdict")]
    earlier: Annotated[str | None, Field(description="what it said the last time before")]
    why: Annotated[str, Field(description="why it gave no verdict")]


@closed
class Canaries(TypedDict):
    """How the judge did on inputs whose verdict is known; times are ISO 8601."""

    judge: str
    asked_at: str
    earlier_at: Annotated[str | None, Field(description="when it was asked the last time before")]
    asked: Count
    failed: Annotated[list[CanaryEntry], Field(description="said anything but what is right")]
    drifted: Annotated[list[CanaryEntry], Field(description="said otherwise than before")]
    unanswered: list[CanaryEntry]


@closed
class Snapshot(Identity, Known):
    """Everything that made the figures what they are."""

    canaries: Annotated[
        Canaries | None, Field(description="null where no judge was called in this run")
    ]

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
    ci_method: str
    p_value: Annotated[float | None, Field(description="of no difference; sign flips of clusters")]
    p_adjusted: Annotated[
        float | None, Field(description="by Holm, over the measures this system is compared on")
    ]
    pairs: Count
    detectable: Annotated[
        float | None,
        Field(description="true difference that such a set would show in 80% of cases"),
    ]


@closed
class VariantResult(Result):
    """A variant's result; its ``delta`` is against the baseline, like the system's."""

    delta: Delta | None


@closed
class MeanEntry(TypedDict):
    """A mean with its interval."""

    estimate: float
    ci: Interval | None


@closed
class Calibrated(TypedDict):
    """The judge's mean of the system under test, corrected by what people said of a part."""

    estimate: Annotated[float | None, Field(description="null where nothing could be corrected")]
    ci: Interval | None
    ci_method: Annotated[str, Field(description="how, or why there is no interval or no estimate")]
    judge: Annotated[MeanEntry, Field(description="the judge's own, as if it were right")]
    people: Annotated[
        MeanEntry | None, Field(description="of the labels alone, weighted for their drawing")
    ]
    labels: Annotated[Count, Field(description="answers that were drawn and that people read")]
    population: Annotated[Count, Field(description="answers that the mean is over")]
    slope: Annotated[
        float | None, Field(description="λ: 0 is people alone, 1 the judge's full say")
    ]
    left_out: Annotated[Counts, Field(description="reason to labels that correct nothing")]


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
    calibrated: Annotated[
        Calibrated | None, Field(description="null where people read no answer that was judged")
    ]


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
    reused: Annotated[
        Count, Field(description="of the turns, those an earlier run asked: paid for then")
    ]


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
class BudgetEntry(TypedDict):
    """What the run was allowed to spend, and spent, in US dollars."""

    usd: float
    spent: float
    overshoot: Annotated[float, Field(description="beyond the budget, for calls cost more")]
    stopped: Annotated[bool, Field(description="whether calls were left out for want of money")]


@closed
class Cost(TypedDict):
    """What the run cost."""

    systems: list[SystemCost]
    evaluation: EvaluationCost
    budget: Annotated[BudgetEntry | None, Field(description="null where the run had none")]


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
class UnfoundQuotation(Place):
    """Words that a judge's verdict quotes, and that do not stand where it took them from."""

    measure: str
    quotation: str


@closed
class FlakyFinding(TypedDict):
    """A question on which the repeats of the system under test disagree."""

    case: str
    measure: str
    values: Annotated[list[float], Field(description="by repeat, where scored")]


@closed
class RepeatsFinding(TypedDict):
    """How far scores of the system under test differ, by question and by repeat."""

    measure: str
    questions: Annotated[Count, Field(description="with at least one score")]
    between: Annotated[float | None, Field(description="variance between questions")]
    within: Annotated[float | None, Field(description="variance within a question")]
    flaky: Count


FaultSource = Literal["system", "judge", "scorer", "measure", "budget", "replay"]
"""Who failed, or what kept a call from being made."""


@closed
class FaultCount(TypedDict):
    """How often something failed in one way, with the first case on which it did."""

    source: FaultSource
    system: Annotated[str, Field(description="the system that was asked, judged or scored")]
    kind: str
    count: Annotated[Count, Field(description="turns of a system; of others, scores without value")]
    case: str
    message: str


@closed
class Disagreement(Place):
    """An answer on which two engines differ."""

    value: float
    other: Annotated[float, Field(description="the other engine's value")]
    why: str
    other_why: str


@closed
class SecondOpinion(TypedDict):
    """How far another engine agrees with the judge on a measure of the system under test."""

    measure: str
    engine: str
    n: Annotated[Count, Field(description="answers that both scored")]
    mean: float | None
    other_mean: Annotated[float | None, Field(description="the other engine's mean")]
    difference: Annotated[float | None, Field(description="mean absolute difference")]
    threshold: Annotated[float | None, Field(description="the floor, or the middle of the range")]
    agreement: Annotated[
        float | None, Field(description="share of answers on the same side of the threshold")
    ]
    correlation: Annotated[
        float | None, Field(description="Spearman's; null below three answers or without variation")
    ]
    apart: Annotated[float | None, Field(description="a quarter of the range")]
    far_apart: Annotated[Count, Field(description="answers that differ by more than that")]
    no_opinion: Annotated[Counts, Field(description="reason to number of answers")]
    most_apart: Annotated[list[Disagreement], Field(description="at most ten, the furthest first")]


@closed
class CoefficientEntry(TypedDict):
    """Agreement beyond chance: 1 without exception, 0 as chance would have it."""

    value: Annotated[float | None, Field(description="null where all values are the same")]
    ci: Interval | None


@closed
class Confusion(TypedDict):
    """How often the judge gave the value of the row where people gave that of the column."""

    values: list[str]
    counts: list[list[Count]]


@closed
class BetweenPeople(TypedDict):
    """How far people agree among themselves, on the answers that several of them read."""

    answers: Count
    alpha: float | None


@closed
class AgreementEntry(TypedDict):
    """Judge against people on the same answers of one measure; a pair is an answer and a person."""

    measure: str
    level: Literal["nominal", "ordinal", "interval"]
    answers: Count
    pairs: Count
    clusters: Count
    raw: Annotated[float, Field(description="share of pairs with the same value")]
    difference: Annotated[float, Field(description="mean of the judge's values minus people's")]
    kappa: Annotated[
        CoefficientEntry | None,
        Field(description="Cohen's; null for values that are no categories"),
    ]
    kappa_weights: Literal["quadratic"] | None
    alpha: Annotated[CoefficientEntry, Field(description="Krippendorff's, at this level")]
    confusion: Confusion | None
    between_people: BetweenPeople


@closed
class SourceCoverageEntry(TypedDict):
    """How well one cited source covers a paragraph; ``source`` is its number, from 1."""

    source: Count
    passage_id: str | None
    coverage: float | None


@closed
class UncoveredFinding(Place):
    """A paragraph that a judge found supported and whose sources do not cover it."""

    paragraph: Count
    text: str
    coverage: Annotated[float, Field(description="the best over its sources, from 0 to 1")]
    sources: list[SourceCoverageEntry]
    scorer: str
    scale: Annotated[str, Field(description="`proxy` for a substitute of a cross-encoder")]


@closed
class UnresolvedFinding(Place):
    """A paragraph that cites numbers which are no passage's."""

    paragraph: Count
    text: str
    numbers: list[int]


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
    unfound_quotations: list[UnfoundQuotation]
    uncovered: Annotated[list[UncoveredFinding], Field(description="lowest coverage first")]
    unresolved: list[UnresolvedFinding]
    second_opinion: Annotated[
        list[SecondOpinion], Field(description="empty where no other engine was asked")
    ]
    agreement: Annotated[
        list[AgreementEntry], Field(description="empty where people read no answer that was judged")
    ]
    faults: list[FaultCount]
    repeats: Annotated[list[RepeatsFinding], Field(description="empty where each is asked once")]
    flaky: list[FlakyFinding]


@closed
class Latency(TypedDict):
    """Milliseconds per answered turn."""

    system: str
    p50_ms: float
    p95_ms: float
    n: Count
    reused: Annotated[Count, Field(description="of these, times that an earlier run measured")]


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
    cases: Sequence[CaseEntry]
    cost: Cost
    findings: Findings
    timing: Timing
    passages: Annotated[Mapping[str, PassageText], Field(description="digest to passage")]


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


def to_json(report: Report | Mapping[str, object]) -> str:
    """A report, or what is made of some, as strict JSON for UTF-8: a line per entry of its parts.

    Half surrogate pairs, which no UTF-8 can hold, become U+FFFD.

    :raises ValueError: for NaN or infinity, which a built report never holds.
    """
    return "".join(json_pieces(report))


def json_pieces(report: Report | Mapping[str, object]) -> Iterator[str]:
    """The text of :func:`to_json` piece by piece: a report may be a hundred megabytes."""
    return (
        piece if piece.isascii() else _SURROGATE.sub("\ufffd", piece) for piece in _pieces(report)
    )


def _pieces(report: Report | Mapping[str, object]) -> Iterator[str]:
    before = "{\n"
    for key, value in report.items():
        yield f"{before}{_dumps(key)}: "
        yield from _lines(value)
        before = ",\n"
    yield "\n}\n"


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(value: Any) -> Iterator[str]:
    # Python's own encoder is C only without `indent`, and a case a line suits grep and diff.
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        before = "[\n"
        for item in value:
            yield f"{before}{_dumps(item)}"
            before = ",\n"
        yield "\n]"
    elif isinstance(value, Mapping) and value:
        before = "{\n"
        for key, item in value.items():
            yield f"{before}{_dumps(key)}: {_dumps(item)}"
            before = ",\n"
        yield "\n}"
    elif isinstance(value, Mapping):
        yield "{}"
    else:
        yield "[]" if isinstance(value, Sequence) and not isinstance(value, str) else _dumps(value)


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
