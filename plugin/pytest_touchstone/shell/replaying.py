"""A session that replays a bundle: what it may be told, and the store that it has for itself."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_touchstone.bundling.file import read_bundle
from pytest_touchstone.bundling.replay import Replay, settings_from
from pytest_touchstone.settings import Settings

_WORKER_STORE = "touchstone_replay_store"
_OF_THE_BUNDLE = (
    "settings",
    "dataset",
    "system",
    "baseline",
    "split",
    "sample",
    "repeats",
    "resume",
    "join",
    "shards",
    "reuse_answers",
    "budget",
    "plan",
)


def open_replay(
    config: pytest.Config, reports: Path, changes: Mapping[str, Any]
) -> tuple[Settings, Replay] | None:
    """Settings and replay of a session that was given a bundle; ``None`` for any other.

    :param reports: folder that its report goes to.
    :param changes: what is said of the replay itself.
    :raises pytest.UsageError: for options that contradict it.
    :raises BundleError, SettingsError, StoreError: where the bundle cannot be used.
    """
    given = config.getoption("touchstone_replay")
    if given is None:
        return None
    for name in _OF_THE_BUNDLE:
        if config.getoption(f"touchstone_{name}"):
            option = f"--touchstone-{name.replace('_', '-')}"
            raise pytest.UsageError(f"{option}: a replay has this from its bundle; leave it out")
    path = config.invocation_params.dir / given
    bundle = read_bundle(path)
    replay = Replay(bundle, path)
    url = _store(config, replay)
    return settings_from(bundle, path, url, reports, changes), replay


def hand_over(node: Any, settings: Settings) -> None:
    """Tell a worker where the session's store is."""
    node.workerinput[_WORKER_STORE] = settings.store


def _store(config: pytest.Config, replay: Replay) -> str:
    worker_input: Mapping[str, Any] | None = getattr(config, "workerinput", None)
    if worker_input is not None:
        return str(worker_input[_WORKER_STORE])
    folder = Path(tempfile.mkdtemp(prefix="touchstone-replay-"))
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    url = f"sqlite:///{folder / 'store.sqlite'}"
    replay.fill(url)
    return url
