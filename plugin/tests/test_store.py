"""The store: connections, transactions, and what a person reads when it cannot be used."""

from __future__ import annotations

import itertools
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from runs import PATIENCE_S, assert_all_threads_end, join, second_process, store_url
from sqlalchemy.engine import Connection

from pytest_touchstone.store import engine, tables
from pytest_touchstone.store.engine import Store, StoreError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(store_url(tmp_path))
    yield store
    store.close()
    assert_all_threads_end()


def insert(connection: Connection, digest: str) -> None:
    row = {"digest": digest, "text": "", "metadata": "{}"}
    connection.execute(sa.insert(tables.passages), row)


def digests(store: Store) -> set[str]:
    query = sa.select(tables.passages.c.digest)
    return store.read(lambda connection: set(connection.execute(query).scalars()))


def until_closed(store: Store) -> list[Future[None]]:
    """Submit one job after the other until the store takes no more."""
    futures: list[Future[None]] = []
    try:
        while True:
            futures.append(store.write(lambda connection: None))
    except StoreError:
        return futures


# What cannot be opened.


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("no url: hunter2hunter2", "its URL cannot be read; write `sqlite:///"),
        ("postgresql://me:hunter2hunter2@host:port/db", "its URL cannot be read; write `sqlite"),
        ("mysql+pymysql://me:hunter2hunter2@host/db", "mysql is not supported; write `sqlite:///"),
        ("oracle9://me:hunter2hunter2@host/db", "oracle9 is not supported"),
        ("postgresql+pg9000://me:hunter2hunter2@host/db?password=hunter2hunter2", "pg9000"),
        ("postgresql+asyncpg://me:hunter2hunter2@host/db", "its driver is not installed: No mod"),
        ("sqlite://", "must be the path of a file: processes meet in it"),
        ("sqlite:///:memory:", "must be the path of a file"),
        ("sqlite:///file:x?mode=memory&uri=true", "must be the path of a file"),
    ],
)
def test_a_url_that_cannot_be_used_is_one_line_without_password(url: str, says: str) -> None:
    with pytest.raises(StoreError) as caught:
        Store(url)
    message = str(caught.value)
    assert message.startswith("store")
    assert says in message
    assert "\n" not in message
    assert "hunter2" not in message


