"""From a gold question to an observation: which turns are asked, how, and what is noted."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from pytest_touchstone.flight.lane import Lane, SystemFailed
from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import Measure, Need
from pytest_touchstone.paragraphs import CITATION
from pytest_touchstone.redact import everywhere
from pytest_touchstone.storable import storable
from pytest_touchstone.systems.protocol import Session, as_answer, as_retrieval
from pytest_touchstone.trace import (
    Answer,
    Facts,
    Filters,
    Message,
    Observation,
    SystemFault,
    Turn,
    Usage,
)

Count = Callable[[Filters], Awaitable[int | None]]
Price = Callable[[Sequence[Usage] | None], tuple[float | None, str | None]]
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
    def needs(self) -> frozenset[Need]:
        """Everything that some measure needs observed."""
        return frozenset().union(*(measure.needs for measure in self.measures))


@dataclass(frozen=True, slots=True)
class Observer:
    """Asks systems and notes what the measures need.

    :param count: how many chunks filters select; ``None`` where no collection is configured.
        Where it fails, the measures read why.
    :param price: US dollars of an answer's usage, or ``None`` and the reason.
    :param redact: takes secrets out of a fault's message.
    :param mask: takes known secrets out of what a system says, which may echo one.
    :param citation_pattern: regular expression of one citation marker in the answers.
    """

    count: Count
    price: Price
    redact: Callable[[str], str]
    mask: Callable[[str], str] = str
    citation_pattern: str = CITATION

    async def observe(self, work: Work, lane: Lane) -> Observation:
        """Ask the turns that are needed, oldest first, in one session."""
        # Never used twice: a system may keep what it knows of a session beyond this run.
        name = f"{work.case.id}/{work.system}/{work.repeat}/{work.mode}/{uuid.uuid4().hex[:8]}"
        session = Session(name)
        if work.mode == "live":
            turns = await self._played(work.case, session, lane)
        else:
            retrieve_only = work.needs <= {"passages"} and lane.system.retrieve is not None
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
        )

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
        return Turn(index, question, answer, fault, retrieve_only, duration, cost, reason)

    def _masked(self, answer: Answer) -> Answer:
        passages = (
            replace(p, text=self.mask(p.text), metadata=everywhere(self.mask, dict(p.metadata)))
            for p in answer.passages
        )
        return replace(answer, text=self.mask(answer.text), passages=tuple(passages))

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
