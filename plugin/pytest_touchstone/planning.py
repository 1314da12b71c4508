"""What a run would ask of whom, and what that may cost: told without asking anybody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from pytest_touchstone.flight.judge_calls import call_key, is_complete
from pytest_touchstone.flight.judging import Judging, expected_calls
from pytest_touchstone.flight.observe import Work, turns_of
from pytest_touchstone.flight.scoring import wanted
from pytest_touchstone.judge.canaries import shipped_canaries
from pytest_touchstone.judge.llm import ALL_PROMPTS, ChatRequest, LLMJudge
from pytest_touchstone.judge.protocol import Judged
from pytest_touchstone.judge.tasks import ClaimsTask, Task
from pytest_touchstone.llm.chat import ChatError, Completion
from pytest_touchstone.measures.base import counted
from pytest_touchstone.opening.judging import TOKENS_IN, TOKENS_OUT, expected_price
from pytest_touchstone.opening.reuse import reused_systems
from pytest_touchstone.run import planned_works
from pytest_touchstone.score import NOT_RECORDED
from pytest_touchstone.settings import Settings
from pytest_touchstone.snapshot import Plan
from pytest_touchstone.store.answers import answers_of_run, latest_answers, mean_cost
from pytest_touchstone.store.calls import CallStore
from pytest_touchstone.store.engine import NoStoreError, Store
from pytest_touchstone.store.sessions import has_begun
from pytest_touchstone.systems.loading import shipped_prompt
from pytest_touchstone.trace import Observation
from pytest_touchstone.verdicts import NoVerdict

V = TypeVar("V")
_NOT_MADE = NoVerdict(NOT_RECORDED, "not made yet")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one system is asked.

    :param works: all of its conversations.
    :param there: those that the run has already, by their place among them.
    :param stored: those of earlier runs that are used again, as far as nothing has changed.
    :param mean: US dollars of a turn in earlier runs, where that is known.
    """

    system: str
    works: Sequence[Work]
    there: Mapping[int, Observation]
    stored: Mapping[int, Observation]
    mean: float | None

    def turns(self, *, reused: bool) -> int:
        """Turns that have to be asked, if stored answers are used or not."""
        known = self.there.keys() | (self.stored.keys() if reused else ())
        return sum(_turns(work) for place, work in enumerate(self.works) if place not in known)


def plan_lines(settings: Settings, plan: Plan, run_id: str) -> Iterator[str]:
    """One line for each that would be asked: calls, tokens, cost.

    Stored answers are looked up by question alone, since systems are not loaded: where a system or
    the collection has changed, it is asked after all, and both is told.

    :param run_id: of the run that is planned: what it has already, if it was begun, is not asked.
    """
    works = planned_works(plan, settings)
    store = _store(settings)
    try:
        asked = [_asked(name, works, settings, store, run_id) for name in settings.roles]
        yield f"plan: {counted(len(plan.cases), 'gold question')}, nothing is asked now"
        yield from map(_system_line, asked)
        yield from _judge_line(settings, asked, store)
    finally:
        if store is not None:
            store.close()
    if settings.scorer is not None and any(map(wanted, works)):
        yield (
            f"  scorer {settings.scorer.model}: one request for each paragraph that cites; how many"
            " is known once there are answers, and none has a price"
        )
    if settings.budget is not None:
        yield f"  budget: {settings.budget:g} USD"


def _store(settings: Settings) -> Store | None:
    try:
        return Store(settings.store_url, create=False)
    except NoStoreError:
        return None  # there is none yet, and looking must not make one


def _asked(
    name: str, works: Sequence[Work], settings: Settings, store: Store | None, run_id: str
) -> _Asked:
    own = [work for work in works if work.system == name]
    if store is None:
        return _Asked(name, own, {}, {}, None)
    reuses = name in reused_systems(settings)
    begun = store.read(partial(has_begun, run_id=run_id))
    there: dict[int, Observation] = {}
    stored: dict[int, Observation] = {}
    for number, work in enumerate(own):
        place = work.unit.place
        if begun and (seen := store.read(partial(answers_of_run, run_id=run_id, place=place))):
            there[number] = seen
            continue
        question = work.case.question
        if reuses and (seen := store.read(partial(latest_answers, place=place, question=question))):
            stored[number] = seen
    mean = store.read(lambda connection: mean_cost(connection, name))
    return _Asked(name, own, there, stored, mean)


