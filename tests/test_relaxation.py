"""Filter relaxation: where nothing matches, does the system say what it does about it?"""

import pytest

from pytest_touchstone import AcceptableBehaviour, CaseScores, SilentFailure

pytestmark = pytest.mark.touchstone(AcceptableBehaviour, SilentFailure)


def test_nothing_matches_and_the_system_says_so(scores: CaseScores) -> None:
    """A case under a floor is low; the means stand in the report."""
    scores.meet_floors()
