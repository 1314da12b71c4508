"""A report made again from a bundle: systems, judge and scorer are not asked, there is no network.

It is a run that resumes: its answers are there, as if nobody had read them yet, and so are the
results of the calls that read them.  Whatever is not there has no value, and says so.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, cast

from pytest_touchstone.annotations import Annotations, is_opinion
from pytest_touchstone.bundling.file import Bundle, BundleError
from pytest_touchstone.flight.endpoint import Endpoint
from pytest_touchstone.flight.flight import Flight
from pytest_touchstone.flight.judge_calls import JudgeCalls, is_complete
from pytest_touchstone.flight.judging import Judging
from pytest_touchstone.flight.lane import Lane
from pytest_touchstone.flight.measuring import Measuring, Settled
from pytest_touchstone.flight.observe import Observer, Work
from pytest_touchstone.flight.reading import Reading
from pytest_touchstone.flight.scoring import Scoring, is_scored
from pytest_touchstone.flight.shared import SharedCalls
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.gold import Case, GoldSet, parse_gold
from pytest_touchstone.judge.deepeval_metrics import open_deepeval
from pytest_touchstone.judge.llm import ALL_PROMPTS, LLMJudge
from pytest_touchstone.judge.second_opinion import CRITERIA, SecondOpinion
from pytest_touchstone.llm.chat import ChatError, Completion
from pytest_touchstone.llm.prompts import load_prompt
from pytest_touchstone.measures import parse
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.opening.reuse import Addresses, StoredAnswers
from pytest_touchstone.report import RunConfig
from pytest_touchstone.run import Process, Run
from pytest_touchstone.score import Score
from pytest_touchstone.scorer.protocol import Covered, Scorer, SwitchedOff
from pytest_touchstone.settings import Settings
from pytest_touchstone.settings_file import SettingsError
from pytest_touchstone.store.bundles import fill
from pytest_touchstone.store.calls import CallStore
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import RunStart, RunStore, Unit
from pytest_touchstone.systems.protocol import Loaded

_NOT_HELD = "the bundle does not hold this call"
_AT_ONCE = 32


def settings_from(
    bundle: Bundle, path: Path, store: str, reports: Path, changes: Mapping[str, Any]
) -> Settings:
    """The settings of the run that was bundled.

    :param store: URL of a store of its own.
    :param changes: what is said of the replay itself: further gates, an earlier report.
    :raises SettingsError: where they cannot be used.
    """
    gates = [str(gate) for gate in bundle.settings.get("gates", ())]
    if changes.get("previous") is None:
        gates = [gate for gate in gates if "previous" not in gate]
    kept = {key: value for key, value in bundle.settings.items() if key != "budget"}
    here = {"dataset": str(path), "reports": str(reports), "store": store}
    given = {key: value for key, value in changes.items() if key != "gates"}
    gates += changes.get("gates") or ()
    try:
        return Settings.model_validate({**kept, **here, **given, "gates": gates})
    except ValueError as error:
        raise SettingsError([f"{path}: its settings cannot be used: {error}"]) from None


class Replay:
    """What a bundle says of a run.

    :raises BundleError: where it holds none.
    """

    def __init__(self, bundle: Bundle, path: Path) -> None:
        self._bundle = bundle
        self._path = path
        try:
            [run] = bundle.tables["eval_runs"]
            self.run_id, self.started_at = str(run["id"]), str(run["started_at"])
            self._config = cast(RunConfig, json.loads(run["config"]))
            self.gold = self._gold()
            self._works = self._planned()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BundleError(f"{path}: holds no run: {type(error).__name__}: {error}") from None
        self.annotations = Annotations(bundle.annotations)

    def fill(self, url: str) -> None:
        """Make a store that holds the run, as if it had been cut short before it was read."""
        store = Store(url)
        try:
            fill(store, self._bundle.tables)
        finally:
            store.close()

    @cached_property
    def measures(self) -> frozenset[str]:
        """Names of the measures that were planned."""
        return frozenset(measure.name for work in self._works for measure in work.measures)

    @cached_property
    def planned(self) -> frozenset[tuple[str, str]]:
        """Case and measure of what was planned of the system under test, and answered."""
        system = self._config["roles"]["system"]
        return frozenset(
            (work.case.id, measure.name)
            for work in self._answered()
            for measure in work.measures
            if work.system == system
        )

    def compared(self, results_sha256: str) -> str | None:
        """What is wrong with a replay that came to these results; ``None`` where nothing is."""
        if results_sha256 == self._bundle.results_sha256:
            return None
        return (
            f"the replay came to other results than the report that {self._path.name} was made"
            f" from (results_sha256 {results_sha256[:12]}, not {self._bundle.results_sha256[:12]};"
            f" made with pytest-touchstone {self._bundle.plugin_version})"
        )

    def open(self, settings: Settings, process: Process) -> Run:
        """Put the run in flight again.

        :raises StoreError: one line.
        """
        with ExitStack() as opened:
            threads = DaemonThreads("touchstone-resources")
            opened.callback(threads.close)
            store = Store(settings.store_url)
            opened.callback(store.close)
            run = RunStore(store, self.run_id, uuid.uuid4().hex)
            run.begin(self._start(), self.gold.cases, ()).result()
            run.look_for_unfinished()
            run.note("notice", "replay", f"made again from {self._path.name}, without network")
            nobody = StoredAnswers(store, run, threads, Addresses({}))
            works = self._answered()
            reading = Reading(
                self._judging(settings, store, run, threads),
                self._scoring(settings, store, run, threads),
            )
            flight = Flight(
                works,
                {work.system: _lane(work.system, process.workers) for work in works},
                Observer(
                    count=_nothing_counted,
                    price=lambda _: (None, "no_usage"),
                    redact=str,
                    citation_pattern=settings.citation_pattern,
                    recall=nobody,
                    reprice=False,
                ),
                run,
                awaited=settings.system,
                patience=settings.patience,
                reading=reading,
                measuring=Measuring(
                    reading.engine, self.annotations.score, self._settled(settings)
                ),
            )
            flight.start()
            return Run(settings.system, settings.repeats, flight, run, opened.pop_all(), None)

    # -- what the bundle holds ------------------------------------------------------------

    def _gold(self) -> GoldSet:
        rows = sorted(self._bundle.tables["eval_cases"], key=lambda row: int(row["position"]))
        lines = "".join(f"{row['gold']}\n" for row in rows)
        dataset = self._config["dataset"]
        cases = parse_gold(lines.encode(), file=str(self._path)).cases if lines else ()
        return GoldSet(dataset["path"], dataset["sha256"], cases)

    def _planned(self) -> list[Work]:
        cases = self.gold.by_id
        units: dict[tuple[str, str, int, str], list[Measure]] = {}
        for row in self._bundle.tables["eval_plan"]:
            place = (row["case_id"], row["system"], row["repeat"], row["mode"])
            units.setdefault(place, []).append(parse(row["measure"]))
        return [
            self._work(cases[case], system, repeat, mode, measures)
            for (case, system, repeat, mode), measures in units.items()
        ]

    def _work(
        self, case: Case, system: str, repeat: int, mode: str, measures: Sequence[Measure]
    ) -> Work:
        roles = self._config["roles"]
        judge = self._bundle.settings.get("judge") or {}
        judged = judge.get("variants", False) or system in (roles["system"], roles["baseline"])
        return Work(case, system, tuple(measures), repeat, mode, judged=judged)

    def _answered(self) -> list[Work]:
        """What somebody answered, or could not for want of budget."""
        there = {
            (row["case_id"], row["system"], row["repeat"], row["mode"])
            for row in self._bundle.tables["eval_questions"]
        }
        return [work for work in self._works if work.unit in there]

    def _start(self) -> RunStart:
        dataset = self._config["dataset"]
        commit = self._config["commit"]
        return RunStart(
            self.run_id, self.started_at, self._config, dataset["path"], dataset["sha256"], commit
        )

    def _settled(self, settings: Settings) -> Settled | None:
        """What rules judged stands: they read the whole collection, by way of its embedder."""
        if settings.judge is None or not settings.judge.is_offline:
            return None
        scores = {
            (row["case_id"], row["system"], row["repeat"], row["mode"], row["measure"]): Score(
                row["value"],
                row["why"],
                row["reason"],
                row["origin"],
                row["engine"],
                json.loads(row["detail"]),
            )
            for row in self._bundle.tables["eval_scores"]
        }

        def settled(unit: Unit, measure: Measure) -> Score | None:
            return scores.get((*unit.place, measure.name)) if is_opinion(measure) else None

        return settled

    def _judging(
        self, settings: Settings, store: Store, run: RunStore, threads: DaemonThreads
    ) -> Judging | None:
        judge = settings.judge
        if judge is None or judge.is_offline:
            return None
        shared = SharedCalls(CallStore(store, run.owner, "judge"), _closed(), threads, is_complete)
        calls = JudgeCalls(
            _Silent(judge.model), settings.judge_server, shared, run, lambda _: (None, None)
        )
        texts = self._bundle.prompts
        second: SecondOpinion | None = None
        if judge.second_opinion is not None:
            criteria = {name: load_prompt(texts.get(name, "")) for name in CRITERIA.values()}
            second = open_deepeval(calls.ask, judge.model, criteria)
        prompts = {name: load_prompt(texts.get(name, "")) for name in ALL_PROMPTS}
        return Judging(LLMJudge(calls.ask, prompts), judge.model, second, settings.system)

    def _scoring(
        self, settings: Settings, store: Store, run: RunStore, threads: DaemonThreads
    ) -> Scoring | None:
        if settings.scorer is None:
            return None
        identity = next(
            (
                json.loads(r["value"])
                for r in self._bundle.tables["eval_notes"]
                if r["kind"] == "scorer"
            ),
            None,
        )

        async def opened() -> Scorer | SwitchedOff:
            if identity is None:
                return SwitchedOff("scorer_unreachable", "the scorer was switched off in that run")
            return _SilentScorer(identity)

        shared = SharedCalls(CallStore(store, run.owner, "scorer"), _closed(), threads, is_scored)
        return Scoring(opened, shared, run)


class _Silent:
    """A model that nobody asks."""

    def __init__(self, model: str) -> None:
        self.model = model

    async def complete(self, *_: Any, **__: Any) -> Completion:
        raise ChatError("not_recorded", _NOT_HELD, retryable=False)


class _SilentScorer:
    """A scorer that nobody asks."""

    def __init__(self, identity: Mapping[str, Any]) -> None:
        self.identity = identity

    async def cover(self, _paragraph: str, sources: Sequence[str], /) -> tuple[Covered, ...]:
        return tuple(Covered(None, 1, "not_recorded") for _ in sources)


def _closed() -> Endpoint:
    return Endpoint(limit=_AT_ONCE, tries=1, timeout=60.0)


async def _nobody(*_: object) -> NoReturn:
    raise RuntimeError("a replay asks no system")


async def _nothing_counted(_: object) -> int | None:
    return None


def _lane(name: str, workers: int) -> Lane:
    return Lane(Loaded(name, _nobody, None, {}, 60.0, _AT_ONCE), workers=workers)
