"""The assistant: filters, count before retrieval, relaxation said aloud, reranking, citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product, zip_longest
from typing import Any, Literal, Protocol

from evaluation.demo.assistant.model import ModelSteps
from evaluation.demo.assistant.rules import RuleSteps
from pytest_touchstone import Answer, Message, Passage, Resources, Retrieval, Session, Usage

Found = dict[str, Any]
Calls = list[Usage | None]
"""Usage of the calls made so far, one entry per call; ``None`` where the server does not say."""
Step = Literal["history", "filters", "relaxation", "reranker"]
STEPS: tuple[Step, ...] = ("history", "filters", "relaxation", "reranker")
_TOP_K = 20
_CANDIDATES = 40
_CONTEXT = 5


class Steps(Protocol):
    """How the steps are carried out; each call to a model is appended to ``usage``."""

    async def standalone(self, messages: Sequence[Message], usage: Calls) -> str:
        """The last message as a question that needs no conversation."""

    async def filters(
        self, messages: Sequence[Message], known: Mapping[str, Sequence[Any]], usage: Calls
    ) -> Found:
        """The filters that hold after the last message."""

    async def rerank(
        self, question: str, passages: Sequence[Passage], usage: Calls
    ) -> tuple[Passage, ...]:
        """The passages, those that answer the question first."""

    async def answer(self, question: str, passages: Sequence[Passage], usage: Calls) -> str:
        """Paragraphs that cite the passages they rest on by number."""


@dataclass(frozen=True, slots=True)
class _Searched:
    """What retrieval came to: the filters inferred, those dropped, and the passages left."""

    question: str
    inferred: Found | None
    dropped: Found
    passages: tuple[Passage, ...]


class Assistant:
    """Answers questions from the collection of a run.

    :param fields: metadata fields to filter by, the most certain first: the last one is the first
        to be dropped where nothing matches.
    :param exclusive: fields of which one question can mean only one, such as district and city,
        each with the words that tell which one is meant (for the rules; a model knows).
    :param steps: the ingredients beyond the baseline.
    :raises ValueError: for an unknown step, or without a collection.
    """

    def __init__(
        self,
        resources: Resources,
        *,
        fields: Sequence[str],
        exclusive: Mapping[str, Sequence[str]] | None = None,
        steps: Sequence[str] = STEPS,
    ) -> None:
        if resources.corpus is None:
            raise ValueError("the assistant needs a collection: set `corpus`")
        if unknown := sorted(set(steps) - set(STEPS)):
            raise ValueError(f"unknown steps: {', '.join(unknown)}; known: {', '.join(STEPS)}")
        self._corpus = resources.corpus
        self._in_thread = resources.in_thread
        self._fields = tuple(fields)
        self._on = frozenset(steps)
        self._steps = _steps(resources, self._fields, exclusive or {})
        self.identity = {"steps": type(self._steps).__name__}

    async def ask(self, messages: Sequence[Message], session: Session) -> Answer:
        """Answer the last message; where a filter had to be dropped, say so first."""
        usage: Calls = []
        found = await self._search(messages, usage)
        if not found.passages:
            text = f"Nothing matches{_listed(found.inferred or {})}."
            return Answer(text, (), found.inferred, "admitted", usage=_known(usage))
        question = found.question
        text = await self._steps.answer(question, found.passages[:_CONTEXT], usage)
        if not found.dropped:
            return Answer(text, found.passages, found.inferred, usage=_known(usage))
        said = f"Nothing matches{_listed(found.inferred or {})}. What follows leaves out"
        text = f"{said}{_listed(found.dropped)}.\n\n{text}"
        return Answer(text, found.passages, found.inferred, "relaxed", usage=_known(usage))

    async def retrieve(self, messages: Sequence[Message], session: Session) -> Retrieval:
        """The passages that :meth:`ask` would answer from."""
        usage: Calls = []
        found = await self._search(messages, usage)
        return Retrieval(found.passages, found.inferred, _known(usage))

    async def _search(self, messages: Sequence[Message], usage: Calls) -> _Searched:
        question = messages[-1].content
        if "history" in self._on and len(messages) > 1:
            question = await self._steps.standalone(messages, usage)
        inferred: Found | None = None
        kept: Found = {}
        dropped: Found = {}
        if "filters" in self._on:
            known = await self._in_thread(self._corpus.fields)
            seen = messages if "history" in self._on else messages[-1:]
            inferred = await self._steps.filters(seen, known, usage)
            kept, dropped = await self._in_thread(lambda: self._relaxed(inferred or {}))
            if "relaxation" not in self._on:
                # As many systems do: what matches nothing is left out, and nobody is told.
                dropped = {}
        passages = await self._in_thread(lambda: self._retrieved(question, kept))
        if "reranker" in self._on:
            passages = await self._steps.rerank(question, passages, usage)
        return _Searched(question, inferred, dropped, passages[:_TOP_K])

    def _relaxed(self, inferred: Mapping[str, Any]) -> tuple[Found, Found]:
        """The filters that match something, and those given up for it, the least certain first."""
        kept, dropped = dict(inferred), {}
        for field in reversed(self._fields):
            if not kept or self._corpus.count(kept):
                break
            if field in kept:
                dropped[field] = kept.pop(field)
        return kept, dropped

    def _retrieved(self, question: str, filters: Found) -> tuple[Passage, ...]:
        """One search per combination of alternatives, interleaved: no side is crowded out."""
        options = [
            [(field, value) for value in (values if isinstance(values, list) else [values])]
            for field, values in filters.items()
        ]
        rankings = [
            self._corpus.search(question, filters=dict(combination), limit=_CANDIDATES)
            for combination in product(*options)
        ]
        merged = [p for p in chain.from_iterable(zip_longest(*rankings)) if p is not None]
        return tuple({passage.id: passage for passage in merged}.values())[:_CANDIDATES]


def _steps(
    resources: Resources, fields: Sequence[str], exclusive: Mapping[str, Sequence[str]]
) -> Steps:
    if resources.complete is None:
        return RuleSteps(fields, exclusive)
    return ModelSteps(resources.complete, fields)


def _known(usage: Calls) -> tuple[Usage, ...] | None:
    """Every call's usage, or ``None`` where one is not known: a part is not the cost."""
    known = tuple(call for call in usage if call is not None)
    return known if len(known) == len(usage) else None


def _listed(filters: Mapping[str, Any]) -> str:
    if not filters:
        return " the question"
    shown = (
        f"{field} {' or '.join(map(str, value)) if isinstance(value, list) else value}"
        for field, value in filters.items()
    )
    return " " + ", ".join(shown)
