"""What a run would ask of whom, and what that may cost: told without asking anybody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pytest_touchstone.flight.judge_calls import call_key, is_complete
from pytest_touchstone.flight.judging import CALLS, Judging, judgements, second_opinions
from pytest_touchstone.flight.observe import Work, turns_of
from pytest_touchstone.flight.scoring import wanted
from pytest_touchstone.judge.canaries import shipped_canaries
from pytest_touchstone.judge.llm import ALL_PROMPTS, ChatRequest, LLMJudge
from pytest_touchstone.judge.second_opinion import CALLS as SECOND_OPINION_CALLS
from pytest_touchstone.llm.chat import ChatError, Completion
from pytest_touchstone.llm.prices import Prices
from pytest_touchstone.measures.base import counted
from pytest_touchstone.opening.judging import TOKENS_IN, TOKENS_OUT
from pytest_touchstone.opening.reuse import reused_systems
from pytest_touchstone.run import planned_works
from pytest_touchstone.settings import Settings
from pytest_touchstone.snapshot import Plan
from pytest_touchstone.store.answers import Place, latest_answers, mean_cost
from pytest_touchstone.store.calls import CallStore
from pytest_touchstone.store.engine import NoStoreError, Store
from pytest_touchstone.systems.loading import shipped_prompt
from pytest_touchstone.trace import Observation, Usage


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one system is asked.

    :param works: all of its conversations.
    :param stored: those that are stored and will be used again, by their place among them.
    :param mean: US dollars of a turn in earlier runs, where that is known.
    """

    system: str
    works: Sequence[Work]
    stored: Mapping[int, Observation]
    mean: float | None

    @property
    def turns(self) -> int:
        """Turns that have to be asked."""
        asked = (work for place, work in enumerate(self.works) if place not in self.stored)
        return sum(map(_turns, asked))


def plan_lines(settings: Settings, plan: Plan) -> Iterator[str]:
    """One line for each that would be asked: calls, tokens, cost.

    Stored answers are looked up by question alone, since systems are not loaded: where a system or
    the collection has changed, it is asked after all.
    """
    works = planned_works(plan, settings)
    store = _store(settings)
    try:
        asked = [_asked(name, works, settings, store) for name in settings.roles]
        yield f"plan: {counted(len(plan.cases), 'gold question')}, nothing is asked now"
        yield from map(_system_line, asked)
        yield from _judge_line(settings, works, asked, store)
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


def _asked(name: str, works: Sequence[Work], settings: Settings, store: Store | None) -> _Asked:
    own = [work for work in works if work.system == name]
    if store is None:
        return _Asked(name, own, {}, None)
    stored: dict[int, Observation] = {}
    for number, work in enumerate(own if name in reused_systems(settings) else ()):
        at = Place(work.case.id, name, work.repeat, work.mode)
        found = store.read(partial(latest_answers, place=at, question=work.case.question))
        if found is not None:
            stored[number] = found
    return _Asked(name, own, stored, store.read(lambda connection: mean_cost(connection, name)))


def _system_line(asked: _Asked) -> str:
    said = f"  system {asked.system}: {counted(asked.turns, 'turn')} to ask"
    if asked.stored:
        said += f", {len(asked.stored)} of {len(asked.works)} conversations stored already"
    if not asked.turns:
        return said
    if asked.mean is None:
        return f"{said}; what it costs is not known before it answers"
    usd = asked.mean * asked.turns
    return f"{said}, about {usd:.4f} USD at {asked.mean:.4f} a turn in earlier runs"


def _turns(work: Work) -> int:
    turns = turns_of(work)
    if turns is not None:
        return len(turns)
    return 1 + sum(message.role == "user" for message in work.case.history)


def _judge_line(
    settings: Settings, works: Sequence[Work], asked: Sequence[_Asked], store: Store | None
) -> Iterator[str]:
    judge = settings.judge
    if judge is None:
        return
    if judge.is_offline:
        yield "  judge: rules, which ask nobody"
        return
    most = sum(CALLS[name] for work in works for name in judgements(work))
    if judge.second_opinion is not None:
        named = (name for work in works for name in second_opinions(work, settings.system))
        most += sum(SECOND_OPINION_CALLS[name] for name in named)
    known = 0
    if store is not None:
        stored = [(each.works[n], seen) for each in asked for n, seen in each.stored.items()]
        known = asyncio.run(_known_calls(settings, stored, store))
    beside = len(shipped_canaries()) if judge.canaries else 0
    calls = most - known
    calls += beside if calls else 0
    usage = Usage(judge.model, calls * TOKENS_IN, 0, calls * TOKENS_OUT)
    usd, _ = Prices(settings.prices, settings.provider).cost([usage])
    cost = "of unknown price" if usd is None else f"about {usd:.2f} USD"
    yield (
        f"  judge {judge.model}: at most {counted(calls, 'call')} ({known} more known already),"
        f" {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, {cost}"
    )


async def _known_calls(
    settings: Settings, stored: Sequence[tuple[Work, Observation]], store: Store
) -> int:
    """How many calls about stored answers have been made before."""
    judge = settings.judge
    if judge is None:
        return 0
    calls = CallStore(store, "plan", "judge")
    found: set[str] = set()

    async def look(request: ChatRequest) -> Completion:
        key = call_key(settings.judge_server, judge.model, request)
        result = calls.results([key]).get(key)
        if result is None or not is_complete(result):
            raise ChatError("not_recorded", "not made yet", retryable=False)
        found.add(key)
        return Completion(**{**result, "usage": None})

    reader = Judging(
        LLMJudge(look, {name: shipped_prompt(name) for name in ALL_PROMPTS}), judge.model
    )
    for work, seen in stored:
        await reader.verdicts(work, seen)
    return len(found)
