"""Scores that one of two runs has and the other lacks: lost, or gained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from pytest_touchstone.comparing.model import OneSided, Side
from pytest_touchstone.comparing.pairs import Plays, measured
from pytest_touchstone.report.pairs import Pairs

UNUSABLE = "unusable"
"""Where a report has a value that nothing can be reckoned with."""


def one_sided(
    titles: Mapping[str, str], pairs: Mapping[str, Pairs], yardstick: Plays, other: Plays
) -> tuple[OneSided, ...]:
    """What only one side scored of the questions asked alike, case by case in the other's order.

    :param titles: of the measures that both have, by name; ``pairs`` likewise.
    """
    found: dict[tuple[str, Side, str, str], list[str]] = defaultdict(list)
    for measure, title in titles.items():
        then, now = pairs[measure].unpaired
        for case in then:
            found[case, "yardstick", *_missing(other, case, measure)].append(title)
        for case in now:
            found[case, "other", *_missing(yardstick, case, measure)].append(title)
    places = {case: place for place, case in enumerate(other)}
    return tuple(
        OneSided(case, tuple(of), side, reason, why)
        for (case, side, reason, why), of in sorted(
            found.items(), key=lambda item: places[item[0][0]]
        )
    )


def _missing(plays: Plays, case: str, measure: str) -> tuple[str, str]:
    """Why a side has no score: the reason, and what its report says of it."""
    entry = measured(plays[case], measure)[0]
    return entry["reasons"].get(measure, UNUSABLE), entry["why"].get(measure, "")
