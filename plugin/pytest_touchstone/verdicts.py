"""What a judge says, as values: verdicts with rationales and, where they rest on text, quotations.

A judge answers one *task* at a time; the tasks and their verdicts are the vocabulary that measures
are computed from.  Which engine judged (a model, rules, people) is not part of a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ClaimLabel = Literal["supported", "contradicted", "not_found"]
SupportLabel = Literal["supported", "partial", "unsupported"]
PointLabel = Literal["present", "partly", "absent"]
RelevanceLabel = Literal["relevant", "partly", "irrelevant"]
FormLabel = Literal["paragraph", "boilerplate", "table_debris", "cut"]
CompletionLabel = Literal["completed", "partly", "failed"]


@dataclass(frozen=True, slots=True)
class Quotation:
    """Text that a verdict rests on.

    :param text: as the judge gave it.
    :param found: whether it occurs in the text it was taken from, after NFC, white space and
        quotation marks are made alike; one that does not was asked for again once.
    """

    text: str
    found: bool


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One claim of an answer against the passages that the system had.

    :param passage: 1-based number of the passage it rests on or contradicts.
    """

    claim: str
    label: ClaimLabel
    rationale: str
    passage: int | None = None
    quotation: Quotation | None = None


@dataclass(frozen=True, slots=True)
class Claims:
    """Every claim that was asked, with its verdict; empty where the answer claims nothing.

    :param support: how strongly the passages support the answer as a whole, from 0 to 1, from an
        engine that grades; ``None`` from one that only labels.
    """

    verdicts: tuple[ClaimVerdict, ...]
    support: float | None = None


@dataclass(frozen=True, slots=True)
class PassageVerdict:
    """Whether one retrieved passage helps to answer the question; ``rank`` counts from 1."""

    rank: int
    label: RelevanceLabel
    rationale: str


@dataclass(frozen=True, slots=True)
class Relevance:
    """The first passages of an answer against its question, judged in one call."""

    verdicts: tuple[PassageVerdict, ...]


@dataclass(frozen=True, slots=True)
class Coherence:
    """Whether a chunk is a paragraph or noise; it depends on the chunk's text alone."""

    label: FormLabel
    rationale: str


@dataclass(frozen=True, slots=True)
class PointVerdict:
    """One key point of a good summary against the answer.

    :param support: how far it is said, from 0 to 1, where the engine grades finer than labels.
    """

    point: str
    label: PointLabel
    rationale: str
    quotation: Quotation | None = None
    support: float | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """Every key point, and which sentences of the answer serve none.

    :param sentences: the sentences of the answer, in order.
    :param padding: 0-based indices of sentences that serve no key point.
    """

    points: tuple[PointVerdict, ...]
    sentences: tuple[str, ...]
    padding: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tone:
    """Register of an answer, each from 1 to 5.

    :param formality: 5 is the sober register of an audit report.
    :param caution: 5 claims no more than the evidence allows.
    """

    formality: int
    formality_rationale: str
    caution: int
    caution_rationale: str


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """How one cited source alone supports a paragraph; ``source`` counts from 1."""

    source: int
    label: SupportLabel


@dataclass(frozen=True, slots=True)
class ParagraphVerdict:
    """How a paragraph's citations together support it, and each alone."""

    index: int
    text: str
    label: SupportLabel
    rationale: str
    citations: tuple[CitationVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class ParagraphSupport:
    """Every citing paragraph of an answer, judged in one call."""

    verdicts: tuple[ParagraphVerdict, ...]


@dataclass(frozen=True, slots=True)
class BehaviourVerdict:
    """What the text says was done where the filters matched nothing."""

    label: Literal["relaxed", "asked_follow_up", "admitted", "failed_silently"]
    rationale: str
    quotation: Quotation | None = None


@dataclass(frozen=True, slots=True)
class TurnVerdict:
    """One turn of a conversation played live; ``turn`` counts user messages from 0."""

    turn: int
    on_topic: bool
    rationale: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """Whether the conversation reached what the gold answer asks, and each turn on the way."""

    label: CompletionLabel
    rationale: str
    turns: tuple[TurnVerdict, ...]


@dataclass(frozen=True, slots=True)
class SourceCoverage:
    """How well one cited source covers the paragraph.

    :param source: its number among the passages, from 1.
    :param score: from 0 to 1, or ``None`` with a ``reason``: the scorer's own, or ``unresolved``
        where there is no such passage.
    :param windows: parts that the source was scored in; the best one counts.
    """

    source: int
    score: float | None
    windows: int = 1
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ParagraphCoverage:
    """A citing paragraph with every source that it cites; ``index`` is its place in the answer."""

    index: int
    text: str
    sources: tuple[SourceCoverage, ...]

    @property
    def best(self) -> float | None:
        """The best coverage over its sources, as far as they exist.

        ``None`` where one of them was not scored, since it might be the best, or none exists.
        """
        scores = [each.score for each in self.sources if each.reason != UNRESOLVED]
        known = [score for score in scores if score is not None]
        return max(known) if known and len(known) == len(scores) else None


@dataclass(frozen=True, slots=True)
class CitationCoverage:
    """Every citing paragraph of an answer, as a scorer sees it.

    :param scorer: the model that scored.
    :param scale: what its values are, such as ``probability``, or ``proxy`` for a substitute.
    """

    paragraphs: tuple[ParagraphCoverage, ...]
    scorer: str
    scale: str


UNRESOLVED = "unresolved"
"""The reason of a citation that is no passage."""


Verdict = (
    Claims
    | Relevance
    | Coherence
    | Coverage
    | Tone
    | ParagraphSupport
    | BehaviourVerdict
    | Conversation
    | CitationCoverage
)


@dataclass(frozen=True, slots=True)
class NoVerdict:
    """Why a judge or a scorer gave none.

    :param reason: of a judge ``judge_unreachable``, ``judge_refused``, ``judge_unreadable`` (no
        reply of the form asked for, after asking again), ``judge_truncated``, ``no_judge``; of a
        scorer ``no_scorer`` or what it says itself.
    :param why: one line for a reader, without secrets.
    """

    reason: str
    why: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """Another engine's value for a measure of an answer, to stand beside ours.

    :param engine: its name and version.
    :param value: in the measure's own unit and range, or ``None`` with a ``reason``.
    :param why: one line for a reader.
    """

    engine: str
    value: float | None
    why: str
    reason: str | None = None
