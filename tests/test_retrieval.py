"""Retrieval: are the chunks that answer the question among the passages, and how early?"""

import pytest

from pytest_touchstone import MRR, CaseScores, Recall, nDCG

pytestmark = pytest.mark.touchstone(Recall @ 5, Recall @ 10, Recall @ 20, MRR, nDCG @ 10)


def test_gold_chunks_are_retrieved(scores: CaseScores) -> None:
    """A case under a floor is low; the means stand in the report."""
    scores.meet_floors()
