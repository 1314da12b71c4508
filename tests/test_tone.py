"""Tone: the register of an audit, and no surer than the evidence."""

import pytest

from pytest_touchstone import CaseScores, Caution, Formality

pytestmark = pytest.mark.touchstone(Formality, Caution)


def test_tone_is_sober_and_careful(scores: CaseScores) -> None:
    """A case under a floor is low; the means stand in the report."""
    scores.meet_floors()
