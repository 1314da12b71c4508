"""The live line: what it says, where it is drawn, and that nothing else is touched by it."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import INI, Project
from runs import OBSERVER, Assistant, flight, gold, join, loaded, store_url
from screen import Screen, on_a_terminal

from pytest_touchstone.flight.counts import CountedJudge, Counts
from pytest_touchstone.judge.protocol import Judged
from pytest_touchstone.judge.tasks import Task, ToneTask
from pytest_touchstone.report.display import display_width
from pytest_touchstone.shell.progress.plugin import somebody_watches
from pytest_touchstone.shell.progress.terminal import LiveLine
from pytest_touchstone.shell.progress.text import Pace, Together, live_text
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import PROGRESS, RunStore

V = TypeVar("V")
WIDTH, HEIGHT = 60, 8
DRAWN = re.compile(r"\x1bD\x1b\[A\x1b7\x1b\[B\r(?:\x1b\[2m)?([^\x1b]*)")

counts = st.builds(
    Counts,
    kind=st.just("system"),
    name=st.text(min_size=1, max_size=40),
    expected=st.integers(0, 10**6),
    asked=st.integers(0, 10**6),
    in_flight=st.integers(0, 50),
    done=st.integers(0, 10**6),
    usd=st.floats(0, 1e6),
)


def system(name: str = "mine", **given: int | float) -> Counts:
    return Counts("system", name, **given)  # type: ignore[arg-type]


def judge(**given: int | float) -> Counts:
    return Counts("judge", **given)  # type: ignore[arg-type]


# What it says


def test_each_endpoint_with_cost_and_time_left() -> None:
    under_way = [
        system(expected=100, asked=60, in_flight=8, done=52, usd=0.3),
        system("theirs", asked=160, done=160),
        judge(expected=900, asked=340, in_flight=20, done=320, usd=0.114),
        Counts("scorer"),
    ]
    assert live_text(under_way, 95.0, 200) == (
        "mine 52/160 (8 in flight)  theirs 160/160  judge 320/1240 (20 in flight)"
        "  0.41 USD  2 min left"
    )


def test_a_narrow_terminal_gets_less_words_and_what_is_done_last() -> None:
    under_way = [
        system(expected=100, asked=60, in_flight=8, done=52),
        system("theirs", asked=160, done=160),
    ]
    assert live_text(under_way, None, 44) == "mine 52/160 (8 in flight)  theirs 160/160"
    assert live_text(under_way, None, 36) == "mine 52/160 (+8)  theirs 160/160"
    assert live_text(under_way, None, 30) == "mine 52/160 (+8)"
    assert live_text(under_way, None, 10) == "mine 52/1…"


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (None, ""),
        (0.0, ""),
        (0.4, "  5 s left"),
        (41.0, "  45 s left"),
        (58.0, "  1 min left"),
        (61.0, "  2 min left"),
        (7200.5, "  2 h 1 min left"),
    ],
)
def test_time_is_rounded_up(left: float | None, said: str) -> None:
    assert live_text([system(asked=2, done=1)], left, 80) == f"mine 1/2{said}"


def test_small_sums_are_not_nothing() -> None:
    assert live_text([system(asked=2, usd=0.0123)], None, 80) == "mine 0/2  0.0123 USD"


@given(st.lists(counts), st.none() | st.floats(0, 1e7), st.integers(10, 200))
def test_it_fits_and_is_safe_to_print(
    under_way: list[Counts], left: float | None, width: int
) -> None:
    text = live_text(under_way, left, width)
    assert display_width(text) <= width
    assert "\n" not in text
    assert text.isprintable() or not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", text)


# Time left


def test_the_slowest_endpoint_decides() -> None:
    pace = Pace()
    assert pace.left([system(expected=100), judge(expected=500)], 0.0) is None
    later = [system(expected=50, asked=50, done=50), judge(expected=400, asked=100, done=100)]
    assert pace.left(later, 10.0) == pytest.approx(400 / 10)


def test_nobody_knows_before_some_calls_are_done() -> None:
    pace = Pace()
    pace.left([system(expected=100)], 0.0)
    assert pace.left([system(expected=98, asked=2, done=2)], 60.0) is None
    assert pace.left([system(asked=100, done=100)], 61.0) == 0.0


def test_what_was_there_already_does_not_promise_more() -> None:
    """A thousand answers in the first second, and then one in ten seconds."""
    pace = Pace()
    pace.left([system(expected=2000)], 0.0)
    done = 1000
    for moment in range(1, 602, 10):
        left = pace.left([system(asked=2000, done=done)], float(moment))
        done += 1
    assert left == pytest.approx((2000 - 1060) * 10, rel=0.01)


def test_few_slow_calls_are_timed_from_the_start() -> None:
    pace = Pace()
    for done in range(5):
        left = pace.left([system(asked=10, done=done)], done * 100.0)
    assert left == pytest.approx(600)


# Several processes


def test_processes_are_added_up() -> None:
    """Each of two workers of ten cases expects also what the other one is about to do."""
    together = Together()
    at_first = [[system(expected=9, asked=1, in_flight=1)], [system(expected=10)]]
    (both,) = together.counts(at_first)
    assert (both.planned, both.done, both.in_flight) == (10, 0, 1)
    later = [
        [system(expected=5, asked=3, in_flight=1, done=2, usd=0.5)],
        [system(expected=4, asked=4, done=4, usd=0.25)],
    ]
    (both,) = together.counts(later)
    assert (both.planned, both.done, both.in_flight, both.usd) == (10, 6, 1, 0.75)


@given(st.lists(st.lists(counts, max_size=3), max_size=3))
def test_what_is_done_is_within_what_is_planned(processes: list[list[Counts]]) -> None:
    for process in processes:
        for each in process:
            each.done = min(each.done, each.asked)
    for each in Together().counts(processes):
        assert 0 <= each.done <= each.planned


def test_counts_travel_as_plain_data() -> None:
    told = system(expected=1, asked=2, in_flight=1, done=1, usd=0.5)
    assert Counts(**asdict(told)) == told


def test_what_answers_cost_is_counted_where_they_were_asked_for(tmp_path: Path) -> None:
    store = Store(store_url(tmp_path))
    cases = gold(3)
    dear = replace(OBSERVER, price=lambda usage: (0.25, None))
    under_way = flight(
        join(store, "me", cases, ["s"]), cases, loaded(Assistant().ask), observer=dear
    )
    assert [asdict(each) for each in under_way.counts] == [asdict(system("s", expected=3))]
    under_way.start()
    under_way.drain()
    (counted,) = under_way.counts
    assert (counted.planned, counted.done, counted.in_flight, counted.usd) == (3, 3, 0, 0.75)
    store.close()


def test_what_a_process_tells_is_read_by_another(tmp_path: Path) -> None:
    store = Store(store_url(tmp_path))
    run = join(store, "me", gold(1))
    for done in (1, 2):
        run.note_again(PROGRESS, "session/me", [asdict(system(asked=2, done=done))]).result()
    told = RunStore(store, "run", "controller").all_noted(PROGRESS)
    assert told == {"session/me": [asdict(system(asked=2, done=2))]}
    store.close()


def test_a_judge_that_asks_nobody_is_counted_by_its_tasks() -> None:
    counts = judge(expected=2)
    during: list[int] = []

    class Rules:
        async def judge(self, task: Task[V]) -> Judged[V]:
            during.append(counts.in_flight)
            return Judged(None)

    asyncio.run(CountedJudge(Rules(), counts).judge(ToneTask("question", "answer")))
    assert during == [1]
    assert (counts.asked, counts.in_flight, counts.done) == (1, 0, 1)


# Where it is drawn


class Writer:
    """A writer like pytest's, to a terminal whose screen can be looked at."""

    hasmarkup = True

    def __init__(self) -> None:
        self.ours, self.its = pty.openpty()
        self.screen = Screen(WIDTH, HEIGHT)
        self._line = ""

    @property
    def width_of_current_line(self) -> int:
        return len(self._line)

    def write(self, msg: str, *, flush: bool = False, **markup: bool) -> None:
        self._line = (self._line + msg).rsplit("\n", 1)[-1]
        os.write(self.its, msg.encode())

    def shown(self) -> list[str]:
        """The rows of the screen down to the last that is not empty."""
        os.set_blocking(self.ours, False)
        try:
            while piece := os.read(self.ours, 65536):
                self.screen.feed(piece.decode())
        except BlockingIOError:
            pass
        return "\n".join(self.screen.lines).rstrip("\n").split("\n")


