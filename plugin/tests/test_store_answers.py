"""Answers come out of the store as the observations that they were."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import PATIENCE_S, gold, join

from pytest_touchstone.score import Score, unscored
from pytest_touchstone.store.answers import Place, known_answers, latest_answers, mean_cost
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.rows import read_run
from pytest_touchstone.store.run import RunStore, Unit, Watch
from pytest_touchstone.store.sessions import RunNotFound, find_run, open_session
from pytest_touchstone.trace import Answer, Facts, Observation, Passage, SystemFault, Turn, Usage

CASES = gold(3)
AT = Place("q0", "s", 0, "recorded")
UNIT = Unit("q0", "s")
SCORES = {"Recall@5": Score(1.0, "found")}

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
PASSAGES = st.builds(
    Passage,
    TEXT,
    TEXT,
    st.none() | st.floats(-1, 1),
    st.dictionaries(TEXT, JSON, max_size=2),
)
ANSWERS = st.builds(
    Answer,
    TEXT,
    st.lists(PASSAGES, max_size=3).map(tuple),
    st.none() | st.dictionaries(TEXT, JSON, max_size=2),
    st.sampled_from([None, "relaxed", "admitted"]),
    st.none() | st.lists(st.builds(Usage, TEXT, st.just(9), st.just(3), st.just(4))).map(tuple),
    st.none() | st.lists(TEXT, max_size=2).map(tuple),
)


def said(text: str = "It is 0.", **given: object) -> Observation:
    turn = Turn(0, "What is 0?", Answer(text, (Passage("c0", "About 0.", 0.5),), usage=()))
    seen = Observation("q0", "s", (turn,), address="a" * 64)
    return replace(seen, **given)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    yield store
    store.close()


def claimed(store: Store, owner: str = "a", session: str | None = None) -> RunStore:
    run = join(store, owner, CASES, ["s"])
    if session:
        store.write(lambda connection: open_session(connection, "run", session, "now")).result()
        run.look_for_unfinished()
    return run


@settings(deadline=None, max_examples=60)
@given(
    ANSWERS,
    st.none() | st.builds(SystemFault, st.just("empty_answer"), TEXT),
    st.booleans(),
    st.builds(
        Facts, st.none() | st.integers(0, 9), st.none() | st.integers(0, 9), st.none() | TEXT
    ),
)
def test_what_is_kept_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    answer: Answer,
    fault: SystemFault | None,
    only_passages: bool,
    facts: Facts,
) -> None:
    if only_passages:
        answer = replace(answer, text="")
    first = Turn(0, "And?", None, SystemFault("timeout", "late"), False, 10.5, None, None)
    turn = Turn(2, "What?", answer, fault, only_passages, 3.25, 0.5, None)
    seen = Observation("q0", "s", (first, turn), facts=facts, address="b" * 64)
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('store') / 'store.sqlite'}")
    try:
        run = claimed(store)
        assert run.claim([UNIT]).result(PATIENCE_S) == UNIT
        run.keep(CASES[0], seen).result(PATIENCE_S)
        assert run.kept(UNIT) == seen
    finally:
        store.close()


def test_an_answer_that_was_kept_is_replaced_by_what_is_recorded(store: Store) -> None:
    run = claimed(store)
    run.claim([UNIT]).result(PATIENCE_S)
    run.keep(CASES[0], said("First.")).result(PATIENCE_S)
    assert run.done_after(0)[1] == [], "it is there and not done"
    assert run.may_have_kept(UNIT)
    run.record(CASES[0], said("Last."), SCORES).result(PATIENCE_S)
    assert run.done_after(0)[1] == [UNIT]
    rows = read_run(store, "run")
    assert rows is not None
    assert [question.answer for question in rows.questions] == ["Last."]


def test_nothing_is_kept_by_who_lost_the_claim(store: Store) -> None:
    slow, other = claimed(store, "a"), claimed(store, "b")
    slow.claim([UNIT]).result(PATIENCE_S)
    assert other.take_over(UNIT, "a").result(PATIENCE_S)
    slow.keep(CASES[0], said("Late.")).result(PATIENCE_S)
    assert other.kept(UNIT) is None
    other.record(CASES[0], said(), SCORES).result(PATIENCE_S)
    slow.keep(CASES[0], said("Later still.")).result(PATIENCE_S)
    rows = read_run(store, "run")
    assert rows is not None
    assert [question.answer for question in rows.questions] == ["It is 0."]


def test_who_takes_over_finds_what_was_kept(store: Store) -> None:
    dead, heir = claimed(store, "a"), claimed(store, "b")
    dead.claim([UNIT]).result(PATIENCE_S)
    dead.keep(CASES[0], said()).result(PATIENCE_S)
    assert not heir.may_have_kept(UNIT)
    heir.take_over(UNIT, "a").result(PATIENCE_S)
    assert heir.may_have_kept(UNIT)
    assert heir.kept(UNIT) == said()


def test_what_was_not_read_to_the_end_is_open_again(store: Store) -> None:
    run = claimed(store)
    run.claim([UNIT]).result(PATIENCE_S)
    run.record(CASES[0], said(), SCORES, unfinished=True).result(PATIENCE_S)
    later = claimed(store, "b", session="later")
    assert later.claim([UNIT]).result(PATIENCE_S) == UNIT
    assert later.kept(UNIT) == said()
    later.record(CASES[0], said(), SCORES).result(PATIENCE_S)
    rows = read_run(store, "run")
    assert rows is not None
    assert (len(rows.questions), len(rows.scores)) == (1, 1)


@pytest.mark.parametrize("asked", [True, False])
def test_what_the_budget_cut_off_is_open_again_in_a_later_session(
    store: Store, asked: bool
) -> None:
    fault = SystemFault("budget", "not asked: the budget is spent")
    seen = said() if asked else said(turns=(Turn(0, "What is 0?", None, fault),))
    run = claimed(store)
    run.claim([UNIT]).result(PATIENCE_S)
    scores = {"Faithfulness": unscored("budget", "not asked")}
    run.record(CASES[0], seen, scores).result(PATIENCE_S)
    assert run.done_after(0)[1] == [UNIT], "nobody waits for it in this session"
    same = claimed(store, "b")
    assert same.claim([UNIT]).result(PATIENCE_S) is None
    later = claimed(store, "c", session="later")
    assert later.claim([UNIT]).result(PATIENCE_S) == UNIT
    assert later.kept(UNIT) == (seen if asked else None)
    assert later.done_after(0)[1] == []


def test_a_session_opens_a_run_once(store: Store) -> None:
    run = claimed(store)
    run.finish().result(PATIENCE_S)
    run.request_stop().result(PATIENCE_S)
    for _ in range(2):
        store.write(lambda connection: open_session(connection, "run", "x", "now")).result()
        stopped = run.stop_requested()
        run.request_stop().result(PATIENCE_S)
    assert stopped, "the second process of a session changes nothing"
    rows = read_run(store, "run")
    assert rows is not None
    assert rows.run.finished_at is None


def test_the_latest_good_answer_is_known_by_its_address(store: Store) -> None:
    fault = Turn(0, "What is 0?", None, SystemFault("timeout", "late"))
    for owner, seen in (
        ("one", said("One.")),
        ("two", said("Two.", reused_from="zero")),
        ("three", said(turns=(fault,))),
    ):
        run = RunStore(store, owner, owner)
        from runs import start

        run.begin(start(owner), CASES, []).result(PATIENCE_S)
        run.claim([UNIT]).result(PATIENCE_S)
        run.record(CASES[0], seen, {}).result(PATIENCE_S)
    addresses = ["a" * 64, "b" * 64]
    assert store.read(lambda connection: known_answers(connection, addresses, "twin")) == {}
    found = store.read(lambda connection: known_answers(connection, addresses, "s"))
    told = said("Two.", reused_from="zero")
    assert found == {"a" * 64: told}, "who first gave it is remembered"
    latest = store.read(lambda connection: latest_answers(connection, AT, "What is 0?"))
    assert latest is not None
    assert latest.last.answer == said("Two.").last.answer
    assert store.read(lambda connection: latest_answers(connection, AT, "Else?")) is None
    assert store.read(lambda connection: mean_cost(connection, "s")) is None


def test_who_said_goodbye_is_not_waited_for(store: Store) -> None:
    run, other = claimed(store, "a"), claimed(store, "b")
    run.farewell().result(PATIENCE_S)
    assert Watch().dead(other.beats()) == {"a"}


def test_a_run_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    from runs import start

    for name in ("abc", "abd", "ab", "x_y"):
        moment = f"2026-11-30T12:00:0{len(name)}Z"
        RunStore(store, name, name).begin(start(name, started_at=moment), CASES, []).result(
            PATIENCE_S
        )
    assert find_run(store, "abc")[0] == "abc"
    assert find_run(store, "ab")[0] == "ab", "a whole id is one"
    assert find_run(store, "x_")[0] == "x_y"
    for name, fault in (("a", "3 runs begin with 'a'"), ("z", "holds no run 'z'"), ("%", "no run")):
        with pytest.raises(RunNotFound, match=fault):
            find_run(store, name)
