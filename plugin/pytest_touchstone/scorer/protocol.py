"""What a scorer gives, and how it says that it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Reason = Literal[
    "scorer_unreachable",
    "scorer_refused",
    "scorer_unreadable",
    "scorer_not_installed",
    "scorer_scale_unclear",
    "paragraph_too_long",
    "no_text",
    "not_recorded",
]
"""Why there is no coverage: no answer within tries and deadline; the server will not score this
pair; it answered without a finite number for it; the client's package is missing; what its values
mean is not known; the paragraph alone fills the model's window; nothing to score; a run
that is replayed does not hold it."""


@dataclass(frozen=True, slots=True)
class Covered:
    """How well one source covers one paragraph.

    :param score: 0 to 1, a probability; ``None`` where there is none, with a ``reason``.
    :param windows: parts that the source was scored in; the best one counts.
    """

    score: float | None
    windows: int = 1
    reason: Reason | None = None


class Scorer(Protocol):
    """Scores paragraphs against sources.  Use it from one event loop."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What made the scores, as JSON data without credentials: for the report."""

    async def cover(self, paragraph: str, sources: Sequence[str]) -> tuple[Covered, ...]:
        """The coverage of a paragraph by each of the sources, in their order.

        It never raises for a fault of the server: pairs that could not be scored say why.
        """


@dataclass(frozen=True, slots=True)
class SwitchedOff:
    """Why a scorer that the settings name is not used.

    :param message: one line: what is wrong, where, what to set; without any key.
    """

    reason: Reason
    message: str
