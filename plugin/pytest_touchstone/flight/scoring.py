"""The scorer of a run: opened once, each pair scored once, and never a reason for a run to fail."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pytest_touchstone.flight.citing import citation_coverage
from pytest_touchstone.flight.counts import Counts
from pytest_touchstone.flight.observe import Work
from pytest_touchstone.flight.shared import SharedCalls
from pytest_touchstone.flight.trail import checked
from pytest_touchstone.scorer.protocol import Covered, Scorer, SwitchedOff
from pytest_touchstone.store.run import RunStore
from pytest_touchstone.trace import Observation
from pytest_touchstone.verdicts import CitationCoverage, NoVerdict

NEED = "citation_coverage"
"""What measures call the scorer's word."""
Open = Callable[[], Awaitable[Scorer | SwitchedOff]]


class Scoring:
    """Puts the citations of an answer to the scorer.

    :param open_scorer: called once, when the first answer is there, on the loop.
    :param shared: makes each request once, among all processes and runs of a store.
    """

    def __init__(self, open_scorer: Open, shared: SharedCalls, run: RunStore) -> None:
        self._open = open_scorer
        self._shared = shared
        self._run = run
        self._opening: asyncio.Task[Scorer | SwitchedOff] | None = None

    @property
    def counts(self) -> Counts:
        """Its calls: how many there will be is known once there are answers."""
        return self._shared.counts

    def hold(self) -> None:
        """Ask the scorer nothing more."""
        self._shared.hold()

    async def verdict(self, work: Work, seen: Observation) -> CitationCoverage | NoVerdict | None:
        """What the scorer says; ``None`` where no measure asks, or the system gave no answer."""
        answer = seen.last.answer
        if not wanted(work) or seen.last.error is not None or answer is None:
            return None
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._opened())
        scorer = await asyncio.shield(self._opening)
        if isinstance(scorer, SwitchedOff):
            return NoVerdict(scorer.reason, scorer.message)
        return await citation_coverage(answer, scorer, seen.citation_pattern)

    async def close(self) -> None:
        """Close the scorer.  What it could not score stands in the rows."""
        if self._opening is None or not self._opening.done() or self._opening.cancelled():
            return
        scorer = self._opening.result()
        if isinstance(scorer, _Once):
            close = getattr(scorer.scorer, "aclose", None)
            if close is not None:
                await close()

    async def _opened(self) -> Scorer | SwitchedOff:
        scorer = await self._open()
        if isinstance(scorer, SwitchedOff):
            return scorer
        self._run.note("scorer", "identity", dict(scorer.identity))
        return _Once(scorer, self._shared)


class _Once:
    """A scorer that scores each paragraph with its sources once, and keeps what came of it."""

    def __init__(self, scorer: Scorer, shared: SharedCalls) -> None:
        self.scorer = scorer
        self._shared = shared

    @property
    def identity(self) -> Mapping[str, Any]:
        return self.scorer.identity

    async def cover(self, paragraph: str, sources: Sequence[str]) -> tuple[Covered, ...]:
        # The probe's values drift in their last digits from one start of a server to the next.
        made_by = {name: value for name, value in self.identity.items() if name != "probe"}
        parts = ["scorer", made_by, paragraph, list(sources)]
        key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

        async def make() -> Mapping[str, Any]:
            covered = await self.scorer.cover(paragraph, sources)
            return {"covered": [asdict(one) for one in covered]}

        found = await self._shared.once(key, make)
        return tuple(Covered(**one) for one in checked(found.result)["covered"])


def wanted(work: Work) -> bool:
    """Whether some measure asks what the scorer says."""
    return work.judged and any(NEED in measure.needs | measure.wants for measure in work.measures)


def is_scored(result: Mapping[str, Any]) -> bool:
    """A pair that could not be scored was bad luck: the next run asks again."""
    return all(one["score"] is not None for one in result["covered"])
