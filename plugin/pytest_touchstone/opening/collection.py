"""The collection, and what turns texts into vectors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from pytest_touchstone.corpus.collection import Corpus, CorpusError, open_corpus
from pytest_touchstone.corpus.embedder import CachedEmbedder, Embedder, open_embedder
from pytest_touchstone.corpus.vectors import VectorCache
from pytest_touchstone.flight.observe import Count
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.settings import EMBEDDED, Settings
from pytest_touchstone.trace import Filters

Progress = Callable[[int, int], None]


def open_embedding(settings: Settings, progress: Progress, opened: ExitStack) -> Embedder | None:
    """What turns texts into vectors, where anything in the settings needs it; closed by ``opened``.

    :param progress: told of texts embedded so far and in all.
    :raises EmbedderError, VectorCacheError: one line each.
    """
    offline = settings.judge is not None and settings.judge.is_offline
    embedded = settings.scorer is not None and settings.scorer.model == EMBEDDED
    if settings.corpus is None and not offline and not embedded:
        return None
    cache = VectorCache(settings.reports / "vectors.sqlite")
    opened.callback(cache.close)
    if settings.embedder.vectors is not None:
        cache.include(settings.embedder.vectors)
    return CachedEmbedder(open_embedder(settings.embedder), cache, progress=progress)


def open_collection(
    settings: Settings, embedder: Embedder | None, opened: ExitStack, workers: int
) -> Corpus | None:
    """The collection, where the settings name one; closed by ``opened``.

    :param workers: processes of the run; a folder can be opened by one alone.
    :raises CorpusError, EmbedderError, VectorCacheError, ChunksError: one line each.
    """
    if settings.corpus is None:
        return None
    if workers > 1 and settings.corpus.is_folder:
        raise CorpusError(
            f"corpus.location {settings.corpus.location}: a folder can be opened by one process at"
            " a time; run without -n, or use `:memory:` or a server"
        )
    corpus = open_corpus(settings.corpus, embedder)
    opened.callback(corpus.close)
    return corpus


def counter(corpus: Corpus | None, threads: DaemonThreads) -> Count:
    """Counts chunks off the loop; always ``None`` where there is no collection."""

    async def count(filters: Filters) -> int | None:
        return None if corpus is None else await threads.run(corpus.count, filters)

    return count
