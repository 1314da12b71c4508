"""Connections to a PostgreSQL server, which may break at any moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError

READ = "touchstone_read"
"""Execution option of a connection that only reads."""
NAME = "touchstone_transaction"
"""Key in a connection's ``info``: what the server calls its transaction."""
_ADVISORY_LOCK = 0x70C4570E  # any number that nobody else is likely to lock
# Whoever is suspended or cut off in mid-transaction must not hold up all others.
_IDLE_WITHIN_S = 20
_LIBPQ = ("psycopg", "psycopg2")
# A server that is gone without a word is noticed within half a minute, not after two hours.
_LIVELY: Mapping[str, int] = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}


def open_postgres(url: URL, lock_within_s: int) -> Engine:
    """An engine whose writing transactions come one after the other.

    :param lock_within_s: how long one waits for its turn.
    :raises ImportError: where the driver is missing.
    """
    lively = _LIVELY if url.get_driver_name() in _LIBPQ else {}
    unsaid = {name: value for name, value in lively.items() if name not in url.query}
    engine = sa.create_engine(url, connect_args=unsaid)

    def configure(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = '{lock_within_s}s'")
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE_WITHIN_S}s'")
        cursor.close()
        connection.commit()

    sa.event.listen(engine, "connect", configure)
    sa.event.listen(engine, "begin", _begin)
    return engine


def only_reads(connection: Connection) -> bool:
    """Whether a connection was opened to read."""
    return bool(connection.get_execution_options().get(READ, False))


def _begin(connection: Connection) -> None:
    if only_reads(connection):
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        return
    begin = f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK}), pg_current_xact_id()::text"
    connection.info[NAME] = connection.exec_driver_sql(begin).one()[1]


def was_committed(connection: Connection, name: str | None) -> bool:
    """What became of a transaction whose connection broke while it was committed.

    It is over, since it held the lock that this one holds now.
    """
    query = sa.text("SELECT pg_xact_status(CAST(:name AS xid8))")
    return bool(connection.execute(query, {"name": name}).scalar() == "committed")


def is_broken(error: BaseException) -> bool:
    """Whether a connection that was there is gone."""
    return isinstance(error, DBAPIError) and error.connection_invalidated


def is_lost(error: BaseException) -> bool:
    """Whether there is no connection to the server, so that another one may help."""
    # What fails before there is a statement is the connection itself.
    none_made = isinstance(error, OperationalError) and error.statement is None
    return none_made or is_broken(error)
