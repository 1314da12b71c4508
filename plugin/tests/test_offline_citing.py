"""Paragraphs against the sources that they cite."""

from __future__ import annotations

from offline_embedding import HashedWords

from pytest_touchstone.judge.offline.citing import support
from pytest_touchstone.judge.tasks import SupportTask
from pytest_touchstone.paragraphs import paragraphs

SOURCES = (
    "The bridge was opened in May 1998.",
    "Tolls on the ferry were abolished.",
    "The bridge cost 4 million.",
)


def labels(answer: str) -> list[tuple[str, list[tuple[int, str]]]]:
    found = support(paragraphs(answer), SOURCES, HashedWords()).verdicts
    return [(each.label, [(c.source, c.label) for c in each.citations]) for each in found]


def test_two_sources_that_state_one_half_each() -> None:
    answer = "The bridge was opened in May 1998. It cost 4 million [1, 3]."
    assert labels(answer) == [("supported", [(1, "partial"), (3, "partial")])]


def test_one_source_has_the_label_of_the_paragraph() -> None:
    assert labels("The bridge cost 4 million [3].") == [("supported", [(3, "supported")])]
    assert labels("The bridge cost 5 million [3].") == [("unsupported", [(3, "unsupported")])]
    assert labels("The bridge cost 4 million [2].") == [("unsupported", [(2, "unsupported")])]


def test_paragraphs_that_cite_nothing_are_left_out_and_missing_sources_support_nothing() -> None:
    answer = (
        "The bridge is old.\n\nThe bridge cost 4 million [9].\n\nThe bridge cost 4 million [3, 9]."
    )
    assert labels(answer) == [
        ("unsupported", [(9, "unsupported")]),
        ("supported", [(3, "supported"), (9, "unsupported")]),
    ]


def test_paragraphs_have_the_shape_that_the_task_gives() -> None:
    parts = paragraphs("No source.\n\nIt cites what is not there [9].")
    settled = SupportTask(parts, SOURCES).settled
    assert settled == support(parts, SOURCES, HashedWords())


def test_the_rationale_names_sources_by_their_numbers_and_what_is_missing() -> None:
    answer = "The bridge cost 4 million. It was opened in May 1999 [1, 3]."
    (found,) = support(paragraphs(answer), SOURCES, HashedWords()).verdicts
    assert found.label == "partial"
    assert found.rationale.startswith("1 of 2 claims borne out by source 3; ")
    assert "1999" in found.rationale


def test_a_paragraph_that_claims_nothing_needs_no_source() -> None:
    assert labels("Do you want to know more [1]?") == [("supported", [(1, "supported")])]
