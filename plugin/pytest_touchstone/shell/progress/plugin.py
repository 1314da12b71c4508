"""The hooks of the live line: shown by the process that has the terminal, told by the others."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import pytest

from pytest_touchstone.flight.counts import Counts
from pytest_touchstone.run import Process
from pytest_touchstone.settings import Settings
from pytest_touchstone.shell.progress.terminal import LiveLine
from pytest_touchstone.shell.progress.text import Pace, Together, live_text
from pytest_touchstone.shell.session import Evaluation
from pytest_touchstone.store.engine import Store, StoreError
from pytest_touchstone.store.run import PROGRESS, RunStore

_WORKER_INPUT = "touchstone_progress"
_TELL_EVERY_S = 1.0
_BEGUN_WITHIN_S = 0.1
_IN_A_LOG = ("CI", "BUILD_NUMBER")  # what pytest itself takes as a sign of it


class ShowProgress:
    """Shows the line while tests run, where there is somebody to see it.

    :param own: how far this process's own calls are; nothing where other processes make them.
    """

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        process: Process,
        own: Callable[[], Sequence[Counts]],
    ) -> None:
        self._config = config
        self._own = own
        self._told = _Told(settings, process)
        self._pace = Pace()
        self._line: LiveLine | None = None

    # Outermost: what was put in flight lands within.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        if not somebody_watches(self._config, os.environ):
            return (yield)
        terminal = os.dup(sys.stdout.fileno())
        self._line = LiveLine(self._config.get_terminal_writer(), terminal, self._text)
        try:
            return (yield)
        finally:
            self._line.close()
            self._told.close()

    def pytest_enter_pdb(self) -> None:
        if self._line is not None:
            self._line.pause()

    def pytest_leave_pdb(self) -> None:
        if self._line is not None:
            self._line.resume()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_WORKER_INPUT] = somebody_watches(self._config, os.environ)

    def _text(self, width: int) -> str:
        others = self._config.pluginmanager.has_plugin("dsession")
        counts = self._told.counts() if others else self._own()
        return live_text(counts, self._pace.left(counts, time.monotonic()), width)


class TellProgress:
    """Tells, from a worker, how far it is, where the controller wants to know.

    :param tell: puts it where the controller finds it; false before there is anything to tell.
    """

    def __init__(self, tell: Callable[[], bool]) -> None:
        self._tell = tell
        self._over = threading.Event()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        threading.Thread(target=self._go_on, name="touchstone-telling", daemon=True).start()
        try:
            return (yield)
        finally:
            self._over.set()

    def _go_on(self) -> None:
        pause = _BEGUN_WITHIN_S
        while not self._over.wait(pause):
            if self._tell():
                pause = _TELL_EVERY_S


def add_progress(
    config: pytest.Config, settings: Settings, process: Process, evaluation: Evaluation
) -> None:
    """Register what this process has to do with the line: show it, tell of itself, or nothing."""
    plugin: object
    if not hasattr(config, "workerinput"):
        plugin = ShowProgress(config, settings, process, lambda: evaluation.counts)
    elif config.workerinput.get(_WORKER_INPUT):
        plugin = TellProgress(evaluation.tell)
    else:
        return
    config.pluginmanager.register(plugin, "touchstone-progress")


def somebody_watches(config: pytest.Config, environ: Mapping[str, str]) -> bool:
    """Whether a line may be shown: on a terminal that pytest has for itself.

    With `-s` tests write to it too, and a reporter of somebody else's may draw on it itself.
    """
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if type(reporter) is not pytest.TerminalReporter or config.get_verbosity() < 0:
        return False
    if os.name != "posix" or environ.get("TERM", "dumb") == "dumb":
        return False
    if any(environ.get(name) for name in _IN_A_LOG):
        return False
    if config.getoption("capture") in ("no", "tee-sys") or not reporter.isatty:
        return False
    try:
        return os.isatty(sys.stdout.fileno())
    except (OSError, ValueError):  # standard output is no file, or closed
        return False


class _Told:
    """What the workers of this session tell."""

    def __init__(self, settings: Settings, process: Process) -> None:
        self._url = settings.store_url
        self._process = process
        self._store: Store | None = None
        self._together = Together()

    def counts(self) -> list[Counts]:
        """Of all of them together; nothing before the first one tells."""
        try:
            if self._store is None:
                self._store = Store(self._url, create=False)
            run = RunStore(self._store, self._process.run_id, "controller")
            told = run.all_noted(PROGRESS)
        except StoreError:
            return []  # no worker has made it yet
        own = (value for key, value in told.items() if key.startswith(self._process.session))
        return self._together.counts([Counts(**each) for each in process] for process in own)

    def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            self._store.close()
