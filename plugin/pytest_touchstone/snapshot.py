"""What is known of a run when it starts: everything that makes its figures what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pytest_touchstone.estimate import seed_from
from pytest_touchstone.gold import CASE_TYPES, Case, GoldSet
from pytest_touchstone.judge.llm import ALL_PROMPTS
from pytest_touchstone.judge.offline import AGREEMENT
from pytest_touchstone.judge.second_opinion import CRITERIA
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.provenance import commit_of, package_versions
from pytest_touchstone.report import RunConfig, measure_info
from pytest_touchstone.settings import Settings
from pytest_touchstone.systems.loading import shipped_prompt
from pytest_touchstone.systems.protocol import Loaded


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run sets out to measure: selected cases, in file order, with their measures.

    :param order: every measure that some test declares, in the order of declaration.
    :param measures: by id of the case.
    :param scope: what split and sample leave of the gold questions; the selected are among them.
    """

    gold: GoldSet
    order: tuple[Measure, ...]
    measures: Mapping[str, tuple[Measure, ...]]
    scope: tuple[Case, ...]

    @property
    def cases(self) -> list[Case]:
        """The selected cases."""
        return [case for case in self.gold.cases if case.id in self.measures]


def run_config(
    settings: Settings,
    plan: Plan,
    systems: Mapping[str, Loaded],
    *,
    embedder: str | None,
    corpus: dict[str, Any] | None,
    root: Path,
) -> RunConfig:
    """The run's config: equal in every process of the run.

    :param embedder: identity of the embedder, where there is one.
    :param corpus: what identifies the collection, where there is one.
    :param root: the project's folder, whose commit is named.
    """
    commit = commit_of(root)
    gold = plan.gold
    return {
        "plugin_version": version("pytest-touchstone"),
        "commit": commit.sha,
        "dirty": commit.dirty,
        "dataset": {
            "path": _relative(Path(gold.file), root),
            "sha256": gold.sha256,
            "counts": {str(kind): number for kind, number in gold.counts.items()},
        },
        "selection": {
            "split": settings.split,
            "sample": settings.sample,
            "applicable": {measure.name: _applicable(measure, plan) for measure in plan.order},
        },
        "settings_sha256": settings.digest,
        "settings": settings.public(),
        "roles": {
            "system": settings.system,
            "baseline": settings.baseline,
            "variants": list(settings.variants),
        },
        "systems": {
            name: {"source_sha256": system.source, **system.identity}
            for name, system in systems.items()
        },
        "models": {
            "generator": {"model": settings.generator.effective_model},
            "embedder": {"model": embedder},
            "judge": _judge(settings, embedder),
            "scorer": {"model": settings.scorer.model if settings.scorer else None},
        },
        "prompts": {name: shipped_prompt(name).sha256 for name in _prompts(settings)},
        "corpus": corpus,
        "prices": {},
        "seed": seed_from(gold.sha256),
        "resamples": settings.resamples,
        "confidence": settings.confidence,
        "packages": package_versions(),
        "measures": [measure_info(measure) for measure in plan.order],
    }


def _applicable(measure: Measure, plan: Plan) -> dict[str, int]:
    """Of each type, the questions that the measure would be taken on were none taken away."""
    counts = Counter(case.type for case in plan.scope if measure.applies(case))
    return {kind: counts[kind] for kind in CASE_TYPES if counts[kind]}


def _prompts(settings: Settings) -> list[str]:
    names = ["baseline_answer", "standalone_query"]
    if settings.judge is None or settings.judge.is_offline:
        return names
    beside = CRITERIA.values() if settings.judge.second_opinion is not None else ()
    return [*names, *sorted(ALL_PROMPTS), *sorted(beside)]


def _judge(settings: Settings, embedder: str | None) -> dict[str, Any]:
    if settings.judge is None:
        return {"model": None}
    if settings.judge.is_offline:
        return {"model": settings.judge.model, "embedder": embedder, "agreement": AGREEMENT}
    return {
        "model": settings.judge.model,
        "server": settings.judge_server,
        "same_model_allowed": settings.judge.allow_same_model,
    }


def _relative(path: Path, root: Path) -> str:
    """The path within the project where it lies there, otherwise the file's name alone."""
    resolved = path.resolve()
    if resolved.is_relative_to(root.resolve()):
        return resolved.relative_to(root.resolve()).as_posix()
    return resolved.name
