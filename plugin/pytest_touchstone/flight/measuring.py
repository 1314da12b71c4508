"""From what was seen of a piece of work to its scores, whoever gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_touchstone.annotations import is_opinion, over
from pytest_touchstone.flight.judging import with_opinion
from pytest_touchstone.flight.observe import Work
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.score import MEASURE_ERROR, Score, unscored
from pytest_touchstone.storable import json_data, storable
from pytest_touchstone.store.run import Unit
from pytest_touchstone.trace import Observation
from pytest_touchstone.verdicts import Opinion

Scores = Mapping[str, Score]
"""A unit's scores by name of the measure."""
People = Callable[[str, str, str], Score | None]
"""Case, measure and answer to what people said of it."""
Settled = Callable[[Unit, Measure], Score | None]
"""Unit and measure to a score that stands already."""


@dataclass(frozen=True, slots=True)
class Measuring:
    """Applies a work's measures to what was seen of it.

    :param engine: the judge's name, which stands beside each of its scores.
    :param people: what people said of a measure of a case's answer, which beats any judge.
    :param settled: scores that are not to be made again.
    """

    engine: str = ""
    people: People | None = None
    settled: Settled | None = None

    def scores(
        self, work: Work, seen: Observation, opinions: Mapping[str, Opinion] | None = None
    ) -> dict[str, Score]:
        """The scores of all measures of the work.

        :param opinions: what another engine says of the answer, by name of the measure.
        """
        beside = opinions or {}
        return {
            measure.name: with_opinion(self._score(measure, work, seen), beside.get(measure.name))
            for measure in work.measures
        }

    def _score(self, measure: Measure, work: Work, seen: Observation) -> Score:
        if self.settled is not None and (given := self.settled(work.unit, measure)) is not None:
            return given
        own = self._measured(measure, work, seen)
        answer = None if seen.last.error else seen.last.answer
        if self.people is None or answer is None or not is_opinion(measure):
            return own
        said = self.people(work.case.id, measure.name, answer.text)
        return own if said is None else over(own, said)

    def _measured(self, measure: Measure, work: Work, seen: Observation) -> Score:
        try:
            score = measure.score(work.case, seen)
            named = self.engine if score.origin == "judge" else score.engine
            detail = json_data(score.detail, "detail")
            # As it will be read back, since some are handed to tests without.
            why = storable(score.why)
            return Score(score.value, why, score.reason, score.origin, named, detail)
        except Exception as error:  # noqa: BLE001 - a broken measure must not end the run
            message = f"{measure.name} raised {type(error).__name__}: {error}"
            return unscored(MEASURE_ERROR, message)
