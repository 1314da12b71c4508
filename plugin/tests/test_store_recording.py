"""Observations that wait to be stored at the same time are stored together, each as if alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
import sqlalchemy as sa
from runs import PATIENCE_S, assert_all_threads_end, gold, join, store_url

from pytest_touchstone.score import Score
from pytest_touchstone.store import tables
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.rows import read_run
from pytest_touchstone.store.run import LostClaim, RunStore, Unit
from pytest_touchstone.trace import Answer, Observation, Passage, SystemFault, Turn

CASES = gold(6)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(store_url(tmp_path))
    yield store
    store.close()
    assert_all_threads_end()


def seen(number: int) -> Observation:
    """A conversation of two turns where the number is odd; a system that failed in the last."""
    passages = (Passage("common", "In every answer."), Passage(f"c{number}", f"Text {number}."))
    turns = (
        Turn(0, f"What is {number}?", Answer(f"It is {number}.", passages, {})),
        Turn(1, "And?", None, SystemFault("timeout", "late")),
    )
    return Observation(f"q{number}", "s", turns[: 1 + number % 2])


def together(store: Store, run: RunStore, numbers: range) -> list[Future[None]]:
    """Records that all wait while the writer is busy, so that they share a transaction."""
    busy, free = threading.Event(), threading.Event()

    def wait(_: sa.Connection) -> None:
        busy.set()
        free.wait(PATIENCE_S)

    store.write(wait)
    assert busy.wait(PATIENCE_S)
    records = [
        run.record(CASES[n], seen(n), {"M": Score(float(n), f"{n}"), "N": Score(0.5, "half")})
        for n in numbers
    ]
    free.set()
    return records


def scores_by_question(store: Store) -> dict[str, list[tuple[str, float]]]:
    """The scores that belong to each question that was asked."""
    asked, scores = tables.questions.c, tables.scores.c
    query = (
        sa.select(asked.question, scores.measure, scores.value)
        .join_from(tables.scores, tables.questions, scores.question_id == asked.id)
        .order_by(scores.id)
    )
    found: dict[str, list[tuple[str, float]]] = {}
    for question, measure, value in store.read(lambda connection: list(connection.execute(query))):
        found.setdefault(question, []).append((measure, value))
    return found


def test_scores_belong_to_the_last_turn_of_their_own_conversation(store: Store) -> None:
    run = join(store, "a", CASES, ["s"])
    for n in (0, 2, 4):
        run.claim([Unit(f"q{n}", "s")]).result(PATIENCE_S)
    for record in together(store, run, range(0, 6, 2)):
        record.result(PATIENCE_S)
    assert scores_by_question(store) == {
        f"What is {n}?": [("M", float(n)), ("N", 0.5)] for n in (0, 2, 4)
    }
    rows = read_run(store, "run")
    assert rows is not None
    assert sorted(passage.text for passage in rows.passages.values()) == [
        "In every answer.",
        "Text 0.",
        "Text 2.",
        "Text 4.",
    ]


def test_who_lost_a_claim_takes_nothing_from_the_others(store: Store) -> None:
    run = join(store, "a", CASES, ["s"])
    for n in (0, 1, 3, 4):  # 2 and 5 are nobody's
        run.claim([Unit(f"q{n}", "s")]).result(PATIENCE_S)
    records = together(store, run, range(6))
    for n in (2, 5):
        with pytest.raises(LostClaim):
            records[n].result(PATIENCE_S)
    for n in (0, 1, 3, 4):
        records[n].result(PATIENCE_S)
    assert set(
        store.read(lambda c: list(c.execute(sa.select(tables.calls.c.state)).scalars()))
    ) == {"done"}
    rows = read_run(store, "run")
    assert rows is not None
    assert [(row.case_id, row.turn) for row in rows.questions] == [
        ("q0", 0),
        ("q1", 0),
        ("q1", 1),
        ("q3", 0),
        ("q3", 1),
        ("q4", 0),
    ]
    assert sorted((row.case_id, row.value) for row in rows.scores if row.measure == "M") == [
        (f"q{n}", float(n)) for n in (0, 1, 3, 4)
    ]
