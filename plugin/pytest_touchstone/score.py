"""A score: a number, or no number and the reason why.

*Unscored is not zero.*  A value that could not be obtained is ``None`` with a reason; it is
left out of means and counted beside them.  NaN and infinity are refused at construction, so
that they never travel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Origin = Literal["computed", "judge", "scorer", "human"]

NOT_APPLICABLE = "not_applicable"
"""The measure says nothing about this case or this system; shown as ``n/a``."""
NO_FILTERS = "no_filters"
"""The system reported no filters here.  Whether it infers any at all, one case cannot tell: the
report takes it as ``n/a`` or as none inferred."""
SYSTEM_ERROR = "system_error"
"""The system gave no usable answer and the measure's range has no worst end."""
NO_PRICE = "no_price"
"""No price is known for a model that the system used."""
NO_USAGE = "no_usage"
"""The system does not report its token usage."""
NEEDS_JUDGE = "needs_judge"
"""Facts alone do not decide, and no judge read the text."""
NO_SCORER = "no_scorer"
"""The settings name no scorer of cited sources."""
MEASURE_ERROR = "measure_error"
"""The measure itself is broken: it raised an exception."""
NOT_COUNTED = "not_counted"
"""The collection could not be asked how many chunks the filters select."""
NOT_ASKED = "not_asked"
"""The measure needs a turn of the conversation that the system was not asked."""
BUDGET = "budget"
"""The run's budget was spent before the call could be made."""
JUDGE_UNREACHABLE = "judge_unreachable"
"""The judge could not be asked, or gave no reply in time."""
NOT_RECORDED = "not_recorded"
"""A run that is replayed without network does not hold the call."""
SECOND_OPINION = "second_opinion"
"""In a score's ``detail``, what another engine says of the same answer: never the score itself."""


@dataclass(frozen=True, slots=True)
class Score:
    """One measure of one observation.

    :param value: a finite number within the measure's range, or ``None``.
    :param reason: a reason code (above) exactly where ``value`` is ``None``; also
        ``system_error`` beside a worst value that a failed system was given.
    :param why: one readable line: what made the number, or what is missing.
    :param detail: JSON data for the report (ranks, expected and found filters, ...).
    :raises ValueError: for NaN, infinity, or ``None`` without a reason.
    """

    value: float | None
    why: str
    reason: str | None = None
    origin: Origin = "computed"
    engine: str = "touchstone"
    detail: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.value is None:
            if not self.reason:
                raise ValueError("an unscored value needs a reason")
        elif not math.isfinite(self.value):
            raise ValueError(f"a score is a finite number, not {self.value!r}")


def unscored(reason: str, why: str, **detail: Any) -> Score:
    """No number, and why."""
    return Score(None, why, reason, detail=detail)
