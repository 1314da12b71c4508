"""A PostgreSQL server of one's own: from Debian's package, in a temporary folder, on a socket."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa

_USER = "touchstone"
_SYSTEM_USER = "postgres"  # the server refuses to run as root; the package makes this one
_START_S = 30.0
_OTHERS = (
    "SELECT {what} FROM pg_stat_activity"
    " WHERE datname = :name AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)


def why_missing() -> str | None:
    """What a test needs and does not find here; ``None`` where a server can be started."""
    if sys.platform != "linux":
        return "how the server is started and its clients are killed is Linux's way"
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed (extra `postgres`)"
    if _programs() is None:
        return "no PostgreSQL server is installed (Debian: `postgresql`)"
    return None


def _programs() -> Path | None:
    """The folder of ``initdb`` and ``postgres``: Debian keeps it out of the path."""
    found = [Path(path).parent for path in [shutil.which("initdb")] if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in found if (folder / "initdb").exists()), None)


class PostgresServer:
    """A server for the time of a ``with`` block, which nothing outside this machine can reach."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def database(self) -> str:
        """The URL of a new, empty database."""
        name = f"run{next(self._numbers)}"
        with self._admin.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
        return f"{self._url}&dbname={name}"

    def connections(self, url: str) -> int:
        """How many connections a database has."""
        return int(self._of(url, "count(*)") or 0)

    def terminate(self, url: str) -> int:
        """End all connections of a database, whatever they are at; how many there were."""
        return int(self._of(url, "count(pg_terminate_backend(pid))") or 0)

    def _of(self, url: str, what: str) -> Any:
        query = sa.text(_OTHERS.format(what=what))
        with self._admin.connect() as connection:
            return connection.execute(query, {"name": url.rpartition("=")[2]}).scalar()

    def start(self) -> None:
        """Start the server, or start it again after :meth:`stop`."""
        command = [str(self._bin / "postgres"), "-D", str(self._data), "-k", str(self._folder)]
        # Nothing here has to outlive the machine.
        for setting in ("listen_addresses=", "fsync=off", "max_connections=200"):
            command += ["-c", setting]
        with (self._folder / "log").open("a") as log:
            self._server = subprocess.Popen(command, stdout=log, stderr=log, user=self._as)
        until = time.monotonic() + _START_S
        while True:
            try:
                self._admin.connect().close()
            except sa.exc.OperationalError:
                if self._server.poll() is not None or time.monotonic() > until:
                    raise RuntimeError((self._folder / "log").read_text()) from None
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        """End the server as a crash would: what was committed is there when it comes back."""
        self._server.send_signal(signal.SIGQUIT)  # at once
        self._server.wait()

    def __enter__(self) -> Self:
        programs = _programs()
        assert programs is not None, why_missing()
        self._bin = programs
        self._as = _SYSTEM_USER if os.getuid() == 0 else None
        # Not below pytest's own folder, which nobody else may enter; a socket's path is short.
        self._folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self._data = self._folder / "data"
        self._url = f"postgresql+psycopg://{_USER}@/?host={self._folder}"
        try:
            if self._as is not None:
                shutil.chown(self._folder, self._as)
            made = [str(self._bin / "initdb"), "-D", str(self._data), "-U", _USER]
            made += ["--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
            subprocess.run(made, check=True, capture_output=True, user=self._as)
            self._admin = sa.create_engine(
                f"{self._url}&dbname=postgres",
                poolclass=sa.NullPool,
                isolation_level="AUTOCOMMIT",
            )
            self.start()
        except BaseException:
            shutil.rmtree(self._folder)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        shutil.rmtree(self._folder)
