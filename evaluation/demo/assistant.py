"""A small assistant over audit reports: filters, a count before retrieval, relaxation said aloud.

It works offline by rules, embeddings and extraction.  Its steps are those that the dimensions
measure: filters inferred from the conversation and anchored across turns, a check that they
match anything, and a ladder that drops the least certain filter where they do not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_touchstone import Answer, Message, Passage, Resources, Retrieval, Session
from pytest_touchstone.systems.single_shot import extract, leaning_query, words

_FISCAL_YEAR = re.compile(r"\b20(\d\d)\s*/\s*(\d\d)\b")
_YEAR = re.compile(r"\b20\d\d\b")
_TOP_K = 20
_CONTEXT = 5

Found = dict[str, Any]


class Assistant:
    """Answers from the collection that it is given.

    :param filter_fields: metadata fields to infer, the most certain first; the last is the
        first to be dropped where nothing matches.
    """

    def __init__(self, resources: Resources, filter_fields: Sequence[str]) -> None:
        if resources.corpus is None:
            raise ValueError("the assistant needs a collection: set `corpus`")
        self._corpus = resources.corpus
        self._in_thread = resources.in_thread
        self._fields = tuple(filter_fields)

    async def ask(self, messages: Sequence[Message], session: Session) -> Answer:
        """Answer the last message; say so where a filter had to be dropped."""
        return await self._in_thread(lambda: self._answer(messages))

    async def retrieve(self, messages: Sequence[Message], session: Session) -> Retrieval:
        """The passages that :meth:`ask` would answer from."""
        return await self._in_thread(lambda: self._retrieved(messages)[0])

    def _answer(self, messages: Sequence[Message]) -> Answer:
        found, dropped = self._retrieved(messages)
        if not found.passages:
            text = "I found nothing that matches the question."
            return Answer(text, (), found.filters, "admitted", usage=())
        text = extract(messages[-1].content, found.passages[:_CONTEXT])
        if not dropped:
            return Answer(text, found.passages, found.filters, usage=())
        without = ", ".join(f"{field} {_shown(value)}" for field, value in dropped.items())
        said = f"Nothing matches {without}; what follows leaves that out."
        return Answer(f"{said}\n\n{text}", found.passages, found.filters, "relaxed", usage=())

    def _retrieved(self, messages: Sequence[Message]) -> tuple[Retrieval, Found]:
        inferred = self._filters(messages)
        kept = dict(inferred)
        dropped: Found = {}
        for field in reversed(self._fields):
            if self._corpus.count(kept):
                break
            if field in kept:
                dropped[field] = kept.pop(field)
        passages: tuple[Passage, ...] = ()
        if self._corpus.count(kept):
            query = leaning_query(messages)
            passages = self._corpus.search(query, filters=kept, limit=_TOP_K)
        return Retrieval(passages, inferred), dropped

    def _filters(self, messages: Sequence[Message]) -> Found:
        """What the user's messages mention; a later mention replaces an earlier one."""
        known = self._corpus.fields()
        filters: Found = {}
        for message in messages:
            if message.role == "user":
                filters |= self._mentioned(message.content, known)
        return filters

    def _mentioned(self, text: str, known: Mapping[str, Sequence[Any]]) -> Found:
        said = set(words(text))
        found: dict[str, list[Any]] = {}
        for field in self._fields:
            if field == "year":
                found[field] = _years(text)
            else:
                values = [v for v in known.get(field, ()) if isinstance(v, str)]
                found[field] = [v for v in values if set(words(v)) <= said]
        return {
            field: values[0] if len(values) == 1 else values
            for field, values in found.items()
            if values
        }


def _years(text: str) -> list[str]:
    """Years as the collection writes them; fiscal year 2021/22 is 2022."""
    plain = _FISCAL_YEAR.sub(lambda fiscal: f"20{fiscal[2]}", text)
    return sorted(set(_YEAR.findall(plain)))


def _shown(value: Any) -> str:
    return " or ".join(map(str, value)) if isinstance(value, list) else str(value)
