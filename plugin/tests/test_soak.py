"""Many calls to a server on a bad day: every answer comes, and nothing is left behind."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import Any

import pytest
from judged import verdict
from projects import Project, question
from servers.openai import DROP, OpenAIServer, error, garbage, rate_limited

from pytest_touchstone.flight import endpoint

CASES = 100
CALLS_A_CASE = 4
"""One of the system, three of the judge; the verdict on a claim that all answers make is shared."""
IN_FLIGHT = 8
FAULTS = (rate_limited("0"), error(500, "no luck"), DROP, garbage())
APP = """
from pytest_touchstone import Answer, Passage


def build(resources):
    async def ask(messages, session):
        done = await resources.complete(messages)
        return Answer(done.text, (Passage("c1", "The bridge is red."),), usage=())

    return ask
"""
MODULE = """
import pytest
from pytest_touchstone import Caution, Faithfulness, Formality


@pytest.mark.touchstone(Faithfulness, Formality, Caution)
def test_judged(scores):
    assert all(score.value is not None for score in scores.values())
"""


class BadDay(OpenAIServer):
    """Every tenth reply is a fault; counts the connections that are open."""

    def __init__(self) -> None:
        super().__init__(self._reply)
        self._number = itertools.count(1)
        self._faults = itertools.cycle(FAULTS)
        self._counting = threading.Lock()

    def _reply(self, asked: Any) -> Any:
        with self._counting:
            number, fault = next(self._number), next(self._faults)
        if number % 10 == 0:
            return fault
        if "response_format" in asked:
            return verdict(asked)
        return f"The bridge of {asked['messages'][-1]['content'].split()[-1]} is red [1]."


def handlers() -> int:
    """The server's threads: one for each connection that is open."""
    return sum("process_request_thread" in thread.name for thread in threading.enumerate())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no list of open files")
def test_faults_leave_no_connection_thread_or_file_behind(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE_S", 0.01)
    project.write("app.py", APP)
    project.write("tests/test_a.py", MODULE)
    project.gold([question(f"q{number:03}") for number in range(CASES)])
    before = {thread.name for thread in threading.enumerate()}
    files = len(list(Path("/proc/self/fd").iterdir()))
    most = 0
    with BadDay() as server:
        served = {"url": server.url, "concurrency": IN_FLIGHT, "tries": 6}
        project.configure(
            system="app",
            baseline="none",
            variants=[],
            systems={"app": {"build": "app:build"}},
            generator={"model": "writer", **served},
            judge={"model": "judge", "canaries": False, **served},
        )
        over = threading.Event()

        def watch() -> None:
            nonlocal most
            while not over.wait(0.02):
                most = max(most, handlers())

        watcher = threading.Thread(target=watch)
        watcher.start()
        result = project.run("-q", "tests/test_a.py")
        over.set()
        watcher.join()
        calls = len(server.requests)
    assert result.ret == 0
    result.assert_outcomes(passed=CASES)
    needed = (CASES * CALLS_A_CASE + 1) / 0.9
    assert needed - 3 < calls < needed + 3, "nothing is asked twice but what failed"
    # Two servers to the client, which lets a connection that failed go only when it notices.
    assert 0 < most <= 2 * IN_FLIGHT + len(FAULTS)
    left = {thread.name for thread in threading.enumerate() if thread.name.startswith("touch")}
    assert left <= before
    assert len(list(Path("/proc/self/fd").iterdir())) <= files + 2
