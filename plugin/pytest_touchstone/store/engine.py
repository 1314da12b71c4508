"""Connections to the store: many readers, one writer thread, never the event loop.

SQLite runs in WAL mode; every write transaction starts with ``BEGIN IMMEDIATE``, because a
transaction that reads first and writes later fails at once with "database is locked" when
another process wrote in between (https://www.sqlite.org/lang_transaction.html).
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from pytest_touchstone.store.tables import metadata

T = TypeVar("T")
_LOCK_PATIENCE_S = 60


class StoreError(Exception):
    """The store cannot be opened or written; one line that says where and why."""


class Store:
    """A database that several processes share.

    :param url: SQLAlchemy URL (``sqlite:///file`` or ``postgresql+psycopg://...``).
    :param create: make missing folders, file and tables; otherwise a missing SQLite file is
        an error (a reader must never leave an empty store behind).
    :raises StoreError: where it cannot be opened.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        self._where = make_url(url).render_as_string(hide_password=True)
        try:
            self._engine = _open(url, create=create)
            if create:
                with self._engine.begin() as connection:
                    metadata.create_all(connection)
        except (SQLAlchemyError, OSError) as error:
            raise StoreError(f"store {self._where}: {_first_line(error)}") from error
        self._jobs: queue.SimpleQueue[tuple[Callable[[Connection], Any], Future[Any]] | None]
        self._jobs = queue.SimpleQueue()
        self._closed = False
        self._writer = threading.Thread(
            target=self._write_loop, name="touchstone-store", daemon=True
        )
        self._writer.start()

    def write(self, job: Callable[[Connection], T]) -> Future[T]:
        """Run ``job`` in a transaction of its own on the writer thread.

        The future fails with :class:`StoreError` where the database refuses.
        """
        if self._closed:
            raise StoreError(f"store {self._where}: is closed")
        future: Future[T] = Future()
        self._jobs.put((job, future))
        return future

    def read(self, job: Callable[[Connection], T]) -> T:
        """Run ``job`` on a connection of the calling thread."""
        try:
            with self._engine.connect().execution_options(touchstone_read=True) as connection:
                return job(connection)
        except SQLAlchemyError as error:
            raise StoreError(f"store {self._where}: {_first_line(error)}") from error

    def close(self) -> None:
        """Finish what was submitted, then close all connections."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            self._writer.join()
            self._engine.dispose()

    def _write_loop(self) -> None:
        while (entry := self._jobs.get()) is not None:
            job, future = entry
            if not future.set_running_or_notify_cancel():
                continue
            try:
                with self._engine.begin() as connection:
                    result = job(connection)
            except SQLAlchemyError as error:
                failure = StoreError(f"store {self._where}: {_first_line(error)}")
                failure.__cause__ = error
                future.set_exception(failure)
            except Exception as error:  # noqa: BLE001 - belongs to whoever waits for the job
                future.set_exception(error)
            else:
                future.set_result(result)


def _open(url: str, *, create: bool) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return sqlalchemy.create_engine(parsed)
    if parsed.database is None or parsed.database == ":memory:":
        raise OSError("must be a file: processes meet in it")
    file = Path(parsed.database)
    if create:
        file.parent.mkdir(parents=True, exist_ok=True)
    elif not file.exists():
        raise OSError("there is no such file")
    engine = sqlalchemy.create_engine(parsed, connect_args={"timeout": _LOCK_PATIENCE_S})
    sqlalchemy.event.listen(engine, "connect", _configure_sqlite)
    sqlalchemy.event.listen(engine, "begin", _begin_immediate)
    return engine


def _configure_sqlite(connection: Any, _record: Any) -> None:
    # The driver's own transaction control would begin too late; see `_begin_immediate`.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    # Durable against the death of any process; only a power cut may lose the last moments.
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _begin_immediate(connection: Connection) -> None:
    readonly = connection.get_execution_options().get("touchstone_read", False)
    connection.exec_driver_sql("BEGIN" if readonly else "BEGIN IMMEDIATE")


def _first_line(error: BaseException) -> str:
    cause = getattr(error, "orig", None) or error
    text = str(getattr(cause, "strerror", None) or cause).strip()
    return text.splitlines()[0] if text else type(cause).__name__
