"""`touchstone coverage`: how well sources cover what a store already holds."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_touchstone.corpus.embedder import CachedEmbedder, open_embedder
from pytest_touchstone.corpus.vectors import VectorCache
from pytest_touchstone.covering import Tally, cover_store
from pytest_touchstone.paragraphs import CITATION
from pytest_touchstone.redact import masker
from pytest_touchstone.scorer.client import open_scorer
from pytest_touchstone.scorer.embedded import EmbeddedScorer
from pytest_touchstone.scorer.protocol import Scorer, SwitchedOff
from pytest_touchstone.settings import EMBEDDED, ScorerSettings, Settings
from pytest_touchstone.settings_file import SettingsError, load_settings
from pytest_touchstone.shell.plugin import DEFAULT_SETTINGS
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.sessions import find_run
from pytest_touchstone.unusable import Unusable

_NO_SCORER = "no scorer is configured: set SCORER_ENDPOINT to a server's URL, or `scorer.url`"


class _ScorerOff(Unusable):
    """The scorer that is configured cannot be used."""


def add(commands: Any) -> None:
    """Describe the command."""
    coverage = commands.add_parser(
        "coverage",
        help="score how well sources cover the paragraphs in a store",
        description="Score the paragraphs that cite and have no coverage yet, by their markers.",
    )
    coverage.add_argument("--store", metavar="URL", help="default: the settings' store")
    coverage.add_argument(
        "--run", metavar="ID", help="id, its beginning, or `latest`; default: all runs"
    )
    coverage.add_argument("--all", action="store_true", help="score again what has coverage")
    coverage.add_argument("--settings", metavar="FILE", help=f"default: {DEFAULT_SETTINGS}")
    coverage.set_defaults(command=_coverage)


def _coverage(options: argparse.Namespace) -> int:
    """Print what was scored; 1 where the scorer cannot be used."""
    try:
        tally = asyncio.run(_covered(_configured(options), options))
    except _ScorerOff as error:
        sys.stderr.write(f"touchstone: {error}\n")
        return int(pytest.ExitCode.TESTS_FAILED)
    sys.stdout.write("".join(f"{line}\n" for line in lines(tally)))
    return int(pytest.ExitCode.OK)


class _Configured(NamedTuple):
    """Scorer, store and pattern of a marker; the settings, where there is a file."""

    scorer: ScorerSettings
    store: str
    pattern: str
    settings: Settings | None


def _configured(options: argparse.Namespace) -> _Configured:
    """What the settings say, or without a file the variables.

    :raises SettingsError: where one is missing or faulty.
    """
    file = Path(options.settings or DEFAULT_SETTINGS)
    if options.settings or file.is_file():
        settings = load_settings(file)
        if settings.scorer is None:
            raise SettingsError([_NO_SCORER])
        store = options.store or settings.store_url
        return _Configured(settings.scorer, store, settings.citation_pattern, settings)
    endpoint = os.environ.get("SCORER_ENDPOINT")
    if not endpoint:
        raise SettingsError([_NO_SCORER])
    if not options.store:
        raise SettingsError([f"there is no {DEFAULT_SETTINGS}: name the store with --store URL"])
    named = {"model": os.environ.get("SCORER_MODEL"), "api_key": os.environ.get("SCORER_API_KEY")}
    given = {name: value for name, value in named.items() if value}
    try:
        scorer = ScorerSettings.model_validate({"url": endpoint, **given})
    except ValueError:
        fault = (
            "environment variable SCORER_ENDPOINT: is a URL that starts with http:// or https://"
        )
        raise SettingsError([fault]) from None
    return _Configured(scorer, options.store, CITATION, None)


async def _covered(configured: _Configured, options: argparse.Namespace) -> Tally:
    async with AsyncExitStack() as opened:
        store = await asyncio.to_thread(Store, configured.store, create=False)
        opened.push_async_callback(asyncio.to_thread, store.close)
        run = options.run
        if run is not None:
            run, _ = await asyncio.to_thread(find_run, store, run)
        scorer = await _opened(configured, opened)
        return await cover_store(store, scorer, run, every=options.all, pattern=configured.pattern)


async def _opened(configured: _Configured, opened: AsyncExitStack) -> Scorer:
    if configured.settings and configured.scorer.model == EMBEDDED:
        cache = VectorCache(configured.settings.reports / "vectors.sqlite")
        opened.callback(cache.close)
        embedder = CachedEmbedder(open_embedder(configured.settings.embedder), cache)
        return EmbeddedScorer(embedder.passages, embedder.identity, asyncio.to_thread)
    known = configured.settings.secrets() if configured.settings else ()
    scorer = await open_scorer(configured.scorer, mask=masker(os.environ, known))
    if isinstance(scorer, SwitchedOff):
        raise _ScorerOff(scorer.message)
    opened.push_async_callback(scorer.aclose)
    return scorer


def lines(tally: Tally) -> Iterator[str]:
    """What came of it, for a reader."""
    yield f"coverage: {tally.scored} citations of {tally.paragraphs} paragraphs scored"
    for reason, number in sorted(tally.lacking.items()):
        yield f"coverage: {number} citations without: {reason}"
