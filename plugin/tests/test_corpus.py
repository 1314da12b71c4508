"""One collection, three places: what is found, counted and refused is the same in each.

The server is a stand-in on loopback (``servers/qdrant.py`` says what a real one must still prove).
"""

import json
import subprocess
import sys
import uuid
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr
from qdrant_client import QdrantClient, models
from servers.loopback import LoopbackServer, Reply
from servers.qdrant import QdrantServer

from pytest_touchstone.corpus.chunks import Chunk, ChunksError, chunks_digest
from pytest_touchstone.corpus.collection import (
    Corpus,
    CorpusError,
    FilterError,
    open_corpus,
    point_id,
)
from pytest_touchstone.settings import CorpusSettings

KEY = "the-secret-key"
CHUNKS = (
    Chunk("c-north", "1 0", {"year": 2022, "district": "Gulu", "final": True}),
    Chunk("c-east", "0 1", {"year": "2022", "district": "Soroti", "final": 1}),
    Chunk("b-east", "0 1", {"year": 2022.0, "district": "Åre", "final": False}),
    Chunk("a-east", "0 1", {"year": 2023, "share": 0.5, "tags": ["roads", "water"]}),
    Chunk("d-near", "0.000001 1", {"year": 2024, "place": {"län": "Jämtland"}, "odd name": "x"}),
)


class Coordinates:
    """A text is its own vector: ``"0 1"``."""

    identity = "coordinates"

    def __init__(self, size: int = 2) -> None:
        self._size = size

    def passages(self, texts: Sequence[str]) -> Any:
        rows = [
            np.array([float(x) for x in text.split()] + [0] * (self._size - 2)) for text in texts
        ]
        return np.array([row / np.linalg.norm(row) for row in rows], np.float32)

    def queries(self, texts: Sequence[str]) -> Any:
        return self.passages([text if text[0] in "-.0123456789" else "1 1" for text in texts])


def corpus_file(folder: Path, chunks: Sequence[Chunk] = CHUNKS) -> Path:
    path = folder / "corpus.jsonl"
    lines = [json.dumps({"id": c.id, "text": c.text, "metadata": dict(c.metadata)}) for c in chunks]
    path.write_text("\n".join(lines), "utf-8")
    return path


def fill(client: QdrantClient, chunks: Sequence[Chunk] = CHUNKS, name: str = "touchstone") -> None:
    client.create_collection(name, models.VectorParams(size=2, distance=models.Distance.COSINE))
    vectors = Coordinates().passages([chunk.text for chunk in chunks])
    points = [
        models.PointStruct(
            id=point_id(chunk.id),
            vector=vector.tolist(),
            payload={"id": chunk.id, "text": chunk.text, "metadata": dict(chunk.metadata)},
        )
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]
    client.upsert(name, points)


@pytest.fixture(scope="module", params=["memory", "folder", "server"])
def corpus(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Corpus]:
    tmp_path = tmp_path_factory.mktemp("corpus")
    if request.param == "memory":
        yield in_memory(tmp_path)
    elif request.param == "folder":
        client = QdrantClient(path=str(tmp_path / "qdrant"))
        fill(client)
        client.close()
        opened = open_corpus(CorpusSettings(location=str(tmp_path / "qdrant")), Coordinates())
        yield opened
        opened.close()
    else:
        with QdrantServer(api_key=KEY) as server:
            fill(server.client)
            yield open_corpus(on(server), Coordinates())


def in_memory(folder: Path, chunks: Sequence[Chunk] = CHUNKS) -> Corpus:
    return open_corpus(CorpusSettings(chunks=corpus_file(folder, chunks)), Coordinates())


def on(server: LoopbackServer, **options: Any) -> CorpusSettings:
    return CorpusSettings(location=server.address, api_key=SecretStr(KEY), **options)


def ids(corpus: Corpus, query: Any, **options: Any) -> list[str]:
    return [passage.id for passage in corpus.search(query, **options)]


