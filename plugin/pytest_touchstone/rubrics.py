"""What a person is told who reads answers in the judge's place: one rubric a measure.

A rubric asks what the judge's prompt asks, in words for somebody who fills in a cell: the value
that the measure would have, and not the labels that it is reckoned from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_touchstone.agreement import Level
from pytest_touchstone.measures import parse
from pytest_touchstone.measures.paragraphs import COHERENCE_DEPTH, RELEVANCE_DEPTH

Reference = Literal["key_points", "gold_answer", "filters", "behaviours"]
"""What of the gold question a person needs beside the answer."""


@dataclass(frozen=True, slots=True)
class Rubric:
    """How a person gives a value of one measure.

    :param instruction: one line.
    :param level: what the values mean to each other.
    :param values: the only values there are, in order; ``None`` for any number of the range.
    :param answer: whether the answer is shown.
    :param passages: how many of the passages are shown; ``None`` for all.
    :param reference: what of the gold question is shown.
    """

    instruction: str
    level: Level = "interval"
    values: tuple[float, ...] | None = None
    answer: bool = True
    passages: int | None = 0
    reference: tuple[Reference, ...] = ()

    def allowed(self, bounds: tuple[float, float | None]) -> str:
        """The values that may be filled in, for people.

        :param bounds: the measure's range.
        """
        if self.values is not None:
            return " / ".join(f"{value:g}" for value in self.values)
        low, high = bounds
        return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"


_MARKS = (1.0, 2.0, 3.0, 4.0, 5.0)
_YES_NO = (0.0, 1.0)

RUBRICS: Mapping[str, Rubric] = {
    "Coherence": Rubric(
        "Share of the passages that are readable paragraphs: not headers, footers, remains of"
        " tables or halves of sentences. 7 of 10 is 0.7.",
        answer=False,
        passages=COHERENCE_DEPTH,
    ),
    "ParagraphRelevance": Rubric(
        "Mean over the passages of how much each bears on the question: relevant 1, partly 0.5,"
        " irrelevant 0.",
        answer=False,
        passages=RELEVANCE_DEPTH,
    ),
    "Faithfulness": Rubric(
        "Share of the answer's claims that the passages support. Count the claims, count those"
        " that a passage says too, divide: 3 of 4 is 0.75. Your own knowledge does not count.",
        passages=None,
    ),
    "Contradictions": Rubric(
        "Share of the answer's claims that a passage contradicts: it says that something else is"
        " so. What no passage mentions is not contradicted.",
        passages=None,
    ),
    "CitationRecall": Rubric(
        "Share of the answer's paragraphs that claim something and that the passages they cite"
        " ([1] is the first) support as a whole.",
        passages=None,
    ),
    "CitationPrecision": Rubric(
        "Share of the answer's citations ([1] is the first passage) that are needed: the paragraph"
        " is supported, and this passage alone supports it, or the others do not without it.",
        passages=None,
    ),
    "KeyPointCoverage": Rubric(
        "Mean over the key points: the answer says all of it 1, some of it or less exactly 0.5, not"
        " or otherwise 0.",
        reference=("key_points",),
    ),
    "Padding": Rubric(
        "Share of the answer's sentences that serve none of the key points. 2 of 5 sentences"
        " is 0.4.",
        reference=("key_points",),
    ),
    "Formality": Rubric(
        "Register from 1 (slang, emoji, advertising) over 3 (everyday prose) to 5 (sober"
        " throughout, as in an audit report). Whether it is true does not count.",
        "ordinal",
        _MARKS,
    ),
    "Caution": Rubric(
        "Caution from 1 (accuses, exaggerates, advises) over 3 (plain statements that need"
        " qualifying) to 5 (no statement stronger than its evidence).",
        "ordinal",
        _MARKS,
    ),
    "TaskCompletion": Rubric(
        "At the end of the conversation, has the user been told what the gold answer says? All of"
        " it 1, some of it or with something against it 0.5, nothing of it 0.",
        "ordinal",
        (0.0, 0.5, 1.0),
        reference=("gold_answer",),
    ),
    "OnTopic": Rubric(
        "Share of the assistant's turns that speak to what the user's message asks, right or wrong."
        " Asking back, or saying that nothing was found, is on topic; no answer is not.",
    ),
    "AcceptableBehaviour": Rubric(
        "Nothing matches the filters. 1 where what the answer lets its reader know about that is"
        " one of the acceptable behaviours, else 0. relaxed: says that it answers with other or"
        " fewer conditions; asked_follow_up: asks which to use; admitted: says that nothing was"
        " found.",
        "nominal",
        _YES_NO,
        reference=("filters", "behaviours"),
    ),
    "SilentFailure": Rubric(
        "Nothing matches the filters. 1 where the answer speaks as if something had matched, or"
        " changes the subject; 0 where it says so, asks, or says what else it used.",
        "nominal",
        _YES_NO,
        reference=("filters",),
    ),
}
"""By the measure's name."""


def rubric(measure: str) -> Rubric:
    """The rubric of a measure; one without its own is asked for by its range alone."""
    known = RUBRICS.get(measure)
    if known is not None:
        return known
    best = "higher" if parse(measure).higher_is_better else "lower"
    return Rubric(f"Value of {measure} ({best} is better).", passages=None)
