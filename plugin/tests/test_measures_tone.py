"""Tone: two marks from one verdict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.gold import Case
from pytest_touchstone.measures import Caution, Formality
from pytest_touchstone.trace import Answer, Observation, SystemFault, Turn
from pytest_touchstone.verdicts import Tone

CASE = Case("c", "factual", "Who?")


@given(st.integers(1, 5), st.integers(1, 5))
def test_each_mark_is_a_score_of_its_own(formality: int, caution: int) -> None:
    tone = Tone(formality, "it\nchats", caution, "no hedge")
    seen = Observation("c", "s", (Turn(0, "Who?", Answer("x")),), verdicts={"tone": tone})
    formal, careful = Formality.score(CASE, seen), Caution.score(CASE, seen)
    assert (formal.value, formal.why, formal.origin) == (formality, "it chats", "judge")
    assert (careful.value, careful.why, careful.origin) == (caution, "no hedge", "judge")
    assert formal.detail == {"rationale": "it\nchats"}


def test_a_failed_system_has_the_lowest_mark() -> None:
    failed = Observation("c", "s", (Turn(0, "?", None, SystemFault("timeout", "late")),))
    for measure in (Formality, Caution):
        assert (measure.score(CASE, failed).value, measure.range) == (1.0, (1.0, 5.0))