def test_passages_rank_by_rounded_score_then_id(corpus: Corpus) -> None:
    found = corpus.search("0 1")
    assert [(p.id, p.score) for p in found] == [
        ("a-east", 1.0),
        ("b-east", 1.0),
        ("c-east", 1.0),
        ("d-near", 1.0),
        ("c-north", 0.0),
    ]
    assert found[3].text == "0.000001 1"
    assert found[3].metadata == {"year": 2024, "place": {"län": "Jämtland"}, "odd name": "x"}


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
def test_ties_at_the_cut_go_by_id(corpus: Corpus, limit: int) -> None:
    expected = ["a-east", "b-east", "c-east", "d-near", "c-north"]
    assert ids(corpus, "0 1", limit=limit) == expected[:limit]


def test_a_tie_wider_than_any_margin_goes_by_id_too(tmp_path: Path) -> None:
    same = [Chunk(f"{number:03}", "0 1") for number in range(200)]
    shuffled = [same[(number * 77) % 200] for number in range(200)]
    found = ids(in_memory(tmp_path, [*shuffled, Chunk("best", "1 1")]), "1 1", limit=3)
    assert found == ["best", "000", "001"]


def test_a_query_may_be_several_texts_with_weights(corpus: Corpus) -> None:
    assert ids(corpus, {"1 0": 1.0, "0 1": 0.3}, limit=1) == ["c-north"]
    assert ids(corpus, {"1 0": 0.3, "0 1": 1.0}, limit=1) == ["a-east"]
    [first] = corpus.search({"1 0": 2.0, "0 1": 2.0}, limit=1)
    assert first.score == pytest.approx(0.70711)


FILTERED = [
    ({}, {"c-north", "c-east", "b-east", "a-east", "d-near"}),
    ({"year": 2022}, {"c-north"}),
    ({"year": "2022"}, {"c-east"}),
    ({"year": 2022.0}, {"b-east"}),
    ({"year": [2022, "2022"]}, {"c-north", "c-east"}),
    ({"year": [2022, 2023, 2024]}, {"c-north", "a-east", "d-near"}),
    ({"year": []}, set()),
    ({"final": True}, {"c-north"}),
    ({"final": 1}, {"c-east"}),
    ({"final": False}, {"b-east"}),
    ({"share": 0.5}, {"a-east"}),
    ({"share": 0.25}, set()),
    ({"tags": "water"}, {"a-east"}),
    ({"district": "gulu"}, set()),
    ({"district": "Åre"}, {"b-east"}),
    ({"district": ["Gulu", "Soroti"], "year": [2022]}, {"c-north"}),
    ({"district": "Gulu", "year": "2022"}, set()),
    ({"place.län": "Jämtland"}, {"d-near"}),
    ({"odd name": "x"}, {"d-near"}),
    ({"no such field": "x"}, set()),
]


@pytest.mark.parametrize(("filters", "expected"), FILTERED)
def test_filters_select_values_as_they_are_stored(
    corpus: Corpus, filters: dict[str, Any], expected: set[str]
) -> None:
    assert set(ids(corpus, "1 1", filters=filters)) == expected
    assert corpus.count(filters) == len(expected)


@pytest.mark.parametrize("value", [None, {"gte": 2022}, [[2022]], float("nan"), float("inf")])
def test_a_value_that_nothing_can_hold_is_named(corpus: Corpus, value: Any) -> None:
    with pytest.raises(FilterError, match=r"filter 'year': .* matches nothing"):
        corpus.count({"year": value})


def test_a_field_that_cannot_be_asked_for_is_named(corpus: Corpus) -> None:
    with pytest.raises(FilterError, match="quotation mark"):
        corpus.count({'ye"ar': 2022})


def test_ids_that_the_collection_lacks_are_found(corpus: Corpus) -> None:
    assert corpus.missing(["a-east", "nope", "d-near", point_id("a-east"), "7"]) == {
        "nope",
        "7",
        point_id("a-east"),
    }
    assert corpus.missing([]) == set()


