"""What is put to a scorer for an answer, and what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_touchstone.flight.citing import citation_coverage
from pytest_touchstone.scorer.protocol import Covered
from pytest_touchstone.trace import Answer, Passage
from pytest_touchstone.verdicts import CitationCoverage, ParagraphCoverage, SourceCoverage


class Recorder:
    """Scores a source by its length, and keeps what it was asked."""

    identity: Mapping[str, Any] = {"model": "bge", "scale": "probability"}

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.in_flight = self.peak = 0

    async def cover(self, paragraph: str, sources: Sequence[str]) -> tuple[Covered, ...]:
        self.asked.append((paragraph, list(sources)))
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        await asyncio.sleep(0)
        self.in_flight -= 1
        return tuple(
            Covered(None, 1, "scorer_refused") if source == "bad" else Covered(len(source) / 10, 2)
            for source in sources
        )


def test_each_citing_paragraph_is_one_call_with_all_its_sources() -> None:
    scorer = Recorder()
    answer = Answer(
        "So [2, 1, 7].\n\nNothing is cited.\n\n- And [1]\n- [9] bad [3]\n\nNo such [8].",
        (Passage("a", "one"), Passage("b", "three"), Passage("c", "bad")),
    )
    found = asyncio.run(citation_coverage(answer, scorer))
    assert scorer.asked == [
        ("So.", ["three", "one"]),
        ("- And", ["one"]),
        ("- bad", ["bad"]),
    ]
    assert scorer.peak == 3
    assert found == CitationCoverage(
        (
            ParagraphCoverage(
                0,
                "So [2, 1, 7].",
                (
                    SourceCoverage(2, 0.5, 2),
                    SourceCoverage(1, 0.3, 2),
                    SourceCoverage(7, None, 0, "unresolved"),
                ),
            ),
            ParagraphCoverage(2, "- And [1]", (SourceCoverage(1, 0.3, 2),)),
            ParagraphCoverage(
                3,
                "- [9] bad [3]",
                (
                    SourceCoverage(9, None, 0, "unresolved"),
                    SourceCoverage(3, None, 1, "scorer_refused"),
                ),
            ),
            ParagraphCoverage(4, "No such [8].", (SourceCoverage(8, None, 0, "unresolved"),)),
        ),
        "bge",
        "probability",
    )


def test_an_answer_that_cites_nothing_asks_nothing() -> None:
    scorer = Recorder()
    found = asyncio.run(citation_coverage(Answer("So it is.", (Passage("a", "x"),)), scorer))
    assert (found.paragraphs, scorer.asked) == ((), [])


def test_the_pattern_of_a_marker_is_the_setting_s() -> None:
    scorer = Recorder()
    answer = Answer("So (källa 1). [5]", (Passage("a", "x"),))
    asyncio.run(citation_coverage(answer, scorer, r"\(källa \d{1,3}\)"))
    assert scorer.asked == [("So. [5]", ["x"])]
