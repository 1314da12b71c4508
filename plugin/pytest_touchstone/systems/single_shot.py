"""The shipped baseline: embed the last message, take the top k, answer once.

No filters, no reranker, no retries.  With ``history`` it is the first step of the ladder: the
same, but a follow-up is rewritten into a stand-alone query.  Without a model the answer is
extractive: sentences of the passages, word for word, each with its citation.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from pytest_touchstone.trace import Answer, Message, Passage, Retrieval, Usage

if TYPE_CHECKING:
    from pytest_touchstone.llm.chat import Completion
    from pytest_touchstone.llm.prompts import Prompt

T = TypeVar("T")

LEAN = 0.3
"""Weight of a follow-up's surroundings beside the follow-up itself, where no model rewrites it.

Chosen on mtRAG's 75 answerable questions (multilingual-e5-small): joining earlier messages to
the last one lowers Recall@5 from 0.67 to 0.62 (one message) and 0.43 (all of them), since the
subject before outweighs the new one; leaning towards the joined text raises it to 0.68, Recall@10
from 0.81 to 0.83 and MRR from 0.75 to 0.76.  Small gains, and tuned on what they were measured on.
"""
_LOOK_BACK = 2

_SENTENCES = 3
_RANK_WEIGHT = 0.1
"""How much a passage's rank counts beside the words that a sentence shares with the question."""

_IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\W_{_IDEOGRAPH}]+")
# Scripts without spaces end a sentence without one; a full stop inside a number ends nothing.
_SENTENCE_END = re.compile(
    r"""(?<=[.!?…։؟।॥])\s+ | (?<=[.!?…]["'”’»)\]])\s+ | (?<=[。！？])
    | \s*[\r\n\u2028\u2029]+\s*""",
    re.VERBOSE,
)
_QUESTION_MARKS = ("?", "？", "؟", "\u037e")


class Searchable(Protocol):
    """What the baseline needs of a :class:`~pytest_touchstone.corpus.collection.Corpus`."""

    def search(self, query: str | Mapping[str, float], *, limit: int) -> tuple[Passage, ...]:
        """The nearest passages, best first."""


class InThread(Protocol):
    """Runs a blocking function off the event loop."""

    async def __call__(self, function: Callable[[], T], /) -> T:
        """What the function returns."""


@dataclass(frozen=True)
class SingleShot:
    """The baseline as a system: ``ask`` and ``retrieve``.

    :param complete: one call to the generator, retries included; ``None`` answers extractively.
    :param in_thread: how to search without blocking the loop.
    :param answer_prompt: has the placeholders ``passages`` and ``question``.
    :param query_prompt: has the placeholder ``conversation``; used with ``history`` only.
    :param top_k: passages to retrieve.
    :param context: passages, from the top, that the answer is made from.
    :param history: rewrite a follow-up into a stand-alone query.
    """

    corpus: Searchable
    complete: Callable[[Sequence[Message]], Awaitable[Completion]] | None
    in_thread: InThread
    answer_prompt: Prompt
    query_prompt: Prompt
    top_k: int = 20
    context: int = 5
    history: bool = False

    async def ask(self, messages: Sequence[Message], session: object) -> Answer:  # noqa: ARG002
        """Answer the last message, with one entry of usage for each call that was made."""
        query, usages = await self._query(messages)
        passages = await self._search(query)
        question = next(iter(query))
        if self.complete is None:
            text = extract(question, passages[: self.context])
            return Answer(text, passages, usage=())
        prompt = self.answer_prompt.fill(
            passages=_numbered(passages[: self.context]), question=question
        )
        completion = await self.complete([Message("user", prompt)])
        return Answer(completion.text, passages, usage=_all_known([*usages, completion.usage]))

    async def retrieve(
        self,
        messages: Sequence[Message],
        session: object,  # noqa: ARG002
    ) -> Retrieval:
        """The passages that :meth:`ask` would answer from, without an answer."""
        query, usages = await self._query(messages)
        return Retrieval(await self._search(query), usage=_all_known(usages))

    async def _search(self, query: Mapping[str, float]) -> tuple[Passage, ...]:
        return await self.in_thread(lambda: self.corpus.search(query, limit=self.top_k))

    async def _query(
        self, messages: Sequence[Message]
    ) -> tuple[dict[str, float], list[Usage | None]]:
        """What to search for (weighted texts, the question itself first), and calls made for it."""
        if not self.history or len(messages) == 1:
            return {messages[-1].content: 1.0}, []
        if self.complete is None:
            return leaning_query(messages), []
        conversation = [{"role": m.role, "content": m.content} for m in messages]
        prompt = self.query_prompt.fill(
            conversation=json.dumps(conversation, ensure_ascii=False, indent=1)
        )
        completion = await self.complete([Message("user", prompt)])
        return {" ".join(completion.text.split()): 1.0}, [completion.usage]


def leaning_query(messages: Sequence[Message]) -> dict[str, float]:
    """The last message, and with less weight the same after the two user messages before it."""
    users = [message.content for message in messages if message.role == "user"]
    last = messages[-1].content
    query = {last: 1.0}
    if len(users) > 1:
        query["\n".join(users[-1 - _LOOK_BACK :])] = LEAN
    return query


def extract(question: str, passages: Sequence[Passage]) -> str:
    """The sentences of the passages that share the most with the question, each cited as `[n]`.

    A sentence is worth the share of the question's words that it holds, each word weighted by how
    few of the passages' sentences hold it, and a little for its passage's rank.  Questions are
    passed over: headings of that form resemble the question and answer nothing.  At most three
    sentences, in reading order.  Empty where the passages hold no text.
    """
    everything = [
        (number, sentence, frozenset(words(sentence)))
        for number, passage in enumerate(passages, start=1)
        for sentence in _sentences(passage.text)
    ]
    sentences = [one for one in everything if not one[1].endswith(_QUESTION_MARKS)] or everything
    spread = Counter(word for _, _, found in sentences for word in found)
    weights = {
        word: math.log(1 + len(sentences) / spread[word])
        for word in sorted(set(words(question)))
        if word in spread
    }
    total = sum(weights.values()) or 1.0

    def worth(place: int) -> float:
        number, _, found = sentences[place]
        shared = sum(weight for word, weight in weights.items() if word in found)
        return shared / total + _RANK_WEIGHT / number

    chosen: dict[str, int] = {}
    for place in sorted(range(len(sentences)), key=lambda place: (-worth(place), place)):
        chosen.setdefault(sentences[place][1], place)
        if len(chosen) == _SENTENCES:
            break
    picked = [sentences[place] for place in sorted(chosen.values())]
    return " ".join(f"{sentence} [{number}]" for number, sentence, _ in picked)


def words(text: str) -> list[str]:
    """The words of a text in any script, case-folded; an ideograph or kana counts as a word."""
    return _WORD.findall(unicodedata.normalize("NFC", text).casefold())


def _sentences(text: str) -> Iterator[str]:
    for part in _SENTENCE_END.split(text):
        sentence = " ".join(part.split())
        if words(sentence):
            yield sentence


def _numbered(passages: Sequence[Passage]) -> str:
    """The passages as JSON, one a line: a text cannot pass for the next passage."""
    return "\n".join(
        json.dumps({"passage": number, "text": passage.text}, ensure_ascii=False)
        for number, passage in enumerate(passages, start=1)
    )


def _all_known(usages: Sequence[Usage | None]) -> tuple[Usage, ...] | None:
    """Every call's usage, or ``None`` where one is not known: a part is not the cost."""
    known = tuple(usage for usage in usages if usage is not None)
    return known if len(known) == len(usages) else None