def test_fields_with_their_values_by_type(corpus: Corpus) -> None:
    assert corpus.fields() == {
        "district": ("Gulu", "Soroti", "Åre"),
        "final": (False, True, 1),
        "odd name": ("x",),
        "place.län": ("Jämtland",),
        "share": (0.5,),
        "tags": ("roads", "water"),
        "year": (2022.0, 2022, 2023, 2024, "2022"),
    }
    for field, values in corpus.fields().items():
        assert all(corpus.count({field: value}) == 1 for value in values)


def test_a_description_is_the_same_in_every_place(corpus: Corpus) -> None:
    wanted = ["c-north", "a-east", "nope"]
    assert corpus.describe(wanted) == {
        "collection": "touchstone",
        "points": 5,
        "chunks": 2,
        "sha256": chunks_digest([CHUNKS[0], CHUNKS[3]]),
    }


def test_many_threads_get_what_one_gets(corpus: Corpus) -> None:
    queries = [f"{number} 1" for number in range(40)]
    alone = [ids(corpus, query) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda query: ids(corpus, query), queries)) == alone


def test_an_embedder_that_does_not_fit_is_named_with_both_sizes(tmp_path: Path) -> None:
    with QdrantServer() as server:
        fill(server.client)
        corpus = open_corpus(CorpusSettings(location=server.url), Coordinates(size=3))
        says = (
            "holds vectors of size 2, but coordinates makes vectors of size 3: set `embedder.model`"
        )
        with pytest.raises(CorpusError, match=says):
            corpus.check_vectors()
        with pytest.raises(CorpusError, match=says):
            corpus.search("1 0")


def test_without_an_embedder_a_collection_is_counted_but_not_searched(tmp_path: Path) -> None:
    with QdrantServer() as server:
        fill(server.client)
        corpus = open_corpus(CorpusSettings(location=server.url), None)
        assert corpus.count() == 5
        with pytest.raises(CorpusError, match="cannot be searched without an embedder"):
            corpus.search("1 0")
    with pytest.raises(CorpusError, match="with an embedder"):
        open_corpus(CorpusSettings(chunks=corpus_file(tmp_path)), None)


def test_a_faulty_corpus_file_is_reported_before_anything_is_embedded(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"id": "a"}')
    with pytest.raises(ChunksError, match=r"corpus\.jsonl:1: text: is missing"):
        open_corpus(CorpusSettings(chunks=path), Coordinates())


def test_points_without_an_id_in_their_payload_are_known_by_their_own(tmp_path: Path) -> None:
    key = str(uuid.uuid4())
    with QdrantServer() as server:
        fill(server.client, CHUNKS[:1])
        points = [
            models.PointStruct(id=17, vector=[0.0, 1.0], payload={"text": "seventeen"}),
            models.PointStruct(id=key, vector=[1.0, 1.0], payload={"text": "uuid"}),
            models.PointStruct(id=4, vector=[1.0, -1.0], payload={"id": 99, "text": "number"}),
        ]
        server.client.upsert("touchstone", points)
        corpus = open_corpus(CorpusSettings(location=server.url), Coordinates())
        assert corpus.missing(["17", key, "99", "c-north", "4", "017"]) == {"4", "017"}
        assert ids(corpus, "0 1", limit=4) == ["17", key, "c-north", "99"]
        assert corpus.describe(["17"])["sha256"] == chunks_digest([Chunk("17", "seventeen")])


def test_payloads_of_another_shape_are_a_setting() -> None:
    with QdrantServer() as server:
        server.client.create_collection(
            "laws", {"dense": models.VectorParams(size=2, distance=models.Distance.DOT)}
        )
        payload = {"doc": "sfs-1", "body": "Lag", "year": 2022}
        point = models.PointStruct(id=1, vector={"dense": [1.0, 0.0]}, payload=payload)
        server.client.upsert("laws", [point])
        shape = {"id_field": "doc", "text_field": "body", "metadata_field": ""}
        corpus = open_corpus(on(server, collection="laws", **shape), Coordinates())
        [found] = corpus.search("1 0", filters={"year": 2022})
    assert (found.id, found.text, found.metadata) == ("sfs-1", "Lag", {"year": 2022})


