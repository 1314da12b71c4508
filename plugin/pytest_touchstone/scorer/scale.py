"""What a scorer's values mean.  It is decided once, from pairs whose answer is known.

A value alone does not show it: the sigmoid of a cross-encoder, the cosine of two embeddings and a
sigmoid applied twice all lie in [0, 1], and both logits and the sums of late-interaction models
leave it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Scale = Literal["probability", "logit"]

_TELLS_APART = 0.9
# No embedding puts half of the covering sources above the one and half of the others below the
# other (multilingual-e5-small: 0.91 to 0.96 and 0.68 to 0.81; others are lower on both sides).
_SURE = 0.95
_UNLIKE = 0.2
_BEYOND_COSINE = 1.2
_TOLERANCE = 0.01
_WAY_OUT = "set scorer.scale to `probability` or `logit` if you know which it is"


@dataclass(frozen=True, slots=True)
class Probe:
    """A scorer's values for the known pairs.

    :param covering: one value for each paragraph with the source that covers it.
    :param unrelated: one for each with the source that does not, in the same order.
    """

    covering: tuple[float, ...]
    unrelated: tuple[float, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """All values."""
        return self.covering + self.unrelated


@dataclass(frozen=True, slots=True)
class Decision:
    """The scale of a scorer's values from now on.

    :param source: what it was decided by: ``activation`` (the server was asked for probabilities
        and gave the sigmoid of its raw values), ``setting``, ``probe``.
    :param asking: which of its values the server is asked for; ``None`` as it comes.
    :param probe: the values it was decided on.
    """

    scale: Scale
    source: Literal["activation", "setting", "probe"]
    asking: Literal["activated", "raw"] | None
    probe: Probe


@dataclass(frozen=True, slots=True)
class Unclear:
    """Why the scale is not known, and what to set: the end of a sentence."""

    message: str


def sigmoid(logit: float) -> float:
    """1 / (1 + e^-logit), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    grown = math.exp(logit)
    return grown / (1.0 + grown)


def coverage(value: float, scale: Scale) -> float | None:
    """A value on its scale as a probability; ``None`` where it cannot lie on that scale."""
    if scale == "logit":
        return sigmoid(value)
    # float16 and rounding lie a little outside.
    return min(1.0, max(0.0, value)) if -1e-3 <= value <= 1.0 + 1e-3 else None


def decide(plain: Probe, setting: Scale | None) -> Decision | Unclear:
    """The scale of values that a server gives when it is asked for nothing in particular."""
    if (share := told_apart(plain)) < _TELLS_APART:
        return Unclear(
            "it does not tell sources that cover a paragraph from unrelated ones"
            f" ({share:.0%} of pairs in order): is `scorer.model` a reranker?"
        )
    if setting is not None:
        against = _contradiction(plain, setting)
        return Unclear(against) if against else Decision(setting, "setting", None, plain)
    found = _recognised(plain)
    return found if isinstance(found, Unclear) else Decision(found, "probe", None, plain)


def decide_asked(activated: Probe, raw: Probe) -> Decision | Unclear | None:
    """The scale where a server was asked for its values with and without the sigmoid.

    ``None`` where the one are not the sigmoid of the other: it does not know the request.
    """
    pairs = list(zip(activated.values, raw.values, strict=True))
    if all(abs(one - other) <= _TOLERANCE for one, other in pairs):
        return None
    if any(abs(one - sigmoid(other)) > _TOLERANCE for one, other in pairs):
        return None
    if all(0 <= value <= 1 for value in raw.values):
        # What is called raw has a sigmoid in it already, and would get a second one.
        found = decide(raw, None)
        if isinstance(found, Unclear):
            return found
        return Decision(found.scale, "probe", "raw", raw)
    if isinstance(found := decide(activated, "probability"), Unclear):
        return found
    return Decision("probability", "activation", "activated", activated)


def told_apart(probe: Probe) -> float:
    """How often a covering source has more than an unrelated one, over all pairs of the two.

    It is the area under the ROC curve with ties counted as failures: 0 to 1, 0.5 by chance.
    """
    wins = sum(good > bad for good in probe.covering for bad in probe.unrelated)
    return wins / (len(probe.covering) * len(probe.unrelated))


def _recognised(probe: Probe) -> Scale | Unclear:
    low, high = min(probe.values), max(probe.values)
    span = f"{low:.3g} to {high:.3g}"
    if low >= 0 and high <= 1:
        if _half(probe.covering, lambda value: value >= _SURE) and _half(
            probe.unrelated, lambda value: value <= _UNLIKE
        ):
            return "probability"
        if low >= 0.5 - _TOLERANCE and high <= sigmoid(1.0) + _TOLERANCE:
            return Unclear(f"its values ({span}) look like a sigmoid applied twice; {_WAY_OUT}")
        return Unclear(f"its values ({span}) may be cosines, not probabilities; {_WAY_OUT}")
    if max(abs(low), abs(high)) <= _BEYOND_COSINE:
        return Unclear(f"its values ({span}) look like cosines; {_WAY_OUT}")
    if low >= 0:
        return Unclear(f"its values ({span}) look like sums without an upper end; {_WAY_OUT}")
    if _half(probe.covering, lambda value: value > 0) and _half(
        probe.unrelated, lambda value: value < 0
    ):
        return "logit"
    return Unclear(f"its values ({span}) do not change sign as logits do; {_WAY_OUT}")


def _contradiction(probe: Probe, setting: Scale) -> str | None:
    low, high = min(probe.values), max(probe.values)
    span = f"{low:.3g} to {high:.3g}"
    if setting == "probability" and any(coverage(v, setting) is None for v in (low, high)):
        return f"scorer.scale is `probability`, but its values go from {span}"
    if setting == "probability" and low >= 0.5 - _TOLERANCE and high <= sigmoid(1.0) + _TOLERANCE:
        return (
            f"its values ({span}) look like a sigmoid applied twice, on which no band can fire,"
            " whatever scorer.scale says: make the server send raw values"
        )
    if setting == "logit" and low >= 0 and high <= 1:
        return (
            f"scorer.scale is `logit`, but its values go from {span}: another sigmoid would press"
            " all of them into 0.5 to 0.731"
        )
    return None


def _half(values: Sequence[float], holds: Callable[[float], bool]) -> bool:
    """Whether it holds for half of the values: a scorer may know one of the languages alone."""
    return sum(map(holds, values)) * 2 >= len(values)
