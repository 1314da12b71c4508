"""Connections to the store: many readers, one writer thread, never the event loop.

Whatever waits to be written when the writer comes back is written in one transaction, since
beginning and ending one costs several times what stands in it.

All processes write one after the other, so that ids grow in the order in which rows become
visible and a read within a write transaction cannot be overtaken.  SQLite, in WAL mode, gives
that by ``BEGIN IMMEDIATE``; a transaction that reads first and writes later would fail at once
with "database is locked" when another process wrote in between
(https://www.sqlite.org/lang_transaction.html).  PostgreSQL gives it by an advisory lock.

A connection to a server may break at any moment.  Then the transaction is repeated on another one,
unless the server says that it was committed.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from pytest_touchstone.store.postgres import (
    NAME,
    READ,
    is_broken,
    is_lost,
    only_reads,
    open_postgres,
    was_committed,
)
from pytest_touchstone.store.tables import metadata
from pytest_touchstone.store.together import carried_out
from pytest_touchstone.unusable import Unusable

T = TypeVar("T")
_LOCK_PATIENCE_S = 60
_LOOK_AGAIN_S = 0.02
_RECONNECT_WITHIN_S = 60  # a server that is started again takes seconds
_CLOSE_WITHIN_S = 5  # the same once somebody waits for the end
_LONGEST_PAUSE_S = 1.0
_APART_S = 0.01  # transactions: one costs as much as the rows of ten jobs, and the interpreter
_MOST_TOGETHER = 100  # jobs of one transaction: other processes wait for their turn meanwhile
_ADVICE: Mapping[str, str] = {
    "database or disk is full": "make room there",
    "disk I/O error": "the disk may be full, or broken",
    "database is locked": f"another program has held it for {_LOCK_PATIENCE_S} s: wait for its end",
    "attempt to write a readonly database": "file and folder must be writable",
    "unable to open database file": "the folder must exist and be writable, for reading too",
    "database disk image is malformed": "the file is damaged: move it away, or name another one",
    "file is not a database": "move it away, or name another one",
}
"""What SQLite says, and what to do about it."""
_FORMS = "write `sqlite:///folder/file.sqlite` or `postgresql+psycopg://user@host/database`"


_Job = tuple[Callable[[Connection], Any], Future[Any]]


class StoreError(Unusable):
    """The store cannot be opened or written; one line that says where and why."""


class NoStoreError(StoreError):
    """There is no store yet, only a place for one."""


class _MissingError(OSError):
    """Neither a file, nor tables."""


@dataclass(slots=True)
class _Attempt:
    """How far a transaction came that may have to be repeated.

    :ivar at_work: a job is under way, so that the failure may be its own.
    :ivar results: of all jobs, once they were through; whether it was committed may be unknown.
    :ivar name: what the server calls it.
    """

    at_work: bool = False
    results: list[Any] | None = None
    name: str | None = None


class Store:
    """A database that several processes share.

    :param url: SQLAlchemy URL of a SQLite file or a PostgreSQL database.
    :param create: make missing folders, file and tables (a reader must never leave an empty store
        behind).
    :raises NoStoreError: where they are missing and not to be made.
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
            which fails, and since a connection may break: only the last time counts, and nothing
            is left of the others.

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

        :param job: may run more than once, since a connection may break.
        :raises StoreError: where the database refuses or the store is closed.
        """
        if self._closed:
            raise self._error("is closed")

        def look() -> T:
            with self._engine.connect().execution_options(**{READ: True}) as connection:
                return job(connection)

        try:
            return self._persistently(look)
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
            install = "psycopg is in pip install 'pytest-touchstone[postgres]'"
            raise self._error(f"its driver is not installed: {error}; {install}") from None
        except (SQLAlchemyError, OSError) as error:
            raise self._error(_first_line(error), error) from error
        try:
            _made_and_checked(engine, create=create)
        except (SQLAlchemyError, OSError) as error:
            engine.dispose()
            raise self._error(_first_line(error), error) from error
        return engine

    def _error(self, message: str, cause: BaseException | None = None) -> StoreError:
        kind = NoStoreError if isinstance(cause, _MissingError) else StoreError
        return kind(f"store {self._where}: {message}")

    def _write_loop(self) -> None:
        begun = -_APART_S
        while (entry := self._jobs.get()) is not None:
            if not self._closed and (early := begun + _APART_S - time.monotonic()) > 0:
                time.sleep(early)
            begun = time.monotonic()
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
        attempt = _Attempt()
        try:
            results = self._persistently(lambda: self._transact(jobs, attempt))
        except BaseException as error:  # noqa: BLE001 - belongs to whoever waits for the job
            # Whose fault it is shows when each is alone.  What ended badly is not tried again:
            # all of it may have been written.
            if attempt.at_work and len(jobs) > 1 and not self._is_lost(error):
                for each in jobs:
                    self._carry_out([each])
                return
            for _, future in jobs:
                future.set_exception(self._refusal(error))
        else:
            self._failed = None
            for (_, future), result in zip(jobs, results, strict=True):
                future.set_result(result)

    def _transact(self, jobs: Sequence[_Job], attempt: _Attempt) -> list[Any]:
        """Run the jobs in one transaction, unless an earlier attempt did after all."""
        attempt.at_work = False
        with self._engine.begin() as connection:
            if attempt.results is not None and was_committed(connection, attempt.name):
                return attempt.results
            attempt.name, attempt.results = connection.info.get(NAME), None
            attempt.at_work = True
            results = carried_out([job for job, _ in jobs], connection)
            attempt.at_work, attempt.results = False, results
        return results

    def _persistently(self, work: Callable[[], T]) -> T:
        """Do the work again where the connection broke under it, or none could be made."""
        begun, pause = time.monotonic(), _LOOK_AGAIN_S
        while True:
            try:
                return work()
            except SQLAlchemyError as error:
                patience = _CLOSE_WITHIN_S if self._closed else _RECONNECT_WITHIN_S
                if not self._is_lost(error) or time.monotonic() - begun > patience:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _is_lost(self, error: BaseException) -> bool:
        return self._engine.dialect.name == "postgresql" and is_lost(error)

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
    return open_postgres(url, _LOCK_PATIENCE_S)


def _sqlite(url: URL, *, create: bool) -> Engine:
    if not url.database or url.database.startswith((":memory:", "file:")):
        raise OSError("must be the path of a file: processes meet in it")
    file = Path(url.database)
    if create:
        file.parent.mkdir(parents=True, exist_ok=True)
    elif not file.exists():
        raise _MissingError("there is no such file")
    engine = sqlalchemy.create_engine(url, connect_args={"timeout": _LOCK_PATIENCE_S})
    sqlalchemy.event.listen(engine, "connect", _configure_sqlite)
    if create:  # who only reads changes nothing: the file may be anybody's
        sqlalchemy.event.listen(engine, "connect", _switch_to_wal)
    sqlalchemy.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _made_and_checked(engine: Engine, *, create: bool) -> None:
    """Make the tables where they may be made, and see that they are what they should be.

    :raises OSError: where they are not.
    """
    while True:
        try:
            with engine.connect().execution_options(**{READ: not create}) as connection:
                if create:
                    metadata.create_all(connection)
                _check_columns(connection)
                connection.commit()
        except DBAPIError as error:
            # A server that does not answer at all is told of at once.
            if not is_broken(error):
                raise
        else:
            return


def _check_columns(connection: Connection) -> None:
    """Refuse a database that another version made: the first write would fail in mid-run.

    :raises OSError: naming the first table that lacks something.
    """
    inspector = sqlalchemy.inspect(connection)
    there = set(inspector.get_table_names())
    for table in metadata.sorted_tables:
        if table.name not in there:
            raise _MissingError(f"has no table {table.name}; it holds no evaluation")
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
    # Durable against the death of any process; only a power cut may lose the last moments.
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _switch_to_wal(connection: Any, _record: Any) -> None:
    """Set the journal mode, waiting for others that do.

    The first switch of a new file wants the file for itself and, unlike everything else, does not
    wait for it: two runs that start together in one folder would refuse each other.
    """
    deadline = time.monotonic() + _LOCK_PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_LOOK_AGAIN_S)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN" if only_reads(connection) else "BEGIN IMMEDIATE")


def _first_line(error: BaseException) -> str:
    cause = getattr(error, "orig", None) or error
    text = str(getattr(cause, "strerror", None) or cause).strip()
    said = text.splitlines()[0] if text else type(cause).__name__
    advice = _ADVICE.get(said)
    return said if advice is None else f"{said}; {advice}"
