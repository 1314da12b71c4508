"""The hooks of a session that evaluates: they translate, `session` decides."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_touchstone.bundling.replay import Replay
from pytest_touchstone.flight.arrivals import FlightError
from pytest_touchstone.floors import BelowFloor, CaseScores
from pytest_touchstone.garbage import no_collection
from pytest_touchstone.gate import Previous, not_held, turns_red
from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.redact import redactor
from pytest_touchstone.report.display import printable
from pytest_touchstone.report.model import GateEntry, Report
from pytest_touchstone.report.table import headline, table_lines
from pytest_touchstone.run import Process, new_process
from pytest_touchstone.settings import Settings
from pytest_touchstone.settings_file import load_settings
from pytest_touchstone.shell.beside import add_beside
from pytest_touchstone.shell.gating import record_gates, write_gates
from pytest_touchstone.shell.logs import RedactedLogs, without_secrets
from pytest_touchstone.shell.planning import PlanOnly
from pytest_touchstone.shell.progress.plugin import add_progress
from pytest_touchstone.shell.refusal import Refusal
from pytest_touchstone.shell.replaying import hand_over, open_replay
from pytest_touchstone.shell.session import (
    Evaluation,
    Finished,
    expectation_of,
    finish,
    output_fault,
    page_of,
    previous_report,
    request_stop,
    unwritten,
)
from pytest_touchstone.shell.showing import ShowCases
from pytest_touchstone.shell.step_summary import append_summary
from pytest_touchstone.store.engine import StoreError
from pytest_touchstone.systems.loading import Resources, SystemNotFound
from pytest_touchstone.unusable import Unusable

_WORKER_INPUT = "touchstone_run"
_WORKER_FAILURE = "touchstone_failure"
_SETTINGS = (
    "dataset",
    "system",
    "baseline",
    "split",
    "sample",
    "repeats",
    "previous",
    "budget",
    "join",
    "shards",
)
_LOW_SHOWN = 20
_LONGEST_LINE = 1000


def register(config: pytest.Config, default_settings: str) -> None:
    """Make this session one that evaluates.

    :raises pytest.UsageError: for faulty settings or options, before anything is collected.
    """
    given = config.getoption("touchstone_settings")
    file = config.invocation_params.dir / given if given else config.rootpath / default_settings
    options = {name: config.getoption(f"touchstone_{name}") for name in _SETTINGS}
    if config.getoption("touchstone_reuse_answers"):
        options["reuse_answers"] = "all"
    options["gates"] = config.getoption("touchstone_gate")
    overrides = {name: value for name, value in options.items() if value is not None}
    replay: Replay | None = None
    try:
        if opened := open_replay(config, config.rootpath / "reports", overrides):
            settings, replay = opened
        else:
            settings = load_settings(file, overrides=overrides, optional=given is None)
    except Unusable as error:
        raise pytest.UsageError(redactor(os.environ, ())(str(error))) from None
    if (output := _output(config)) and (fault := output_fault(output)):
        raise pytest.UsageError(f"--touchstone-output: {fault}")
    # Systems are named by import path.  `python -m pytest` alone finds those of the project; last,
    # so that whatever was found without this still is.
    if str(config.rootpath) not in sys.path:
        sys.path.append(str(config.rootpath))
    try:
        # Workers compare nothing with it.
        previous = None if hasattr(config, "workerinput") else previous_report(settings)
        hooks = Hooks(config, settings, previous, replay)
    except Unusable as error:
        raise pytest.UsageError(redactor(os.environ, settings.secrets())(str(error))) from None
    config.pluginmanager.register(hooks, "touchstone-hooks")
    if config.getoption("touchstone_plan"):
        config.option.dist = "no"  # one process is enough to tell
        config.pluginmanager.register(PlanOnly(hooks.plan), "touchstone-plan")
        return
    config.pluginmanager.register(Refusal(config, hooks.begin), "touchstone-refusal")
    config.pluginmanager.register(Landing(hooks), "touchstone-landing")
    if show := config.getoption("touchstone_show"):
        config.pluginmanager.register(ShowCases(show, hooks.report), "touchstone-show")
    add_beside(config)
    add_progress(config, settings, hooks.process, hooks.evaluation)


class Hooks:
    """Collection, cases, scores, outcomes and the report of one session."""

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        previous: Previous | None,
        replay: Replay | None,
    ) -> None:
        self._replay = replay
        self._config = config
        self._settings = settings
        self._previous = previous
        self._strict = bool(config.getoption("touchstone_strict"))
        self._worker_input = getattr(config, "workerinput", None)
        self._process = _process(config, settings, replay, self._worker_input)
        self._redact = redactor(os.environ, settings.secrets())
        self._logs = RedactedLogs(self._redact)
        self.evaluation = Evaluation(
            settings,
            root=config.rootpath,
            process=self._process,
            hooked=self._hooked_systems,
            progress=_Progress(config),
            tell=self._tell,
            replay=replay,
        )
        self._gold_fault: str | None = None
        self._failure: str | None = None
        self._cases_reported = False
        self._expectation_told = False
        option = config.option
        idle = option.collectonly or option.setupplan or option.touchstone_plan
        self._to_be_gated = bool(option.touchstone_gate) and not idle
        self._gates: list[GateEntry] = []
        self._low: list[tuple[str, Sequence[str]]] = []
        self._finished: Finished | None = None
        self._report_file: Path | None = None
        self._summary_fault: str | None = None
        self._running: _Running | None = None

    @property
    def process(self) -> Process:
        """This process's part in the run."""
        return self._process

    def report(self) -> Report | None:
        """The run's report, once it is there."""
        return None if self._finished is None else self._finished.report

    # -- collection -----------------------------------------------------------------------

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        marker = metafunc.definition.get_closest_marker("touchstone")
        if marker is None or "case" not in metafunc.fixturenames:
            return
        measures = _measures(marker, metafunc.definition.nodeid)
        try:
            cases = self.evaluation.cases_for(measures)
        except Unusable as error:
            self._gold_fault, cases = str(error), []
        if cases:
            metafunc.parametrize("case", cases, ids=[case.id for case in cases])
        else:
            why = self.evaluation.why_no_cases(measures)
            skip = pytest.mark.skip(reason=why)
            metafunc.parametrize("case", [pytest.param(None, marks=skip, id="no-cases")])

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.evaluation.select(
            (case, _measures(marker, item.nodeid))
            for item in session.items
            if (marker := item.get_closest_marker("touchstone"))
            and (case := _case_of(item)) is not None
        )

    def begin(self, session: pytest.Session) -> str | None:
        """Start the flight; the fault for which nothing can be evaluated, where there is one."""
        if self._gold_fault is not None:
            return self._gold_fault
        option = session.config.option
        # A worker runs what it collected even where something else could not be.
        broken = session.testsfailed and not option.continue_on_collection_errors
        idle = option.collectonly or option.setupplan or (broken and self._worker_input is None)
        if idle or not self.evaluation.anything_selected:
            return None
        faults = map(self.evaluation.why_not_shown, option.touchstone_show or ())
        if fault := next(filter(None, faults), None):
            return f"--touchstone-show: {fault}"
        # Before anything is paid for; a place on the command line was looked at already.
        if _output(self._config) is None and (fault := output_fault(self._settings.reports)):
            return f"the setting `reports`: {fault}"
        self._logs.begin()
        try:
            self.evaluation.start()
        except Unusable as error:
            return self._redact(str(error))
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if (expected := self.evaluation.expectation) and reporter is not None:
            reporter.write_line(expected)
        return None

    def plan(self, session: pytest.Session) -> list[str]:
        """What a session with this selection would ask of whom.

        :raises pytest.UsageError: where nothing can be told.
        """
        if self._gold_fault is not None:
            raise pytest.UsageError(self._gold_fault)
        if session.testsfailed:
            return ["plan: something could not be collected, so nothing is planned"]
        if not self.evaluation.anything_selected:
            return ["plan: nothing that is selected asks anybody"]
        try:
            return [printable(line, _LONGEST_LINE) for line in self.evaluation.expected()]
        except Unusable as error:
            raise pytest.UsageError(self._redact(str(error))) from None

    def _tell(self, line: str) -> None:
        """Tell the reader at once; workers have no terminal, and the summary tells it again."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(printable(line, _LONGEST_LINE))

    # -- one test -------------------------------------------------------------------------

    @pytest.fixture
    def case(self) -> Case:
        """The gold question; the mark `touchstone(...)` makes one test of each."""
        pytest.fail("`case` and `scores` need the mark `touchstone(...)`", pytrace=False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._running = _Running.of(item)

    @pytest.fixture
    def scores(self, case: Case) -> CaseScores:
        """The scores of the system under test for this case, by measure."""
        # Not by `request`, whose making costs as much as all else that is done here.
        running = self._running
        if running is None or running.marker is None:
            pytest.fail("`case` and `scores` need the mark `touchstone(...)`", pytrace=False)
        item = running.item
        failure = None
        try:
            found = self.evaluation.scores(case, _measures(running.marker, item.nodeid))
        except FlightError as error:
            failure = self._redact(str(error))
        if failure is not None:  # out of `except`, which would show what led to it as well
            pytest.fail(failure, pytrace=False)
        for measure, score in found.items():
            value = score.reason if score.value is None else score.value
            item.user_properties.append((measure.name, value))
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        without_secrets(report, self._redact)
        if self._running is None or self._running.item is not item:
            self._running = _Running.of(item)
        case = self._running.case
        # Builtins only: these travel from worker to controller.
        if self._running.marker is not None:
            report.touchstone = True  # type: ignore[attr-defined]
        if case is not None:
            report.touchstone_case = case.id  # type: ignore[attr-defined]
        if call.excinfo is None or not isinstance(call.excinfo.value, BelowFloor):
            return report
        lines = [printable(line, _LONGEST_LINE) for line in call.excinfo.value.lines]
        if self._strict:
            # What is wrong with the answer, not where in the dimension module it was seen.
            asked = [f"question: {printable(case.question, _LONGEST_LINE)}"] if case else []
            report.longrepr = "\n".join([*lines, *asked])
        else:
            report.touchstone_low = lines  # type: ignore[attr-defined]
            report.outcome = "passed"
            report.longrepr = None
        return report

    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, tuple[str, Mapping[str, bool]]] | None:
        if hasattr(report, "touchstone_low"):
            return "low", "l", ("LOW", {"yellow": True})
        return None

    def pytest_runtest_logstart(self) -> None:
        """Workers have no terminal: what judging may cost is told when their first test begins."""
        if self._is_controller and not self._expectation_told:
            self._expectation_told = True
            reporter = self._config.pluginmanager.get_plugin("terminalreporter")
            expected = expectation_of(self._settings, self._process.run_id)
            if expected is not None and reporter is not None:
                reporter.ensure_newline()
                reporter.write_line(expected)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._cases_reported |= hasattr(report, "touchstone_case")
        self._to_be_gated |= hasattr(report, "touchstone")
        if lines := getattr(report, "touchstone_low", None):
            self._low.append((report.nodeid, lines))

    # -- several processes ----------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        process = self._process
        node.workerinput[_WORKER_INPUT] = [process.run_id, process.started_at, process.session]
        if self._replay is not None:
            hand_over(node, self._settings)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", None) or {}
        self._failure = self._failure or output.get(_WORKER_FAILURE)

    @property
    def _is_controller(self) -> bool:
        """Whether other processes run this session's tests."""
        return self._config.pluginmanager.has_plugin("dsession")

    def failed(self, why: str) -> None:
        """Remember why this process could not carry out all of the run."""
        self._failure = self._failure or self._redact(why)
        if self._worker_input is not None:
            self._config.workeroutput[_WORKER_FAILURE] = self._failure  # type: ignore[attr-defined]

    # -- the end --------------------------------------------------------------------------

    # Innermost: the terminal's own wrapper prints its summary after this one is through.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(
        self, session: pytest.Session, exitstatus: int | pytest.ExitCode
    ) -> Generator[None, object, object]:
        if self._is_controller and exitstatus == pytest.ExitCode.INTERRUPTED:
            request_stop(self._settings, self._process.run_id)
        # Where workers were cut short, they end while this hook goes on, and only the store knows
        # whether they had begun.  Otherwise all is there, and the JUnit file is not yet written.
        cut_short = self._is_controller and exitstatus in (
            pytest.ExitCode.INTERRUPTED,
            pytest.ExitCode.INTERNAL_ERROR,
        )
        begun = self._cases_reported or self.evaluation.started
        if not cut_short and (begun or (self._to_be_gated and self._settings.gates)):
            self._report(session)
        result = yield
        if cut_short:
            self._report(session)
        return result

    def pytest_unconfigure(self) -> None:
        self._logs.end()
        # What is still held is looked through for garbage when pytest ends.
        self._finished = self._running = None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._finished is None and self._failure is None and not self._gates:
            return
        terminalreporter.ensure_newline()
        terminalreporter.section("touchstone")
        for line in self._summary(self._config.get_terminal_writer().fullwidth):
            terminalreporter.write_line(line)
        write_gates(terminalreporter, self._gates, self._settings.treatment)
        if self._report_file is not None:
            terminalreporter.write_line(f"report: {self._report_file}")
            terminalreporter.write_line(f"page: {page_of(self._report_file)}")
        if self._failure is not None:
            terminalreporter.write_line(f"ERROR: {self._failure}", red=True)

    def _summary(self, width: int) -> Iterator[str]:
        if self._finished is None:
            return
        yield from self._low_lines()
        yield headline(self._finished.report)
        yield from table_lines(self._finished.report, width=width)
        if not self._settings.floors:
            yield "note: no floors are set: only a failed system is low (setting `floors`)"
        if unused := sorted(self._settings.systems.keys() - set(self._settings.roles)):
            yield f"note: defined but not part of this run: {', '.join(unused)} (setting `system`)"
        if self._summary_fault is not None:
            yield f"note: {printable(self._summary_fault, _LONGEST_LINE)}"
        if self._replay is None and (run_id := self._finished.resumable):
            option = f"--touchstone-resume={run_id[:12]}"
            yield f"note: not everything was asked; go on with it: {option}"
        for notice in self._finished.notices:
            yield f"note: {printable(notice, _LONGEST_LINE)}"

    def _low_lines(self) -> list[str]:
        verbose = self._config.get_verbosity() > 0
        shown = self._low if verbose else self._low[:_LOW_SHOWN]
        lines = [f"LOW {nodeid}: {line}" for nodeid, lines in shown for line in lines]
        if len(shown) < len(self._low):
            lines.append(f"... and {len(self._low) - len(shown)} more low cases (-v shows all)")
        return lines

    def _report(self, session: pytest.Session) -> None:
        if self._worker_input is not None:
            return
        output = _output(self._config) or self._settings.reports
        try:
            with no_collection():
                self._finished = finish(
                    self._settings,
                    self._process.run_id,
                    self._previous,
                    replayed=self._replay is not None,
                )
                self._report_file = self._finished.write(output) if self._finished else None
        except StoreError as error:
            self.failed(f"the report cannot be made: {error}")
        except OSError as error:
            stored = self._replay is None
            self.failed(unwritten(output, error, self._process.run_id if stored else None))
        if self._finished is not None and self._finished.answered == 0:
            self.failed("the system under test answered no question")
        if self._finished is not None and self._replay is not None:
            results = self._finished.report["snapshot"]["results_sha256"]
            if wrong := self._replay.compared(results):
                self.failed(wrong)
        if self._finished is not None:
            self._gates = self._finished.report["gates"]
            self._summary_fault = append_summary(os.environ, self._finished.report)
        else:
            self._gates = not_held(self._settings.parsed_gates, "nothing was evaluated")
        record_gates(self._config, self._gates)
        red = any(turns_red(entry, self._settings.treatment) for entry in self._gates)
        if session.exitstatus == pytest.ExitCode.OK and (red or self._failure is not None):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _hooked_systems(self, resources: Resources) -> dict[str, object]:
        """The systems that every implementation of the hook names.

        :raises SystemNotFound: where one fails, returns anything else, or takes another's name.
        """
        hook = "the hook pytest_touchstone_systems"
        try:
            answers = self._config.hook.pytest_touchstone_systems(
                config=self._config, resources=resources
            )
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            at = f"{Path(last.filename).name}:{last.lineno}"
            raise SystemNotFound(f"{hook} raised {type(error).__name__}: {error} ({at})") from error
        systems: dict[str, object] = {}
        for named in answers:
            if not isinstance(named, Mapping):
                raise SystemNotFound(
                    f"{hook} must return a mapping of names to systems, not {named!r:.80}"
                )
            if twice := sorted(map(str, systems.keys() & named.keys())):
                raise SystemNotFound(f"{hook} names {', '.join(twice)} in more than one place")
            systems |= named
        return systems


