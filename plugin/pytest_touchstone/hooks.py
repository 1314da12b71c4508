"""The hooks of a session that evaluates: they translate, `session` decides."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import pytest

from pytest_touchstone.chunks import ChunksError
from pytest_touchstone.corpus import CorpusError
from pytest_touchstone.embedder import EmbedderError
from pytest_touchstone.flight.flight import FlightError
from pytest_touchstone.floors import BelowFloor, CaseScores
from pytest_touchstone.gold import Case, GoldError
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.report.table import table_lines
from pytest_touchstone.run import Process, new_process
from pytest_touchstone.session import Evaluation, Finished, finish
from pytest_touchstone.settings import Settings, SettingsError, load_settings
from pytest_touchstone.store.engine import StoreError
from pytest_touchstone.systems.loading import Resources, SystemNotFound
from pytest_touchstone.vectors import VectorCacheError

_REFUSALS = (
    GoldError,
    ChunksError,
    CorpusError,
    EmbedderError,
    VectorCacheError,
    SystemNotFound,
    StoreError,
)
_WORKER_INPUT = "touchstone_run"
_WORKER_FAULT = "touchstone_fault"
_LOW_SHOWN = 20


def register(config: pytest.Config, default_settings: str) -> None:
    """Make this session one that evaluates.

    :raises pytest.UsageError: for faulty settings, before anything is collected.
    """
    file = config.getoption("touchstone_settings") or config.rootpath / default_settings
    folder = config.invocation_params.dir
    overrides: dict[str, Any] = {}
    if dataset := config.getoption("touchstone_dataset"):
        overrides["dataset"] = str(folder / dataset)
    if system := config.getoption("touchstone_system"):
        overrides["system"] = system
    if baseline := config.getoption("touchstone_baseline"):
        overrides["baseline"] = None if baseline == "none" else baseline
    try:
        settings = load_settings(folder / file, overrides=overrides)
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from None
    hooks = Hooks(config, settings)
    config.pluginmanager.register(hooks, "touchstone-hooks")
    config.pluginmanager.register(Landing(hooks.evaluation), "touchstone-landing")


class Hooks:
    """Collection, cases, scores, outcomes and the report of one session."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config = config
        self._settings = settings
        self._strict = bool(config.getoption("touchstone_strict"))
        self._worker_input = getattr(config, "workerinput", None)
        self._process = _process(self._worker_input)
        self.evaluation = Evaluation(
            settings,
            root=config.rootpath,
            process=self._process,
            hooked=self._hooked_systems,
            progress=_Progress(config),
        )
        self._fault: str | None = None
        self._cases_reported = False
        self._low: list[tuple[str, Sequence[str]]] = []
        self._finished: Finished | None = None

    # -- collection -----------------------------------------------------------------------

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        marker = metafunc.definition.get_closest_marker("touchstone")
        if marker is None or "case" not in metafunc.fixturenames:
            return
        measures = _measures(marker, metafunc.definition.nodeid)
        try:
            cases = self.evaluation.cases_for(measures)
        except GoldError as error:
            self._fault, cases = str(error), []
        if cases:
            metafunc.parametrize("case", cases, ids=[case.id for case in cases])
        else:
            names = ", ".join(measure.name for measure in measures)
            why = f"no gold question has the labels that {names} need"
            skip = pytest.mark.skip(reason=why)
            metafunc.parametrize("case", [pytest.param(None, marks=skip, id="no-cases")])

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.evaluation.select(
            (case, _measures(marker, item.nodeid))
            for item in session.items
            if (marker := item.get_closest_marker("touchstone"))
            and (case := _case_of(item)) is not None
        )

    # -- one test -------------------------------------------------------------------------

    @pytest.fixture
    def scores(self, request: pytest.FixtureRequest, case: Case) -> CaseScores:
        """The scores of the system under test for this case, by measure."""
        marker = request.node.get_closest_marker("touchstone")
        if marker is None:
            raise pytest.UsageError("the fixture `scores` needs the mark `touchstone(...)`")
        try:
            found = self.evaluation.scores(case, _measures(marker, request.node.nodeid))
        except FlightError as error:
            pytest.fail(str(error), pytrace=False)
        for measure, score in found.items():
            value = score.reason if score.value is None else score.value
            request.node.user_properties.append((measure.name, value))
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if (case := _case_of(item)) is not None:
            # Builtins only: this travels from worker to controller.
            report.touchstone_case = case.id  # type: ignore[attr-defined]
        if call.excinfo is not None and isinstance(call.excinfo.value, BelowFloor):
            report.touchstone_low = list(call.excinfo.value.lines)  # type: ignore[attr-defined]
            if not self._strict:
                report.outcome = "passed"
                report.longrepr = None
        return report

    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, tuple[str, Mapping[str, bool]]] | None:
        if report.passed and getattr(report, "touchstone_low", None):
            return "low", "l", ("LOW", {"yellow": True})
        return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._cases_reported |= hasattr(report, "touchstone_case")
        if lines := getattr(report, "touchstone_low", None):
            self._low.append((report.nodeid, lines))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Start the flight; ``True`` keeps any test from running."""
        if self._fault:
            return self._refuse(session, self._fault)
        broken = session.testsfailed and not session.config.option.continue_on_collection_errors
        if broken or session.config.option.collectonly or not self.evaluation.anything_selected:
            return None
        try:
            self.evaluation.start()
        except _REFUSALS as error:
            return self._refuse(session, str(error))
        return None

    # -- several processes ----------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_WORKER_INPUT] = [self._process.run_id, self._process.started_at]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        output = getattr(node, "workeroutput", None) or {}
        self._fault = self._fault or output.get(_WORKER_FAULT)

    @property
    def _is_controller(self) -> bool:
        """Whether other processes run this session's tests."""
        return self._config.pluginmanager.has_plugin("dsession")

    def _refuse(self, session: pytest.Session, fault: str) -> bool:
        """End the session because nothing can be evaluated.

        :raises pytest.UsageError: except in a worker, whose controller says it for all.
        """
        if self._worker_input is None:
            raise pytest.UsageError(fault)
        self._config.workeroutput[_WORKER_FAULT] = fault  # type: ignore[attr-defined]
        session.shouldstop = "the evaluation was refused"
        return True

    # -- the end --------------------------------------------------------------------------

    # Innermost: the terminal's own wrapper prints its summary after this one is through.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(
        self, session: pytest.Session, exitstatus: int | pytest.ExitCode
    ) -> Generator[None, object, object]:
        if self._is_controller and exitstatus == pytest.ExitCode.INTERRUPTED:
            self._stop_workers()
        result = yield
        if self._worker_input is not None:
            return result
        if self._is_controller and self._fault:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        elif self._cases_reported or self.evaluation.started:
            self._report(session)
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._is_controller and self._fault:
            terminalreporter.section("touchstone", red=True)
            terminalreporter.write_line(f"ERROR: {self._fault}")
        if self._finished is None:
            return
        terminalreporter.section("touchstone")
        for line in self._low_lines():
            terminalreporter.write_line(line)
        width = terminalreporter._tw.fullwidth
        for line in table_lines(self._finished.report, width=width):
            terminalreporter.write_line(line)
        for line in self._finished.notices:
            terminalreporter.write_line(f"note: {line}")
        terminalreporter.write_line(f"report: {self._finished.path}")

    def _low_lines(self) -> list[str]:
        verbose = self._config.get_verbosity() > 0
        shown = self._low if verbose else self._low[:_LOW_SHOWN]
        lines = [f"LOW {nodeid}: {line}" for nodeid, lines in shown for line in lines]
        if len(shown) < len(self._low):
            lines.append(f"... and {len(self._low) - len(shown)} more low cases (-v shows all)")
        return lines

    def _report(self, session: pytest.Session) -> None:
        output = self._config.getoption("touchstone_output")
        path = self._config.invocation_params.dir / output if output else None
        try:
            self._finished = finish(self._settings, self._process.run_id, path)
        except (StoreError, OSError) as error:
            raise pytest.UsageError(f"the report cannot be written: {error}") from error
        nobody_answered = self._finished is not None and self._finished.answered == 0
        if session.exitstatus == pytest.ExitCode.OK and nobody_answered:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _stop_workers(self) -> None:
        from pytest_touchstone.store.engine import Store
        from pytest_touchstone.store.run import RunStore

        try:
            store = Store(self._settings.store_url, create=False)
        except StoreError:
            return
        RunStore(store, self._process.run_id, "controller").request_stop().result()
        store.close()

    def _hooked_systems(self, resources: Resources) -> dict[str, object]:
        systems: dict[str, object] = {}
        named = self._config.hook.pytest_touchstone_systems(
            config=self._config, resources=resources
        )
        for mapping in named:
            systems |= mapping
        return systems