def _system_line(asked: _Asked) -> str:
    fewest, most = asked.turns(reused=True), asked.turns(reused=False)
    turns = counted(most, "turn") if fewest == most else f"{fewest} to {counted(most, 'turn')}"
    said = f"  system {asked.system}: {turns} to ask"
    if asked.there:
        said += f", {len(asked.there)} of {len(asked.works)} conversations are there already"
    if asked.stored:
        said += (
            f", {len(asked.stored)} of {len(asked.works)} conversations are stored and used again"
            " if nothing has changed"
        )
    if not most:
        return said
    if asked.mean is None:
        return f"{said}; what it costs is not known before it answers"
    usd = " to ".join(f"{asked.mean * number:.4f}" for number in sorted({fewest, most}))
    return f"{said}, about {usd} USD at {asked.mean:.4f} a turn in earlier runs"


def _turns(work: Work) -> int:
    turns = turns_of(work)
    if turns is not None:
        return len(turns)
    return 1 + sum(message.role == "user" for message in work.case.history)


def _judge_line(settings: Settings, asked: Sequence[_Asked], store: Store | None) -> Iterator[str]:
    judge = settings.judge
    if judge is None:
        return
    if judge.is_offline:
        yield "  judge: rules, which ask nobody"
        return
    known = None if store is None else _KnownCalls(settings.judge_server, judge.model, store)
    fewest, most = asyncio.run(_calls_left(settings, asked, known))
    beside = len(shipped_canaries()) if judge.canaries else 0
    fewest, most = (calls + beside if calls else 0 for calls in (fewest, most))
    already = len(known.keys) if known else 0
    yield (
        f"  judge {judge.model}: at most {counted(fewest, 'call')} ({already} more known already),"
        f" {_price(settings, judge.model, fewest)}"
    )
    if most > fewest:
        yield (
            f"    if stored answers are not used: at most {counted(most, 'call')},"
            f" {_price(settings, judge.model, most)}"
        )


def _price(settings: Settings, model: str, calls: int) -> str:
    """Tokens and cost of so many calls."""
    tokens = f"{calls * TOKENS_IN:,} tokens in, {calls * TOKENS_OUT:,} out"
    return f"{tokens}, {expected_price(settings, model, calls)}"


async def _calls_left(
    settings: Settings, asked: Sequence[_Asked], known: _KnownCalls | None
) -> tuple[int, int]:
    """The most judge calls that are still to be made, if stored answers are used, and if not."""
    second = settings.judge is not None and settings.judge.second_opinion is not None
    fewest = most = 0
    for each in asked:
        for place, work in enumerate(each.works):
            left = calls = expected_calls(work, settings.system, second=False)
            # Those of the other engine all count: what it said before is not looked up.
            opinions = expected_calls(work, settings.system, second=second) - calls
            seen = each.there.get(place) or each.stored.get(place)
            if seen is not None and known is not None:
                left = await known.left(work, seen)
            fewest += left + opinions
            most += (left if place in each.there else calls) + opinions
    return fewest, most


class _KnownCalls:
    """The judge's calls that have been made before, in whichever run.

    :ivar keys: of those that answers led to so far.
    """

    def __init__(self, server: str, model: str, store: Store) -> None:
        self.keys: set[str] = set()
        self._missing: set[str] = set()
        self._unknown_claims = 0
        self._server = server
        self._model = model
        self._calls = CallStore(store, "plan", "judge")
        self._llm = LLMJudge(self._look, {name: shipped_prompt(name) for name in ALL_PROMPTS})

    async def left(self, work: Work, seen: Observation) -> int:
        """The most calls about an answer that are still to be made, beside those said before."""
        before = len(self._missing) + self._unknown_claims
        await Judging(self, self._model).verdicts(work, seen)
        return len(self._missing) + self._unknown_claims - before

    async def judge(self, task: Task[V]) -> Judged[V]:
        """What the judge has said already."""
        judged = await self._llm.judge(task)
        if isinstance(task, ClaimsTask) and judged.failure == _NOT_MADE:
            self._unknown_claims += 1  # whose verdicts will be asked for then
        return judged

    async def _look(self, request: ChatRequest) -> Completion:
        key = call_key(self._server, self._model, request)
        result = self._calls.results([key]).get(key)
        if result is None or not is_complete(result):
            self._missing.add(key)
            raise ChatError("not_recorded", _NOT_MADE.why, retryable=False)
        self.keys.add(key)
        return Completion(**{**result, "usage": None})
