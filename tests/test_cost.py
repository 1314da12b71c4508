"""Cost: what does one answer cost in US dollars, at today's prices?"""

import pytest

from pytest_touchstone import CaseScores, CostPerQuery

pytestmark = pytest.mark.touchstone(CostPerQuery)


def test_cost_stays_under_its_floor(scores: CaseScores) -> None:
    """A case that costs more than the ceiling among the floors is low."""
    scores.meet_floors()
