"""One Qdrant collection: in memory, in a folder (local mode), or on a server.

String ids must be UUIDs in Qdrant, so a chunk's own id stands in the payload (``id_field``) and
the point is its uuid5; where a collection's payload has no such field, the point's id is the
chunk's.  All methods block and may be called from several threads.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import threading
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_touchstone.corpus.chunks import Chunk, chunks_digest, read_chunks
from pytest_touchstone.settings import CorpusSettings
from pytest_touchstone.trace import Filters, Passage
from pytest_touchstone.unusable import Unusable

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

    from pytest_touchstone.corpus.embedder import Embedder

SCORE_DIGITS = 5
"""Scores are rounded to 1e-5 before they rank: near-duplicates lie closer than machines agree."""

_NAMESPACE = uuid.UUID("5d1f2c6e-7a57-5b0c-9a3e-0b8f4e1d6c42")
_MARGIN = 16
_PAGE = 256
_PLAIN_KEY = re.compile(r"[\w-]+")
_UNSIGNED = re.compile(r"0|[1-9][0-9]{0,18}")
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class CorpusError(Unusable):
    """Why the collection cannot be used: one line that says what to do, without any key.

    :ivar retryable: whether the same call may succeed later.
    """

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class FilterError(CorpusError):
    """Filters that no collection can evaluate, such as a list within a list or NaN."""


class Corpus:
    """A collection to search and count in; made by :func:`open_corpus`.

    :param embedder: must be the model that the collection was made with; without one, the
        collection can be counted and read but not searched.
    """

    def __init__(
        self,
        client: QdrantClient,
        settings: CorpusSettings,
        embedder: Embedder | None,
        lock: AbstractContextManager[Any],
    ) -> None:
        self._client = client
        self._settings = settings
        self._embedder = embedder
        self._lock = lock
        self._remote = _is_url(settings.location)
        self._where = f"collection {settings.collection!r} at {_shown(settings.location)}"
        self._fields: dict[str, tuple[Any, ...]] | None = None
        self._counts: dict[str, int] = {}
        try:
            self._using, self._size, self._ascending = self._vector_space()
        except CorpusError:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"<Corpus: {self._where}>"

    def search(
        self,
        query: str | Mapping[str, float],
        *,
        filters: Filters | None = None,
        limit: int = 10,
    ) -> tuple[Passage, ...]:
        """The ``limit`` passages nearest to the query, best first.

        They rank by score rounded to 1e-5, then by id; ties at the cut are resolved alike on
        every machine.  The search is exact, not approximate, for the same reason.

        :param query: a text, or several with weights: their vectors are added.
        :raises CorpusError: where the collection cannot be searched.
        """
        vector = self._query_vector({query: 1.0} if isinstance(query, str) else query)
        condition = self._condition(filters)
        ask = limit + _MARGIN
        while True:
            found = self._nearest(vector, condition, ask)
            # Complete once everything that may tie with the last place has been seen.
            if len(found) < ask or self._rank(found[-1])[0] > self._rank(found[limit - 1])[0]:
                return tuple(sorted(found, key=self._rank)[:limit])
            ask *= 2

    def count(self, filters: Filters | None = None) -> int:
        """The exact number of chunks that the filters select.

        A value matches as it is stored: ``"2022"`` is not ``2022``, ``1`` is not ``True``.  A list
        gives alternatives.  Where a chunk holds a list, one of its elements has to match; Qdrant
        cannot see ``2022.0`` in a list that holds ``2022`` too.  A dot in a field's name goes one
        level down.

        :raises FilterError: where a value is neither string, number nor boolean.
        :raises CorpusError: where the collection cannot be reached.
        """
        condition = self._condition(filters)
        if not self._settings.in_memory:
            return self._counted(condition)
        # Nothing changes a collection in memory, and counting in it reads every chunk.
        key = json.dumps(dict(filters or {}), sort_keys=True)
        if key not in self._counts:
            self._counts[key] = self._counted(condition)
        return self._counts[key]

    def _counted(self, condition: models.Filter | None) -> int:
        with self._calling():
            return self._client.count(
                self._settings.collection, count_filter=condition, exact=True
            ).count

    def missing(self, ids: Iterable[str]) -> set[str]:
        """Those of the ids that the collection does not hold."""
        wanted = set(ids)
        return wanted - self._chunks(wanted, [self._settings.id_field]).keys()

    def chunks(self, ids: Iterable[str]) -> Collection[Chunk]:
        """Those of the chunks with these ids that the collection holds."""
        return self._chunks(set(ids), True).values()

    def fields(self) -> Mapping[str, tuple[Any, ...]]:
        """Each metadata field with its different values, sorted; nested fields with dots.

        Reads the whole collection, once.
        """
        if self._fields is None:
            seen: dict[str, dict[tuple[str, Any], Any]] = {}
            for point in self._scroll(None, True):
                for field, value in _leaves(self._chunk(point).metadata):
                    seen.setdefault(field, {})[type(value).__name__, value] = value
            self._fields = {
                field: tuple(values[key] for key in sorted(values))
                for field, values in sorted(seen.items())
            }
        return self._fields

    def texts(self, most: int) -> Iterator[str]:
        """The texts of the first chunks, in the order of the points' ids."""
        for point in itertools.islice(self._scroll(None, True), most):
            yield self._chunk(point).text

    def describe(self, ids: Iterable[str]) -> dict[str, Any]:
        """What identifies the collection in a report.

        ``collection`` (name), ``points`` (how many), ``chunks`` (how many of ``ids`` it holds) and
        ``sha256`` over id, text and metadata of those, which is the same wherever they are stored.
        """
        chunks = self._chunks(set(ids), True)
        return {
            "collection": self._settings.collection,
            "points": self.count(),
            "chunks": len(chunks),
            "sha256": chunks_digest(chunks.values()),
        }

    def check_vectors(self) -> None:
        """Embed one word and see that the embedder fits the collection.

        :raises CorpusError: where their vectors differ in size.
        """
        self._query_vector({"touchstone": 1.0})

    def close(self) -> None:
        """Let go of the connection, or of the folder."""
        with self._lock:
            self._client.close()

    def _vector_space(self) -> tuple[str | None, int, bool]:
        """Name and size of the vector to search, and whether its scores are distances."""
        with self._calling():
            vectors = self._client.get_collection(self._settings.collection).config.params.vectors
        named = vectors if isinstance(vectors, dict) else {None: vectors}
        if len(named) != 1:
            names = ", ".join(sorted(str(name) for name in named)) or "none"
            raise CorpusError(
                f"{self._where}: needs exactly one dense vector a point; it has: {names}"
            )
        [(name, params)] = named.items()
        if params is None:
            raise CorpusError(f"{self._where}: has no dense vectors")
        return name, params.size, params.distance in ("Euclid", "Manhattan")

    def _query_vector(self, query: Mapping[str, float]) -> list[float]:
        import numpy as np

        if self._embedder is None:
            raise CorpusError(f"{self._where}: cannot be searched without an embedder")
        vectors = self._embedder.queries(list(query))
        if vectors.shape[1] != self._size:
            raise CorpusError(
                f"{self._where}: holds vectors of size {self._size}, but {self._embedder.identity}"
                f" makes vectors of size {vectors.shape[1]}: set `embedder.model` to the model"
                " that the collection was made with"
            )
        total = np.asarray(list(query.values()), dtype=np.float64) @ vectors.astype(np.float64)
        return (total / (np.linalg.norm(total) or 1.0)).tolist()  # type: ignore[no-any-return]

    def _nearest(
        self, vector: list[float], condition: models.Filter | None, limit: int
    ) -> list[Passage]:
        from qdrant_client import models

        # Local mode is always exact, and warns where it is told to be.
        exact = models.SearchParams(exact=True) if self._remote else None
        with self._calling():
            found = self._client.query_points(
                self._settings.collection,
                query=vector,
                using=self._using,
                query_filter=condition,
                search_params=exact,
                limit=limit,
                with_payload=True,
            ).points
        passages = []
        for point in found:
            chunk = self._chunk(point)
            score = round(float(point.score), SCORE_DIGITS)
            passages.append(Passage(chunk.id, chunk.text, score, chunk.metadata))
        return passages

    def _rank(self, passage: Passage) -> tuple[float, str]:
        score = passage.score or 0.0
        return (score if self._ascending else -score, passage.id)

    def _chunk(self, point: models.Record | models.ScoredPoint) -> Chunk:
        settings = self._settings
        payload = dict(point.payload or {})
        own_id = payload.pop(settings.id_field, None)
        text = payload.pop(settings.text_field, "")
        metadata = payload.get(settings.metadata_field) if settings.metadata_field else payload
        return Chunk(
            str(point.id if own_id is None else own_id),
            text if isinstance(text, str) else str(text),
            metadata if isinstance(metadata, dict) else {},
        )

    def _chunks(self, ids: set[str], payload: bool | list[str]) -> dict[str, Chunk]:
        """The chunks with these ids, by id: looked up in the payload, then as points' ids."""
        from qdrant_client import models

        found: dict[str, Chunk] = {}
        ordered = sorted(ids)
        for start in range(0, len(ordered), _PAGE):
            some = ordered[start : start + _PAGE]
            alternatives: list[models.Condition] = [_match(self._settings.id_field, some)]
            if numbers := [int(text) for text in some if _is_number(text)]:
                alternatives.append(_match(self._settings.id_field, numbers))
            for point in self._scroll(models.Filter(should=alternatives), payload):
                chunk = self._chunk(point)
                found[chunk.id] = chunk
            found.update(self._by_point_id(set(some) - found.keys(), payload))
        return {key: chunk for key, chunk in found.items() if key in ids}

    def _by_point_id(self, ids: set[str], payload: bool | list[str]) -> dict[str, Chunk]:
        points = [point for text in sorted(ids) if (point := _point_id(text)) is not None]
        if not points:
            return {}
        with self._calling():
            records = self._client.retrieve(self._settings.collection, points, payload)
        chunks = [self._chunk(record) for record in records]
        return {chunk.id: chunk for chunk in chunks}

    def _scroll(
        self, condition: models.Filter | None, payload: bool | list[str]
    ) -> Iterator[models.Record]:
        offset: Any = None
        while True:
            with self._calling():
                records, offset = self._client.scroll(
                    self._settings.collection,
                    scroll_filter=condition,
                    limit=_PAGE,
                    offset=offset,
                    with_payload=payload,
                )
            yield from records
            if offset is None:
                return

    def _condition(self, filters: Filters | None) -> models.Filter | None:
        from qdrant_client import models

        if not filters:
            return None
        prefix = _path(self._settings.metadata_field)
        return models.Filter(
            must=[
                _any_of(".".join(part for part in (prefix, _path(field)) if part), field, value)
                for field, value in filters.items()
            ]
        )

    @contextmanager
    def _calling(self) -> Iterator[None]:
        with self._lock, _explained(self._settings):
            yield


