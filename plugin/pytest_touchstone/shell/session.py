"""An evaluation within one test session: what is selected, measured, waited for and reported.

Knows no pytest: the hooks translate between the two.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_touchstone.annotations import Annotations
from pytest_touchstone.bundling.replay import Replay
from pytest_touchstone.dataset import read_annotations, read_gold
from pytest_touchstone.flight.counts import Counts
from pytest_touchstone.floors import CaseScores
from pytest_touchstone.forms import page
from pytest_touchstone.garbage import no_collection
from pytest_touchstone.gate import Previous, gate_entries
from pytest_touchstone.gold import Case, GoldError, GoldFault, GoldSet
from pytest_touchstone.gold.sampling import stratified_sample
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.opening.collection import Progress
from pytest_touchstone.planning import plan_lines
from pytest_touchstone.report.case_text import unknown_case
from pytest_touchstone.report.cases import outcomes
from pytest_touchstone.report.index import NOT_RUN
from pytest_touchstone.report.model import Report, json_pieces, report_name
from pytest_touchstone.report_file import read_report
from pytest_touchstone.reproducing.here import Here, look_around
from pytest_touchstone.run import Hooked, Process, Run, finish_run, open_run
from pytest_touchstone.score import BUDGET, NEEDS_JUDGE
from pytest_touchstone.settings import Settings
from pytest_touchstone.snapshot import Plan
from pytest_touchstone.store.engine import Store, StoreError
from pytest_touchstone.store.run import RunStore

_SHOWN = 12  # of a run's id


class Evaluation:
    """One process's evaluation.

    :param root: the project's folder.
    :param process: this process's part in the run.
    :param hooked: systems that the hook names.
    :param progress: told of texts embedded so far and in all.
    :param tell: tells the reader a line while a test waits.
    :param replay: the bundle that everything comes from, where the run is a replay.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        root: Path,
        process: Process,
        hooked: Hooked,
        progress: Progress,
        tell: Callable[[str], None],
        replay: Replay | None = None,
    ) -> None:
        self._replay = replay
        self._settings = settings
        self._root = root
        self._process = process
        self._hooked = hooked
        self._progress = progress
        self._tell = tell
        self._selected: dict[str, set[Measure]] = {}
        self._order: dict[Measure, None] = {}
        self._run: Run | None = None
        self._landed: tuple[Counts, ...] | None = None

    @cached_property
    def gold(self) -> GoldSet:
        """The gold questions, read when the first test asks for them.

        :raises GoldError: with every fault of the file.
        """
        if self._replay:
            return self._replay.gold
        with no_collection():
            return read_gold(self._settings.dataset)

    @cached_property
    def annotations(self) -> Annotations:
        """What people said of answers, beside the gold questions.

        :raises AnnotationError: with every fault of a file.
        """
        if self._replay:
            return self._replay.annotations
        return read_annotations(self._settings.dataset.parent)

    @cached_property
    def scope(self) -> tuple[Case, ...]:
        """The gold questions of this run: the half that was asked for, or a sample."""
        split, size = self._settings.split, self._settings.sample
        cases = [case for case in self.gold.cases if split in (None, case.split)]
        return tuple(cases if size is None else stratified_sample(cases, size))

    def cases_for(self, measures: Sequence[Measure]) -> list[Case]:
        """The gold questions that carry labels for at least one of the measures.

        :raises GoldError: with every fault of the file, or where it lacks the half asked for.
        """
        split = self._settings.split
        if split is not None and all(case.split != split for case in self.gold.cases):
            message = f"no gold question has {split!r} here, and only these were asked for"
            raise GoldError([GoldFault(self.gold.file, 0, "split", message)])
        possible = self._possible(measures)
        return [case for case in self.scope if any(self._takes(case, m) for m in possible)]

    def _takes(self, case: Case, measure: Measure) -> bool:
        """Whether the run can take the measure of the case."""
        if self._replay:
            return (case.id, measure.name) in self._replay.planned
        return measure.applies(case)

    def why_no_cases(self, measures: Sequence[Measure]) -> str:
        """Why :meth:`cases_for` found none."""
        if self._replay:
            return "the bundle holds none of these measures"
        if not self._possible(measures):
            return "no judge is configured: set `judge` to a model that judges"
        names = ", ".join(measure.name for measure in measures)
        return f"no gold question has the labels that {names} need"

    def _possible(self, measures: Sequence[Measure]) -> list[Measure]:
        """The measures that this run can take.

        What is judged needs a judge, or people.  What a scorer says is planned without one too:
        `touchstone coverage` can score a store later.
        """
        if self._replay:
            return [m for m in measures if m.name in self._replay.measures]
        if self._settings.judge is not None:
            return list(measures)
        annotated = self.annotations.measures
        return [m for m in measures if not m.judged or m.name in annotated]

    def select(self, wanted: Iterable[tuple[Case, Sequence[Measure]]]) -> None:
        """Take note of what the collected tests want measured; pays for nothing else."""
        for case, measures in wanted:
            possible = self._possible(measures)
            self._order.update(dict.fromkeys(possible))
            self._selected.setdefault(case.id, set()).update(m for m in possible if m.applies(case))

    def why_not_shown(self, case: str) -> str | None:
        """Why a case cannot be shown at the end, where nothing selected asks about it."""
        if case in self._selected:
            return None
        known = [each.id for each in self.gold.cases]
        if case not in known:
            return str(unknown_case(case, known, self.gold.file))
        return f"{case}: no test that is selected here asks about it, so it cannot be shown"

    @property
    def anything_selected(self) -> bool:
        """Whether some collected test asks for a score."""
        return bool(self._selected)

    def start(self) -> None:
        """Put the selection in flight; a replay all of what it replays, for it costs nothing."""
        if self._replay:
            self._run = self._replay.open(self._settings, self._process)
            return
        with no_collection():
            self._run = open_run(
                self._settings,
                self._plan(),
                self._process,
                root=self._root,
                hooked=self._hooked,
                people=self.annotations,
                progress=self._progress,
                tell=self._tell,
            )

    def expected(self) -> list[str]:
        """What :meth:`start` would ask of whom, line by line."""
        return list(plan_lines(self._settings, self._plan(), self._process.run_id))

    def look_around(self, report: Report) -> Here:
        """What :meth:`start` would start with, so far as it concerns a report."""
        return look_around(
            self._settings,
            self._plan(),
            report,
            root=self._root,
            hooked=self._hooked,
            progress=self._progress,
        )

    def _plan(self) -> Plan:
        return Plan(
            self.gold,
            tuple(self._order),
            {
                case_id: tuple(m for m in self._order if m in chosen)
                for case_id, chosen in self._selected.items()
            },
            self.scope,
        )

    @property
    def expectation(self) -> str | None:
        """What judging is expected to cost, in one line."""
        return self._run.expectation if self._run else None

    @property
    def started(self) -> bool:
        """Whether anything was put in flight."""
        return self._run is not None or self._landed is not None

    def scores(self, case: Case, measures: Sequence[Measure]) -> CaseScores:
        """Wait for the case's scores of the system under test.

        :raises FlightError: when they will not come.
        """
        found = self._under_way.scores(case, self._possible(measures))
        by_measure = {m: found[m.name] for m in measures if m.name in found}
        return CaseScores(by_measure, self._settings.floors)

    @property
    def counts(self) -> tuple[Counts, ...]:
        """How far this process's calls to each endpoint are; empty before there are any."""
        return self._run.counts if self._run else self._landed or ()

    def tell(self) -> bool:
        """Let whoever shows the run's progress know how far this process is, once it has begun."""
        if self._run is None:
            return False
        self._run.tell(self._process.session)
        return True

    def drain(self) -> None:
        """Wait for everything that was put in flight, baseline and variants included."""
        self._under_way.drain()

    def stop(self) -> None:
        """End early, in all processes of the run."""
        self._under_way.stop()

    def close(self) -> None:
        """Close what :meth:`start` opened, and make room for the report."""
        self._under_way.close()
        self._landed = self._under_way.counts
        self._run = None
        self._selected.clear()

    @property
    def _under_way(self) -> Run:
        if self._run is None:
            raise RuntimeError("the evaluation was not started")
        return self._run


