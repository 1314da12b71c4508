"""Multi-turn: played live, does a conversation get there, keep to its topic and its filters?"""

import pytest

from pytest_touchstone import CaseScores, FiltersRemembered, OnTopic, TaskCompletion

pytestmark = pytest.mark.touchstone(TaskCompletion, OnTopic, FiltersRemembered)


def test_the_conversation_gets_there(scores: CaseScores) -> None:
    """A case under a floor is low; the means stand in the report."""
    scores.meet_floors()
