"""Waiting in one thread for what others say is done; nothing flies and nothing is stored."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

import pytest
from runs import PATIENCE_S

from pytest_touchstone.flight import arrivals as arrivals_module
from pytest_touchstone.flight.arrivals import Arrivals, FlightError
from pytest_touchstone.flight.measuring import Scores
from pytest_touchstone.score import Score
from pytest_touchstone.store.engine import StoreError
from pytest_touchstone.store.run import Unit

UNITS = [Unit(f"q{n}", "s") for n in range(8)]


def scores_of(unit: Unit) -> Scores:
    return {"MRR": Score(1.0, unit.case_id)}


class Board:
    """Arrivals of the units, and which of them were read together."""

    def __init__(self, order: list[Unit], **given: object) -> None:
        self.reads: list[list[str]] = []
        options = {"patience": PATIENCE_S, **given}
        self.arrivals = Arrivals(order, self._read, **options)  # type: ignore[arg-type]

    def _read(self, units: list[Unit]) -> Mapping[Unit, Scores]:
        self.reads.append([unit.case_id for unit in units])
        return {unit: scores_of(unit) for unit in units}


def test_who_asks_in_the_plans_order_has_the_next_ones_read_ahead() -> None:
    board = Board([*UNITS, Unit("q0", "other")])
    board.arrivals.mark(UNITS)
    for unit in UNITS:
        assert board.arrivals.scores(unit) == scores_of(unit)
    assert board.reads == [["q0"], ["q1", "q2", "q3", "q4", "q5", "q6", "q7"]]


def test_nothing_is_read_ahead_of_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals_module, "_READ_AHEAD", 3)
    board = Board(UNITS)
    board.arrivals.mark(UNITS[:6])
    for unit in UNITS[:6]:
        board.arrivals.scores(unit)
    assert board.reads == [["q0"], ["q1", "q2", "q3"], ["q4", "q5"]]


def test_who_asks_in_another_order_gets_what_was_asked_for() -> None:
    board = Board(UNITS)
    board.arrivals.mark(UNITS)
    for unit in reversed(UNITS):
        assert board.arrivals.scores(unit) == scores_of(unit)
    assert board.reads == [[unit.case_id] for unit in reversed(UNITS)]


def test_what_is_known_is_not_read_until_it_is_asked_for_again() -> None:
    board = Board(UNITS[:1])
    board.arrivals.mark(UNITS[:1], {UNITS[0]: {"MRR": Score(0.5, "measured")}})
    assert board.arrivals.scores(UNITS[0]) == {"MRR": Score(0.5, "measured")}
    assert board.reads == []
    assert board.arrivals.scores(UNITS[0]) == scores_of(UNITS[0])


def test_a_plan_is_complete_when_each_unit_is_marked() -> None:
    arrivals = Board(UNITS[:2]).arrivals
    assert (UNITS[0] in arrivals, arrivals.complete) == (False, False)
    arrivals.mark(UNITS[:1])
    assert (UNITS[0] in arrivals, arrivals.complete) == (True, False)
    arrivals.mark(UNITS[:2])
    assert arrivals.complete
    assert [arrivals.rank(unit) for unit in UNITS[:2]] == [0, 1]


def test_a_unit_that_is_done_waits_for_all_that_is_stored() -> None:
    board = Board(UNITS[:2])
    board.arrivals.reusing({"s"})
    board.arrivals.mark(UNITS[:1])
    settled = threading.Event()

    def settle() -> None:
        settled.set()
        board.arrivals.reused("s")

    timer = threading.Timer(0.1, settle)
    timer.start()
    assert board.arrivals.scores(UNITS[0]) == scores_of(UNITS[0])
    assert settled.is_set()
    timer.join()


@pytest.mark.parametrize("wait", [lambda a: a.scores(UNITS[0]), Arrivals.drain])
@pytest.mark.parametrize(
    ("error", "says"),
    [
        (StoreError("store x: disk full"), "^store x: disk full$"),
        (FlightError("blocked"), "^blocked$"),
        (KeyError("k"), "^KeyError: 'k'$"),
        (BaseExceptionGroup("", [ExceptionGroup("", [OSError("deep")])]), "^OSError: deep$"),
    ],
)
def test_the_first_failure_is_the_reason(
    wait: Callable[[Arrivals], object], error: BaseException, says: str
) -> None:
    arrivals = Board(UNITS).arrivals
    arrivals.fail(error)
    arrivals.fail(ValueError("came of it"))
    arrivals.end()
    with pytest.raises(FlightError, match=says) as raised:
        wait(arrivals)
    assert raised.value.__cause__ is error


def test_an_end_without_failure() -> None:
    board = Board(UNITS)
    board.arrivals.mark(UNITS[:1])
    assert not board.arrivals.ended(0)
    timer = threading.Timer(0.05, board.arrivals.end)
    timer.start()
    assert board.arrivals.ended(PATIENCE_S)
    timer.join()
    board.arrivals.drain()
    assert board.arrivals.scores(UNITS[0]) == scores_of(UNITS[0])
    with pytest.raises(FlightError, match="the run was stopped before this case was scored"):
        board.arrivals.scores(UNITS[1])


def test_whoever_waits_is_told_of_what_goes_on_meanwhile() -> None:
    told: list[float] = []
    board = Board(UNITS, meanwhile=lambda: told.append(time.monotonic()))

    def soon() -> None:
        while not told:
            time.sleep(0.01)
        board.arrivals.mark(UNITS)

    thread = threading.Thread(target=soon)
    thread.start()
    assert board.arrivals.scores(UNITS[0]) == scores_of(UNITS[0])
    thread.join()
    assert told


def test_a_store_that_cannot_be_read() -> None:
    def read(units: list[Unit]) -> Mapping[Unit, Scores]:
        raise StoreError("store x: gone")

    arrivals = Arrivals(UNITS, read, patience=PATIENCE_S)
    arrivals.mark(UNITS)
    with pytest.raises(FlightError, match=r"^store x: gone$"):
        arrivals.scores(UNITS[0])