def test_distances_rank_from_small_to_large() -> None:
    with QdrantServer() as server:
        server.client.create_collection(
            "touchstone", models.VectorParams(size=2, distance=models.Distance.EUCLID)
        )
        points = [models.PointStruct(id=n, vector=v) for n, v in ((1, [1.0, 0.0]), (2, [0.0, 1.0]))]
        server.client.upsert("touchstone", points)
        corpus = open_corpus(on(server), Coordinates())
        assert ids(corpus, "1 0") == ["1", "2"]
        assert ids(corpus, "0 1", limit=1) == ["2"]


def test_several_vectors_a_point_are_one_too_many() -> None:
    with QdrantServer() as server:
        params = models.VectorParams(size=2, distance=models.Distance.COSINE)
        server.client.create_collection("touchstone", {"title": params, "body": params})
        with pytest.raises(
            CorpusError, match="exactly one dense vector a point; it has: body, title"
        ):
            open_corpus(on(server), Coordinates())


def test_long_scrolls_come_in_pages() -> None:
    many = [Chunk(f"c{number}", "0 1", {"n": number}) for number in range(600)]
    with QdrantServer() as server:
        fill(server.client, many)
        corpus = open_corpus(on(server), Coordinates())
        assert corpus.missing(chunk.id for chunk in many) == set()
        assert corpus.fields() == {"n": tuple(range(600))}
        assert corpus.describe(c.id for c in many)["sha256"] == chunks_digest(many)
    pages = [data for _, path, data in server.requests if path.endswith("/points/scroll")]
    assert sum("filter" not in data for data in pages) == 3


def test_the_key_goes_with_every_request_and_into_no_words() -> None:
    with QdrantServer(api_key=KEY) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        fill(server.client)
        corpus = open_corpus(on(server), Coordinates())
        assert corpus.count() == 5
    assert KEY not in repr(corpus)
    assert repr(corpus) == f"<Corpus: collection 'touchstone' at {server.url}>"
    # Nothing but the collection is asked for: no version check in the background.
    assert {path.split("?")[0] for _, path, _ in server.requests} == {
        "/collections/touchstone",
        "/collections/touchstone/points/count",
    }


@pytest.mark.parametrize("key", ["a-wrong-key", None])
def test_a_refused_key_is_one_line_without_the_key(key: str | None) -> None:
    secret = SecretStr(key) if key else None
    says = r"refuses the key \(HTTP 401\): set"
    with QdrantServer(api_key=KEY) as server, pytest.raises(CorpusError, match=says) as caught:
        open_corpus(CorpusSettings(location=server.url, api_key=secret), Coordinates())
    assert "wrong-key" not in str(caught.value)
    assert "QDRANT_API_KEY" in str(caught.value)


def test_a_collection_that_is_not_there_is_named(tmp_path: Path) -> None:
    says = r"corpus\.collection: .* holds no collection 'gone'"
    with QdrantServer() as server, pytest.raises(CorpusError, match=says):
        open_corpus(on(server, collection="gone"), Coordinates())
    client = QdrantClient(path=str(tmp_path))
    fill(client)
    client.close()
    settings = CorpusSettings(location=str(tmp_path), collection="gone")
    with pytest.raises(CorpusError, match="holds no collection 'gone'"):
        open_corpus(settings, Coordinates())
    # The failure let go of the folder.
    QdrantClient(path=str(tmp_path)).close()


def test_a_server_that_is_gone_is_said_with_what_to_check() -> None:
    with QdrantServer() as server:
        fill(server.client)
        corpus = open_corpus(on(server), Coordinates())
    with pytest.raises(CorpusError, match=r"no usable reply .* is the server running") as caught:
        corpus.count()
    assert caught.value.retryable
    with pytest.raises(CorpusError, match="no usable reply"):
        open_corpus(on(server), Coordinates())


