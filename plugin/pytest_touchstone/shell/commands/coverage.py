"""`touchstone coverage`: how well sources cover what a store already holds."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_touchstone.covering import Tally, cover_store
from pytest_touchstone.paragraphs import CITATION
from pytest_touchstone.scorer.client import open_scorer
from pytest_touchstone.scorer.protocol import SwitchedOff
from pytest_touchstone.settings import ScorerSettings
from pytest_touchstone.settings_file import SettingsError, load_settings
from pytest_touchstone.shell.plugin import DEFAULT_SETTINGS
from pytest_touchstone.store.engine import Store
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
    coverage.add_argument("--run", metavar="ID", help="one run; default: all runs")
    coverage.add_argument("--all", action="store_true", help="score again what has coverage")
    coverage.add_argument("--settings", metavar="FILE", help=f"default: {DEFAULT_SETTINGS}")
    coverage.set_defaults(command=_coverage)


def _coverage(options: argparse.Namespace) -> int:
    """Print what was scored; 1 where the scorer cannot be used."""
    try:
        scorer, url, pattern = _configured(options)
        tally = asyncio.run(_covered(url, scorer, pattern, options))
    except _ScorerOff as error:
        sys.stderr.write(f"touchstone: {error}\n")
        return int(pytest.ExitCode.TESTS_FAILED)
    except (Unusable, SettingsError) as error:
        sys.stderr.write("".join(f"touchstone: {line}\n" for line in str(error).splitlines()))
        return int(pytest.ExitCode.USAGE_ERROR)
    sys.stdout.write("".join(f"{line}\n" for line in lines(tally)))
    return int(pytest.ExitCode.OK)


def _configured(options: argparse.Namespace) -> tuple[ScorerSettings, str, str]:
    """Scorer, store and pattern of a marker: of the settings, or without a file of the variable.

    :raises SettingsError: where one is missing or faulty.
    """
    file = Path(options.settings or DEFAULT_SETTINGS)
    if options.settings or file.is_file():
        settings = load_settings(file)
        if settings.scorer is None:
            raise SettingsError([_NO_SCORER])
        return settings.scorer, options.store or settings.store_url, settings.citation_pattern
    endpoint = os.environ.get("SCORER_ENDPOINT")
    if not endpoint:
        raise SettingsError([_NO_SCORER])
    if not options.store:
        raise SettingsError([f"there is no {DEFAULT_SETTINGS}: name the store with --store URL"])
    named = {"model": os.environ.get("SCORER_MODEL"), "api_key": os.environ.get("SCORER_API_KEY")}
    given = {name: value for name, value in named.items() if value}
    try:
        return ScorerSettings.model_validate({"url": endpoint, **given}), options.store, CITATION
    except ValueError:
        fault = (
            "environment variable SCORER_ENDPOINT: is a URL that starts with http:// or https://"
        )
        raise SettingsError([fault]) from None


async def _covered(
    url: str, settings: ScorerSettings, pattern: str, options: argparse.Namespace
) -> Tally:
    store = await asyncio.to_thread(Store, url, create=False)
    try:
        scorer = await open_scorer(settings)
        if isinstance(scorer, SwitchedOff):
            raise _ScorerOff(scorer.message)
        try:
            return await cover_store(store, scorer, options.run, every=options.all, pattern=pattern)
        finally:
            await scorer.aclose()
    finally:
        await asyncio.to_thread(store.close)


def lines(tally: Tally) -> Iterator[str]:
    """What came of it, for a reader."""
    yield f"coverage: {tally.scored} citations of {tally.paragraphs} paragraphs scored"
    for reason, number in sorted(tally.lacking.items()):
        yield f"coverage: {number} citations without: {reason}"
