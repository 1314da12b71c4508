"""One run in one process: everything opened, the flight started, closed again in order."""

from __future__ import annotations

import gc
import os
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pytest_touchstone.annotations import Annotations
from pytest_touchstone.corpus.collection import Corpus
from pytest_touchstone.flight.counts import Counts
from pytest_touchstone.flight.flight import Flight
from pytest_touchstone.flight.lane import Lane
from pytest_touchstone.flight.measuring import Measuring, Scores
from pytest_touchstone.flight.observe import Observer, Work
from pytest_touchstone.flight.reading import Reading
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.flight.waits import Waits
from pytest_touchstone.gold import Case, GoldError, GoldFault, GoldSet
from pytest_touchstone.llm.prices import Prices
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.opening.collection import (
    Progress,
    counter,
    open_collection,
    open_embedding,
)
from pytest_touchstone.opening.identity import run_identity
from pytest_touchstone.opening.judging import expected_judging, open_judging
from pytest_touchstone.opening.pricing import noting_prices, open_purse, refusing_the_judge
from pytest_touchstone.opening.reuse import (
    Addresses,
    StoredAnswers,
    configurations,
    reused_systems,
)
from pytest_touchstone.opening.scoring import open_scoring
from pytest_touchstone.opening.servers import completer, open_generator
from pytest_touchstone.redact import everywhere, masker, redactor
from pytest_touchstone.repeats import averaged
from pytest_touchstone.report import Report, RunConfig, build_report
from pytest_touchstone.report.people import with_people
from pytest_touchstone.report.rows import PlanRow, ScoreRow
from pytest_touchstone.score import Score
from pytest_touchstone.settings import Settings
from pytest_touchstone.snapshot import Plan, run_config
from pytest_touchstone.store.engine import NoStoreError, Store, StoreError
from pytest_touchstone.store.rows import RunRows, read_run
from pytest_touchstone.store.run import PROGRESS, RunStart, RunStore, now
from pytest_touchstone.store.sessions import RunNotFound, find_run
from pytest_touchstone.systems.loading import Resources, load_systems

