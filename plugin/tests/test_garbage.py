"""The collector is off as long as anybody holds it off, and then what it was before."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
from runs import PATIENCE_S

from pytest_touchstone.garbage import no_collection


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if enabled else gc.disable)()


def test_it_runs_again_afterwards_whatever_happens() -> None:
    def fail() -> None:
        with no_collection():
            assert not gc.isenabled()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert gc.isenabled()


def test_whoever_leaves_first_turns_it_on_for_nobody_else() -> None:
    inside, leave = threading.Event(), threading.Event()

    def longer() -> None:
        with no_collection():
            inside.set()
            leave.wait(PATIENCE_S)

    with no_collection():
        thread = threading.Thread(target=longer)
        thread.start()
        assert inside.wait(PATIENCE_S)
    assert not gc.isenabled()
    leave.set()
    thread.join(PATIENCE_S)
    assert gc.isenabled()


def test_what_was_off_before_stays_off() -> None:
    gc.disable()
    with no_collection(), no_collection():
        pass
    assert not gc.isenabled()
