"""What a run is: whoever joins or resumes it must be about the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_touchstone.report import RunConfig
from pytest_touchstone.report.rows import PlanRow
from pytest_touchstone.settings import Settings


def run_identity(
    config: RunConfig,
    plan: Iterable[PlanRow],
    configurations: Mapping[str, str],
    settings: Settings,
) -> dict[str, str]:
    """A digest of each thing that a run's scores depend on, by a name for people.

    Limits, deadlines, floors, gates, prices and the budget may change on the way.

    :param configurations: digest of each system's configuration.
    """
    scorer, judge = settings.scorer, settings.judge
    prompts = {name: sha for name, sha in config["prompts"].items() if judge is not None}
    parts: dict[str, Any] = {
        "the selected tests, measures and questions": sorted(
            (row.case_id, row.system, row.measure, row.repeat, row.mode) for row in plan
        ),
        "the judge": [config["models"]["judge"], judge and judge.second_opinion],
        "the judge's prompts": prompts,
        "the scorer": scorer
        and scorer.model_dump(mode="json", include={"model", "url", "scale", "window"}),
        "the collection": config["corpus"],
        "citation_pattern": settings.citation_pattern,
        "roles": config["roles"],
        **{f"system {name!r}": digest for name, digest in configurations.items()},
    }
    return {name: _digest(part) for name, part in parts.items()}


def _digest(data: Any) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()
