"""Connections to the store: many readers, one writer thread, never the event loop.

Whatever waits to be written when the writer comes back is written in one transaction, since
beginning and ending one costs several times what stands in it.

All processes write one after the other, so that ids grow in the order in which rows become
visible and a read within a write transaction cannot be overtaken.  SQLite, in WAL mode, gives
that by ``BEGIN IMMEDIATE``; a transaction that reads first and writes later would fail at once
with "database is locked" when another process wrote in between
(https://www.sqlite.org/lang_transaction.html).  PostgreSQL gives it by an advisory lock.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from pytest_touchstone.store.tables import metadata
from pytest_touchstone.unusable import Unusable

T = TypeVar("T")
_LOCK_PATIENCE_S = 60
_LOOK_AGAIN_S = 0.02
_MOST_TOGETHER = 100  # jobs of one transaction: other processes wait for their turn meanwhile
_ADVISORY_LOCK = 0x70C4570E  # any number that nobody else is likely to lock
_READ = "touchstone_read"
_FORMS = "write `sqlite:///folder/file.sqlite` or `postgresql+psycopg://user@host/database`"


_Job = tuple[Callable[[Connection], Any], Future[Any]]


class StoreError(Unusable):
    """The store cannot be opened or written; one line that says where and why."""


class Store:
    """A database that several processes share.

    :param url: SQLAlchemy URL of a SQLite file or a PostgreSQL database.
    :param create: make missing folders, file and tables; otherwise a missing SQLite file is
        an error (a reader must never leave an empty store behind).
    :raises StoreError: where it cannot be opened.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        try:
            parsed = make_url(url)
        except (SQLAlchemyError, ValueError):
            # The URL is not repeated: where it cannot be read, its password cannot be hidden.
            raise StoreError(f"store: its URL cannot be read; {_FORMS}") from None
        self._where = parsed.set(query={}).render_as_string(hide_password=True)
        self._engine = self._open(parsed, create=create)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._failed: str | None = None  # why the database refused last, unless it came to itself
        self._closed = False
        self._closing = threading.Lock()
        self._writer = threading.Thread(
            target=self._write_loop, name="touchstone-store", daemon=True
        )
        self._writer.start()

    def write(self, job: Callable[[Connection], T]) -> Future[T]:
        """Run ``job`` on the writer thread: all of it is written, or nothing.

        When the future is done, what was written is durable.  It fails with :class:`StoreError`
        where the database refuses, and with the job's own exception where it raises one.

        :param job: may run more than once, since it may share a transaction with others, one of
            which fails: only the last time counts, and nothing is left of the others.

        :raises StoreError: where the store is closed.
        """
        future: Future[T] = Future()
        with self._closing:
            if self._closed:
                raise self._error("is closed")
            self._jobs.put((job, future))
        return future

    def read(self, job: Callable[[Connection], T]) -> T:
        """Run ``job`` on a connection of the calling thread; it sees one state of the store.

        :raises StoreError: where the database refuses or the store is closed.
        """
        if self._closed:
            raise self._error("is closed")
        options: dict[str, Any] = {_READ: True}
        if self._engine.dialect.name == "postgresql":
            options["isolation_level"] = "REPEATABLE READ"
        try:
            with self._engine.connect().execution_options(**options) as connection:
                return job(connection)
        except SQLAlchemyError as error:
            raise self._error(_first_line(error)) from error

    def close(self) -> None:
        """Finish what was submitted, then close all connections."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._jobs.put(None)
        self._writer.join()
        self._engine.dispose()

    def _open(self, url: URL, *, create: bool) -> Engine:
        try:
            engine = _engine(url, create=create)
        except ImportError as error:
            raise self._error(f"its driver is not installed: {error}") from None
        except (SQLAlchemyError, OSError) as error:
            raise self._error(_first_line(error)) from error
        try:
            with engine.connect().execution_options(**{_READ: not create}) as connection:
                if create:
                    metadata.create_all(connection)
                _check_columns(connection)
                connection.commit()
        except (SQLAlchemyError, OSError) as error:
            engine.dispose()
            raise self._error(_first_line(error)) from error
        return engine

    def _error(self, message: str) -> StoreError:
        return StoreError(f"store {self._where}: {message}")

    def _write_loop(self) -> None:
        while (entry := self._jobs.get()) is not None:
            entries = [entry, *self._waiting(_MOST_TOGETHER - 1)]
            ready = [each for each in entries if each[1].set_running_or_notify_cancel()]
            if ready:
                self._carry_out(ready)

    def _waiting(self, most: int) -> list[_Job]:
        entries: list[_Job] = []
        while len(entries) < most and not self._jobs.empty():
            if (entry := self._jobs.get()) is None:
                self._jobs.put(None)  # the end, for the loop to see
                break
            entries.append(entry)
        return entries

    def _carry_out(self, jobs: Sequence[_Job]) -> None:
        """Run the jobs in one transaction; each in its own, where that fails."""
        if self._failed and self._closed:
            # Every further try may wait a minute for a lock, and somebody waits for the end.
            for _, future in jobs:
                future.set_exception(self._error(self._failed))
            return
        at_work = False
        try:
            with self._engine.begin() as connection:
                at_work = True
                results = [job(connection) for job, _ in jobs]
                at_work = False
        except BaseException as error:  # noqa: BLE001 - belongs to whoever waits for the job
            # Whose fault it is shows when each is alone.  What ended badly is not tried again:
            # all of it may have been written.
            if at_work and len(jobs) > 1:
                for each in jobs:
                    self._carry_out([each])
                return
            for _, future in jobs:
                future.set_exception(self._refusal(error))
        else:
            self._failed = None
            for (_, future), result in zip(jobs, results, strict=True):
                future.set_result(result)

    def _refusal(self, error: BaseException) -> BaseException:
        if not isinstance(error, SQLAlchemyError):
            return error
        said = _first_line(error)
        self._failed = said if isinstance(error, OperationalError) else None
        failure = self._error(said)
        failure.__cause__ = error
        return failure


def _engine(url: URL, *, create: bool) -> Engine:
    backend = url.get_backend_name()
    if backend == "sqlite":
        return _sqlite(url, create=create)
    if backend != "postgresql":
        raise OSError(f"{backend} is not supported; {_FORMS}")
    engine = sqlalchemy.create_engine(url, pool_pre_ping=True)
    sqlalchemy.event.listen(engine, "connect", _configure_postgresql)
    sqlalchemy.event.listen(engine, "begin", _begin_postgresql)
    return engine


def _sqlite(url: URL, *, create: bool) -> Engine:
    if not url.database or url.database.startswith((":memory:", "file:")):
        raise OSError("must be the path of a file: processes meet in it")
    file = Path(url.database)
    if create:
        file.parent.mkdir(parents=True, exist_ok=True)
    elif not file.exists():
        raise OSError("there is no such file")
    engine = sqlalchemy.create_engine(url, connect_args={"timeout": _LOCK_PATIENCE_S})
    sqlalchemy.event.listen(engine, "connect", _configure_sqlite)
    sqlalchemy.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _check_columns(connection: Connection) -> None:
    """Refuse a database that another version made: the first write would fail in mid-run.

    :raises OSError: naming the first table that lacks something.
    """
    inspector = sqlalchemy.inspect(connection)
    there = set(inspector.get_table_names())
    for table in metadata.sorted_tables:
        if table.name not in there:
            raise OSError(f"has no table {table.name}; it holds no evaluation")
        found = {column["name"] for column in inspector.get_columns(table.name)}
        if missing := [column.name for column in table.columns if column.name not in found]:
            raise OSError(
                f"was made by another version of pytest-touchstone ({table.name} lacks"
                f" {', '.join(missing)}); move it away, or name another one"
            )


def _configure_sqlite(connection: Any, _record: Any) -> None:
    # The driver's own transaction control would begin too late; see `_begin_sqlite`.
    connection.isolation_level = None
    cursor = connection.cursor()
    _switch_to_wal(cursor)
    # Durable against the death of any process; only a power cut may lose the last moments.
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _switch_to_wal(cursor: Any) -> None:
    """Set the journal mode, waiting for others that do.

    The first switch of a new file wants the file for itself and, unlike everything else, does not
    wait for it: two runs that start together in one folder would refuse each other.
    """
    deadline = time.monotonic() + _LOCK_PATIENCE_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_LOOK_AGAIN_S)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN" if _only_reads(connection) else "BEGIN IMMEDIATE")


def _configure_postgresql(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(f"SET lock_timeout = '{_LOCK_PATIENCE_S}s'")
    cursor.close()
    connection.commit()


def _begin_postgresql(connection: Connection) -> None:
    if not _only_reads(connection):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")


def _only_reads(connection: Connection) -> bool:
    return bool(connection.get_execution_options().get(_READ, False))


def _first_line(error: BaseException) -> str:
    cause = getattr(error, "orig", None) or error
    text = str(getattr(cause, "strerror", None) or cause).strip()
    return text.splitlines()[0] if text else type(cause).__name__
