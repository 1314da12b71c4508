"""What a system was asked and what it did: the data that flows into the measures.

Everything here is a frozen value without behaviour that needs a network, a file or
pytest.  A system builds an :class:`Answer`; the flight wraps it, with time, cost and
facts about the collection, into an :class:`Observation`; measures read that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pytest_touchstone.paragraphs import CITATION
from pytest_touchstone.verdicts import Coherence, NoVerdict, Verdict

Behavior = Literal["relaxed", "asked_follow_up", "admitted", "failed_silently"]
"""What a system does when the filters of a question match nothing in the collection."""

Filters = Mapping[str, Any]
"""Field name to value (string, number or boolean) or to a list of alternatives."""

_CHECKED: dict[str, Any] = {
    "revalidate_instances": "always",
    "extra": "forbid",
    "allow_inf_nan": False,
}


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, as the system receives it."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved passage.  Its place in the sequence is its rank; ``score`` is informative.

    ``id`` is the chunk's id in the collection (never the vector store's internal id).
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _CHECKED

    id: str
    text: str
    score: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one LLM call, as the endpoint counted them.

    ``input_tokens`` includes ``cached_input_tokens``, as OpenAI-compatible servers report it.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _CHECKED

    model: str
    input_tokens: int
    cached_input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system says to the last message of a conversation.

    :param text: the answer itself; an empty one counts as a system error.
    :param passages: what was retrieved, best first.
    :param filters: the filters inferred from the conversation, as they were before any was
        dropped for want of matches; ``{}`` means "none inferred", ``None`` that this system infers
        no filters (filter measures are then ``n/a``).
    :param behavior: what the system says it did when its filters matched nothing.
    :param usage: one entry per LLM call; ``()`` means that none was made (cost 0), ``None``
        that the system does not report usage (cost stays unscored).
    :param citations: ids of cited passages, where the system reports them apart from the text.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _CHECKED

    text: str
    passages: tuple[Passage, ...] = ()
    filters: Mapping[str, Any] | None = None
    behavior: Behavior | None = None
    usage: tuple[Usage, ...] | None = None
    citations: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What ``retrieve`` returns: passages, best first; optionally filters and usage.

    They mean what they mean in :class:`Answer`.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _CHECKED

    passages: tuple[Passage, ...]
    filters: Mapping[str, Any] | None = None
    usage: tuple[Usage, ...] | None = None


@dataclass(frozen=True, slots=True)
class SystemFault:
    """Why a system gave no usable answer: a value that travels like a result.

    ``kind`` is one of ``exception``, ``timeout``, ``empty_answer``, ``invalid_answer``,
    ``given_up`` (not asked any more after three hangs), ``budget`` (not asked, for the run's budget
    was spent); ``message`` is one line for a reader.
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn that was asked: what came back, how long it took, what it cost.

    :param index: 0-based index of the user message within the conversation.
    :param answer: ``None`` where the system failed; where only ``retrieve`` was called, its
        passages with an empty text and ``retrieved_only`` set.
    :param duration_ms: wall time of the call in milliseconds.
    :param cost_usd: US dollars, or ``None`` with ``cost_reason`` (a reason of ``score``).
    """

    index: int
    question: str
    answer: Answer | None
    error: SystemFault | None = None
    retrieved_only: bool = False
    duration_ms: float | None = None
    cost_usd: float | None = None
    cost_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the collection says about filters, counted before any model is asked.

    :param gold_matches: chunks that the gold filters select; ``None`` where it was not counted.
    :param found_matches: chunks that the system's own filters select; ``None`` likewise.
    :param failed: why the collection could not be asked, in one line, where it could not.
    """

    gold_matches: int | None = None
    found_matches: int | None = None
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything known about one (case, system, repeat, mode) before it is measured.

    ``turns`` holds the turns that were asked, in order; the last one is the one scored.

    :param verdicts: what a judge said, by what measures need of it (``claims``, ``relevance``,
        ``coverage``, ``tone``, ``support``, ``behaviour``, ``conversation``); under ``coherence``
        one verdict for each of the first retrieved passages, in rank order; under
        ``citation_coverage`` what a scorer says of the paragraphs that cite.
    :param citation_pattern: regular expression of one citation marker in the answers.
    :param address: content address of what was asked; empty where nobody will look for it.
    :param reused_from: the run in which the system gave these answers, where it is an earlier one.
    """

    case_id: str
    system: str
    turns: tuple[Turn, ...]
    repeat: int = 0
    mode: str = "recorded"
    facts: Facts = Facts()
    verdicts: Mapping[str, Verdict | NoVerdict | tuple[Coherence | NoVerdict, ...]] = field(
        default_factory=dict
    )
    citation_pattern: str = CITATION
    address: str = ""
    reused_from: str | None = None

    @property
    def last(self) -> Turn:
        """The turn that is scored."""
        return self.turns[-1]
