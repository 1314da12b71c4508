"""SIGKILL at any moment: the run is gone on with, and nothing is lost, doubled or paid for twice.

A few moments of each kind; ``benchmarks/kills.py`` tries as many as one likes.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from disturbed import (
    CALLS_A_CASE,
    JUDGE_CALLS,
    SYSTEM_CALLS,
    Disturbed,
    lost,
    times,
    workers,
)
from servers.counting import CountingServer

from pytest_touchstone.store.engine import NoStoreError, Store
from pytest_touchstone.store.sessions import LATEST, RunNotFound, find_run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")

CASES = 8
CALLS = CASES * CALLS_A_CASE
DEAD_AFTER_S = 3.0
RESUME = "--touchstone-resume=latest"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What an undisturbed run reports."""
    with CountingServer(0.05) as server:
        run = Disturbed(tmp_path_factory.mktemp("undisturbed"), server, CASES)
        assert run.run() == 0, run.said
        assert len(server.calls) == CALLS
        assert run.faults() == []
    return run.results()


@pytest.fixture
def disturbed(tmp_path: Path) -> Iterator[Disturbed]:
    """A project that is to be harmed."""
    with CountingServer(0.15) as server:
        yield Disturbed(tmp_path / "project", server, CASES, dead_after=DEAD_AFTER_S)


@pytest.mark.parametrize(("seed", "ways"), [(1, []), (2, []), (3, ["-n2"])])
def test_a_killed_run_is_gone_on_with(
    disturbed: Disturbed, undisturbed: Any, seed: int, ways: list[str]
) -> None:
    chance = random.Random(seed)
    process = disturbed.start(*ways)
    which = chance.randint(1, CALLS - 1)
    disturbed.wait_for_calls(which, process)
    time.sleep(chance.uniform(0, 0.15))
    os.kill(process.pid, signal.SIGKILL)
    assert disturbed.end(process) == -signal.SIGKILL
    dead, before = time.monotonic(), disturbed.server.calls
    assert disturbed.faults() == []
    stored = sum(disturbed.stored())
    assert disturbed.run(RESUME) == 0, disturbed.said
    cost = lost(before, disturbed.server.calls[len(before) :], dead, stored)
    assert cost.repeated == cost.unstored, "what was stored is not asked again"
    assert cost.repeated <= SYSTEM_CALLS + JUDGE_CALLS, "no more than was under way"
    assert disturbed.results() == undisturbed
    assert disturbed.faults() == []


def test_a_run_that_was_killed_before_it_began_leaves_nothing_to_resume(
    disturbed: Disturbed,
) -> None:
    process = disturbed.start()
    os.kill(process.pid, signal.SIGKILL)
    disturbed.end(process)
    assert disturbed.run(RESUME) == 4
    assert "there is nothing to resume: store sqlite:///" in disturbed.said
    file = disturbed.folder / "evaluation/reports/touchstone.sqlite"
    assert not file.exists(), "looking does not make it"
    file.parent.mkdir()
    file.touch()  # as if killed a moment later
    with pytest.raises(NoStoreError, match="holds no evaluation"):
        Store(disturbed.store, create=False)
    store = Store(disturbed.store)
    try:
        with pytest.raises(RunNotFound, match="nothing to resume: the store holds no run"):
            find_run(store, LATEST)
    finally:
        store.close()


def test_a_killed_worker_is_taken_over_from(disturbed: Disturbed, undisturbed: Any) -> None:
    process = disturbed.start("-n2")
    disturbed.wait_for_calls(1, process)
    # xdist breaks where a worker dies before it was handed its tests.
    while "\n." not in disturbed.said and process.poll() is None:
        time.sleep(0.01)
    before = disturbed.server.calls
    os.kill(workers(process.pid)[0], signal.SIGKILL)
    code = disturbed.end(process)
    # xdist says that a test failed where one was running.
    assert code in (0, 1), disturbed.said
    cost = lost(before, disturbed.server.calls[len(before) :], time.monotonic(), 0)
    assert cost.repeated <= SYSTEM_CALLS + JUDGE_CALLS
    assert disturbed.results() == undisturbed
    assert disturbed.faults() == []


def test_another_program_may_lock_the_store_for_a_while(
    disturbed: Disturbed, undisturbed: Any
) -> None:
    process = disturbed.start()
    disturbed.wait_for_calls(CALLS // 4, process)
    file = disturbed.folder / "evaluation/reports/touchstone.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        seen = disturbed.stored()
        time.sleep(1.5)
        assert disturbed.stored() == seen, "readers go on, writers wait"
        assert process.poll() is None
    assert disturbed.end(process) == 0, disturbed.said
    assert times(disturbed.server.calls) == {1}
    assert disturbed.results() == undisturbed