class Landing:
    """Waits, after the last test, for what no test waits for: baseline and variants.

    Apart from :class:`Hooks`, which starts the flight in the same hook without wrapping it.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        evaluation = self._evaluation
        try:
            result = yield
            if evaluation.started and not (session.shouldstop or session.shouldfail):
                evaluation.drain()
        except FlightError as error:
            raise session.Failed(f"touchstone: {error}") from error
        except BaseException:
            if evaluation.started:
                evaluation.stop()
            raise
        else:
            if evaluation.started and (session.shouldstop or session.shouldfail):
                evaluation.stop()
        finally:
            if evaluation.started:
                evaluation.close()
        return result


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


def _process(worker_input: Mapping[str, Any] | None) -> Process:
    if worker_input is None:
        return new_process()
    run_id, started_at = worker_input[_WORKER_INPUT]
    return Process(run_id, started_at, workers=int(worker_input["workercount"]))


def _measures(marker: pytest.Mark, nodeid: str) -> tuple[Measure, ...]:
    for measure in marker.args:
        if not isinstance(measure, Measure):
            pytest.fail(
                f"{nodeid}: the mark `touchstone` takes measures such as `Recall @ 5`,"
                f" not {measure!r}",
                pytrace=False,
            )
    return marker.args


def _case_of(item: pytest.Item) -> Case | None:
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get("case") if callspec is not None else None
    return case if isinstance(case, Case) else None
