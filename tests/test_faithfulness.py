"""Faithfulness: does each claim of the answer rest on a passage the system had?"""

import pytest

from pytest_touchstone import CaseScores, Contradictions, Faithfulness

pytestmark = pytest.mark.touchstone(Faithfulness, Contradictions)


def test_no_claim_is_contradicted(scores: CaseScores) -> None:
    """With ``Contradictions: 0`` among the floors, a case that contradicts its passages is low."""
    scores.meet_floors()
