"""A round of canaries beside a run: asked of the judge afresh, at most once in 24 hours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.flight.writing import written
from pytest_touchstone.judge.canaries import Canary, label
from pytest_touchstone.judge.protocol import Judge
from pytest_touchstone.store.canaries import Answered, CanaryStore


class CanaryRound:
    """Asks the canaries as soon as the judge has answered a call that was not known already.

    Every process of a run may do so: the calls are shared like any others, and so are the results.
    A run whose verdicts are all known already costs nothing, and asks nothing.

    :param judge_for: the judge, given what sets this round's calls apart from all earlier ones.
    :param live: set once the judge has answered a call.
    """

    def __init__(
        self,
        canaries: Sequence[Canary],
        judge_for: Callable[[str], Judge],
        live: asyncio.Event,
        store: CanaryStore,
        threads: DaemonThreads,
    ) -> None:
        self._canaries = canaries
        self._judge_for = judge_for
        self._live = live
        self._store = store
        self._threads = threads

    @property
    def due(self) -> bool:
        """Whether the run must not end before this round has."""
        return self._live.is_set()

    async def fly(self) -> None:
        """Wait for the first live call, then ask, and store what was said.

        :raises StoreError: where the store fails.
        """
        await self._live.wait()
        earlier = await self._threads.run(self._store.latest)
        if earlier.is_recent and {one.id for one in self._canaries} <= earlier.labels.keys():
            await written(self._store.repeat(earlier))
            return
        judge = self._judge_for(earlier.asked_at or "first")
        asked = (self._ask(judge, canary) for canary in self._canaries)
        answers = await asyncio.gather(*asked)
        await written(self._store.keep(answers, earlier), paid_for=True)

    async def _ask(self, judge: Judge, canary: Canary) -> Answered:
        judged = await judge.judge(canary.task)
        said = None if judged.verdict is None else label(judged.verdict)
        why = "" if judged.failure is None else judged.failure.why
        return Answered(canary.id, canary.lang, canary.known, said, why)
