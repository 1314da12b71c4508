"""The steps through a model: the same tasks as the rules, as prompts that are files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_touchstone import Message, Passage, Usage
from pytest_touchstone.systems.loading import Complete, shipped_prompt

Found = dict[str, Any]
_MOST_VALUES = 60
"""Values of a field that a prompt lists; a longer list costs more than it tells."""
_RERANKED = 20


class ModelSteps:
    """Carries out the assistant's steps by one call each.

    :param complete: one call to the generator.
    :param fields: metadata fields to filter by.
    """

    def __init__(self, complete: Complete, fields: Sequence[str]) -> None:
        self._complete = complete
        self._fields = tuple(fields)
        self._standalone = shipped_prompt("standalone_query")
        self._filters = shipped_prompt("assistant_filters")
        self._rerank = shipped_prompt("assistant_rerank")
        self._answer = shipped_prompt("assistant_answer")

    async def standalone(self, messages: Sequence[Message], usage: list[Usage | None]) -> str:
        """The last message, rewritten so that it needs no conversation."""
        prompt = self._standalone.fill(conversation=_conversation(messages))
        return " ".join((await self._said(prompt, usage)).split()) or messages[-1].content

    async def filters(
        self,
        messages: Sequence[Message],
        known: Mapping[str, Sequence[Any]],
        usage: list[Usage | None],
    ) -> Found:
        """The fields that the model names, with values of a form that a collection holds."""
        values = {field: list(known.get(field, ()))[:_MOST_VALUES] for field in self._fields}
        prompt = self._filters.fill(
            conversation=_conversation(messages), fields=json.dumps(values, ensure_ascii=False)
        )
        found = _object(await self._said(prompt, usage))
        return {field: found[field] for field in self._fields if _is_filter(found.get(field))}

    async def rerank(
        self, question: str, passages: Sequence[Passage], usage: list[Usage | None]
    ) -> tuple[Passage, ...]:
        """In the model's order; what it leaves out keeps its place behind."""
        first = list(passages[:_RERANKED])
        if len(first) < 2:
            return tuple(passages)
        prompt = self._rerank.fill(question=question, passages=_numbered(first))
        order = _object(await self._said(prompt, usage)).get("order")
        numbers = [n for n in order if _is_place(n, len(first))] if isinstance(order, list) else []
        places = dict.fromkeys([*(n - 1 for n in numbers), *range(len(first))])
        return (*(first[place] for place in places), *passages[_RERANKED:])

    async def answer(
        self, question: str, passages: Sequence[Passage], usage: list[Usage | None]
    ) -> str:
        """The model's answer from the numbered passages."""
        prompt = self._answer.fill(question=question, passages=_numbered(passages))
        return await self._said(prompt, usage)

    async def _said(self, prompt: str, usage: list[Usage | None]) -> str:
        completion = await self._complete([Message("user", prompt)])
        usage.append(completion.usage)
        return completion.text


def _conversation(messages: Sequence[Message]) -> str:
    said = [{"role": message.role, "content": message.content} for message in messages]
    return json.dumps(said, ensure_ascii=False, indent=1)


def _numbered(passages: Sequence[Passage]) -> str:
    return "\n".join(
        json.dumps({"passage": number, "text": passage.text}, ensure_ascii=False)
        for number, passage in enumerate(passages, start=1)
    )


def _object(text: str) -> dict[str, Any]:
    """The first JSON object in a reply; models like to wrap it.  Empty where there is none."""
    decoder = json.JSONDecoder()
    for start, character in enumerate(text):
        if character == "{":
            try:
                found, _ = decoder.raw_decode(text, start)
            except ValueError:
                continue
            return found if isinstance(found, dict) else {}
    return {}


def _is_filter(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_scalar(item) for item in value)
    return _is_scalar(value)


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float) and value != ""


def _is_place(number: object, most: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= most
