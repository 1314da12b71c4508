"""The vector cache: durable, shared by processes, and plain about a file that it cannot use."""

import multiprocessing
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from pytest_touchstone.corpus.vectors import (
    VectorCache,
    VectorCacheError,
    read_pack,
    vector_key,
    write_pack,
)


def test_vectors_outlive_the_process_bit_by_bit(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "vectors.sqlite"
    vector = np.array([0.1, -1.0, 3e-39], np.float32)
    cache = VectorCache(path)
    cache.put("model 1", {"k": vector})
    cache.close()
    again = VectorCache(path)
    found = again.get(["k", "other"])
    assert found.keys() == {"k"}
    assert found["k"].dtype == np.float32
    assert found["k"].tobytes() == vector.tobytes()
    again.close()


def test_the_file_is_in_wal_mode_and_says_which_model_made_a_vector(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    VectorCache(path).put("model 1", {"k": np.ones(2, np.float32)})
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("SELECT key, model FROM vectors").fetchall() == [("k", "model 1")]
    connection.close()


def test_the_first_vector_stays(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    cache.put("m", {"k": np.ones(2, np.float32)})
    cache.put("m", {"k": np.zeros(2, np.float32)})
    cache.put("m", {})
    assert cache.get(["k"])["k"].tolist() == [1, 1]


def test_more_keys_than_sqlite_takes_in_one_statement(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    keys = [str(number) for number in range(1234)]
    cache.put("m", {key: np.full(1, float(key), np.float32) for key in keys})
    assert {key: float(v[0]) for key, v in cache.get(keys).items()} == {k: float(k) for k in keys}


def test_a_key_depends_on_kind_model_and_text_and_on_where_one_ends() -> None:
    keys = {
        vector_key("passage", "m", "text"),
        vector_key("query", "m", "text"),
        vector_key("passage", "m 2", "text"),
        vector_key("passage", "m", "2 text"),
        vector_key("passage", "m", "\ud800"),
    }
    assert len(keys) == 5


def test_a_file_that_is_no_database_is_named_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    path.write_bytes(b"this is not a database, and long enough to be seen as none" * 20)
    with pytest.raises(VectorCacheError, match=r"vectors\.sqlite: .*not a database; delete"):
        VectorCache(path)


def test_a_table_of_another_shape_is_found(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE vectors (key TEXT)")
    connection.close()
    with pytest.raises(VectorCacheError, match="no such column"):
        VectorCache(path).get(["k"])


def test_a_vector_that_was_changed_on_disk_is_found(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    cache = VectorCache(path)
    cache.put("m", {"k": np.ones(2, np.float32)})
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(8)")
    connection.close()
    with pytest.raises(VectorCacheError, match="does not match its digest; delete the file"):
        cache.get(["k"])


def test_a_place_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(VectorCacheError, match="cannot be written: "):
        VectorCache(tmp_path / "file" / "vectors.sqlite")
    (tmp_path / "vectors.sqlite").mkdir()
    with pytest.raises(VectorCacheError, match="must stand in a folder that can be written to"):
        VectorCache(tmp_path / "vectors.sqlite")


def hold_and_die(path: Path, held: "multiprocessing.synchronize.Event") -> None:
    with VectorCache(path).exclusive():
        held.set()
        multiprocessing.Event().wait()


def test_the_lock_goes_when_its_process_is_killed(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    held = spawn.Event()
    process = spawn.Process(target=hold_and_die, args=(tmp_path / "v.sqlite", held), daemon=True)
    process.start()
    assert held.wait(30)
    process.kill()
    process.join()
    with VectorCache(tmp_path / "v.sqlite").exclusive():
        assert process.exitcode not in (0, None)


def test_a_pack_brings_vectors_that_need_not_be_computed(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    vectors = {
        vector_key("passage", "m", f"text {n}"): rng.normal(size=8).astype(np.float32)
        for n in range(5)
    }
    write_pack(tmp_path / "v.npz", "m", vectors)
    cache = VectorCache(tmp_path / "cache.sqlite")
    first = next(iter(vectors))
    cache.put("m", {first: np.ones(8, np.float32)})
    cache.include(tmp_path / "v.npz")
    found = cache.all_of("m")
    cache.close()
    assert found.keys() == vectors.keys()
    # What was embedded live before gives way: with the pack everybody ranks alike.
    for key in vectors:
        np.testing.assert_allclose(found[key], vectors[key], atol=2e-3)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 torn"])
def test_a_file_that_is_no_pack_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "v.npz").write_bytes(content)
    with pytest.raises(VectorCacheError, match=r"v\.npz: cannot be read"):
        read_pack(tmp_path / "v.npz")
