"""From what was seen to scores: measures that break, what stands already, people's word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from runs import Odd, answer, gold

from pytest_touchstone.annotations import REPLACED
from pytest_touchstone.flight.measuring import Measuring
from pytest_touchstone.flight.observe import Work
from pytest_touchstone.measures import MRR, Faithfulness
from pytest_touchstone.measures.base import Measure, Need
from pytest_touchstone.score import SECOND_OPINION, Origin, Score
from pytest_touchstone.store.run import Unit
from pytest_touchstone.trace import Observation, SystemFault, Turn
from pytest_touchstone.verdicts import Opinion

CASE = gold(1)[0]
ANSWERED = Observation("q0", "s", (Turn(0, CASE.question, answer("0")),))
FAILED = Observation(
    "q0", "s", (Turn(0, CASE.question, None, error=SystemFault("timeout", "too late")),)
)
PEOPLE = Score(1.0, "read by two", origin="human", engine="ann")


class Read(Odd):
    """One that may rest on what somebody reads."""

    wants: ClassVar[frozenset[Need]] = frozenset({"citation_coverage"})


def work(*measures: Measure) -> Work:
    return Work(CASE, "s", measures)


@pytest.mark.parametrize(
    ("do", "why"),
    [
        (lambda: 1 / 0, "Odd raised ZeroDivisionError: division by zero"),
        (lambda: None, "Odd raised "),
        (lambda: Score(float("nan"), "nan"), "Odd raised ValueError: a score is a finite number"),
        (lambda: Score(1.0, "x", detail={"a": {1}}), "Odd raised ValueError: detail.a is a built"),
        (lambda: Score(1.0, "x", detail={"a": float("inf")}), "Odd raised ValueError: detail.a is"),
    ],
)
def test_a_broken_measure_breaks_no_other(do: Callable[[], Any], why: str) -> None:
    scores = Measuring().scores(work(Odd(do), MRR), ANSWERED)
    assert scores["MRR"].value == 1.0
    assert (scores["Odd"].value, scores["Odd"].reason) == (None, "measure_error")
    assert scores["Odd"].why.startswith(why)


def test_scores_are_as_the_store_will_have_them() -> None:
    told = Score(0.25, "so \ud800", detail={"tuple": (1, 2), "text": "\0"})
    assert Measuring().scores(work(Odd(lambda: told)), ANSWERED) == {
        "Odd": Score(0.25, "so \ufffd", detail={"tuple": [1, 2], "text": "\ufffd"})
    }


@pytest.mark.parametrize(
    ("origin", "engine"), [("judge", "judge-1"), ("computed", "own"), ("scorer", "own")]
)
def test_a_judges_score_bears_the_judges_name(origin: Origin, engine: str) -> None:
    own = Score(0.5, "x", origin=origin, engine="own")
    scores = Measuring("judge-1").scores(work(Odd(lambda: own)), ANSWERED)
    assert scores["Odd"].engine == engine


def test_what_stands_already_is_not_measured_again() -> None:
    stands = Score(0.75, "as it was")
    asked: list[tuple[Unit, str]] = []

    def settled(unit: Unit, measure: Measure) -> Score | None:
        asked.append((unit, measure.name))
        return stands if measure.name == "Odd" else None

    scores = Measuring(settled=settled).scores(work(Odd(lambda: 1 / 0), MRR), ANSWERED)
    assert (scores["Odd"], scores["MRR"].value) == (stands, 1.0)
    assert asked == [(Unit("q0", "s"), "Odd"), (Unit("q0", "s"), "MRR")]


def test_peoples_word_counts_for_what_rests_on_reading_and_for_nothing_else() -> None:
    asked: list[tuple[str, str, str]] = []

    def people(case: str, measure: str, text: str) -> Score | None:
        asked.append((case, measure, text))
        return PEOPLE

    scores = Measuring(people=people).scores(work(Faithfulness, MRR), ANSWERED)
    assert scores["Faithfulness"] == PEOPLE
    assert scores["MRR"].origin == "computed"
    assert asked == [("q0", "Faithfulness", "It is 0.")]


def test_people_who_said_nothing_change_nothing() -> None:
    measured = work(Faithfulness)
    silent = Measuring(people=lambda *_: None).scores(measured, ANSWERED)
    assert silent == Measuring().scores(measured, ANSWERED)


def test_there_is_nothing_to_have_read_where_the_system_failed() -> None:
    scores = Measuring(people=lambda *_: PEOPLE).scores(work(Faithfulness), FAILED)
    assert (scores["Faithfulness"].value, scores["Faithfulness"].reason) == (0.0, "system_error")


def test_a_measured_value_is_kept_beside_peoples_word() -> None:
    told = Score(0.25, "read by a judge", origin="judge")
    measuring = Measuring("judge-1", people=lambda *_: PEOPLE)
    scores = measuring.scores(work(Read(lambda: told)), ANSWERED)
    assert scores["Odd"].value == 1.0
    assert scores["Odd"].detail[REPLACED]["value"] == 0.25
    assert scores["Odd"].detail[REPLACED]["engine"] == "judge-1"


def test_a_second_opinion_stands_beside_the_first() -> None:
    told = Score(0.25, "read by a judge", origin="judge")
    said = Opinion("judge-2", 1.0, "read again")
    scores = Measuring("judge-1").scores(work(Odd(lambda: told)), ANSWERED, {"Odd": said})
    assert scores["Odd"].value == 0.25
    assert scores["Odd"].detail[SECOND_OPINION]["value"] == 1.0
