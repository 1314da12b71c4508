"""From a gold question to an observation: which turns are asked, how, and what is noted."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from pytest_touchstone.flight.lane import Lane, SystemFailed
from pytest_touchstone.flight.purse import Purse
from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import LIVE, Measure, Need
from pytest_touchstone.paragraphs import CITATION
from pytest_touchstone.redact import everywhere
from pytest_touchstone.score import BUDGET
from pytest_touchstone.storable import storable
from pytest_touchstone.store.run import Unit
from pytest_touchstone.systems.protocol import Session, as_answer, as_retrieval
from pytest_touchstone.trace import (
    Answer,
    Facts,
    Filters,
    Message,
    Observation,
    Passage,
    SystemFault,
    Turn,
    Usage,
)

Count = Callable[[Filters], Awaitable[int | None]]
Price = Callable[[Sequence[Usage] | None], tuple[float | None, str | None]]
Address = Callable[["Work", tuple[int, ...], bool], str]
"""Work, the turns that are asked, and whether passages alone are, to what it is found by again."""
_LONGEST_MESSAGE = 500


@dataclass(frozen=True, slots=True)
class Work:
    """One system's conversation over one case, with the measures that want to see it.

    :param judged: whether a judge may be asked about it.
    """

    case: Case
    system: str
    measures: tuple[Measure, ...]
    repeat: int = 0
    mode: str = "recorded"
    judged: bool = True

    @property
    def unit(self) -> Unit:
        """The work as the store claims it."""
        return Unit(self.case.id, self.system, self.repeat, self.mode)

    @property
    def needs(self) -> frozenset[Need]:
        """Everything that some measure needs observed."""
        return _needs(self.measures)


@lru_cache  # the same measures of thousands of cases
def _needs(measures: tuple[Measure, ...]) -> frozenset[Need]:
    return frozenset().union(*(measure.needs for measure in measures))


class Recall(Protocol):
    """Finds answers that are there already."""

    async def __call__(self, work: Work, retrieve_only: bool) -> Observation | None:
        """What is stored of the work, or of its passages alone."""
        ...

    def reuses(self, system: str) -> bool:
        """Whether answers of earlier runs may stand for the system's."""
        ...

    async def several(
        self, works: Sequence[Work], retrieve_only: bool
    ) -> Sequence[Observation | None]:
        """What earlier runs stored of works of one system."""
        ...


