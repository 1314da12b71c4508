"""A question asked several times: its one score, and how steady the system is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_touchstone.estimate import mean_of_repeats
from pytest_touchstone.score import SYSTEM_ERROR, Score

_APART = 0.5
"""Share of a measure's range by which repeats must differ: a yes against a no is flaky, a wobble
of a graded score is not."""


@dataclass(frozen=True, slots=True)
class Components:
    """Variances of single scores; ``None`` where there is too little to tell.

    :param between: of the questions' true means: what another set of questions would change.
    :param within: of a question's scores around its mean: what asking again would change.
    """

    between: float | None
    within: float | None


def averaged(scores: Sequence[Score]) -> Score:
    """The one score of a question: the mean of its scored repeats, told by the first.

    A system that failed on one repeat has failed on the question, as far as a test of it goes.

    :param scores: at least one, in the order of repeats.
    """
    if len(scores) == 1:
        return scores[0]
    values = [score.value for score in scores if score.value is not None]
    value = mean_of_repeats(values) if values else None
    failed = [score for score in scores if score.reason == SYSTEM_ERROR]
    if failed:
        why = f"on {len(failed)} of {len(scores)} repeats: {failed[0].why}"
        return replace(failed[0], value=value, why=why)
    told = next((score for score in scores if score.value is not None), scores[0])
    shown = ", ".join("-" if s.value is None else f"{s.value:.3g}" for s in scores)
    return replace(told, value=value, why=f"mean of {len(scores)} repeats ({shown}); {told.why}")


def components(questions: Sequence[Sequence[float]]) -> Components:
    """How much of the variance of single scores lies between questions, and how much within one.

    A one-way random-effects analysis of variance; repeats need not be equally many.  The estimate
    between questions is that of moments, cut off at 0 (Searle, Casella and McCulloch 1992,
    *Variance Components*, section 3.6).

    :param questions: the scores of each question's repeats; questions without any do not count.
    """
    groups = [group for group in questions if group]
    total, spare = sum(map(len, groups)), sum(len(group) - 1 for group in groups)
    if not spare:
        return Components(None, None)
    means = [math.fsum(group) / len(group) for group in groups]
    within = math.fsum((x - m) ** 2 for g, m in zip(groups, means, strict=True) for x in g) / spare
    if len(groups) < 2:
        return Components(None, within)
    grand = math.fsum(value for group in groups for value in group) / total
    freedom = len(groups) - 1
    mean_square = (
        math.fsum(len(g) * (m - grand) ** 2 for g, m in zip(groups, means, strict=True)) / freedom
    )
    size = (total - sum(len(group) ** 2 for group in groups) / total) / freedom
    return Components(max(0.0, (mean_square - within) / size), within)


def disagree(
    values: Sequence[float],
    *,
    floor: float | None,
    higher_is_better: bool,
    range_: Sequence[float | None],
) -> bool:
    """Whether a question's repeats contradict each other.

    With a floor they do where some are low and others are not; without one where they lie half
    the measure's range apart, and never on an unbounded one.
    """
    if len(values) < 2:
        return False
    if floor is not None:
        low = {value < floor if higher_is_better else value > floor for value in values}
        return len(low) == 2
    least, most = range_
    if least is None or most is None:
        return False
    return max(values) - min(values) >= _APART * (most - least)
