"""Who reads an answer: a judge, a second opinion beside it, a scorer, all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

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
