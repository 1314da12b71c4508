"""Rows that are written together: the same as one after the other, only cheaper."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from runs import PATIENCE_S, answer, gold, join, store_url
from sqlalchemy.engine import Connection

from pytest_touchstone.score import Score
from pytest_touchstone.store import tables
from pytest_touchstone.store.calls import CallStore
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.rows import read_run
from pytest_touchstone.store.run import LostClaim, Unit
from pytest_touchstone.store.together import Row, carried_out
from pytest_touchstone.trace import Observation, SystemFault, Turn


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(store_url(tmp_path))
    yield store
    store.close()


@contextmanager
def held_up(store: Store) -> Iterator[None]:
    """Whatever is written meanwhile waits, and is then written in one transaction."""
    go = threading.Event()
    store.write(lambda _: go.wait(PATIENCE_S))
    try:
        yield
    finally:
        go.set()


def observed(number: int, *, fails: bool = False) -> Observation:
    given = None if fails else answer(str(number))
    fault = SystemFault("exception", "no") if fails else None
    return Observation(f"q{number}", "s", (Turn(0, f"What is {number}?", given, fault),))


def test_rows_of_one_kind_are_written_in_one_go_and_everything_else_in_its_order() -> None:
    done: list[Any] = []

    def kind(name: str) -> Any:
        def write(_: Connection, rows: Sequence[int]) -> list[str]:
            done.append((name, list(rows)))
            return [f"{name}{row}" for row in rows]

        return write

    def alone(_: Connection) -> str:
        done.append("alone")
        return "alone"

    one, other = kind("a"), kind("b")
    jobs: list[Any] = [Row(one, 1), alone, Row(other, 2), Row(one, 3), Row(one, 1)]
    connection: Any = None
    assert carried_out(jobs, connection) == ["a1", "alone", "b2", "a3", "a1"]
    assert done == [("a", [1, 3, 1]), "alone", ("b", [2])]


def test_a_call_that_is_claimed_twice_in_one_go_is_one_process_s(store: Store) -> None:
    one, other = CallStore(store, "one", "judge"), CallStore(store, "other", "judge")
    assert one.claim("taken").result(PATIENCE_S)
    with held_up(store):
        claims = [one.claim("a"), other.claim("a"), other.claim("taken"), other.claim("b")]
    assert [claim.result(PATIENCE_S) for claim in claims] == [True, False, False, True]
    assert [one.holder(key) for key in ("a", "b", "taken")] == [
        ("one", None),
        ("other", None),
        ("one", None),
    ]


def test_a_result_of_a_call_that_was_taken_over_is_left_alone(store: Store) -> None:
    one, other = CallStore(store, "one", "judge"), CallStore(store, "other", "judge")
    for key in ("a", "b"):
        assert one.claim(key).result(PATIENCE_S)
    assert other.take_over("a", "one").result(PATIENCE_S)
    with held_up(store):
        writes = [one.finish("a", {"text": "late"}), one.finish("b", {"text": "in time"})]
    for write in writes:
        write.result(PATIENCE_S)
    assert one.results(["a", "b"]) == {"b": {"text": "in time"}}


def test_answers_kept_and_recorded_together_stand_there_once(store: Store) -> None:
    cases = gold(4)
    run = join(store, "a", cases)
    for case in cases:
        run.claim([Unit(case.id, "s")]).result(PATIENCE_S)
    assert run.take_over(Unit("q3", "s"), "a").result(PATIENCE_S)
    seen = [observed(number, fails=number == 2) for number in range(4)]
    with held_up(store):
        keeping = [run.keep(case, one) for case, one in zip(cases, seen, strict=True)]
        records = [run.record(case, one, {}) for case, one in zip(cases[:3], seen, strict=False)]
    assert [each.result(PATIENCE_S) for each in keeping] == [True] * 4
    for each in records:
        each.result(PATIENCE_S)
    assert [unit.case_id for unit in run.done_after(0)[1]] == ["q0", "q1", "q2"]
    rows = read_run(store, "run")
    assert rows is not None
    assert sorted((row.case_id, row.answer) for row in rows.questions) == [
        ("q0", "It is 0."),
        ("q1", "It is 1."),
        ("q2", None),
        ("q3", "It is 3."),
    ]
    assert len(rows.passages) == 3


def test_one_that_fails_takes_nothing_from_the_others(store: Store) -> None:
    cases = gold(3)
    run, other = join(store, "a", cases), join(store, "b", cases)
    for case in cases:
        run.claim([Unit(case.id, "s")]).result(PATIENCE_S)
    assert other.take_over(Unit("q1", "s"), "a").result(PATIENCE_S)
    with held_up(store):
        keeping: list[Future[bool]] = []
        records: list[Future[None]] = []
        for number, case in enumerate(cases):
            keeping.append(run.keep(case, observed(number)))
            records.append(run.record(case, observed(number), {}))
    assert [each.result(PATIENCE_S) for each in keeping] == [True, False, True]
    with pytest.raises(LostClaim):
        records[1].result(PATIENCE_S)
    for each in (records[0], records[2]):
        each.result(PATIENCE_S)
    rows = read_run(store, "run")
    assert rows is not None
    assert sorted(row.case_id for row in rows.questions) == ["q0", "q2"]
    assert len(rows.passages) == 2


def test_answers_that_were_kept_and_read_are_recorded_together(store: Store) -> None:
    cases = gold(4)
    run, other = join(store, "a", cases), join(store, "b", cases)
    for number, case in enumerate(cases):
        run.claim([Unit(case.id, "s")]).result(PATIENCE_S)
        assert run.keep(case, observed(number)).result(PATIENCE_S)
    assert other.take_over(Unit("q1", "s"), "a").result(PATIENCE_S)
    scores = {"M": Score(0.5, "It is so.")}
    with held_up(store):
        records = [
            run.record(case, observed(n), scores, uses={"shared": None, f"own{n}": {"text": "å"}})
            for n, case in enumerate(cases)
        ]
    with pytest.raises(LostClaim):
        records[1].result(PATIENCE_S)
    for each in (records[0], records[2], records[3]):
        each.result(PATIENCE_S)
    done = [Unit(f"q{n}", "s") for n in (0, 2, 3)]
    assert sorted(run.done_after(0)[1]) == done
    assert run.scores([Unit(case.id, "s") for case in cases]) == dict.fromkeys(done, scores)
    assert run.orphans([Unit("q1", "s"), *done], ["a", "b"]) == {Unit("q1", "s"): "b"}
    used = tables.call_uses.c
    uses = store.read(lambda c: c.execute(sa.select(used.key, used.result)).all())
    assert sorted(map(tuple, uses)) == [
        *((f"own{n}", '{"text": "\\u00e5"}') for n in (0, 2, 3)),
        ("shared", None),
    ]
    rows = read_run(store, "run")
    assert rows is not None
    assert sorted(row.case_id for row in rows.questions) == ["q0", "q1", "q2", "q3"]
    assert len(rows.passages) == 4
