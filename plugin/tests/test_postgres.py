"""PostgreSQL as a store: a real server, where there is one."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from disturbed import (
    CALLS_A_CASE,
    JUDGE_CALLS,
    SYSTEM_CALLS,
    Disturbed,
    lost,
    times,
)
from runs import PATIENCE_S, assert_all_threads_end, second_process
from servers.counting import CountingServer
from servers.postgres import PostgresServer, why_missing
from sqlalchemy.engine import Connection

from pytest_touchstone.store import engine, postgres, tables
from pytest_touchstone.store.engine import NoStoreError, Store, StoreError

MISSING = why_missing()
pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

CASES = 8
CALLS = CASES * CALLS_A_CASE


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture
def url(server: PostgresServer) -> str:
    return server.database()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = Store(url)
    yield store
    store.close()
    assert_all_threads_end()


def insert(connection: Connection, digest: str) -> None:
    row = {"digest": digest, "text": "", "metadata": "{}"}
    connection.execute(sa.insert(tables.passages), row)


def digests(store: Store) -> set[str]:
    query = sa.select(tables.passages.c.digest)
    return store.read(lambda connection: set(connection.execute(query).scalars()))


def once(what: Callable[..., object]) -> Callable[..., None]:
    """Do something the first time, and nothing later."""
    done: list[bool] = []

    def first(*given: Any) -> None:
        if not done:
            done.append(True)
            what(*given)

    return first


# Connections that break.


def test_connections_that_were_ended_meanwhile_are_made_again(
    server: PostgresServer, url: str, store: Store
) -> None:
    for name in "abc":
        store.write(lambda connection, name=name: insert(connection, name)).result(PATIENCE_S)  # type: ignore[misc]
        assert server.terminate(url) > 0
    assert digests(store) == set("abc")
    server.terminate(url)
    assert digests(store) == set("abc")


def test_a_transaction_whose_connection_breaks_is_repeated(
    server: PostgresServer, url: str, store: Store
) -> None:
    end, begun = once(lambda: server.terminate(url)), []

    def job(connection: Connection) -> int:
        begun.append(connection)
        insert(connection, "a")
        end()
        insert(connection, "b")
        return len(begun)

    assert store.write(job).result(PATIENCE_S) == 2
    assert digests(store) == {"a", "b"}


def test_a_read_whose_connection_breaks_is_repeated(
    server: PostgresServer, url: str, store: Store
) -> None:
    end = once(lambda: server.terminate(url))

    def job(connection: Connection) -> Any:
        end()
        return connection.execute(sa.text("SELECT 5")).scalar()

    assert store.read(job) == 5


@pytest.mark.parametrize("arrived", [True, False], ids=["committed", "not committed"])
def test_a_connection_that_breaks_at_the_commit_leaves_no_doubt(
    store: Store, arrived: bool
) -> None:
    def cut(connection: Connection) -> None:
        driver = connection.connection.driver_connection
        assert driver is not None
        if arrived:
            driver.commit()
        driver.close()  # the answer never comes

    begun = itertools.count(1)

    def job(connection: Connection) -> int:
        # Not idempotent: whoever repeats what was committed violates a constraint.
        insert(connection, "a")
        return next(begun)

    sa.event.listen(store._engine, "commit", once(cut))
    assert store.write(job).result(PATIENCE_S) == (1 if arrived else 2)
    assert digests(store) == {"a"}


def test_a_server_that_is_started_again_is_waited_for(server: PostgresServer, store: Store) -> None:
    store.write(lambda connection: insert(connection, "a")).result(PATIENCE_S)
    server.stop()
    future = store.write(lambda connection: insert(connection, "b"))
    time.sleep(0.3)
    assert not future.done()
    server.start()
    future.result(PATIENCE_S)
    assert digests(store) == {"a", "b"}


def test_a_server_that_stays_away_is_told_of(
    monkeypatch: pytest.MonkeyPatch, server: PostgresServer, url: str
) -> None:
    monkeypatch.setattr(engine, "_RECONNECT_WITHIN_S", 0.2)
    monkeypatch.setattr(engine, "_CLOSE_WITHIN_S", 0)
    store = Store(url)
    server.stop()
    try:
        with pytest.raises(StoreError, match=r"^store postgresql\+psycopg://touchstone@.*: conn"):
            store.write(lambda connection: insert(connection, "a")).result(PATIENCE_S)
        with pytest.raises(StoreError, match="connection"):
            digests(store)
        left = [store.write(lambda connection: insert(connection, "b")) for _ in range(200)]
        store.close()
        assert all(isinstance(future.exception(0), StoreError) for future in left)
        with pytest.raises(StoreError, match="connection") as caught:
            Store(url, create=False)
        assert not isinstance(caught.value, NoStoreError)
    finally:
        server.start()


def test_whoever_is_suspended_in_a_transaction_holds_up_nobody_for_long(
    monkeypatch: pytest.MonkeyPatch, url: str, store: Store
) -> None:
    monkeypatch.setattr(postgres, "_IDLE_WITHIN_S", 1)
    suspended = Store(url)
    sleep = once(lambda: time.sleep(2.5))

    def job(connection: Connection) -> None:
        insert(connection, "a")
        sleep()
        insert(connection, "b")

    future = suspended.write(job)
    time.sleep(0.2)
    store.write(lambda connection: insert(connection, "other")).result(PATIENCE_S)
    assert digests(store) == {"other"}, "it did not wait for the sleeper"
    future.result(PATIENCE_S)
    assert digests(store) == {"a", "b", "other"}
    suspended.close()


# What is the same as with SQLite.


def test_a_read_sees_one_state_and_writes_nothing(store: Store) -> None:
    query = sa.select(sa.func.count()).select_from(tables.passages)

    def look_twice(connection: Connection) -> tuple[Any, Any]:
        first = connection.execute(query).scalar()
        store.write(lambda other: insert(other, "new")).result(PATIENCE_S)
        return first, connection.execute(query).scalar()

    assert store.read(look_twice) == (0, 0)
    assert digests(store) == {"new"}
    with pytest.raises(StoreError, match="read-only transaction"):
        store.read(lambda connection: insert(connection, "b"))


def test_a_database_without_tables_is_no_store_yet(url: str) -> None:
    with pytest.raises(NoStoreError, match="holds no evaluation"):
        Store(url, create=False)


def test_processes_that_race_claim_each_unit_exactly_once(url: str) -> None:
    """They race from the first moment: none of them finds the tables there."""
    with second_process("claim", url, "a") as a, second_process("claim", url, "b") as b:
        for process in (a, b):
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in (a, b):
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        claimed = [process.communicate(timeout=PATIENCE_S)[0].split() for process in (a, b)]
    assert sorted(itertools.chain(*claimed)) == sorted(f"q{i}" for i in range(200))


# Whole runs.


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What an undisturbed run over SQLite reports."""
    with CountingServer(0.05) as server:
        run = Disturbed(tmp_path_factory.mktemp("undisturbed"), server, CASES)
        assert run.run() == 0, run.said
    return run.results()


