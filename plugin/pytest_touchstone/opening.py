"""What a run opens to the outside: collection, generator, judge, and what their calls cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from typing import Any

from pytest_touchstone.corpus.collection import Corpus, CorpusError, open_corpus
from pytest_touchstone.corpus.embedder import CachedEmbedder, Embedder, open_embedder
from pytest_touchstone.corpus.vectors import VectorCache
from pytest_touchstone.flight.endpoint import Endpoint
from pytest_touchstone.flight.judge_calls import Cost, JudgeCalls, is_complete
from pytest_touchstone.flight.judging import CALLS, Judging, judgements
from pytest_touchstone.flight.observe import Count, Work
from pytest_touchstone.flight.shared import SharedCalls
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.judge.llm import ALL_PROMPTS, LLMJudge
from pytest_touchstone.llm.chat import Chat, open_chat
from pytest_touchstone.llm.prices import Prices
from pytest_touchstone.settings import EXTRACTIVE, Settings, same_model
from pytest_touchstone.store.calls import CallStore
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import RunStore
from pytest_touchstone.systems.loading import Complete, shipped_prompt
from pytest_touchstone.trace import Filters, Usage
from pytest_touchstone.unusable import Unusable

Progress = Callable[[int, int], None]
Close = Callable[[], Awaitable[None]]
# A call's usual length, for the expectation alone; what was paid stands in the report.
_TOKENS_IN, _TOKENS_OUT = 2000, 400


class SameModel(Unusable):
    """A judge would judge its own answers."""


def open_collection(
    settings: Settings, progress: Progress, opened: ExitStack, workers: int
) -> tuple[Embedder | None, Corpus | None]:
    """The collection and what searches it, where the settings name one; closed by ``opened``.

    :param progress: told of texts embedded so far and in all.
    :param workers: processes of the run; a folder can be opened by one alone.
    :raises CorpusError, EmbedderError, VectorCacheError, ChunksError: one line each.
    """
    if settings.corpus is None:
        return None, None
    if workers > 1 and settings.corpus.is_folder:
        raise CorpusError(
            f"corpus.location {settings.corpus.location}: a folder can be opened by one process at"
            " a time; run without -n, or use `:memory:` or a server"
        )
    cache = VectorCache(settings.reports / "vectors.sqlite")
    opened.callback(cache.close)
    if settings.embedder.vectors is not None:
        cache.include(settings.embedder.vectors)
    embedder = CachedEmbedder(open_embedder(settings.embedder), cache, progress=progress)
    corpus = open_corpus(settings.corpus, embedder)
    opened.callback(corpus.close)
    return embedder, corpus


def open_generator(settings: Settings) -> Chat | None:
    """The generator's client; ``None`` where answers are extracted from passages."""
    generator = settings.generator
    if generator.effective_model == EXTRACTIVE:
        return None
    return open_chat(generator)


def completer(chat: Chat | None, settings: Settings, workers: int) -> Complete | None:
    """One call to the generator, with the run's limits and retries, for systems to use."""
    if chat is None:
        return None
    generator = settings.generator
    endpoint = Endpoint(
        limit=max(1, generator.concurrency // workers),
        tries=generator.tries,
        timeout=generator.deadline,
    )
    return lambda messages: endpoint.call(lambda: chat.complete(messages))


def open_judging(
    settings: Settings,
    store: Store,
    run: RunStore,
    threads: DaemonThreads,
    cost: Cost,
    workers: int,
) -> tuple[Judging | None, tuple[Callable[[], Awaitable[None]], ...]]:
    """The judge with its calls, and what to close on the loop at the end."""
    judge = settings.judge
    if judge is None:
        return None, ()
    key = judge.api_key.get_secret_value() if judge.api_key else None
    chat = Chat(judge.model, url=judge.url, api_key=key, timeout=judge.timeout)
    endpoint = Endpoint(
        limit=max(1, judge.concurrency // workers),
        tries=judge.tries,
        timeout=judge.deadline,
    )
    shared = SharedCalls(CallStore(store, run.owner, "judge"), endpoint, threads, is_complete)
    calls = JudgeCalls(chat, settings.judge_server, shared, run, cost)

    async def note_hits() -> None:
        calls.note_hits()

    prompts = {name: shipped_prompt(name) for name in ALL_PROMPTS}
    return Judging(LLMJudge(calls.ask, prompts), judge.model), (note_hits, chat.aclose)


def expected_judging(works: Sequence[Work], settings: Settings) -> str | None:
    """What judging is expected to cost, in one line, or ``None`` where nothing is judged."""
    calls = sum(CALLS[judgement] for work in works for judgement in judgements(work))
    if settings.judge is None or not calls:
        return None
    model = settings.judge.model
    usage = Usage(model, calls * _TOKENS_IN, 0, calls * _TOKENS_OUT)
    usd, _ = Prices(settings.prices, settings.provider).cost([usage])
    cost = "of unknown price" if usd is None else f"about {usd:.2f} USD"
    return (
        f"judging: at most {calls} calls to {model}, {cost} at {_TOKENS_IN} tokens in and"
        f" {_TOKENS_OUT} out a call; what was judged before costs nothing"
    )


def counter(corpus: Corpus | None, threads: DaemonThreads) -> Count:
    """Counts chunks off the loop; always ``None`` where there is no collection."""

    async def count(filters: Filters) -> int | None:
        return None if corpus is None else await threads.run(corpus.count, filters)

    return count


def noting_prices(prices: Prices, run: RunStore) -> Callable[..., tuple[float | None, str | None]]:
    """Prices that leave a note in the run, once per model, of what they charged."""
    noted: set[str] = set()

    def cost(usage: Any) -> tuple[float | None, str | None]:
        result = prices.cost(usage)
        for entry in prices.used():
            if entry["model"] not in noted:
                noted.add(entry["model"])
                run.note("price", entry["model"], entry)
        return result

    return cost


def refusing_the_judge(cost: Cost, settings: Settings) -> Cost:
    """Prices that refuse the judge's own model among the calls of a system."""
    judge = settings.judge
    if judge is None or judge.allow_same_model:
        return cost

    def checked(usage: Sequence[Usage] | None) -> tuple[float | None, str | None]:
        for call in usage or ():
            if same_model(call.model, judge.model):
                raise SameModel(
                    f"a system answered with {call.model}, which is the judge's model: a judge"
                    " favours its own answers. Name another `judge.model`, or set"
                    " `judge.allow_same_model`"
                )
        return cost(usage)

    return checked