@dataclass(frozen=True, slots=True)
class Observer:
    """Asks systems and notes what the measures need.

    :param count: how many chunks filters select; ``None`` where no collection is configured.
        Where it fails, the measures read why.
    :param price: US dollars of an answer's usage, or ``None`` and the reason.
    :param redact: takes secrets out of a fault's message.
    :param mask: takes known secrets out of what a system says, which may echo one.
    :param citation_pattern: regular expression of one citation marker in the answers.
    :param recall: answers that are there already, which nobody need be asked for.
    :param address: what an answer can be found by again.
    :param purse: pays for calls, where the run has a budget.
    :param reprice: whether answers of earlier runs are measured by today's prices and collection; a
        replay has neither.
    """

    count: Count
    price: Price
    redact: Callable[[str], str]
    mask: Callable[[str], str] = str
    citation_pattern: str = CITATION
    recall: Recall | None = None
    address: Address = lambda *_: ""
    purse: Purse | None = None
    reprice: bool = True

    async def observe(self, work: Work, lane: Lane) -> Observation:
        """What is stored already, or else what the turns that are needed say, asked in order."""
        if self.recall is not None and (known := await self.recall(work, _only(work, lane))):
            return await self._recalled(work, known)
        # Never used twice: a system may keep what it knows of a session beyond this run.
        name = f"{work.case.id}/{work.system}/{work.repeat}/{work.mode}/{uuid.uuid4().hex[:8]}"
        session = Session(name)
        if work.mode == "live":
            turns = await self._played(work.case, session, lane)
        else:
            retrieve_only = _only(work, lane)
            every_labelled = "turns" in work.needs
            turns = [
                await self._turn(index, messages, session, lane, retrieve_only)
                for index, messages in conversation(work.case, every_labelled=every_labelled)
            ]
        facts = await self._facts(work, turns[-1]) if "counts" in work.needs else Facts()
        return Observation(
            work.case.id,
            work.system,
            tuple(turns),
            work.repeat,
            work.mode,
            facts,
            citation_pattern=self.citation_pattern,
            address=self.address(
                work, tuple(turn.index for turn in turns), turns[-1].retrieved_only
            ),
        )

    def reuses(self, system: str) -> bool:
        """Whether answers of earlier runs may stand for the system's."""
        return self.recall is not None and self.recall.reuses(system)

    async def reused(self, works: Sequence[Work], lane: Lane) -> list[Observation | None]:
        """What earlier runs saw of works of one system; ``None`` where it is to be asked."""
        found: list[Observation | None] = [None] * len(works)
        if self.recall is None:
            return found
        for only in (False, True):
            places = [place for place, work in enumerate(works) if _only(work, lane) is only]
            known = await self.recall.several([works[place] for place in places], only)
            for place, seen in zip(places, known, strict=True):
                if seen is not None:
                    found[place] = await self._recalled(works[place], seen)
        return found

    async def _recalled(self, work: Work, known: Observation) -> Observation:
        """Stored answers, measured by today's settings; what this run stored is as it was."""
        pattern = self.citation_pattern
        if known.reused_from is None or not self.reprice:
            return replace(known, citation_pattern=pattern)
        facts = await self._facts(work, known.last) if "counts" in work.needs else Facts()
        turns = tuple(map(self._priced, known.turns))
        return replace(known, turns=turns, facts=facts, citation_pattern=pattern)

    def _priced(self, turn: Turn) -> Turn:
        cost, reason = (None, None) if turn.answer is None else self.price(turn.answer.usage)
        if (cost, reason) == (turn.cost_usd, turn.cost_reason):
            return turn
        return replace(turn, cost_usd=cost, cost_reason=reason)

    async def _played(self, case: Case, session: Session, lane: Lane) -> list[Turn]:
        """The whole conversation, on the system's own earlier answers; it ends where one fails."""
        questions = [m.content for m in case.history if m.role == "user"] + [case.question]
        messages: list[Message] = []
        turns: list[Turn] = []
        for index, question in enumerate(questions):
            messages.append(Message("user", question))
            turn = await self._turn(index, tuple(messages), session, lane, retrieve_only=False)
            turns.append(turn)
            if turn.error is not None or turn.answer is None:
                break
            messages.append(Message("assistant", turn.answer.text))
        return turns

    async def _turn(
        self,
        index: int,
        messages: tuple[Message, ...],
        session: Session,
        lane: Lane,
        retrieve_only: bool,
    ) -> Turn:
        question = messages[-1].content
        name = lane.system.name
        if self.purse is not None and (why := await self.purse.refuses(name)):
            return Turn(index, question, None, SystemFault(BUDGET, why), cost_reason=BUDGET)
        start = time.perf_counter()
        answer, fault = None, None
        try:
            if retrieve_only and lane.system.retrieve is not None:
                found = await lane.call(lane.system.retrieve, as_retrieval, messages, session)
                answer = Answer("", found.passages, found.filters, usage=found.usage)
            else:
                answer = await lane.call(lane.system.ask, as_answer, messages, session)
        except SystemFailed as error:
            fault = SystemFault(error.fault.kind, self._readable(error.fault.message))
        duration = (time.perf_counter() - start) * 1000
        if answer is not None:
            answer = self._masked(answer)
        if answer is not None and not retrieve_only and not answer.text.strip():
            fault = SystemFault("empty_answer", "the answer's text is empty")
        cost, reason = (None, None)
        if answer is not None:
            cost, reason = self.price(answer.usage)
        if self.purse is not None:
            await self.purse.paid(name, cost)
        return Turn(index, question, answer, fault, retrieve_only, duration, cost, reason)

    def _masked(self, answer: Answer) -> Answer:
        mask = self.mask
        filters, usage, citations = answer.filters, answer.usage, answer.citations
        return replace(
            answer,
            text=mask(answer.text),
            passages=tuple(map(self._masked_passage, answer.passages)),
            filters=None if filters is None else everywhere(mask, dict(filters)),
            usage=usage and tuple(replace(one, model=mask(one.model)) for one in usage),
            citations=None if citations is None else tuple(everywhere(mask, citations)),
        )

    def _masked_passage(self, passage: Passage) -> Passage:
        chunk_id, text = self.mask(passage.id), self.mask(passage.text)
        metadata = everywhere(self.mask, dict(passage.metadata))
        if (chunk_id, text, metadata) == (passage.id, passage.text, passage.metadata):
            return passage
        return replace(passage, id=chunk_id, text=text, metadata=metadata)

    async def _facts(self, work: Work, last: Turn) -> Facts:
        gold = work.case.filters
        found = last.answer.filters if last.answer is not None else None
        try:
            return Facts(
                None if gold is None else await self.count(gold),
                None if found is None else await self.count(found),
            )
        except Exception as error:  # noqa: BLE001 - a collection out of reach must not end the run
            return Facts(failed=self._readable(str(error)))

    def _readable(self, message: str) -> str:
        """A fault's message without secrets, storable, and of bounded length, in this order."""
        text = storable(self.redact(message))
        return text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 1]}…"


def _only(work: Work, lane: Lane) -> bool:
    """Whether passages are all that is wanted, and the system gives them alone."""
    retrieves = lane.system.retrieve is not None
    return work.mode != LIVE and work.needs <= {"passages"} and retrieves


def turns_of(work: Work) -> tuple[int, ...] | None:
    """Indices of the turns that are asked; ``None`` where that depends on what is answered."""
    if work.mode == LIVE:
        return None
    asked = conversation(work.case, every_labelled="turns" in work.needs)
    return tuple(index for index, _ in asked)


def conversation(case: Case, *, every_labelled: bool) -> list[tuple[int, tuple[Message, ...]]]:
    """The turns to ask: index of the user turn, and the recorded messages up to it.

    :param every_labelled: earlier user turns with gold filters too, not only the last.
    """
    messages = tuple(Message(m.role, m.content) for m in case.history)
    last = (*messages, Message("user", case.question))
    turns = []
    index = 0
    for place, message in enumerate(case.history):
        if message.role == "user":
            if every_labelled and message.filters is not None:
                turns.append((index, last[: place + 1]))
            index += 1
    return [*turns, (index, last)]