@dataclass(frozen=True)
class Finished:
    """What is left of a run: its report, and lines for the reader.

    :param notices: one line each, about how the run was carried out.
    """

    report: Report
    notices: Sequence[str]

    @property
    def answered(self) -> int:
        """Cases of the system under test that were asked and got a usable answer."""
        return self._state[0]

    @property
    def resumable(self) -> str | None:
        """Id of the run, where it ended before everything was asked."""
        return self.report["snapshot"]["run"]["id"] if self._state[1] else None

    @cached_property
    def _state(self) -> tuple[int, bool]:
        """How many answers there are, and whether something was left."""
        name = self.report["snapshot"]["roles"]["system"]
        answered, cut = 0, False
        judge = self.report["snapshot"]["models"].get("judge", {}).get("model")
        # Where there is a judge, an answer without a verdict was not read any more.
        cut_short = {NOT_RUN, BUDGET} | ({NEEDS_JUDGE} if judge else set())
        for system, failed, reasons in outcomes(self.report):
            cut = cut or not cut_short.isdisjoint(reasons)
            if system == name and not failed and NOT_RUN not in reasons:
                answered += 1
        return answered, cut

    def write(self, output: Path) -> Path:
        """Write the report, beside it its page, and say where the report is.

        :param output: a ``.json`` file, or a folder in which the report gets a name of its own.
        :raises OSError: where it cannot be written.
        """
        is_file = output.suffix == ".json"
        (output.parent if is_file else output).mkdir(parents=True, exist_ok=True)
        snapshot = self.report["snapshot"]
        name = report_name(snapshot["run"]["started_at"], snapshot["commit"])
        target = output if is_file else _reserved(output / name)
        try:
            _write(target, json_pieces(self.report))
        except OSError:
            if not is_file:
                target.unlink(missing_ok=True)
            raise
        _write(page_of(target), page(self.report))
        return target