@contextmanager
def a_line(monkeypatch: pytest.MonkeyPatch, text: str = "3/4") -> Iterator[tuple[Writer, LiveLine]]:
    """A line whose thread never wakes up: the test draws."""
    monkeypatch.setattr("pytest_touchstone.shell.progress.terminal.REFRESH_S", 3600.0)
    writer = Writer()
    line = LiveLine(writer, os.dup(writer.its), lambda width: text)
    try:
        yield writer, line
    finally:
        line.close()
        os.close(writer.its)
        os.close(writer.ours)


def draw(line: LiveLine, text: str) -> None:
    line._draw(text, WIDTH)


def test_it_stands_below_and_the_writer_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with a_line(monkeypatch) as (writer, line):
        writer.write("tests/test_a.py ")
        draw(line, "3/4")
        assert writer.shown() == ["tests/test_a.py", "3/4"]
        writer.write("..")
        assert writer.shown() == ["tests/test_a.py ..", "3/4"]
        draw(line, "4/4")
        assert writer.shown() == ["tests/test_a.py ..", "4/4"]
        writer.write(" [100%]\ntests")
        assert writer.shown() == ["tests/test_a.py .. [100%]", "tests"]


def test_it_stands_below_the_last_row_of_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_line(monkeypatch) as (writer, line):
        rows = [f"row {number}" for number in range(HEIGHT)]
        writer.write("\n".join(rows))
        draw(line, "3/4")
        assert writer.shown() == [*rows, "3/4"]
        writer.write(" goes on")
        writer.write("\nthe next")
        assert writer.shown() == [*rows[:-1], "row 7 goes on", "the next"]