Hooked = Callable[[Resources], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Process:
    """This process's part in a run.

    :param run_id: shared by all processes of the run.
    :param started_at: ISO 8601, UTC; likewise shared.
    :param workers: how many processes share the run's limits.
    :param session: shared by the processes that were started together; a run may have several.
    """

    run_id: str
    started_at: str
    workers: int = 1
    session: str = ""


def new_process(settings: Settings, resume: str | None = None) -> Process:
    """A run of its own, the one to join, or an earlier one to resume.

    :param resume: the earlier run's id, the beginning of it, or `latest`.
    :raises RunNotFound, StoreError: where there is no such run.
    """
    session = uuid.uuid4().hex
    if resume is not None and settings.join is not None:
        raise RunNotFound(f"resume {resume!r} or join {settings.join!r}: not both")
    if resume is None:
        run_id = settings.join or uuid.uuid4().hex
        return Process(run_id, now(), settings.shards, session)
    try:
        store = Store(settings.store_url, create=False)
    except NoStoreError as error:
        raise RunNotFound(f"there is nothing to resume: {error}") from None
    try:
        run_id, started_at = find_run(store, resume)
    finally:
        store.close()
    return Process(run_id, started_at, settings.shards, session)


class Run:
    """A run under way in this process; :func:`open_run` makes one.

    :param repeats: how often the system is asked each question.
    :param opened: everything to close at the end, last opened first.
    :param expectation: what judging is expected to cost, for a reader.
    :param told: tells what nobody has been told yet.
    """

    def __init__(
        self,
        system: str,
        repeats: int,
        flight: Flight,
        run: RunStore,
        opened: ExitStack,
        expectation: str | None,
        told: Callable[[], None] = lambda: None,
    ) -> None:
        self.expectation = expectation
        self._told = told
        self._system = system
        self._repeats = repeats
        self._flight = flight
        self._run = run
        self._opened = opened

    def scores(self, case: Case, measures: Iterable[Measure]) -> Scores:
        """Wait for these scores of the system under test, by measure name; repeats are averaged.

        :raises FlightError: when they will not come.
        """
        modes = {measure.mode for measure in measures if measure.applies(case)}
        found: dict[str, Score] = {}
        for mode in sorted(modes):
            repeats = [
                self._flight.scores(case.id, self._system, mode, repeat)
                for repeat in range(self._repeats)
            ]
            found |= {name: averaged([scores[name] for scores in repeats]) for name in repeats[0]}
        return found

    @property
    def counts(self) -> tuple[Counts, ...]:
        """How far this process's calls to each system, to the judge and to the scorer are."""
        return self._flight.counts

    def tell(self, session: str) -> None:
        """Let whoever shows the run's progress know how far this process is.

        :param session: the one that this process belongs to.
        """
        told = [asdict(each) for each in self.counts]
        with suppress(StoreError):  # closed: the run is over
            self._run.note_again(PROGRESS, f"{session}/{self._run.owner}", told)

    def drain(self) -> None:
        """Wait until the whole plan is done, by whichever process.

        :raises FlightError: when it will not be.
        """
        self._flight.drain()

    def stop(self) -> None:
        """End early, here and in the run's other processes."""
        with suppress(StoreError):  # whoever stops may do so because the store failed
            self._run.request_stop()
        self._flight.stop()

    def close(self) -> None:
        """Note what this process learned and close what was opened."""
        self._flight.stop()
        with suppress(StoreError):
            self._told()
            self._run.note("peak_in_flight", self._run.owner, self._flight.peak_in_flight)
            self._run.farewell()
        self._opened.close()


def open_run(
    settings: Settings,
    plan: Plan,
    process: Process,
    *,
    root: Path,
    hooked: Hooked,
    people: Annotations,
    progress: Progress,
    tell: Callable[[str], None],
) -> Run:
    """Open everything that the plan needs, check it, and put the plan in flight.

    :param root: the project's folder, whose commit the report names.
    :param hooked: systems that the hook names, given what they may use.
    :param people: what people said of answers.
    :param progress: told of texts embedded so far and in all, while the first run embeds.
    :param tell: tells the reader a line, in the thread that waits for a score.
    :raises GoldError: where gold questions and collection contradict each other.
    :raises CorpusError, EmbedderError, VectorCacheError, ChatError, SystemNotFound, StoreError:
        one line each.
    """
    # Whatever was collected stays to the end, once what is garbage is gone: nobody need look again.
    gc.collect()
    gc.freeze()
    with ExitStack() as opened:
        threads = DaemonThreads("touchstone-resources")
        opened.callback(threads.close)
        embedder = open_embedding(settings, progress, opened)
        corpus = open_collection(settings, embedder, opened, process.workers)
        if corpus is not None:
            check_against(corpus, plan.gold, settings)
        mask = masker(os.environ, settings.secrets())
        chat = open_generator(settings, mask)
        waits = Waits()
        complete = completer(chat, settings, process.workers, waits.of("generator"))
        resources = Resources(corpus, complete, threads.run)
        systems = load_systems(settings.roles, settings, hooked(resources), resources)
        store = Store(settings.store_url)
        opened.callback(store.close)
        run = RunStore(store, process.run_id, uuid.uuid4().hex)
        embedded = embedder.identity if embedder else None
        described = None if corpus is None else corpus.describe(_chunk_ids(plan.gold))
        config = run_config(settings, plan, systems, embedder=embedded, corpus=described, root=root)
        works = planned_works(plan, settings)
        redact = redactor(os.environ, settings.secrets())
        config = everywhere(redact, config)
        planned = _plan_rows(works)
        configured = configurations(systems, settings, embedded, described)
        identity = run_identity(config, planned, configured, settings)
        run.begin(_start(process, config, identity), plan.cases, planned).result()
        run.look_for_unfinished()
        lanes = {name: Lane(system, workers=process.workers) for name, system in systems.items()}
        for name, lane in lanes.items():
            if lane.notice:
                run.note("notice", name, lane.notice)
        if unknown := people.unknown({case.id for case in plan.gold.cases}):
            run.note("notice", "annotations", unknown)
        prices = noting_prices(Prices(settings.prices, settings.provider), run)
        purse = open_purse(settings, store, run)
        bench = open_judging(
            settings,
            store,
            run,
            threads,
            prices,
            embedder,
            corpus,
            process.workers,
            mask,
            waits,
            purse,
        )
        addresses = Addresses(configured)
        scoring = open_scoring(
            settings, store, run, threads, embedder, process.workers, mask, waits
        )

        def tell_waits() -> None:
            for line in waits.new():
                run.note("notice", line, line)
                tell(line)

        reading = Reading(bench.judging, scoring)
        flight = Flight(
            works,
            lanes,
            Observer(
                count=counter(corpus, threads),
                price=refusing_the_judge(prices, settings),
                redact=redact,
                mask=mask,
                citation_pattern=settings.citation_pattern,
                recall=StoredAnswers(
                    store, run, threads, addresses, reused_systems(settings), works
                ),
                address=addresses.of,
                purse=purse,
            ),
            run,
            awaited=settings.system,
            patience=settings.patience,
            meanwhile=tell_waits,
            reading=reading,
            measuring=Measuring(reading.engine, people.score),
            judge_calls=0 if settings.judge is None else settings.judge.concurrency,
            canaries=bench.canaries,
            holds=(*bench.holds, *(() if scoring is None else (scoring.hold,))),
            closers=(
                *bench.closers,
                *(() if chat is None else (chat.aclose,)),
                *(() if scoring is None else (scoring.close,)),
            ),
        )
        expectation = expected_judging(works, settings)
        if expectation is not None:
            run.note("expectation", "judging", expectation).result()
        flight.start()
        return Run(
            settings.system,
            settings.repeats,
            flight,
            run,
            opened.pop_all(),
            expectation,
            tell_waits,
        )


def _start(process: Process, config: RunConfig, identity: Mapping[str, str]) -> RunStart:
    return RunStart(
        id=process.run_id,
        started_at=process.started_at,
        config=config,
        dataset_path=config["dataset"]["path"],
        dataset_sha256=config["dataset"]["sha256"],
        commit_sha=config["commit"],
        identity=identity,
        session=process.session,
    )


def finish_run(
    settings: Settings, run_id: str, *, replayed: bool = False
) -> tuple[Report, list[str]] | None:
    """The report of a run and its notices, from the store's rows alone.

    ``None`` where the store does not know the run: nothing was evaluated.

    :param replayed: the run ended when it did, not now.
    :raises StoreError: where there is a store, and it cannot be read.
    """
    try:
        store = Store(settings.store_url, create=False)
    except NoStoreError:
        return None
    try:
        if not replayed:
            with suppress(StoreError):  # a store that takes nothing more can still be read
                RunStore(store, run_id, "report").finish().result()
        rows = read_run(store, run_id)
    finally:
        store.close()
    if rows is None:
        return None
    return _report(rows, rows.scores), [str(line) for line in rows.notes.get("notice", {}).values()]


def report_again(settings: Settings, run_id: str, people: Annotations) -> Report | None:
    """The report of a finished run with what people said of its answers since.

    ``None`` where the store does not know the run.

    :raises StoreError: where there is no store, or it cannot be read.
    """
    store = Store(settings.store_url, create=False)
    try:
        rows = read_run(store, run_id)
    finally:
        store.close()
    if rows is None:
        return None
    return _report(rows, with_people(rows.scores, rows.questions, people))


def _report(rows: RunRows, scores: Iterable[ScoreRow]) -> Report:
    return build_report(
        rows.run,
        cases=rows.cases,
        plan=rows.plan,
        questions=rows.questions,
        scores=scores,
        passages=rows.passages,
    )


def check_against(corpus: Corpus, gold: GoldSet, settings: Settings) -> None:
    """Find gold labels that the collection contradicts, all in one go.

    :raises GoldError: gold chunks that the collection does not hold; ``behavior`` on a question
        whose filters do select something.
    """
    faults = []
    wanted = {
        chunk_id: (case, index)
        for case in gold.cases
        for index, chunk in enumerate(case.gold_chunks)
        for chunk_id in chunk.ids
    }
    name = settings.corpus.collection if settings.corpus else ""
    for chunk_id in corpus.missing(wanted):
        case, index = wanted[chunk_id]
        message = f"collection {name!r} holds no chunk {chunk_id!r}"
        faults.append(GoldFault(gold.file, case.line, f"gold_chunks[{index}]", message))
    for case in gold.cases:
        if case.behavior and case.filters and (selected := corpus.count(case.filters)):
            message = f"is for filters that match nothing; these select {selected} chunks"
            faults.append(GoldFault(gold.file, case.line, "behavior", message))
    if faults:
        raise GoldError(sorted(faults, key=lambda fault: (fault.line or 0, fault.message)))


def _chunk_ids(gold: GoldSet) -> set[str]:
    """Every chunk that some gold question names."""
    return {i for case in gold.cases for chunk in case.gold_chunks for i in chunk.ids}


def planned_works(plan: Plan, settings: Settings) -> list[Work]:
    """The plan as units of work: a case, a system, one of its repeats, and one of two ways to play.

    Every system is asked as often as the others, so that differences stay paired.
    Steps of the ladder are judged only where the settings ask for it, since judging is what costs.
    """
    unjudged = set(settings.variants)
    if settings.judge is not None and settings.judge.variants:
        unjudged = set()
    return [
        Work(case, system, measures, repeat, mode, judged=system not in unjudged)
        for mode in ("recorded", "live")
        for case in plan.cases
        for system in settings.roles
        for repeat in range(settings.repeats)
        if (
            measures := tuple(
                m
                for m in plan.measures[case.id]
                if m.mode == mode and not ((m.judged or m.scored) and system in unjudged)
            )
        )
    ]


def _plan_rows(works: Sequence[Work]) -> list[PlanRow]:
    return [
        PlanRow(work.case.id, work.system, measure.name, work.repeat, work.mode)
        for work in works
        for measure in work.measures
    ]
