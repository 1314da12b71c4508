"""From a report to everything that it was made of."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from pytest_touchstone.bundling.file import Bundle, BundleError
from pytest_touchstone.dataset import annotation_lines
from pytest_touchstone.measures.base import counted
from pytest_touchstone.redact import everywhere, masker
from pytest_touchstone.report.model import Report
from pytest_touchstone.settings import Settings
from pytest_touchstone.shipped import shipped
from pytest_touchstone.store.bundles import rows_of_run
from pytest_touchstone.store.engine import Store
from pytest_touchstone.systems.loading import shipped_prompt


def bundled(report: Report, settings: Settings) -> tuple[Bundle, list[str]]:
    """The bundle of a report's run, and lines for whoever made it.

    :param settings: name the store that holds the run, and where its annotations lie.
    :raises BundleError: where something is not there any more as it was in the run.
    :raises StoreError, AnnotationError: one line.
    """
    run_id = report["snapshot"]["run"]["id"]
    store = Store(settings.store_url, create=False)
    try:
        found = rows_of_run(store, run_id)
    finally:
        store.close()
    if found is None:
        raise BundleError(f"the store does not hold run {run_id} any more")
    rows, missing = found
    # Known secrets were never stored; one that became known since is taken out here.
    tables: dict[str, Any] = everywhere(masker(os.environ, settings.secrets()), rows)
    cases = {row["case_id"] for row in rows["eval_cases"]}
    annotations = [one for one in annotation_lines(settings.dataset.parent) if one.case in cases]
    notices = []
    if missing:
        notices.append(
            f"{counted(missing, 'call')} of the run are not in the store any more: what rests on"
            " them has no value when the report is made again"
        )
    if tables != rows:
        notices.append("secrets were taken out of what the run stored: it will not be the same")
    snapshot = report["snapshot"]
    config = json.loads(tables["eval_runs"][0]["config"])
    bundle = Bundle(
        snapshot["results_sha256"],
        snapshot["plugin_version"],
        config["settings"],
        tables,
        annotations,
        _prompts(snapshot["prompts"]),
    )
    return bundle, notices


def _prompts(digests: Mapping[str, str]) -> dict[str, str]:
    """The prompts that the run used.

    :raises BundleError: where they are others by now.
    """
    if changed := [name for name, sha in digests.items() if shipped_prompt(name).sha256 != sha]:
        raise BundleError(
            f"prompts changed since the run ({', '.join(sorted(changed))}): bundle it with the"
            " version that made it"
        )
    return {
        name: shipped(f"evaluation/prompts/{name}.md").read_bytes().decode() for name in digests
    }