class Landing:
    """Waits, after the last test, for what no test waits for: baseline and variants."""

    def __init__(self, hooks: Hooks) -> None:
        self._evaluation = hooks.evaluation
        self._failed = hooks.failed

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        try:
            result = yield
        except BaseException:
            self._land(early=True)
            raise
        self._land(early=bool(session.shouldstop or session.shouldfail))
        return result

    def _land(self, *, early: bool) -> None:
        if not self._evaluation.started:
            return
        try:
            with contextlib.closing(self._evaluation):
                self._come_down(early=early)
        except (FlightError, StoreError) as error:
            self._failed(f"the evaluation is incomplete: {error}")

    def _come_down(self, *, early: bool) -> None:
        if early:
            self._evaluation.stop()
            return
        try:
            self._evaluation.drain()
        except BaseException:
            self._evaluation.stop()
            raise


class _Progress:
    """Tells a person at a terminal that texts are being embedded; one line in a log."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def __call__(self, done: int, total: int) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or (not reporter.isatty and done):
            return
        text = f"touchstone: embedding {total} texts, once; then they come from the cache"
        if not reporter.isatty:
            reporter.ensure_newline()
            reporter.write_line(text)
            return
        reporter.rewrite(f"{text}: {done}/{total}", erase=True)
        if done == total:
            reporter.write_line("")


class _Running(NamedTuple):
    """The test under way, with its mark and its gold question, where it has them."""

    item: pytest.Item
    marker: pytest.Mark | None
    case: Case | None

    @classmethod
    def of(cls, item: pytest.Item) -> _Running:
        return cls(item, item.get_closest_marker("touchstone"), _case_of(item))


def _output(config: pytest.Config) -> Path | None:
    output = config.getoption("touchstone_output")
    return config.invocation_params.dir / output if output else None


def _process(
    config: pytest.Config,
    settings: Settings,
    replay: Replay | None,
    worker_input: Mapping[str, Any] | None,
) -> Process:
    if worker_input is None and replay is not None:
        return Process(replay.run_id, replay.started_at)
    if worker_input is None:
        return new_process(settings, config.getoption("touchstone_resume"))
    run_id, started_at, session = worker_input[_WORKER_INPUT]
    workers = int(worker_input["workercount"]) * settings.shards
    return Process(run_id, started_at, workers, session)


def _measures(marker: pytest.Mark, nodeid: str) -> tuple[Measure, ...]:
    wrong = [each for each in marker.args if not isinstance(each, Measure)]
    if wrong or marker.kwargs or not marker.args:
        given = ", ".join([*map(repr, wrong), *marker.kwargs]) or "nothing"
        pytest.fail(
            f"{nodeid}: the mark `touchstone` takes measures such as `Recall @ 5`, not {given}",
            pytrace=False,
        )
    return marker.args


def _case_of(item: pytest.Item) -> Case | None:
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get("case") if callspec is not None else None
    return case if isinstance(case, Case) else None
