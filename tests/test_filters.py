"""Filter inference: does the system take the right filters from the conversation?"""

import pytest

from pytest_touchstone import (
    CaseScores,
    FilterExactMatch,
    FilterF1,
    FilterPrecision,
    FilterRecall,
    JointGoalAccuracy,
)

pytestmark = pytest.mark.touchstone(
    FilterExactMatch, FilterPrecision, FilterRecall, FilterF1, JointGoalAccuracy
)


def test_filters_are_those_of_the_question(scores: CaseScores) -> None:
    """A case under a floor is low; the means stand in the report."""
    scores.meet_floors()
