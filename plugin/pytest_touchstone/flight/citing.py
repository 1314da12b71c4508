"""From an answer to what a scorer says of its citations."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pytest_touchstone.citing import cited_paragraphs
from pytest_touchstone.paragraphs import CITATION, plain
from pytest_touchstone.scorer.protocol import Covered, Scorer
from pytest_touchstone.trace import Answer, Passage
from pytest_touchstone.verdicts import (
    UNRESOLVED,
    CitationCoverage,
    ParagraphCoverage,
    SourceCoverage,
)


async def citation_coverage(
    answer: Answer, scorer: Scorer, pattern: str = CITATION
) -> CitationCoverage:
    """The coverage of every paragraph that cites, by each source that it cites; all in flight.

    :param pattern: regular expression of one citation marker.
    """
    found = await asyncio.gather(
        *(
            covered_paragraph(each.index, each.text, each.cited, answer.passages, scorer, pattern)
            for each in cited_paragraphs(answer, pattern)
            if each.cited
        )
    )
    identity = scorer.identity
    return CitationCoverage(tuple(found), str(identity["model"]), str(identity["scale"]))


async def covered_paragraph(
    index: int,
    text: str,
    cited: Sequence[int],
    passages: Sequence[Passage],
    scorer: Scorer,
    pattern: str = CITATION,
) -> ParagraphCoverage:
    """The coverage of one paragraph, scored without its markers, once with all its sources.

    What cites no passage that exists is not scored: it is ``unresolved``.

    :param cited: numbers of passages, from 1.
    """
    numbers = [number for number in cited if 1 <= number <= len(passages)]
    known: dict[int, Covered] = {}
    if numbers:
        sources = [passages[number - 1].text for number in numbers]
        covered = await scorer.cover(plain(text, pattern), sources)
        known = dict(zip(numbers, covered, strict=True))
    return ParagraphCoverage(
        index, text, tuple(_source(number, known.get(number)) for number in cited)
    )


def _source(number: int, covered: Covered | None) -> SourceCoverage:
    if covered is None:
        return SourceCoverage(number, None, 0, UNRESOLVED)
    return SourceCoverage(number, covered.score, covered.windows, covered.reason)