def page_of(report_file: Path) -> Path:
    """The file of a report's page."""
    return report_file.with_suffix(".html")


def _write(target: Path, pieces: Iterable[str]) -> None:
    """Never half a file, whatever happens while it is written."""
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.writelines(pieces)
        partial.replace(target)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def finish(
    settings: Settings, run_id: str, previous: Previous | None, *, replayed: bool = False
) -> Finished | None:
    """The report of a run, built from its rows, with its gates; ``None`` where nothing was
    evaluated.

    :param previous: the earlier report that gates compare with.
    :param replayed: the run ended when it did, not now.
    :raises StoreError: where the rows cannot be read.
    """
    found = finish_run(settings, run_id, replayed=replayed)
    if found is None:
        return None
    report, notices = found
    report["gates"] = gate_entries(settings.parsed_gates, report, previous)
    return Finished(report, notices)


def previous_report(settings: Settings) -> Previous | None:
    """The earlier report that some gate compares with, where one does.

    :raises UnreadableReport: where the file is no report.
    """
    if settings.previous is None:
        return None
    if all(gate.reference != "previous" for gate in settings.parsed_gates):
        return None
    return Previous(read_report(settings.previous), settings.previous.name)


def expectation_of(settings: Settings, run_id: str) -> str | None:
    """What the processes of a run expect judging to cost, in one line."""
    with contextlib.suppress(StoreError):
        store = Store(settings.store_url, create=False)
        try:
            told = RunStore(store, run_id, "controller").noted("expectation", "judging")
            return None if told is None else str(told)
        finally:
            store.close()
    return None


def request_stop(settings: Settings, run_id: str) -> None:
    """Ask the processes of a run, where there is one, to end early."""
    with contextlib.suppress(StoreError):  # they end without it too, only later
        store = Store(settings.store_url, create=False)
        try:
            RunStore(store, run_id, "controller").request_stop().result()
        finally:
            store.close()


def output_fault(output: Path) -> str | None:
    """Why no report can be written there, as far as can be seen before there is one."""
    is_file = output.suffix == ".json"
    if is_file and output.is_dir():
        return f"{output} is a folder; a file is meant where the name ends in .json"
    folder = output.parent if is_file else output
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        return f"{folder} is no folder"
    return None if os.access(folder, os.W_OK) else f"{folder} cannot be written to"


def unwritten(output: Path, error: OSError, run_id: str | None) -> str:
    """Why there is no report, and how to get it nevertheless.

    :param run_id: the run in the store, where it is in one.
    """
    fault = f"the report cannot be written: {output}: {error.strerror or error}"
    if run_id is None:
        return fault
    again = f"touchstone report {run_id[:_SHOWN]} --format json --output FILE"
    return f"{fault}; the results are in the store: `{again}` writes it elsewhere"


def _reserved(path: Path) -> Path:
    """``path`` as an empty file of our own; with a number where a run of that second has it."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in itertools.count(2))
    for free in itertools.chain([path], numbered):
        with contextlib.suppress(FileExistsError):
            free.touch(exist_ok=False)
            return free
    raise AssertionError("numbers do not run out")
