"""Rounds of canaries in a real store, and a judge that says what it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from canary_replies import CANARIES, canary_of, reply
from judging import judge_prompts
from runs import PATIENCE_S, start, store_url

from pytest_touchstone.flight.canary_round import CanaryRound
from pytest_touchstone.flight.threads import DaemonThreads
from pytest_touchstone.judge.llm import ChatRequest, LLMJudge
from pytest_touchstone.llm.chat import ChatError, Completion, FaultKind
from pytest_touchstone.store import tables
from pytest_touchstone.store.canaries import CanaryStore
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.run import RunStore

IDS = {one.id for one in CANARIES}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(store_url(tmp_path))
    yield store
    store.close()


@dataclass
class Oracle:
    """A judge's server that knows every canary, but fails where it is told to.

    :ivar fails: canary to the kind of failure.
    :ivar asked: what sets a round apart, and the canary.
    """

    fails: dict[str, FaultKind] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def judge(self, salt: str) -> LLMJudge:
        async def ask(request: ChatRequest) -> Completion:
            canary = canary_of(request.messages[0].content)
            assert canary is not None
            self.asked.append((salt, canary.id))
            if canary.id in self.fails:
                raise ChatError(self.fails[canary.id], "it failed")
            return Completion(reply(canary, canary.known[0]), finish_reason="stop")

        return LLMJudge(ask, judge_prompts())


def fly(store: Store, oracle: Oracle, run_id: str = "run") -> dict[str, Any]:
    """One round beside a run; the run's rows by canary."""
    RunStore(store, run_id, "a").begin(start(run_id), [], ()).result(PATIENCE_S)
    threads = DaemonThreads("test")

    async def main() -> None:
        live = asyncio.Event()
        live.set()
        of_judge = CanaryStore(store, run_id, "judge", "form")
        await CanaryRound(CANARIES, oracle.judge, live, of_judge, threads).fly()

    asyncio.run(main())
    threads.close()
    query = sa.select(tables.canaries).where(tables.canaries.c.run_id == run_id)
    rows = store.read(lambda connection: connection.execute(query).mappings().all())
    return {row["canary"]: row for row in rows}


def asked_at(rows: dict[str, Any]) -> str:
    """When the round of these rows began; it is the same for all."""
    (moment,) = {row["asked_at"] for row in rows.values()}
    return str(moment)


def age(store: Store, hours: int) -> str:
    """Make the only round so old; when it began."""
    moment = datetime.now(UTC) - timedelta(hours=hours)
    text = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    change = sa.update(tables.canaries).values(asked_at=text)
    store.write(lambda connection: connection.execute(change)).result(PATIENCE_S)
    return text


def test_what_was_asked_today_is_not_asked_again_in_any_run(store: Store) -> None:
    oracle = Oracle()
    first = fly(store, oracle)
    assert all(row["said"] in json.loads(row["known"]) for row in first.values())
    assert set(oracle.asked) == {("first", name) for name in IDS}
    again, other = fly(store, oracle), fly(store, oracle, "other")
    assert len(oracle.asked) == len(IDS)
    assert again == first
    assert asked_at(other) == asked_at(first)


def test_what_has_no_verdict_is_asked_again_as_part_of_the_same_round(store: Store) -> None:
    oracle = Oracle({"tone-sober-en": "connection", "points-sv": "connection"})
    names = set(oracle.fails)
    first = fly(store, oracle)
    assert {name for name, row in first.items() if row["said"] is None} == names
    oracle.asked.clear()
    oracle.fails.clear()
    complete = fly(store, oracle)
    assert set(oracle.asked) == {("first", name) for name in names}, "known to the same round"
    assert all(row["said"] is not None for row in complete.values())
    assert asked_at(complete) == asked_at(first), "a day counts from the beginning"
    assert all(complete[name] == first[name] for name in IDS - names)


def test_what_there_was_no_money_for_was_not_asked(store: Store) -> None:
    oracle = Oracle(dict.fromkeys(sorted(IDS)[5:], "budget"))
    assert fly(store, oracle).keys() == set(sorted(IDS)[:5])
    oracle.asked.clear()
    oracle.fails.clear()
    assert fly(store, oracle).keys() == IDS
    assert {name for _, name in oracle.asked} == set(sorted(IDS)[5:])


@pytest.mark.parametrize("run_id", ["run", "other"])
def test_after_a_day_all_are_asked_afresh_beside_what_was_said(store: Store, run_id: str) -> None:
    oracle = Oracle({"points-sv": "connection"})
    first = fly(store, oracle)
    moment = age(store, 25)
    oracle.asked.clear()
    found = fly(store, oracle, run_id)
    assert set(oracle.asked) == {(moment, name) for name in IDS}
    assert found.keys() == IDS, "also a run that goes on after a day has the new round"
    assert asked_at(found) > moment
    assert {name: row["earlier"] for name, row in found.items()} == {
        name: row["said"] for name, row in first.items()
    }
    assert {row["earlier_at"] for row in found.values()} == {moment}

    oracle.asked.clear()
    oracle.fails.clear()
    completed = fly(store, oracle, "third")
    assert oracle.asked == [(moment, "points-sv")]
    assert {row["earlier_at"] for row in completed.values()} == {moment}
    assert completed["points-sv"]["earlier"] is None
