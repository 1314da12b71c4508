"""What is known of a run when it starts: everything that makes its figures what they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pytest_touchstone.estimate import seed_from
from pytest_touchstone.gold import Case, GoldSet
from pytest_touchstone.judge.llm import ALL_PROMPTS
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
    """

    gold: GoldSet
    order: tuple[Measure, ...]
    measures: Mapping[str, tuple[Measure, ...]]

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
        "settings_sha256": settings.digest,
        "settings": settings.public(),
        "roles": {
            "system": settings.system,
            "baseline": settings.baseline,
            "variants": list(settings.variants),
        },
        "systems": {name: dict(system.identity) for name, system in systems.items()},
        "models": {
            "generator": {"model": settings.generator.effective_model},
            "embedder": {"model": embedder},
            "judge": _judge(settings),
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


def _prompts(settings: Settings) -> list[str]:
    names = ["baseline_answer", "standalone_query"]
    return names if settings.judge is None else [*names, *sorted(ALL_PROMPTS)]


def _judge(settings: Settings) -> dict[str, Any]:
    if settings.judge is None:
        return {"model": None}
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