def open_corpus(settings: CorpusSettings, embedder: Embedder | None) -> Corpus:
    """The collection that the settings describe; ``:memory:`` is built from its chunks here.

    Building embeds every chunk that a
    :class:`~pytest_touchstone.corpus.embedder.CachedEmbedder` does not hold yet.

    :param embedder: may be ``None`` where nothing is searched and the location is not ``:memory:``.
    :raises CorpusError: where the collection cannot be opened, and what to do about it.
    :raises ChunksError: where the file of chunks is faulty.
    """
    try:
        import qdrant_client  # noqa: F401
    except ImportError:
        raise CorpusError(
            "corpus: the Qdrant client is not installed: pip install 'pytest-touchstone[qdrant]'"
        ) from None
    if settings.in_memory:
        return _build(settings, embedder)
    if _is_url(settings.location):
        return Corpus(_remote(settings), settings, embedder, nullcontext())
    return Corpus(_local(settings), settings, embedder, threading.RLock())


def _build(settings: CorpusSettings, embedder: Embedder | None) -> Corpus:
    from qdrant_client import QdrantClient, models

    if settings.chunks is None or embedder is None:
        raise CorpusError("corpus: `:memory:` is built from `corpus.chunks` with an embedder")
    chunks = read_chunks(settings.chunks)
    vectors = embedder.passages([chunk.text for chunk in chunks])
    client = QdrantClient(location=":memory:")
    client.create_collection(
        settings.collection,
        vectors_config=models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE),
    )
    points = [
        models.PointStruct(
            id=point_id(chunk.id), vector=vector.tolist(), payload=_payload(chunk, settings)
        )
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]
    client.upsert(settings.collection, points)
    # Local mode is a Python object without locks of its own.
    return Corpus(client, settings, embedder, threading.RLock())


