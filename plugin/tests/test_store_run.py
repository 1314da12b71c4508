"""What the processes of a run write, claim and see of each other."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import PATIENCE_S, assert_all_threads_end, gold, join, start, store_url

from pytest_touchstone.gold import Case
from pytest_touchstone.score import Score
from pytest_touchstone.store import run as run_module
from pytest_touchstone.store.engine import Store, StoreError
from pytest_touchstone.store.rows import read_run
from pytest_touchstone.store.run import LostClaim, RunStore, Unit, Watch
from pytest_touchstone.trace import Answer, Observation, Turn

CASES = gold(5)
UNITS = [Unit(case.id, "s") for case in CASES]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(store_url(tmp_path))
    yield store
    store.close()
    assert_all_threads_end()


def seen(unit: Unit, text: str = "It is so.") -> Observation:
    turn = Turn(0, "What?", Answer(text))
    return Observation(unit.case_id, unit.system, (turn,), unit.repeat, unit.mode)


def record(run: RunStore, unit: Unit, text: str = "It is so.") -> None:
    case = next(case for case in CASES if case.id == unit.case_id)
    run.record(case, seen(unit, text), {"M": Score(1.0, text)}).result(PATIENCE_S)


def claim(run: RunStore, *units: Unit) -> Unit | None:
    return run.claim(units).result(PATIENCE_S)


# The beginning.


def test_a_second_process_changes_nothing_of_the_run(store: Store) -> None:
    join(store, "a", CASES, ["s"])
    before = read_run(store, "run")
    RunStore(store, "run", "b").begin(start(config={"seed": 2}), CASES, []).result(PATIENCE_S)
    assert before is not None
    assert read_run(store, "run") == before
    assert before.run.config["seed"] == 1
    assert len(before.plan) == len(CASES)


@pytest.mark.parametrize(
    ("given_start", "cases"), [(start(dataset_sha256="1" * 64), CASES), (start(), CASES[1:])]
)
def test_a_second_process_with_other_gold_questions_is_refused(
    store: Store, given_start: run_module.RunStart, cases: list[object]
) -> None:
    join(store, "a", CASES)
    begun = RunStore(store, "run", "b").begin(given_start, cases, [])  # type: ignore[arg-type]
    with pytest.raises(StoreError, match=r"other gold questions .*\(gold\.jsonl changed"):
        begun.result(PATIENCE_S)
    assert set(RunStore(store, "run", "b").beats()) == {"a"}


# Claims.


def test_a_unit_is_claimed_once(store: Store) -> None:
    a, b = join(store, "a", CASES), join(store, "b", CASES)
    assert claim(a, UNITS[0]) == UNITS[0]
    assert claim(a, UNITS[0]) is None, "not even by the same process"
    assert claim(b, UNITS[0]) is None
    assert claim(b, *UNITS) == UNITS[1], "the first that is free, and no other"
    assert claim(a, *UNITS[:2]) is None
    assert claim(a, *UNITS) == UNITS[2]


def test_runs_share_no_claims(store: Store) -> None:
    a = join(store, "a", CASES)
    other = RunStore(store, "other", "b")
    other.begin(start("other"), CASES, []).result(PATIENCE_S)
    assert claim(a, UNITS[0]) == claim(other, UNITS[0]) == UNITS[0]
    record(other, UNITS[0])
    assert a.done_after(0) == (0, [])
    assert a.scores(UNITS[:1]) == {}
    assert other.scores(UNITS[:1])[UNITS[0]] == {"M": Score(1.0, "It is so.")}


def test_a_unit_of_the_dead_is_taken_over_once(store: Store) -> None:
    dead, b, c = (join(store, owner, CASES) for owner in "abc")
    assert claim(dead, UNITS[0])
    assert claim(dead, UNITS[1])
    record(dead, UNITS[1])
    assert b.orphans(UNITS, ["a"]) == {UNITS[0]: "a"}, "what is done is no orphan"
    assert b.orphans(UNITS, ["b", "c"]) == {}
    assert b.orphans(UNITS[1:], ["a"]) == {}, "nobody here cares for it"
    assert b.take_over(UNITS[0], "a").result(PATIENCE_S) is True
    assert c.take_over(UNITS[0], "a").result(PATIENCE_S) is False
    assert c.take_over(UNITS[1], "a").result(PATIENCE_S) is False
    assert c.orphans(UNITS, ["a"]) == {}
    record(b, UNITS[0])
    assert dead.take_over(UNITS[0], "b").result(PATIENCE_S) is False


def test_of_many_units_those_are_recorded_that_nobody_has_or_had(store: Store) -> None:
    run, other = join(store, "a", CASES), join(store, "b", CASES)
    mine, theirs = {"M": Score(1.0, "It is so.")}, {"M": Score(0.0, "It is not.")}
    assert claim(other, UNITS[1]) == UNITS[1]

    def found(scores: Mapping[str, Score]) -> list[tuple[Case, Observation, Mapping[str, Score]]]:
        return [(case, seen(unit), scores) for case, unit in zip(CASES, UNITS, strict=True)]

    free = [unit for unit in UNITS if unit != UNITS[1]]
    assert run.record_new(found(mine)).result(PATIENCE_S) == free
    assert other.record_new(found(theirs)).result(PATIENCE_S) == []
    assert run.scores(UNITS) == dict.fromkeys(free, mine)
    assert run.orphans(UNITS, ["a", "b"]) == {UNITS[1]: "b"}
    record(other, UNITS[1])
    assert run.scores(UNITS[1:2])[UNITS[1]]["M"].why == "It is so."


def test_who_lost_a_claim_changes_nothing(store: Store) -> None:
    slow, quick = join(store, "a", CASES), join(store, "b", CASES)
    claim(slow, UNITS[0])
    quick.take_over(UNITS[0], "a").result(PATIENCE_S)
    with pytest.raises(LostClaim):
        record(slow, UNITS[0], "too early")
    assert slow.scores(UNITS[:1]) == {}
    record(quick, UNITS[0], "in time")
    with pytest.raises(LostClaim):
        record(slow, UNITS[0], "too late")
    with pytest.raises(LostClaim):
        record(quick, UNITS[0], "again")
    assert slow.scores(UNITS[:1])[UNITS[0]] == {"M": Score(1.0, "in time")}
    rows = read_run(store, "run")
    assert rows is not None
    assert [row.answer for row in rows.questions] == ["in time"]


def test_nothing_is_recorded_without_a_claim(store: Store) -> None:
    run = join(store, "a", CASES)
    with pytest.raises(LostClaim):
        record(run, UNITS[0])
    assert run.done_after(0) == (0, [])


def test_a_record_is_all_or_nothing(store: Store) -> None:
    """Scores that cannot be stored leave no answer behind, and the claim open."""
    run = join(store, "a", CASES)
    claim(run, UNITS[0])
    broken = Score(1.0, "fine", detail={"what": object()})
    with pytest.raises(TypeError):
        run.record(CASES[0], seen(UNITS[0]), {"M": broken}).result(PATIENCE_S)
    assert run.done_after(0) == (0, [])
    record(run, UNITS[0])
    assert run.done_after(0)[1] == UNITS[:1]


def test_what_is_done_is_told_once_a_look(store: Store) -> None:
    a, b = join(store, "a", CASES), join(store, "b", CASES)
    for unit in UNITS[:3]:
        claim(a, unit)
    last, units = b.done_after(0)
    assert units == []
    record(a, UNITS[2])
    record(a, UNITS[0])
    last, units = b.done_after(last)
    assert units == [UNITS[2], UNITS[0]]
    assert b.done_after(last) == (last, [])
    record(a, UNITS[1])
    assert b.done_after(last)[1] == [UNITS[1]]


def test_repeats_and_modes_are_units_of_their_own(store: Store) -> None:
    run = join(store, "a", CASES)
    unit = UNITS[0]
    for number, one in enumerate([unit, unit._replace(repeat=1), unit._replace(mode="live")]):
        assert claim(run, one) == one
        record(run, one, f"answer {number}")
    again, live = unit._replace(repeat=1), unit._replace(mode="live")
    assert run.scores([again]) == {again: {"M": Score(1.0, "answer 1")}}
    assert run.scores([live]) == {live: {"M": Score(1.0, "answer 2")}}


texts = st.text(st.characters(), max_size=6)
units = st.builds(Unit, texts, texts, st.integers(), texts)


@given(st.lists(st.tuples(texts, units), min_size=2, unique=True))
def test_different_units_have_different_keys(named: list[tuple[str, Unit]]) -> None:
    keys = [unit.key(run_id) for run_id, unit in named]
    assert len(set(keys)) == len(keys)
    assert keys == [unit.key(run_id) for run_id, unit in named]


@given(texts, units)
def test_keys_are_those_of_older_stores(run_id: str, unit: Unit) -> None:
    text = json.dumps(["answer", run_id, *unit])
    assert unit.key(run_id) == hashlib.sha256(text.encode()).hexdigest()


# What a run says of itself.


def test_the_first_note_and_the_first_stamp_stay(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = join(store, "a", CASES), join(store, "b", CASES)
    for run, stamp in [(a, "first"), (b, "second")]:
        monkeypatch.setattr(run_module, "now", lambda stamp=stamp: stamp)
        run.note("price", "model", {"said": stamp}).result(PATIENCE_S)
        run.note("peak_in_flight", run.owner, 3).result(PATIENCE_S)
        run.finish().result(PATIENCE_S)
    rows = read_run(store, "run")
    assert rows is not None
    assert rows.run.finished_at == "first"
    assert rows.run.peak_in_flight == 6
    assert rows.run.config["prices"] == {"model": {"said": "first"}}
    assert rows.notes["peak_in_flight"] == {"a": 3, "b": 3}


def test_everybody_sees_a_request_to_stop(store: Store) -> None:
    a, b = join(store, "a", CASES), join(store, "b", CASES)
    other = RunStore(store, "other", "c")
    other.begin(start("other"), CASES, []).result(PATIENCE_S)
    assert not a.stop_requested()
    RunStore(store, "run", "controller").request_stop().result(PATIENCE_S)
    assert a.stop_requested()
    assert b.stop_requested()
    assert not other.stop_requested()
    assert not RunStore(store, "unknown", "d").stop_requested()


def test_a_beat_moves_its_own_counter_only(store: Store) -> None:
    a, b = join(store, "a", CASES), join(store, "b", CASES)
    a.beat().result(PATIENCE_S)
    a.beat().result(PATIENCE_S)
    assert b.beats() == {"a": 2, "b": 0}
    join(store, "a", CASES)
    assert b.beats() == {"a": 2, "b": 0}, "who begins again is not younger"


# Who stands still.


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


def test_who_stands_still_for_ten_seconds_is_dead_until_it_moves() -> None:
    clock = Clock()
    watch = Watch(clock)
    found = []
    for second in range(24):
        clock.time = 1000.0 + second
        beats = {"alive": second, "dead": 7, "late": min(second, 6) if second < 20 else second}
        found.append(watch.dead(beats))
    assert found[9] == set()
    assert found[10] == found[15] == {"dead"}
    assert found[16] == found[19] == {"dead", "late"}
    assert found[20] == found[23] == {"dead"}


def test_only_time_that_was_watched_counts() -> None:
    """After Ctrl-Z and fg of all processes, nobody finds the others dead."""
    clock = Clock()
    watch = Watch(clock)
    assert watch.dead({"a": 1}) == set()
    clock.time += 3600
    assert watch.dead({"a": 1}) == set()
    for _ in range(3):
        clock.time += 2
        assert watch.dead({"a": 1}) == set()
    clock.time += 2
    assert watch.dead({"a": 1}) == {"a"}


looks = st.lists(st.tuples(st.floats(0, 30), st.sets(st.sampled_from("abc"))), max_size=60)


@given(looks)
def test_the_dead_are_those_that_were_watched_standing_still(
    looks: list[tuple[float, set[str]]],
) -> None:
    clock = Clock()
    watch = Watch(clock)
    beats = dict.fromkeys("abc", 0)
    watch.dead(beats)
    still: dict[str, list[float]] = {owner: [] for owner in beats}
    for seconds, moved in looks:
        clock.time += seconds
        for owner in moved:
            beats[owner] += 1
            still[owner] = []
        for owner in still.keys() - moved:
            still[owner].append(min(seconds, 2.0))
        dead = watch.dead(beats)
        for owner, watched in still.items():
            if not math.isclose(math.fsum(watched), 10.0):
                assert (owner in dead) == (math.fsum(watched) > 10.0)
