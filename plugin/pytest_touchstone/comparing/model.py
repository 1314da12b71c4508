"""What a comparison holds: plain values, whole texts; what is shown of them the forms decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pytest_touchstone.report.model import Delta, ErrorEntry
from pytest_touchstone.report.verdict import Standing

Side = Literal["yardstick", "other"]


@dataclass(frozen=True, slots=True)
class Run:
    """One of the runs, by the letter that it is called in the comparison.

    :param finished_at: ``None`` where it was cut short.
    :param system: its system under test.
    :param questions: gold questions that this system was asked.
    :param failed: of these, the ones on which it failed; they count with the worst value.
    """

    letter: str
    id: str
    label: str | None
    started_at: str
    finished_at: str | None
    commit: str | None
    dirty: bool | None
    dataset: str
    system: str
    questions: int
    failed: int
    results_sha256: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the two runs were made of and that is not the same.

    :param part: the snapshot's key.
    :param key: where within it, such as `judge.model`; empty where the part is one value.
    :param only: the one side that has it at all, where the other lacks it.
    """

    part: str
    key: str
    yardstick: Any
    other: Any
    only: Side | None = None


@dataclass(frozen=True, slots=True)
class ChangedQuestion:
    """A gold question that asks or expects something else, and by which of its labels."""

    case: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Questions:
    """Which gold questions the two runs have in common.

    :param alike: asked in both, and the same in everything that is asked or expected.
    :param changed: in both under one id, but not the same: they are not paired.
    """

    alike: int
    only_yardstick: tuple[str, ...]
    only_other: tuple[str, ...]
    changed: tuple[ChangedQuestion, ...]


@dataclass(frozen=True, slots=True)
class MeasureDelta:
    """One measure over the questions that both asked alike and scored.

    All values are the instrument's own, before people's word replaced any.

    :param span: how far its range reaches; ``None`` where it is open.
    :param digits: decimals that its figures are shown with.
    :param yardstick: mean over the pairs; ``other`` is that of the other run.
    :param delta: other minus yardstick; p is adjusted over the measures of this comparison.
    :param instrument: why the two were read by different instruments, or ``None``.
    :param better: pairs in which the other has the better value; ``worse`` the opposite.
    :param same_output: of the pairs that moved, those in which the system did the same: answer,
        passages, filters and behaviour; ``None`` for cost, which is of none of these.
    :param only_yardstick: questions asked alike that only the yardstick has a score on.
    """

    measure: str
    title: str
    dimension: str
    unit: str
    higher_is_better: bool
    span: float | None
    digits: int
    yardstick: float
    other: float
    delta: Delta
    standing: Standing
    instrument: str | None
    better: int
    worse: int
    same_output: int | None
    only_yardstick: int
    only_other: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A measure that cannot be compared, and why."""

    title: str
    why: str


@dataclass(frozen=True, slots=True)
class OneSided:
    """Scores on one question asked alike that one run has and the other lacks.

    :param titles: of the measures, where several are missing for the same reason.
    :param scored: which run has them: the yardstick's are lost, the other's gained.
    :param reason: why the other side has none, such as `judge_unreadable`, and ``why`` in words.
    """

    case: str
    titles: tuple[str, ...]
    scored: Side
    reason: str
    why: str


@dataclass(frozen=True, slots=True)
class MeasureMove:
    """One measure's move on one question.

    :param move: share of the measure's range, above 0 where the other run is better.
    :param yardstick: mean over repeats; ``yardstick_why`` is of one of them, with ``other_why`` of
        one whose value differs.
    """

    measure: str
    title: str
    digits: int
    move: float
    yardstick: float
    other: float
    yardstick_why: str
    other_why: str
    other_instrument: bool


@dataclass(frozen=True, slots=True)
class Said:
    """What a system did with a question: an answer, an error, or neither where not asked for.

    :param times: how often it was asked; ``time`` is the one that this is of, from 1.
    """

    answer: str | None
    error: ErrorEntry | None
    times: int
    time: int


@dataclass(frozen=True, slots=True)
class Move:
    """A question whose scores moved.

    :param move: sum over dimensions of the mean move of their measures.
    :param measures: those that moved, the furthest first.
    :param same: what is the same on both sides, out of `answer` and `output`: the latter is answer,
        passages, filters and behaviour together.
    :param yardstick: of a time at which the measure that moved furthest differs; ``other`` too.
    """

    case: str
    type: str
    question: str
    move: float
    measures: tuple[MeasureMove, ...]
    yardstick: Said
    other: Said
    same: Literal["answer", "output"] | None


@dataclass(frozen=True, slots=True)
class Moves:
    """The questions that moved most, and how many moved at all in each direction."""

    better: tuple[Move, ...]
    worse: tuple[Move, ...]
    all_better: int
    all_worse: int


@dataclass(frozen=True, slots=True)
class Against:
    """One run against the yardstick.

    :param same_results: whether the digests of results agree, and all scores do.
    :param file_changed: whether they agree and scores do not: what a run writes cannot be so.
    :param snapshot: nothing where both were made of the same.
    :param confidence: of the intervals.
    """

    run: Run
    same_results: bool
    file_changed: bool
    snapshot: tuple[Difference, ...]
    questions: Questions
    confidence: float
    measures: tuple[MeasureDelta, ...]
    left_out: tuple[LeftOut, ...]
    one_sided: tuple[OneSided, ...]
    moves: Moves


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs against a yardstick, in the order in which they were named."""

    yardstick: Run
    others: tuple[Against, ...]
