"""Who reads an answer: a judge, a second opinion beside it, a scorer, all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_touchstone.flight.counts import Counts, Share
from pytest_touchstone.flight.judging import Judging, judgements
from pytest_touchstone.flight.observe import Work
from pytest_touchstone.flight.scoring import NEED, Scoring, wanted
from pytest_touchstone.trace import Observation
from pytest_touchstone.verdicts import Opinion


@dataclass(frozen=True, slots=True)
class Reading:
    """What reads the answers of a run; each of them may be absent."""

    judging: Judging | None = None
    scoring: Scoring | None = None

    @property
    def engine(self) -> str:
        """The judge's name, which stands beside each of its scores."""
        return self.judging.engine if self.judging else ""

    @property
    def counts(self) -> tuple[Counts, ...]:
        """How far the calls to the judge and to the scorer are, where there are any."""
        readers = (self.judging, self.scoring)
        return tuple(each.counts for each in readers if each is not None and each.counts)

    def expect(self, work: Work, sign: int) -> None:
        """Count the work's calls among those that are to come, or no more."""
        if self.judging is not None and self.judging.counts is not None:
            self.judging.counts.expected += sign * self.judging.calls(work)

    def share(self, work: Work) -> Share | None:
        """The work's expected calls, for the task that is going to make them."""
        if self.judging is None or self.judging.counts is None:
            return None
        return Share(self.judging.counts, self.judging.calls(work))

    def reads(self, work: Work) -> bool:
        """Whether there is anything to read for the work's measures."""
        by_judge = self.judging is not None and bool(judgements(work))
        return by_judge or (self.scoring is not None and wanted(work))

    async def read(self, work: Work, seen: Observation) -> Observation:
        """The observation with what judge and scorer say of it."""
        judged, scored = await asyncio.gather(self._judged(work, seen), self._scored(work, seen))
        return replace(seen, verdicts={**judged, **scored})

    async def opinions(self, work: Work, seen: Observation) -> Mapping[str, Opinion]:
        """What another engine says of the answer, by name of the measure."""
        return {} if self.judging is None else await self.judging.opinions(work, seen)

    async def _judged(self, work: Work, seen: Observation) -> Mapping[str, Any]:
        return {} if self.judging is None else await self.judging.verdicts(work, seen)

    async def _scored(self, work: Work, seen: Observation) -> Mapping[str, Any]:
        said = None if self.scoring is None else await self.scoring.verdict(work, seen)
        return {} if said is None else {NEED: said}
