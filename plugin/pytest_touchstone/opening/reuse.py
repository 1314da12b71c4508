"""Answers that are stored already: what they are found by again, and whose are used."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_touchstone.flight.observe import Work, turns_of
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.settings import Settings
from pytest_touchstone.store.answers import known_answers
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import RunStore, Unit
from pytest_touchstone.systems.loading import shipped_prompt
from pytest_touchstone.systems.protocol import Loaded
from pytest_touchstone.trace import Observation

BASELINE_PROMPTS = ("baseline_answer", "standalone_query")
_READ_AHEAD = 64  # conversations that are read together, and kept until they are asked for


class Addresses:
    """What a stored answer is found by: everything that is known to change it.

    :param systems: digest of each system's configuration, by name.
    """

    def __init__(self, systems: Mapping[str, str]) -> None:
        self._systems = systems

    def of(self, work: Work, turns: tuple[int, ...], retrieve_only: bool) -> str:
        """SHA-256 over the system's configuration and what it is asked."""
        case = work.case
        messages = [[message.role, message.content] for message in case.history]
        live = turns_of(work) is None
        parts = [
            self._systems[work.system],
            case.id,
            messages,
            case.question,
            # A conversation that is played ends where it ends.
            "live" if live else list(turns),
            work.mode,
            work.repeat,
            retrieve_only,
        ]
        return _digest(parts)

    def candidates(self, work: Work, retrieve_only: bool) -> list[str]:
        """Where a stored answer may stand; a whole answer has its passages too."""
        turns = turns_of(work) or ()
        kinds = (False, True) if retrieve_only else (False,)
        return [self.of(work, turns, kind) for kind in kinds]


def configurations(
    systems: Mapping[str, Loaded],
    settings: Settings,
    embedder: str | None,
    corpus: Mapping[str, Any] | None,
) -> dict[str, str]:
    """Digest of each system's configuration: what it is, and what it may use.

    :param embedder: identity of the embedder, where there is one.
    :param corpus: what identifies the collection, where there is one.
    """
    generator = settings.generator
    shared = {
        "generator": [
            generator.effective_model,
            generator.server,
            generator.temperature,
            generator.max_tokens,
        ],
        "prompts": [shipped_prompt(name).sha256 for name in BASELINE_PROMPTS],
        "embedder": embedder,
        "collection": corpus,
        "chunks": _file_digest(settings.corpus.chunks if settings.corpus else None),
    }
    return {
        name: _digest({"identity": system.identity, "source": system.source, **shared})
        for name, system in systems.items()
    }


def reused_systems(settings: Settings) -> frozenset[str]:
    """The systems whose answers of earlier runs are used."""
    match settings.reuse_answers:
        case "all":
            return frozenset(settings.roles)
        case "none":
            return frozenset()
    # A baseline that is measured alone is what the run is about.
    baseline = settings.baseline
    return frozenset() if baseline in (None, settings.system) else frozenset({str(baseline)})


class StoredAnswers:
    """Looks for an answer before a system is asked: in this run, then in earlier ones.

    Those of earlier runs are read ahead in the plan's order, which is that of the questions: one
    query for each would cost more than all else that is done with a stored answer.

    :param reused: systems whose answers of earlier runs may be used.
    :param works: the run's plan.
    """

    def __init__(
        self,
        store: Store,
        run: RunStore,
        threads: DaemonThreads,
        addresses: Addresses,
        reused: frozenset[str] = frozenset(),
        works: Iterable[Work] = (),
    ) -> None:
        self._store = store
        self._run = run
        self._threads = threads
        self._addresses = addresses
        self._order = {name: [work for work in works if work.system == name] for name in reused}
        self._ahead: dict[tuple[str, bool], dict[Unit, Observation | None]] = {}
        self._reading = asyncio.Lock()

    @cached_property
    def _ranks(self) -> dict[Unit, int]:
        """Place of each unit among those of its system; where all is stored, nobody asks."""
        return {work.unit: rank for own in self._order.values() for rank, work in enumerate(own)}

    async def __call__(self, work: Work, retrieve_only: bool) -> Observation | None:
        """The stored observation; ``None`` where the system is to be asked."""
        unit = work.unit
        kept = None
        if self._run.may_have_kept(unit):
            kept = await self._threads.run(self._run.kept, unit)
        if kept is not None:
            return kept
        if work.system not in self._order:
            return None
        kind = (work.system, retrieve_only)
        async with self._reading:
            if unit not in self._ahead.get(kind, ()):
                rank = self._ranks[unit]
                works = self._order[work.system][rank : rank + _READ_AHEAD]
                self._ahead[kind] = await self._threads.run(self._known, works, retrieve_only)
            return self._ahead[kind].pop(unit)

    def reuses(self, system: str) -> bool:
        """Whether answers of earlier runs may stand for the system's."""
        return system in self._order

    async def several(
        self, works: Sequence[Work], retrieve_only: bool
    ) -> Sequence[Observation | None]:
        """What earlier runs stored of works of one system, read in one go."""
        # What this run itself kept goes before.
        ours = [work for work in works if not self._run.may_have_kept(work.unit)]
        if not ours:
            return [None] * len(works)
        known = await self._threads.run(self._known, ours, retrieve_only)
        async with self._reading:
            # Nobody need look for the others again when they are asked for.
            missed = self._ahead.setdefault((works[0].system, retrieve_only), {})
            missed |= {unit: None for unit, found in known.items() if found is None}
        return [known.get(work.unit) for work in works]

    def _known(self, works: Sequence[Work], retrieve_only: bool) -> dict[Unit, Observation | None]:
        """What earlier runs stored of works of one system."""
        system = works[0].system
        places = {work.unit: self._addresses.candidates(work, retrieve_only) for work in works}
        addresses = [address for candidates in places.values() for address in candidates]
        found = self._store.read(lambda connection: known_answers(connection, addresses, system))
        return {
            unit: next((found[address] for address in candidates if address in found), None)
            for unit, candidates in places.items()
        }


def _file_digest(path: Path | None) -> str | None:
    if path is None or not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_TEXT = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str)


def _digest(data: Any) -> str:
    return hashlib.sha256(_TEXT.encode(data).encode()).hexdigest()
