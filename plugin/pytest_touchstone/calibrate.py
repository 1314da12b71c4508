"""A judge's mean corrected by the answers that people read: prediction-powered inference.

A judge reads all answers, people read a few that were drawn with known probabilities.  With
judge's values ``f``, people's values ``y`` and ``w = weight / probability``, the estimate is

    mean_w(y) + λ (mean(f) - mean_w(f))

the means with ``w`` over the labelled answers (Hájek), the other one over all.  That is PPI++
(Angelopoulos, Duchi and Zrnic 2023, *PPI++: Efficient Prediction-Powered Inference*) for a mean,
where the labelled answers are among the judged ones; Cochran (1977, *Sampling Techniques*, section
12.6) has it as the regression estimator under double sampling.  λ is the slope of people's values
on the judge's, which makes the variance least, clipped to [0, 1]: 0 is people alone.

PPI++ is made for thousands of labels.  For a dozen, its interval is too narrow, and this one takes
what Cochran gives for a fitted slope: the residuals' degrees of freedom are two fewer than the
labels, also in Student's t.  Variances are sums over clusters.  ``benchmarks/calibration.py``
shows what that covers, beside PPI++ as published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_touchstone import student

MIN_LABELS = 10
"""Fewer labels than this correct nothing."""
MIN_CLUSTERS = 5
"""Neither do labels from fewer clusters (see :attr:`_Answers.effective`)."""

_SAME = 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Item:
    """One answer.

    :param value: what the judge gave, or what is known without one (``certain``).
    :param cluster: answers of one cluster are not independent of each other.
    :param weight: its share in the mean, above 0 (1 / repeats of a question asked repeatedly).
    :param people: what people gave, where they read it.
    :param probability: with which it was drawn for people to read, within (0, 1]; only where
        ``people`` is set.
    :param certain: no judge was asked, as for a system that failed; people have nothing to correct.
    """

    value: float
    cluster: str
    weight: float = 1.0
    people: float | None = None
    probability: float | None = None
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean and its interval; ``ci`` is ``None`` where the spread cannot be told."""

    value: float
    ci: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The judge's mean, people's mean, and the one corrected by the other.

    :param estimate: ``None`` where nothing could be corrected; ``method`` says why.
    :param ci: its interval, within the range of the values, or ``None``.
    :param method: how the interval was made, or why there is none.
    :param judge: the judge's own mean over all answers, as if it were right.
    :param people: the mean of what people gave, weighted for the drawing; ``None`` without labels.
    :param labels: answers that count as labelled.
    :param population: answers that the mean is over.
    :param slope: λ, within [0, 1]; ``None`` where nothing was corrected.
    """

    estimate: float | None
    ci: tuple[float, float] | None
    method: str
    judge: Mean
    people: Mean | None
    labels: int
    population: int
    slope: float | None


def calibrate(
    items: Sequence[Item],
    *,
    confidence: float = 0.95,
    bounds: tuple[float, float | None] = (0.0, 1.0),
) -> Calibration:
    """The calibrated mean of one measure of one system.

    People's own interval stands, with λ = 0, where the correction would only widen it, and where
    judge and people never differed: how far they differ elsewhere, such labels cannot tell.

    :param confidence: of all intervals, within (0, 1).
    :param bounds: range of the measure, which nothing given back leaves.
    :raises ValueError: without any item, and for a probability or a weight outside its range.
    """
    answers = _Answers(items)
    clip = _Clip(bounds)

    def mean(value: float, influence: Floats, df: float) -> Mean:
        return Mean(clip(value), answers.interval(value, influence, df, confidence, clip))

    value, influence = answers.judge()
    judge = mean(value, influence, answers.clusters - 1)
    labels = int(answers.labelled.sum())
    effective = answers.effective
    if labels == 0:
        none = "none: people labelled no answer that was drawn for them"
        return Calibration(None, None, none, judge, None, 0, len(items), None)
    value, influence = answers.corrected(0.0, lost=1)
    # Of labels that are all the same the spread cannot be told, whatever else the mean is over.
    people = mean(value, influence, 0 if answers.uniform else effective - 1)

    def result(chosen: Mean | None, method: str, slope: float | None) -> Calibration:
        estimate, ci = (None, None) if chosen is None else (chosen.value, chosen.ci)
        return Calibration(estimate, ci, method, judge, people, labels, len(items), slope)

    if labels < MIN_LABELS:
        return result(None, f"none: too few labels ({labels}, at least {MIN_LABELS} needed)", None)
    if effective < MIN_CLUSTERS:
        seen = f"{labels} labels that count for {effective:.2g} clusters"
        return result(None, f"none: {seen}, at least {MIN_CLUSTERS} needed", None)
    if people.ci is None:
        return result(people, f"none: all {labels} labels are the same", 0.0)
    alone = f"people alone, t, {effective - 1:.4g} degrees of freedom"
    if answers.unanimous:
        return result(people, f"{alone}: judge and people never differed", 0.0)
    slope = answers.slope()
    value, influence = answers.corrected(slope, lost=2)
    corrected = mean(value, influence, effective - 2)
    if slope == 0 or corrected.ci is None or _width(corrected.ci) >= _width(people.ci):
        return result(people, f"{alone}: the judge adds nothing", 0.0)
    method = f"prediction-powered (PPI++), t, {effective - 2:.4g} degrees of freedom"
    return result(corrected, method, slope)


class _Clip:
    """Into the range of the values; whatever is rounded falls to the same side everywhere."""

    def __init__(self, bounds: tuple[float, float | None]) -> None:
        self._low = bounds[0]
        self._high = float("inf") if bounds[1] is None else bounds[1]

    def __call__(self, value: float) -> float:
        return min(max(float(f"{value:.12g}"), self._low), self._high)


class _Answers:
    """The items as arrays, with the sums that every estimate needs.

    An estimate is a value with its influence function: what each answer adds to its error, so that
    the variance is a sum of squares over clusters.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        if not items:
            raise ValueError("there is no answer to calibrate")
        for item in items:
            _check(item)
        names = {name: index for index, name in enumerate(sorted({i.cluster for i in items}))}
        self.clusters = len(names)
        self._cluster = np.array([names[item.cluster] for item in items], dtype=np.intp)
        self._judge = np.array([item.value for item in items])
        weights = np.array([item.weight for item in items])
        self._weights = weights / weights.sum()
        self._open = np.array([not item.certain for item in items])
        self.labelled = np.array([item.people is not None for item in items])
        self._people = np.array([item.people or 0.0 for item in items])
        drawn = np.array([item.probability or 1.0 for item in items])
        labels = np.where(self.labelled, weights / drawn, 0.0)
        self._labels = labels / (labels.sum() or 1.0)

    @property
    def effective(self) -> float:
        """Labelled clusters, by Kish's rule for unequal weights: (Σw)² / Σw²."""
        squares = np.square(self._sums(self._labels)).sum()
        return float(1 / squares) if squares else 0.0

    @property
    def uniform(self) -> bool:
        """Whether people gave one and the same value throughout."""
        return float(np.ptp(self._people[self.labelled])) <= _SAME

    @property
    def unanimous(self) -> bool:
        """Whether judge and people never differed."""
        apart = np.abs(self._people - self._judge)[self.labelled]
        return bool((apart <= _SAME).all())

    def judge(self) -> tuple[float, Floats]:
        """The judge's mean over all answers."""
        value = float(self._weights @ self._judge)
        influence = self._weights * (self._judge - value)
        return value, influence * _unbiased(self.clusters, 1)

    def slope(self) -> float:
        """λ: the weighted slope of people's values on the judge's, clipped to [0, 1]."""
        from_mean = self._judge - self._labels @ self._judge
        spread = float(self._labels @ from_mean**2)
        if spread <= _SAME**2:
            return 0.0
        return min(max(float(self._labels @ (from_mean * self._people)) / spread, 0.0), 1.0)

    def corrected(self, slope: float, *, lost: int) -> tuple[float, Floats]:
        """The mean over all answers, the open ones corrected with this λ.

        :param lost: degrees of freedom that the labels lose: 1 for a mean, 2 with a fitted λ.
        """
        share = float(self._weights @ self._open)
        among = self._weights * self._open / share
        whole = float(among @ self._judge)
        residual = self._people - slope * self._judge
        offset = float(self._labels @ residual)
        answered = offset + slope * whole
        certain = float((self._weights * ~self._open) @ self._judge)
        value = share * answered + certain
        # Two samplings: of the labels among the answers, and of the answers among all there could
        # be; each corrected for the means that were fitted to it.
        drawing = self._labels * (residual - offset) * _unbiased(self.effective, lost)
        known = np.where(self._open, answered + slope * (self._judge - whole), self._judge)
        asking = self._weights * (known - value) * _unbiased(self.clusters, 1)
        return value, share * drawing + asking

    def interval(
        self, value: float, influence: Floats, df: float, confidence: float, clip: _Clip
    ) -> tuple[float, float] | None:
        """Student's t around the value; ``None`` without any spread or degree of freedom."""
        error = float(np.sqrt(np.square(self._sums(influence)).sum()))
        if df <= 0 or error <= _SAME:
            return None
        reach = student.quantile((1 + confidence) / 2, df) * error
        return clip(value - reach), clip(value + reach)

    def _sums(self, values: Floats) -> Floats:
        sums = np.bincount(self._cluster, weights=values, minlength=self.clusters)
        return sums.astype(np.float64)


def _unbiased(count: float, lost: int) -> float:
    """What makes a mean square of ``count`` clusters unbiased, as a factor of its root."""
    return float(np.sqrt(count / (count - lost))) if count > lost else 1.0


def _width(ci: tuple[float, float]) -> float:
    return ci[1] - ci[0]


def _check(item: Item) -> None:
    if not (np.isfinite(item.value) and item.weight > 0):
        raise ValueError(f"an answer has a finite value and a weight above 0, not {item}")
    if item.people is None:
        return
    if item.certain or item.probability is None or not 0 < item.probability <= 1:
        raise ValueError(
            f"a label has a probability within (0, 1] and is of a judged answer: {item}"
        )