def test_a_row_that_gets_full_pushes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_line(monkeypatch) as (writer, line):
        writer.write("x" * (WIDTH - 1))
        draw(line, "3/4")
        writer.write("y")
        draw(line, "3/4")  # the cursor waits behind the last column
        assert writer.shown() == ["x" * (WIDTH - 1) + "y"]
        writer.write("z")
        draw(line, "3/4")
        assert writer.shown() == ["x" * (WIDTH - 1) + "y", "z", "3/4"]


def test_wide_characters_are_counted_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_line(monkeypatch) as (writer, line):
        writer.write("問" * (WIDTH // 2 - 2))
        draw(line, "問 3/4")
        assert writer.shown()[-1] == "問 3/4"
        writer.write("題題題")
        assert writer.shown() == ["問" * (WIDTH // 2 - 2) + "題題", "題"]


def test_a_row_that_is_written_again_leaves_it_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_line(monkeypatch) as (writer, line):
        writer.write("2 workers")
        draw(line, "3/4")
        writer.write("\r4 workers")
        assert writer.shown() == ["4 workers", "3/4"]


def test_a_debugger_has_the_terminal_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_line(monkeypatch) as (writer, line):
        draw(line, "3/4")
        line.pause()
        assert writer.shown() == [""]
        line.resume()
        draw(line, "3/4")
        assert writer.shown() == ["", "3/4"]


def test_at_the_end_it_is_gone_and_the_writer_is_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with a_line(monkeypatch) as (writer, line):
        before = writer.write
        writer.write("tests ..")
        draw(line, "3/4")
        line.close()
        assert writer.write == line._write != before
        assert writer.shown() == ["tests .."]
        line._terminal = os.dup(writer.its)  # closed once more by the end of this test


# pytest on a terminal

_ON_A_TERMINAL = {"TERM": "xterm-256color", "COLUMNS": "", "LINES": ""}


def terminal_run(project: Project, *arguments: str) -> tuple[int, str, Screen]:
    """Run pytest there; exit code, what it wrote, and what the screen shows at the end."""
    project.faults({"plain": "slow"})  # 2.4 s, for workers tell how far they are once a second
    here = {k: v for k, v in os.environ.items() if k not in ("CI", "BUILD_NUMBER")}
    code, written = on_a_terminal(
        [sys.executable, "-P", "-m", "pytest", *arguments],
        cwd=project.folder,
        environ=here | _ON_A_TERMINAL,
    )
    screen = Screen(100, 24)
    screen.feed(written)
    return code, written, screen


@pytest.mark.parametrize("arguments", [(), ("-n2", "-v")], ids=["dots", "workers"])
def test_it_is_shown_and_leaves_no_trace(project: Project, arguments: tuple[str, ...]) -> None:
    code, written, screen = terminal_run(project, *arguments)
    assert code == 0, written
    drawn = DRAWN.findall(written)
    assert drawn
    assert all(re.match(r"assistant \d/\d.*  plain \d/\d", text) for text in drawn), drawn
    assert any("plain 8/8" in text or "in flight" in text for text in drawn)
    left = re.compile(r"plain \d/\d|in flight")
    assert not [line for line in screen.lines if left.search(line)], "nothing of it is left"
    # What pytest writes is there to the last character, in the rows where it belongs.
    bare = DRAWN.sub("", written)
    for sequence in ("\x1b[0m\x1b[J\x1b8", "\x1b[J\x1b8", "\x1b7\x1b[B\r\x1b[J\x1b8"):
        bare = bare.replace(sequence, "")
    without = Screen(100, 24)
    without.feed(bare.replace("\x1b7\x1b[B\r", ""))
    assert [line for line in screen.lines if line] == [line for line in without.lines if line]


@pytest.mark.parametrize(
    ("arguments", "environ", "watched"),
    [
        ((), {}, True),
        (("-v",), {}, True),
        (("--color=no",), {}, True),
        (("-q",), {}, False),
        (("-s",), {}, False),
        (("--capture=tee-sys",), {}, False),
        (("-p", "no:terminal"), {}, False),
        ((), {"CI": "true"}, False),
        ((), {"BUILD_NUMBER": "7"}, False),
        ((), {"TERM": "dumb"}, False),
    ],
)
def test_it_is_shown_to_somebody(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    environ: dict[str, str],
    watched: bool,
) -> None:
    pytester.makeini(INI)
    config = pytester.parseconfigure(*arguments)
    assert not somebody_watches(config, environ), "there is no terminal here"
    monkeypatch.setattr(os, "isatty", lambda _: True)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        monkeypatch.setattr(reporter, "isatty", True)
    assert somebody_watches(config, {"TERM": "xterm"} | environ) is watched


def test_somebody_elses_reporter_draws_itself(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeini(INI)
    config = pytester.parseconfigure()
    monkeypatch.setattr(os, "isatty", lambda _: True)
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(object(), "terminalreporter")
    assert not somebody_watches(config, {"TERM": "xterm"})


def test_a_log_has_no_sequences(project: Project) -> None:
    project.faults({f"plain q0{number}": "slow" for number in range(1, 4)})
    ended = project.spawn("tests/test_cost.py", TERM="xterm-256color", CI="", BUILD_NUMBER="")
    assert ended.code == 0, ended.text
    assert "\x1b" not in ended.text


def test_ctrl_c_takes_it_away(project: Project) -> None:
    project.faults({"assistant": "hang", "plain": "hang"})
    interrupted: list[int] = []

    def interrupt(written: str, process: int) -> None:
        if DRAWN.search(written) and not interrupted:
            interrupted.append(process)
            os.kill(process, signal.SIGINT)

    here = {k: v for k, v in os.environ.items() if k not in ("CI", "BUILD_NUMBER")}
    start = "import signal, sys, pytest; "
    start += "signal.signal(signal.SIGINT, signal.default_int_handler); sys.exit(pytest.main())"
    code, written = on_a_terminal(
        [sys.executable, "-P", "-c", start, "tests/test_cost.py"],
        cwd=project.folder,
        environ=here | _ON_A_TERMINAL,
        seen=interrupt,
    )
    assert interrupted
    assert code == pytest.ExitCode.INTERRUPTED
    screen = Screen(100, 24)
    screen.feed(written)
    shown = "\n".join(screen.lines)
    assert "KeyboardInterrupt" in shown
    assert "in flight" not in shown
