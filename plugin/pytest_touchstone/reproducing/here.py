"""What a run would be made of, here and now: looked at while nobody is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, cast

from pytest_touchstone.corpus.collection import Corpus
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.gold import case_to_json
from pytest_touchstone.llm.prices import Prices
from pytest_touchstone.opening.collection import Progress, open_collection, open_embedding
from pytest_touchstone.provenance import package_versions
from pytest_touchstone.redact import everywhere, redactor
from pytest_touchstone.report.index import json_data
from pytest_touchstone.report.model import Gold, PassageText, Report
from pytest_touchstone.run import Hooked
from pytest_touchstone.settings import EXTRACTIVE, Settings
from pytest_touchstone.snapshot import Plan, run_config
from pytest_touchstone.systems.loading import Resources, load_systems, shipped_prompt
from pytest_touchstone.systems.protocol import Loaded
from pytest_touchstone.trace import Usage
from pytest_touchstone.unusable import Unusable


@dataclass(frozen=True, slots=True)
class Here:
    """What a run would be made of.

    :param known: what its config would say; a key that is missing could not be told, and so a role
        among its models.
    :param questions: the gold questions by id, in a report's form; ``None`` where no file is read.
    :param measures: names of the measures that the tests here would take; likewise.
    :param chunks: those of the report's passages that the collection holds, by id; likewise.
    :param why_not: why something is missing.
    """

    known: Mapping[str, Any]
    questions: Mapping[str, Gold] | None = None
    measures: frozenset[str] | None = None
    chunks: Mapping[str, PassageText] | None = None
    why_not: str = ""


@dataclass(slots=True)
class _Opened:
    """What could be opened, and why the rest could not."""

    embedder: str | None = None
    embedder_known: bool = False
    systems: dict[str, Loaded] = field(default_factory=dict)
    corpus: dict[str, Any] | None = None
    chunks: dict[str, PassageText] | None = None
    fault: str = ""


def look_around(
    settings: Settings,
    plan: Plan,
    report: Report,
    *,
    root: Path,
    hooked: Hooked,
    progress: Progress,
) -> Here:
    """What a run with this plan would be made of, so far as it concerns a report.

    A collection or a system that cannot be opened is no error here: what they are is missing.

    :param root: the project's folder.
    :param hooked: systems that the hook names, given what they may use.
    :param progress: told of texts embedded so far and in all.
    """
    opened = _open(settings, plan, report, hooked, progress)
    redact = redactor(os.environ, settings.secrets())
    config = run_config(
        settings, plan, opened.systems, embedder=opened.embedder, corpus=opened.corpus, root=root
    )
    known: dict[str, Any] = {
        **everywhere(redact, config),
        "prompts": _prompts(report),
        "prices": _prices(report, settings),
    }
    # What a scorer is shows when it is asked; the one that is named stands in the settings.
    known["models"] = {k: v for k, v in known["models"].items() if k != "scorer"}
    if opened.fault:
        del known["systems"], known["corpus"]
    if not opened.embedder_known:
        # What an embedder is shows when it is opened, and the rules of a judge rest on it.
        offline = settings.judge is not None and settings.judge.is_offline
        resting = ("embedder", "judge") if offline else ("embedder",)
        known["models"] = {k: v for k, v in known["models"].items() if k not in resting}
    return Here(
        known,
        {case.id: cast(Gold, json_data(case_to_json(case))) for case in plan.gold.cases},
        frozenset(measure.name for measures in plan.measures.values() for measure in measures),
        opened.chunks,
        redact(opened.fault),
    )


def without_project(report: Report, why: str) -> Here:
    """What can be told of a run where there is no project: the packages, and what they ship."""
    return Here({"packages": package_versions(), "prompts": _prompts(report)}, why_not=why)


def _open(
    settings: Settings, plan: Plan, report: Report, hooked: Hooked, progress: Progress
) -> _Opened:
    found = _Opened()
    with ExitStack() as closing:
        threads = DaemonThreads("touchstone-resources")
        closing.callback(threads.close)
        try:
            embedder = open_embedding(settings, progress, closing)
            found.embedder = embedder.identity if embedder else None
            found.embedder_known = True
            corpus = open_collection(settings, embedder, closing, 1)
            extracted = settings.generator.effective_model == EXTRACTIVE
            resources = Resources(corpus, None if extracted else _nobody, threads.run)
            systems = load_systems(settings.roles, settings, hooked(resources), resources)
            if corpus is not None:
                found.corpus = corpus.describe(_gold_chunks(plan, report))
                found.chunks = _chunks(corpus, report)
            found.systems = systems
        except Unusable as error:
            found.fault = str(error)
    return found


async def _nobody(_: object) -> NoReturn:
    raise RuntimeError("the generator is not asked while a system is built")


def _gold_chunks(plan: Plan, report: Report) -> set[str]:
    """The chunks whose digest the report holds: those that its gold questions name.

    Where the file is another now, the questions in the report are the nearest to it.
    """
    if plan.gold.sha256 == report["snapshot"]["dataset"]["sha256"]:
        return {i for case in plan.gold.cases for chunk in case.gold_chunks for i in chunk.ids}
    found: set[str] = set()
    for case in report["cases"]:
        for chunk in cast(Mapping[str, Any], case["gold"]).get("gold_chunks", ()):
            named = chunk if isinstance(chunk, Mapping) else {"id": chunk}
            found |= {named["id"], *named.get("equivalents", ())}
    return found


def _chunks(corpus: Corpus, report: Report) -> dict[str, PassageText]:
    turns = (turn for case in report["cases"] for turn in (case, *case["earlier_turns"]))
    ids = {passage["id"] for turn in turns for passage in turn["passages"]}
    return {
        chunk.id: {"text": chunk.text, "metadata": json_data(dict(chunk.metadata))}
        for chunk in corpus.chunks(ids)
    }


def _prompts(report: Report) -> dict[str, str]:
    """Digest of each prompt that the run used, as far as it is still shipped."""
    found = {}
    for name in report["snapshot"]["prompts"]:
        with suppress(FileNotFoundError):
            found[name] = shipped_prompt(name).sha256
    return found


def _prices(report: Report, settings: Settings) -> dict[str, Any]:
    """Today's price of each model that the run paid for."""
    prices = Prices(settings.prices, settings.provider)
    prices.cost([Usage(model, 1, 0, 1) for model in report["snapshot"]["prices"]])
    return {entry["model"]: entry for entry in prices.used()}
