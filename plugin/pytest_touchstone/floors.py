"""A case's scores, and the floors under which a case is `low`.

A floor is no gate: it marks single cases to look at, a gate judges an estimate over all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from pytest_touchstone.measures.base import Measure
from pytest_touchstone.score import SYSTEM_ERROR, Score


class BelowFloor(AssertionError):  # noqa: N818 - an outcome, not a mistake
    """A case is worse than its measures' floors allow; one line per measure beyond its floor."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class CaseScores(Mapping[Measure, Score]):
    """The scores of the system under test for one case, by measure.

    :param floors: measure name to the worst value that is not low; for measures where lower is
        better it is a ceiling.
    """

    def __init__(self, scores: Mapping[Measure, Score], floors: Mapping[str, float]) -> None:
        self._scores = dict(scores)
        self._floors = floors

    def __getitem__(self, measure: Measure) -> Score:
        return self._scores[measure]

    def __iter__(self) -> Iterator[Measure]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    def meet_floors(self) -> None:
        """Pass when no score is beyond its floor and the system gave an answer.

        An unscored value is not low: it is counted beside the mean instead.

        :raises BelowFloor: shown as `low`, or as a failure under ``--touchstone-strict``.
        """
        # A system that failed has failed on all measures alike: said once.
        lines = [line for measure in self._scores if (line := self._low(measure))]
        if lines:
            raise BelowFloor(tuple(dict.fromkeys(lines)))

    def first(self) -> tuple[Measure, Score] | None:
        """What to tell of the case in one word: its first score beyond a floor, or else its first
        one with a value, or else its first; ``None`` where there is no score."""
        low = (measure for measure in self if self._low(measure))
        valued = (measure for measure in self if self[measure].value is not None)
        told = next(itertools.chain(low, valued, self), None)
        return None if told is None else (told, self[told])

    def _low(self, measure: Measure) -> str | None:
        score = self._scores[measure]
        if score.reason == SYSTEM_ERROR:
            return score.why
        floor = self._floors.get(measure.name)
        if floor is None or score.value is None:
            return None
        if measure.higher_is_better:
            beyond, sign = score.value < floor, "<"
        else:
            beyond, sign = score.value > floor, ">"
        return f"{measure} {score.value:.4g} {sign} {floor:g}: {score.why}" if beyond else None
