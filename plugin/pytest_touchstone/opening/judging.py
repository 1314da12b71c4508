"""The judge of a run, and what judging is expected to cost."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pytest_touchstone.corpus.collection import Corpus
from pytest_touchstone.corpus.embedder import Embedder
from pytest_touchstone.flight.canary_round import CanaryRound
from pytest_touchstone.flight.counts import CountedJudge, Counts
from pytest_touchstone.flight.judge_calls import Cost, JudgeCalls, is_complete
from pytest_touchstone.flight.judging import Judging, expected_calls
from pytest_touchstone.flight.observe import Work
from pytest_touchstone.flight.purse import Purse
from pytest_touchstone.flight.shared import SharedCalls
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.flight.waits import Waits
from pytest_touchstone.judge.canaries import form_of, shipped_canaries
from pytest_touchstone.judge.deepeval_metrics import open_deepeval
from pytest_touchstone.judge.llm import ALL_PROMPTS, LLMJudge
from pytest_touchstone.judge.second_opinion import CRITERIA
from pytest_touchstone.llm.chat import Chat
from pytest_touchstone.llm.masked import Masked
from pytest_touchstone.llm.prices import Prices
from pytest_touchstone.opening.servers import endpoint_for, tokens_of
from pytest_touchstone.redact import Redact
from pytest_touchstone.settings import Settings
from pytest_touchstone.store.calls import CallStore
from pytest_touchstone.store.canaries import CanaryStore
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import RunStore
from pytest_touchstone.systems.loading import shipped_prompt
from pytest_touchstone.trace import Usage

Close = Callable[[], Awaitable[None]]
# A call's usual length, for the expectation alone; what was paid stands in the report.
TOKENS_IN, TOKENS_OUT = 2000, 400
_LINES_OF = 20_000
"""Chunks of the collection that are read to see which lines stand in many of them."""


@dataclass(frozen=True, slots=True)
class Bench:
    """The judge of a run.

    :param canaries: what it is asked beside the run.
    :param holds: keeps it from being asked anything more.
    :param closers: what to close on the loop at the end.
    """

    judging: Judging | None = None
    canaries: CanaryRound | None = None
    holds: tuple[Callable[[], None], ...] = ()
    closers: tuple[Close, ...] = ()


def open_judging(
    settings: Settings,
    store: Store,
    run: RunStore,
    threads: DaemonThreads,
    cost: Cost,
    embedder: Embedder | None,
    corpus: Corpus | None,
    workers: int,
    mask: Redact,
    waits: Waits,
    purse: Purse | None = None,
) -> Bench:
    """The judge with its calls; an empty bench where the settings name none.

    :param mask: takes known secrets out of what the judge says.
    :param waits: told of long waits that its server asks for.
    """
    judge = settings.judge
    if judge is None:
        return Bench()
    if judge.is_offline:
        return Bench(_offline(embedder, corpus, threads))
    key = judge.api_key.get_secret_value() if judge.api_key else None
    chat = Masked(Chat(judge.model, url=judge.url, api_key=key, timeout=judge.timeout), mask)
    endpoint = endpoint_for(judge, settings, workers, _tokens_of_result, waits.of("judge"))
    shared = SharedCalls(CallStore(store, run.owner, "judge"), endpoint, threads, is_complete)
    calls = JudgeCalls(chat, settings.judge_server, shared, run, cost, purse)

    async def note_hits() -> None:
        calls.note_hits()

    prompts = {name: shipped_prompt(name) for name in ALL_PROMPTS}
    canaries = None
    if judge.canaries:
        known = shipped_canaries()
        form = form_of(known, {name: prompt.sha256 for name, prompt in prompts.items()})
        name = f"{judge.model} at {settings.judge_server}"
        canaries = CanaryRound(
            known,
            lambda salt: LLMJudge(calls.fresh(salt), prompts),
            calls.live,
            CanaryStore(store, run.run_id, name, form),
            threads,
        )
    second = None
    if judge.second_opinion is not None:
        criteria = {name: shipped_prompt(name) for name in CRITERIA.values()}
        second = open_deepeval(calls.ask, judge.model, criteria)
    asking = LLMJudge(calls.ask, prompts)
    judging = Judging(asking, judge.model, second, settings.system, shared.counts)
    return Bench(judging, canaries, (shared.hold,), (note_hits, chat.aclose))


def _offline(embedder: Embedder | None, corpus: Corpus | None, threads: DaemonThreads) -> Judging:
    from pytest_touchstone.judge.offline.judge import OfflineJudge
    from pytest_touchstone.judge.offline.recurrence import Recurrence

    if embedder is None:
        raise RuntimeError("an offline judge needs the embedder that the settings name")

    reading = threading.Lock()

    @cache
    def recurrence() -> Recurrence:
        return Recurrence(() if corpus is None else corpus.texts(_LINES_OF))

    def repeated(line: str) -> float:
        with reading:  # many threads ask at once, and the collection is read once
            known = recurrence()
        return known(line)

    counts = Counts("judge")
    judge = CountedJudge(OfflineJudge(embedder.passages, threads.run, repeated), counts)
    return Judging(judge, f"offline judge ({embedder.identity})", counts=counts)


def _tokens_of_result(result: Mapping[str, Any]) -> int | None:
    """Tokens of a completion as it is stored."""
    return None if result["usage"] is None else tokens_of(Usage(**result["usage"]))


def expected_price(settings: Settings, model: str, calls: int) -> str:
    """What so many calls of the expected size cost, for a reader."""
    usage = Usage(model, calls * TOKENS_IN, 0, calls * TOKENS_OUT)
    usd, _ = Prices(settings.prices, settings.provider).cost([usage])
    return "of unknown price" if usd is None else f"about {usd:.2f} USD"


def expected_judging(works: Sequence[Work], settings: Settings) -> str | None:
    """What judging is expected to cost, in one line, or ``None`` where nothing is judged."""
    judge = settings.judge
    if judge is None or judge.is_offline:
        return None
    second = judge.second_opinion is not None
    calls = sum(expected_calls(work, settings.system, second=second) for work in works)
    if not calls:
        return None
    calls += len(shipped_canaries()) if judge.canaries else 0
    return (
        f"judging: at most {calls} calls to {judge.model},"
        f" {expected_price(settings, judge.model, calls)} at {TOKENS_IN} tokens in and"
        f" {TOKENS_OUT} out a call; what was judged before costs nothing"
    )
