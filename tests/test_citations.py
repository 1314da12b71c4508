"""Citations: does each claim cite, does what is cited exist, and does it carry what cites it?"""

import pytest

from pytest_touchstone import (
    CaseScores,
    CitationCoverage,
    CitationPrecision,
    CitationRecall,
    CoveragePrecision,
    CoverageRecall,
    Uncited,
    Unresolved,
)

pytestmark = pytest.mark.touchstone(
    CitationCoverage,
    CitationRecall,
    CitationPrecision,
    CoverageRecall,
    CoveragePrecision,
    Uncited,
    Unresolved,
)


def test_what_is_claimed_is_cited_and_covered(scores: CaseScores) -> None:
    """With ``Unresolved: 0`` among the floors, a case that cites what is not there is low."""
    scores.meet_floors()
