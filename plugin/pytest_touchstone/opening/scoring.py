"""The scorer of a run."""

from __future__ import annotations

from pytest_touchstone.corpus.embedder import Embedder
from pytest_touchstone.flight.endpoint import Endpoint
from pytest_touchstone.flight.scoring import Scoring, is_scored
from pytest_touchstone.flight.shared import SharedCalls
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.flight.waits import Waits
from pytest_touchstone.redact import Redact
from pytest_touchstone.scorer.client import open_scorer
from pytest_touchstone.scorer.embedded import EmbeddedScorer
from pytest_touchstone.scorer.protocol import Scorer, SwitchedOff
from pytest_touchstone.settings import EMBEDDED, Settings
from pytest_touchstone.store.calls import CallStore
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import RunStore


def open_scoring(
    settings: Settings,
    store: Store,
    run: RunStore,
    threads: DaemonThreads,
    embedder: Embedder | None,
    workers: int,
    mask: Redact,
    waits: Waits,
) -> Scoring | None:
    """The scorer, which is probed when the first answer is there; ``None`` where none is named.

    :param mask: takes known secrets out of what its server says of itself.
    :param waits: told of long waits that it asks for.
    """
    scorer = settings.scorer
    if scorer is None:
        return None

    async def opened() -> Scorer | SwitchedOff:
        if scorer.model != EMBEDDED:
            return await open_scorer(
                scorer,
                workers=workers,
                patience=settings.patience,
                mask=mask,
                told=waits.of("scorer"),
            )
        if embedder is None:
            raise RuntimeError("an embedded scorer needs the embedder that the settings name")
        return EmbeddedScorer(embedder.passages, embedder.identity, threads.run)

    # The scorer's own tries are behind it; here a place is for one paragraph.
    endpoint = Endpoint(
        limit=max(1, scorer.concurrency // workers), tries=1, timeout=settings.patience
    )
    shared = SharedCalls(CallStore(store, run.owner, "scorer"), endpoint, threads, is_scored)
    return Scoring(opened, shared, run)
