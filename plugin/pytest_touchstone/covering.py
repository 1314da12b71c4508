"""Coverage for what a store already holds: paragraphs in, scores beside them."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from pytest_touchstone.flight.citing import covered_paragraph
from pytest_touchstone.flight.writing import written
from pytest_touchstone.paragraphs import CITATION
from pytest_touchstone.scorer.protocol import Scorer
from pytest_touchstone.store.coverage import (
    StoredParagraph,
    measure_again,
    stored_paragraphs,
    write_coverage,
)
from pytest_touchstone.store.engine import Store
from pytest_touchstone.verdicts import CitationCoverage

_AT_ONCE = 256


@dataclass(slots=True)
class Tally:
    """What came of it.

    :ivar paragraphs: those that were put to the scorer.
    :ivar scored: citations that have a score now.
    :ivar lacking: reason to citations without one.
    """

    paragraphs: int = 0
    scored: int = 0
    lacking: Counter[str] = field(default_factory=Counter)


async def cover_store(
    store: Store,
    scorer: Scorer,
    run_id: str | None = None,
    *,
    every: bool = False,
    pattern: str = CITATION,
) -> Tally:
    """Score the citing paragraphs of a run, or of all runs, that have no coverage yet.

    Each is durable as soon as it is scored; then the scores of coverage that the runs had planned
    are made anew, so that a report made again shows them.

    :param every: score those that have coverage too.
    :raises StoreError: where the store fails, or does not know the run.
    """
    found = await asyncio.to_thread(stored_paragraphs, store, run_id, every=every, pattern=pattern)
    said = CitationCoverage((), str(scorer.identity["model"]), str(scorer.identity["scale"]))
    tally = Tally()
    places = asyncio.Semaphore(_AT_ONCE)

    async def cover(paragraph: StoredParagraph) -> None:
        async with places:
            covered = await covered_paragraph(
                paragraph.index, paragraph.text, paragraph.cited, paragraph.sources, scorer, pattern
            )
            await written(write_coverage(store, paragraph, covered, said))
        tally.paragraphs += 1
        tally.scored += sum(one.score is not None for one in covered.sources)
        tally.lacking.update(one.reason for one in covered.sources if one.reason is not None)

    await asyncio.gather(*map(cover, found))
    for question in dict.fromkeys(paragraph.question for paragraph in found):
        await written(measure_again(store, question, said, pattern))
    return tally
