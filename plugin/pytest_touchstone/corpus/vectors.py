"""The vector cache: one SQLite file, shared by processes, addressed by content.

A row is the SHA-256 of (kind, model identity, text), the vector as little-endian float32, and
the vector's own SHA-256, so that a damaged file is noticed.  Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from pytest_touchstone.unusable import Unusable

if TYPE_CHECKING:
    import numpy as np
    import sqlalchemy as sa
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

BUSY_SECONDS = 60
_KEYS_A_QUERY = 500


class VectorCacheError(Unusable):
    """A cache file that cannot be used: which file, why, what to do.  One line."""


def vector_key(kind: str, identity: str, text: str) -> str:
    """The address of a vector: SHA-256 (hex) over kind, model identity and text."""
    return hashlib.sha256(json.dumps([kind, identity, text]).encode()).hexdigest()


class VectorCache:
    """Vectors by key, durable and safe to use from several threads and processes.

    :param path: the SQLite file; it and its folder are made where they do not exist.
    :raises VectorCacheError: where the file cannot be opened, written or is no such cache.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._engine = _engine(path)
            # Switching to WAL wants the file for itself, and does not wait for it.
            with self.exclusive(), self._engine.begin() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                connection.execute(_create_table())

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the cache's lock: other processes and threads that want it wait.

        It guards "what is missing, embed, store".  The operating system lets go of it when the
        process that holds it dies.
        """
        from filelock import FileLock

        lock = FileLock(f"{self.path}.lock")
        with self._explained():
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def get(self, keys: Sequence[str]) -> dict[str, Vectors]:
        """The vectors that are there, by key.

        :raises VectorCacheError: where the file is damaged.
        """
        import sqlalchemy as sa

        table = _table()
        found: dict[str, Vectors] = {}
        with self._explained(), self._engine.connect() as connection:
            for start in range(0, len(keys), _KEYS_A_QUERY):
                some = keys[start : start + _KEYS_A_QUERY]
                query = sa.select(table.c.key, table.c.vector, table.c.digest)
                for key, blob, digest in connection.execute(query.where(table.c.key.in_(some))):
                    found[key] = self._decoded(blob, digest)
        return found

    def put(self, identity: str, vectors: Mapping[str, Vectors]) -> None:
        """Store vectors by key, in one durable transaction; what is there already stays."""
        from sqlalchemy.dialects.sqlite import insert

        rows = [_row(identity, key, vector) for key, vector in vectors.items()]
        if not rows:
            return
        statement = insert(_table()).on_conflict_do_nothing()
        with self._explained(), self._engine.begin() as connection:
            connection.execute(statement, rows)

    def include(self, pack: Path) -> None:
        """Take over the vectors of a pack; see :func:`write_pack`.

        They replace what was there: everybody who has the pack has to get the same ranking,
        whatever was embedded before.

        :raises VectorCacheError: where the pack cannot be read.
        """
        identity, vectors = read_pack(pack)
        there = self.get(list(vectors))
        differing = {
            key: vector
            for key, vector in vectors.items()
            if key not in there or there[key].tobytes() != vector.tobytes()
        }
        self._replace(identity, differing)

    def all_of(self, identity: str) -> dict[str, Vectors]:
        """Every vector of one model, by key."""
        import sqlalchemy as sa

        table = _table()
        query = sa.select(table.c.key).where(table.c.model == identity).order_by(table.c.key)
        with self._explained(), self._engine.connect() as connection:
            keys = list(connection.execute(query).scalars())
        return self.get(keys)

    def _replace(self, identity: str, vectors: Mapping[str, Vectors]) -> None:
        from sqlalchemy.dialects.sqlite import insert

        rows = [_row(identity, key, vector) for key, vector in vectors.items()]
        if not rows:
            return
        statement = insert(_table())
        new = {name: statement.excluded[name] for name in ("model", "digest", "vector")}
        with self._explained(), self._engine.begin() as connection:
            connection.execute(statement.on_conflict_do_update(["key"], set_=new), rows)

    def close(self) -> None:
        """Close the connections to the file."""
        self._engine.dispose()

    def _decoded(self, blob: bytes, digest: str) -> Vectors:
        import numpy as np

        if hashlib.sha256(blob).hexdigest() != digest or len(blob) % 4:
            raise self._damaged("a stored vector does not match its digest")
        return np.frombuffer(blob, dtype="<f4").astype(np.float32)

    def _damaged(self, why: str) -> VectorCacheError:
        return VectorCacheError(
            f"vector cache {self.path}: {why}; delete the file and it is built again"
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite and the file system into one line that says what to do."""
        from sqlalchemy.exc import DBAPIError

        try:
            yield
        except OSError as error:
            why = error.strerror or str(error)
            raise VectorCacheError(f"vector cache {self.path}: cannot be written: {why}") from None
        except DBAPIError as error:
            why = str(error.orig)
            if "full" in why or "disk I/O" in why:
                raise VectorCacheError(
                    f"vector cache {self.path}: {why}; make room there, and start again: what was"
                    " embedded so far is kept"
                ) from None
            if "unable to open" in why or "readonly" in why:
                raise VectorCacheError(
                    f"vector cache {self.path}: {why}; it must stand in a folder that can be"
                    " written to"
                ) from None
            if "locked" in why:
                raise VectorCacheError(
                    f"vector cache {self.path}: another process has kept it locked for"
                    f" {BUSY_SECONDS} s"
                ) from None
            raise self._damaged(why) from None


def write_pack(path: Path, identity: str, vectors: Mapping[str, Vectors]) -> None:
    """Write vectors to ship beside their texts: NumPy's ``.npz`` of keys and half precision.

    Half precision moves a cosine by less than 0.001, and by the same for everybody who reads
    the pack, which an embedder on another processor does not promise.
    """
    import numpy as np

    keys = sorted(vectors)
    np.savez_compressed(
        path,
        identity=np.array(identity),
        keys=np.frombuffer(bytes.fromhex("".join(keys)), dtype=np.uint8).reshape(len(keys), -1),
        vectors=np.stack([vectors[key] for key in keys]).astype("<f2"),
    )


def read_pack(path: Path) -> tuple[str, dict[str, Vectors]]:
    """Identity of the model, and its vectors by key.

    :raises VectorCacheError: where the file cannot be read or is no pack.
    """
    import numpy as np

    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as pack:
            keys = [bytes(row).hex() for row in pack["keys"]]
            vectors = pack["vectors"].astype(np.float32)
            identity = str(pack["identity"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise VectorCacheError(f"vectors {path}: cannot be read: {error}") from None
    if vectors.ndim != 2 or len(vectors) != len(keys):
        raise VectorCacheError(f"vectors {path}: is no pack of vectors")
    return identity, dict(zip(keys, vectors, strict=True))


def _row(identity: str, key: str, vector: Vectors) -> dict[str, Any]:
    blob = vector.astype("<f4").tobytes()
    return {
        "key": key,
        "model": identity,
        "digest": hashlib.sha256(blob).hexdigest(),
        "vector": blob,
    }


def _engine(path: Path) -> sa.Engine:
    import sqlalchemy as sa

    url = sa.URL.create("sqlite", database=str(path))
    return sa.create_engine(url, connect_args={"timeout": BUSY_SECONDS})


@cache
def _table() -> sa.Table:
    import sqlalchemy as sa

    return sa.Table(
        "vectors",
        sa.MetaData(),
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("model", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )


def _create_table() -> sa.schema.CreateTable:
    from sqlalchemy.schema import CreateTable

    return CreateTable(_table(), if_not_exists=True)