def test_a_reader_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such file"):
        Store(store_url(tmp_path), create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file")
    with pytest.raises(StoreError, match=r"store sqlite:.*(exists|directory)"):
        Store(store_url(tmp_path))


@pytest.mark.parametrize("create", [True, False])
def test_a_file_that_is_no_database(file: Path, create: bool) -> None:
    file.write_bytes(b"not a database, but long enough to look like one" * 100)
    with pytest.raises(StoreError, match=r"store\.sqlite: file is not a database; move it"):
        Store(f"sqlite:///{file}", create=create)


def test_a_database_of_somebody_else(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE notes (text)")
    with pytest.raises(StoreError, match=r"has no table eval_\w+; it holds no evaluation"):
        Store(f"sqlite:///{file}", create=False)


def test_a_store_of_another_version_is_refused_before_anything_is_written(file: Path) -> None:
    Store(f"sqlite:///{file}").close()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("ALTER TABLE eval_questions DROP COLUMN facts")
    with pytest.raises(StoreError, match=r"another version .*\(eval_questions lacks facts\)"):
        Store(f"sqlite:///{file}")


# Transactions.


def test_a_job_is_all_or_nothing(store: Store) -> None:
    def half(connection: Connection) -> None:
        insert(connection, "half")
        raise KeyError("mine")

    def twice(connection: Connection) -> None:
        insert(connection, "twice")
        insert(connection, "twice")

    with pytest.raises(KeyError, match="mine"):
        store.write(half).result(PATIENCE_S)
    with pytest.raises(StoreError, match=r"store .*(UNIQUE|duplicate key)") as caught:
        store.write(twice).result(PATIENCE_S)
    assert isinstance(caught.value.__cause__, sa.exc.IntegrityError)
    store.write(lambda connection: insert(connection, "whole")).result(PATIENCE_S)
    assert digests(store) == {"whole"}


def test_a_job_that_ends_the_interpreter_does_not_end_the_writer(store: Store) -> None:
    def leave(connection: Connection) -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        store.write(leave).result(PATIENCE_S)
    assert store.write(lambda connection: 5).result(PATIENCE_S) == 5


def test_jobs_run_one_after_the_other_in_the_order_they_came(store: Store) -> None:
    seen: list[tuple[int, int]] = []

    def job(number: int) -> Future[None]:
        return store.write(lambda connection: seen.append((number, threading.get_ident())))

    for future in [job(number) for number in range(50)]:
        future.result(PATIENCE_S)
    assert [number for number, _ in seen] == list(range(50))
    assert len({thread for _, thread in seen}) == 1
    assert seen[0][1] != threading.get_ident()


def test_jobs_that_wait_together_share_a_transaction_and_no_fate(store: Store) -> None:
    go = threading.Event()
    held = store.write(lambda connection: go.wait(PATIENCE_S))
    begun: list[Connection] = []

    def noting(digest: str) -> Future[None]:
        def job(connection: Connection) -> None:
            begun.append(connection)
            insert(connection, digest)

        return store.write(job)

    def failing(connection: Connection) -> None:
        insert(connection, "bad")
        raise KeyError("mine")

    together = [noting("a"), noting("b")]
    cancelled = noting("c")
    assert cancelled.cancel()
    go.set()
    held.result(PATIENCE_S)
    for future in together:
        future.result(PATIENCE_S)
    assert begun[0] is begun[1]
    assert digests(store) == {"a", "b"}
    go.clear()
    held = store.write(lambda connection: go.wait(PATIENCE_S))
    before, bad, after = noting("d"), store.write(failing), noting("e")
    go.set()
    before.result(PATIENCE_S)
    after.result(PATIENCE_S)
    with pytest.raises(KeyError, match="mine"):
        bad.result(PATIENCE_S)
    assert digests(store) == {"a", "b", "d", "e"}


def test_what_comes_soon_after_a_transaction_waits_for_more(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_APART_S", 1.0)
    # The transactions themselves, since an id may be used again.
    first = store.write(lambda connection: connection.get_transaction()).result(PATIENCE_S)
    later = []
    for _ in range(4):
        time.sleep(0.02)
        later.append(store.write(lambda connection: connection.get_transaction()))
    second, *others = (future.result(PATIENCE_S) for future in later)
    assert first is not second
    assert all(other is second for other in others)


def test_what_is_told_to_be_written_is_there_for_everybody(store: Store) -> None:
    go = threading.Event()
    store.write(lambda connection: go.wait(PATIENCE_S))
    there: list[bool] = []
    first = store.write(lambda connection: insert(connection, "a"))
    # On the writer's own thread, the moment that the future is done.
    first.add_done_callback(lambda _: there.append("a" in digests(store)))
    last = store.write(lambda connection: insert(connection, "b"))
    go.set()
    last.result(PATIENCE_S)
    assert there == [True]


def test_a_read_sees_one_state_and_waits_for_no_writer(store: Store) -> None:
    """A report that is read while another run writes must not be of two moments."""
    query = sa.select(sa.func.count()).select_from(tables.passages)

    def look_twice(connection: Connection) -> tuple[Any, Any]:
        first = connection.execute(query).scalar()
        store.write(lambda other: insert(other, "new")).result(PATIENCE_S)
        return first, connection.execute(query).scalar()

    assert store.read(look_twice) == (0, 0)
    assert digests(store) == {"new"}


def test_a_read_that_fails(store: Store) -> None:
    with pytest.raises(StoreError, match="nowhere"):
        store.read(lambda connection: connection.exec_driver_sql("SELECT 1 FROM nowhere"))


# Locks and the end.


def test_a_lock_that_is_held_too_long(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setattr(engine, "_LOCK_PATIENCE_S", 0)
    store = Store(f"sqlite:///{file}")
    with closing(store):
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match=r"store\.sqlite: database is locked; another"):
                store.write(lambda connection: None).result(PATIENCE_S)
            assert digests(store) == set(), "readers go on"
        store.write(lambda connection: insert(connection, "later")).result(PATIENCE_S)
        assert digests(store) == {"later"}


def test_closing_a_locked_store_tries_once_not_once_a_job(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    """Every try may take a minute, and somebody has pressed Ctrl-C."""
    monkeypatch.setattr(engine, "_LOCK_PATIENCE_S", 0)
    begin, tried, go = engine._begin_sqlite, [0], threading.Event()

    def counting(connection: Connection) -> None:
        tried[0] += 1
        go.wait(PATIENCE_S)
        begin(connection)

    store = Store(f"sqlite:///{file}")
    sa.event.remove(store._engine, "begin", begin)
    sa.event.listen(store._engine, "begin", counting)
    futures = [store.write(lambda connection: None)]
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        closer = threading.Thread(target=store.close)
        closer.start()
        futures += until_closed(store)
        go.set()
        closer.join(PATIENCE_S)
    assert {str(future.exception(0)) for future in futures} == {
        f"store sqlite:///{file}: database is locked; another program has held it for 60 s:"
        " wait for its end"
    }
    assert tried == [1]


def test_a_closed_store(store: Store) -> None:
    futures = [store.write(lambda connection, i=i: insert(connection, f"{i}")) for i in range(9)]  # type: ignore[misc]
    store.close()
    assert [future.result(0) for future in futures] == [None] * 9, "what was submitted is done"
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.write(lambda connection: None)
    with pytest.raises(StoreError, match="is closed"):
        store.read(lambda connection: None)


def test_no_job_is_lost_between_submitting_and_closing(tmp_path: Path) -> None:
    store = Store(store_url(tmp_path))
    futures: list[Future[int]] = []

    def submit() -> None:
        try:
            while True:
                futures.append(store.write(lambda connection: 1))
                futures[-1].result(PATIENCE_S)
        except StoreError:
            return

    threads = [threading.Thread(target=submit) for _ in range(4)]
    for thread in threads:
        thread.start()
    while len(futures) < 100:
        pass
    store.close()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert {future.result(PATIENCE_S) for future in futures} == {1}


# Several processes.


def test_processes_that_race_claim_each_unit_exactly_once(tmp_path: Path) -> None:
    """They race from the first moment: none of them finds the file or its tables there."""
    url = store_url(tmp_path)
    with (
        second_process("claim", url, "a") as a,
        second_process("claim", url, "b") as b,
        second_process("claim", url, "c") as c,
        second_process("claim", url, "d") as d,
    ):
        processes = [a, b, c, d]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        claimed = [process.communicate(timeout=PATIENCE_S)[0].split() for process in processes]
        assert [process.returncode for process in processes] == [0] * 4
    assert sorted(itertools.chain(*claimed)) == sorted(f"q{i}" for i in range(200))
    store = Store(url, create=False)
    try:
        assert join(store, "late", []).beats() == dict.fromkeys(["a", "b", "c", "d", "late"], 0)
    finally:
        store.close()


def test_many_processes_may_make_one_new_store_at_once(tmp_path: Path) -> None:
    """The first switch to WAL does not wait by itself; who comes second must not be refused."""
    for number in range(15):
        url = f"sqlite:///{tmp_path / f'{number}.sqlite'}"
        together = threading.Barrier(6)
        opened: list[Store] = []
        faults: list[BaseException] = []

        def open_it(
            url: str = url,
            together: threading.Barrier = together,
            opened: list[Store] = opened,
            faults: list[BaseException] = faults,
        ) -> None:
            together.wait(PATIENCE_S)
            try:
                opened.append(Store(url))
            except StoreError as error:
                faults.append(error)

        threads = [threading.Thread(target=open_it) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
        for store in opened:
            store.close()
        assert not faults
        assert len(opened) == 6