def point_id(chunk_id: str) -> str:
    """The id of the point that holds a chunk, in collections that are built here."""
    return str(uuid.uuid5(_NAMESPACE, chunk_id))


def _payload(chunk: Chunk, settings: CorpusSettings) -> dict[str, Any]:
    named = {settings.id_field: chunk.id, settings.text_field: chunk.text}
    if settings.metadata_field:
        return {**named, settings.metadata_field: dict(chunk.metadata)}
    return {**chunk.metadata, **named}


def _local(settings: CorpusSettings) -> QdrantClient:
    folder = Path(settings.location)
    # The client would make a folder that does not exist, and find it empty.
    if not (folder / "meta.json").is_file():
        raise CorpusError(
            f"corpus.location: {folder} holds no Qdrant collections (a folder written by"
            " QdrantClient(path=…)); a server's URL starts with http:// or https://"
        )
    from qdrant_client import QdrantClient

    try:
        return QdrantClient(path=str(folder), force_disable_check_same_thread=True)
    except RuntimeError as error:
        if "already accessed" not in str(error):
            raise CorpusError(f"corpus.location: {folder}: cannot be opened: {error}") from None
        raise CorpusError(
            f"corpus.location: {folder} is open in another process; Qdrant's local mode allows one"
            " at a time: run a Qdrant server and give its URL, or use `:memory:` with"
            " `corpus.chunks`"
        ) from None
    except (OSError, ValueError, KeyError) as error:
        raise CorpusError(f"corpus.location: {folder}: cannot be opened: {error}") from None