class Says(LoopbackServer):
    """Answers every request alike."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self._reply = reply

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        return self._reply


@pytest.mark.parametrize(
    ("reply", "says", "retryable"),
    [
        (Reply(404, b"<h1>Not found</h1>"), "answers, but not as Qdrant does", False),
        (Reply(403, b"Forbidden"), "refuses the key", False),
        (Reply(500, f"key {KEY} broke it".encode()), r"HTTP 500: key \*\*\* broke it", True),
        (Reply(400, b'{"status": {"error": "strict mode"}}'), "HTTP 400: .*strict mode", False),
        (Reply(429, b"{}", {"Retry-After": "3"}), "is overloaded", True),
        (Reply(200, b"<html>"), "answers, but not as Qdrant does", False),
        (Reply(200, b'{"result": {}}'), "no usable reply", True),
        (Reply(drop=True), "no usable reply", True),
    ],
)
def test_whatever_a_server_says_is_one_line(reply: Reply, says: str, retryable: bool) -> None:
    with Says(reply) as server, pytest.raises(CorpusError, match=says) as caught:
        open_corpus(on(server), Coordinates())
    assert caught.value.retryable is retryable
    assert KEY not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_credentials_in_the_address_are_not_shown() -> None:
    settings = CorpusSettings(location="http://user:hidden@127.0.0.1:1/qdrant?x=hidden")
    with pytest.raises(CorpusError, match=r"at http://127\.0\.0\.1:1/qdrant: ") as caught:
        open_corpus(settings, Coordinates())
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("location", ["ftp://127.0.0.1", "http://[", "http://127.0.0.1:port"])
def test_an_address_that_is_none_is_named(location: str) -> None:
    with pytest.raises(CorpusError, match=r"corpus\.location: .* is no URL of a Qdrant server"):
        open_corpus(CorpusSettings(location=location), Coordinates())


def test_a_folder_that_holds_no_collections_is_not_made(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    with pytest.raises(CorpusError, match=r"holds no Qdrant collections .* starts with http"):
        open_corpus(CorpusSettings(location=str(folder)), Coordinates())
    assert not folder.exists()


def test_a_damaged_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text("{")
    with pytest.raises(CorpusError, match="cannot be opened"):
        open_corpus(CorpusSettings(location=str(tmp_path)), Coordinates())


# The client that is refused leaves its own lock file open.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_folder_open_in_another_process_is_said_with_the_way_out(tmp_path: Path) -> None:
    client = QdrantClient(path=str(tmp_path))
    fill(client)
    client.close()
    holding = (
        "import sys; from qdrant_client import QdrantClient\n"
        "client = QdrantClient(path=sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", holding, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(CorpusError, match=r"open in another process.*run a Qdrant server"):
            open_corpus(CorpusSettings(location=str(tmp_path)), Coordinates())
        other.communicate(b"")


def test_a_client_that_is_not_installed_is_named_with_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(CorpusError, match=r"pip install 'pytest-touchstone\[qdrant\]'"):
        in_memory(tmp_path)


scalars = st.sampled_from(
    [2022, 2022.0, "2022", 1, 1.0, True, False, 0, 0.0, "true", 0.5, "å", "Å"]
)
# Qdrant cannot see 0.0 in a list that also holds 0, so no list holds both.
stored_lists = st.lists(scalars, max_size=3, unique_by=lambda v: (type(v) in (int, float), v))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example([[0.0], [0], ["0"], [False]], [0.0])
@example([[1.0], [1], [True], ["1", 1]], [1, True])
@given(st.lists(stored_lists, min_size=1, max_size=5), st.lists(scalars, max_size=2))
def test_filters_mean_what_equality_of_type_and_value_means(
    tmp_path_factory: pytest.TempPathFactory, stored: list[list[Any]], wanted: list[Any]
) -> None:
    chunks = [Chunk(str(n), "0 1", {"field": values}) for n, values in enumerate(stored)]
    corpus = in_memory(tmp_path_factory.mktemp("filters"), chunks)
    same = {(type(value), value) for value in wanted}
    expected = [c.id for c in chunks if same & {(type(v), v) for v in c.metadata["field"]}]
    assert sorted(ids(corpus, "0 1", filters={"field": wanted})) == expected
    assert corpus.count({"field": wanted}) == len(expected)