@pytest.fixture
def disturbed(tmp_path: Path, url: str) -> Iterator[Disturbed]:
    with CountingServer(0.15) as server:
        yield Disturbed(tmp_path / "project", server, CASES, url, dead_after=3)


def test_workers_whose_connections_are_ended_go_on(
    server: PostgresServer, url: str, disturbed: Disturbed, undisturbed: Any
) -> None:
    process = disturbed.start("-n2")
    ended = 0
    for mark in (1, CALLS // 4, CALLS // 2):
        disturbed.wait_for_calls(mark, process)
        ended += server.terminate(url)
    assert disturbed.end(process) == 0, disturbed.said
    assert ended >= 3
    assert times(disturbed.server.calls) == {1}
    assert disturbed.results() == undisturbed
    assert disturbed.faults() == []


def test_a_dead_shard_is_taken_over_from_and_may_come_back(
    disturbed: Disturbed, undisturbed: Any
) -> None:
    shared = ("--touchstone-join=build-7", "--touchstone-shards=2")
    first, second = (
        disturbed.start(*shared, f"--touchstone-output=report-{number}.json") for number in (1, 2)
    )
    disturbed.wait_for_calls(CALLS // 3, first)
    before = disturbed.server.calls
    os.kill(first.pid, signal.SIGKILL)
    disturbed.end(first)
    assert disturbed.end(second) == 0, disturbed.said
    cost = lost(before, disturbed.server.calls[len(before) :], time.monotonic(), 0)
    assert cost.repeated <= SYSTEM_CALLS + JUDGE_CALLS
    assert disturbed.results("report-2.json") == undisturbed
    made = len(disturbed.server.calls)
    assert disturbed.run(*shared, "--touchstone-output=report-1.json") == 0, disturbed.said
    assert len(disturbed.server.calls) == made, "all was there"
    assert disturbed.results("report-1.json") == undisturbed
    assert disturbed.faults() == []