def _remote(settings: CorpusSettings) -> QdrantClient:
    from qdrant_client import QdrantClient

    try:
        loopback = urlsplit(settings.location).hostname in _LOOPBACK
        key = settings.api_key.get_secret_value() if settings.api_key else None
        arguments: dict[str, Any] = {}
        if key is not None and loopback:
            # As a header, since the client warns of every key sent without TLS; here none leaves.
            arguments["headers"] = {"api-key": key}
        elif key is not None:
            arguments["api_key"] = key
        return QdrantClient(
            url=settings.location,
            prefer_grpc=False,
            timeout=math.ceil(settings.timeout),
            # The check asks from a thread and warns at some later moment, in anybody's output.
            check_compatibility=False,
            **arguments,
        )
    except ValueError:
        raise CorpusError(
            f"corpus.location: {_shown(settings.location)} is no URL of a Qdrant server"
        ) from None


@contextmanager
def _explained(settings: CorpusSettings) -> Iterator[None]:
    """Turn the client's errors into one line that says what to do."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    where = _shown(settings.location)
    try:
        yield
    except UnexpectedResponse as error:
        raise _response_error(error.status_code or 0, error.content, settings) from None
    except ResourceExhaustedResponse:
        raise CorpusError(f"corpus: {where} is overloaded (HTTP 429)", retryable=True) from None
    except ResponseHandlingException as error:
        why = _without_key(str(error.source), settings) or type(error.source).__name__
        raise CorpusError(
            f"corpus: no usable reply from Qdrant at {where}: {why}; is the server running, and"
            " `corpus.location` (QDRANT_URL) its address and port?",
            retryable=True,
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise _not_qdrant(settings, "no JSON") from None
    except ValueError as error:
        # Local mode raises it for a collection that is not there.
        if "not found" not in str(error):
            raise
        raise _missing_collection(settings) from None


def _response_error(status: int, content: bytes, settings: CorpusSettings) -> CorpusError:
    where = _shown(settings.location)
    said = _without_key(content.decode("utf-8", "replace"), settings)
    if status in (401, 403):
        return CorpusError(
            f"corpus: Qdrant at {where} refuses the key (HTTP {status}): set `corpus.api_key`"
            " (QDRANT_API_KEY) to one that may read the collection"
        )
    if status == 404 and "ollection" in said:
        return _missing_collection(settings)
    if status == 404:
        return _not_qdrant(settings, "HTTP 404")
    return CorpusError(
        f"corpus: Qdrant at {where} answers HTTP {status}: {said}", retryable=status >= 500
    )


def _not_qdrant(settings: CorpusSettings, how: str) -> CorpusError:
    return CorpusError(
        f"corpus: {_shown(settings.location)} answers, but not as Qdrant does ({how}); is"
        " `corpus.location` (QDRANT_URL) the address and port of a Qdrant server?"
    )


def _missing_collection(settings: CorpusSettings) -> CorpusError:
    return CorpusError(
        f"corpus.collection: Qdrant at {_shown(settings.location)} holds no collection"
        f" {settings.collection!r}"
    )


def _without_key(text: str, settings: CorpusSettings) -> str:
    secret = settings.api_key.get_secret_value() if settings.api_key else ""
    text = text.replace(secret, "***") if secret else text
    return " ".join(text.split())[:300]


def _is_url(location: str) -> bool:
    return "://" in location


def _shown(location: str) -> str:
    """The location without credentials, query and fragment."""
    if not _is_url(location):
        return location
    try:
        parts = urlsplit(location)
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _any_of(key: str, field: str, value: Any) -> models.Condition:
    """The condition that a field holds the value, or one of the values."""
    from qdrant_client import models

    values = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
    if not values:
        return _match(key, [])
    return models.Filter(should=[_equals(key, field, one) for one in values])


def _equals(key: str, field: str, value: Any) -> models.Condition:
    from qdrant_client import models

    if isinstance(value, bool | int | str):
        return models.FieldCondition(key=key, match=models.MatchValue(value=value))
    if not isinstance(value, float) or not math.isfinite(value):
        raise FilterError(
            f"filter {field!r}: {value!r} matches nothing that a collection can hold; values are"
            " strings, finite numbers or booleans, or lists of them"
        )
    # Qdrant matches no floats: a range of one point does, but it takes in the equal integer.
    condition = models.FieldCondition(key=key, range=models.Range(gte=value, lte=value))
    if not value.is_integer():
        return condition
    integer = models.FieldCondition(key=key, match=models.MatchValue(value=int(value)))
    return models.Filter(must=[condition], must_not=[integer])


def _match(key: str, values: list[str] | list[int]) -> models.FieldCondition:
    from qdrant_client import models

    return models.FieldCondition(key=key, match=models.MatchAny(any=values))


def _path(name: str) -> str:
    """A field's name as a JSON path of Qdrant: dots go down, odd characters are quoted."""
    if '"' in name:
        raise FilterError(f"filter {name!r}: a field's name cannot hold a quotation mark")
    parts = [part if _PLAIN_KEY.fullmatch(part) else f'"{part}"' for part in name.split(".")]
    return ".".join(parts) if name else ""


def _point_id(text: str) -> int | str | None:
    """The text as the id of a point, or ``None`` where it is neither number nor UUID."""
    if _is_number(text):
        return int(text)
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return None


def _is_number(text: str) -> bool:
    return bool(_UNSIGNED.fullmatch(text)) and int(text) < 2**63


def _leaves(metadata: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every (field, value) that a filter can select, the elements of lists one by one."""
    for name, value in metadata.items():
        field = f"{above}{name}"
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{field}.")
        else:
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, str | int | float):
                    yield field, one
