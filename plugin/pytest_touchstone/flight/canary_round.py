"""A round of canaries beside a run: asked of the judge afresh, at most once in 24 hours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.flight.writing import written
from pytest_touchstone.judge.canaries import Canary, label
from pytest_touchstone.judge.protocol import Judge
from pytest_touchstone.score import BUDGET
from pytest_touchstone.store.canaries import Answered, CanaryStore, Round


class CanaryRound:
    """Asks the canaries as soon as the judge has answered a call that was not known already.

    Every process of a run may do so: the calls are shared like any others, and so are the results.
    A run whose verdicts are all known already costs nothing, and asks nothing.  What an earlier
    run asked today is not asked again, but for canaries of which it has no verdict.

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
        latest = await self._threads.run(self._store.latest)
        this = latest.current()
        # Calls of a round are known to each other, and to none of another round.
        judge = self._judge_for(this.earlier_at or "first")
        asked = (self._answered(judge, canary, this) for canary in self._canaries)
        answers = [one for one in await asyncio.gather(*asked) if one is not None]
        await written(self._store.keep(answers, this), paid_for=True)

    async def _answered(self, judge: Judge, canary: Canary, this: Round) -> Answered | None:
        """What was said of a canary; ``None`` where there was no money to ask."""
        known = (canary.id, canary.lang, canary.known)
        if canary.id in this.labels:
            return Answered(*known, this.labels[canary.id])
        judged = await judge.judge(canary.task)
        if judged.failure is None:
            return Answered(*known, label(judged.verdict))
        if judged.failure.reason == BUDGET:
            return None
        return Answered(*known, None, judged.failure.why)
