"""Summarisation: does the answer say what a good summary says, and no more?"""

import pytest

from pytest_touchstone import CaseScores, KeyPointCoverage, Padding, RougeL, RougeLsum

pytestmark = pytest.mark.touchstone(RougeL, RougeLsum, KeyPointCoverage, Padding)


def test_key_points_are_there_and_little_else(scores: CaseScores) -> None:
    """A case under a floor is low; the means stand in the report."""
    scores.meet_floors()
