"""Paragraphs: is what was retrieved readable text, and does it bear on the question?"""

import pytest

from pytest_touchstone import CaseScores, Coherence, ParagraphRelevance

pytestmark = pytest.mark.touchstone(Coherence, ParagraphRelevance)


def test_passages_are_paragraphs_that_help(scores: CaseScores) -> None:
    """A case under a floor is low; the means stand in the report."""
    scores.meet_floors()
