"""Servers that score pairs: vLLM old and new, text-embeddings-inference, llama.cpp and others.

Shapes, orders and error bodies are those of the real ones, as their sources and reference pages
have them.  What they cannot prove, and a real server still has to: that a model's values are what
its server says, how fast it is, and what a later version changes.  llama.cpp's answers were
compared with a real server (``test_scorer_llamacpp``).
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .loopback import LoopbackServer, Reply

MODEL = "BAAI/bge-reranker-v2-m3"
HTML = Reply(body=b"<html><body>Sign in</body></html>", headers={"Content-Type": "text/html"})
Data = Mapping[str, Any]
Values = Callable[[float], float]


def logit(paragraph: str, source: str) -> float:
    """How a cross-encoder would see it: -8 for no word in common, 8 for all of the paragraph's."""
    wanted = set(re.findall(r"\w+", paragraph.casefold()))
    there = set(re.findall(r"\w+", source.casefold()))
    return 16.0 * len(wanted & there) / max(1, len(wanted)) - 8.0


def sigmoid(value: float) -> float:
    """Of a logit, the probability."""
    return 1.0 / (1.0 + math.exp(-value))


def tokens(text: str) -> list[str]:
    """Words in pieces of four characters, and every other sign."""
    return [piece for piece in re.findall(r"\w{1,4}|[^\w\s]", text) if piece]


@dataclass(frozen=True)
class Request:
    """One request, as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    json: Data


class ScorerServer(LoopbackServer):
    """Base: scores by words in common; subclasses speak a real server's format.

    :param values: what the model's head makes of a logit; by default the server's own (sigmoid
        or nothing).
    :param window: tokens of a pair; longer ones are refused, or cut where ``cuts``.
    :param api_key: where given, requests without it get a 401 that repeats the key sent.
    """

    routes: tuple[str, ...] = ()
    activates = True
    cuts = False

    def __init__(
        self,
        *,
        values: Values | None = None,
        window: int = 4096,
        api_key: str | None = None,
    ) -> None:
        super().__init__()
        self.requests: list[Request] = []
        self.before: Callable[[Request], Reply | None] = lambda _: None
        self.window = window
        self._values = values
        self._api_key = api_key
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The endpoint to set."""
        return self.address

    @property
    def scored(self) -> list[Request]:
        """The requests for scores."""
        return [request for request in self.requests if request.path in self.routes]

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        """See :class:`LoopbackServer`."""
        data = json.loads(body) if body else {}
        request = Request(method, path.partition("?")[0], headers, data)
        with self._lock:
            self.requests.append(request)
        if (early := self.before(request)) is not None:
            return early
        sent = headers.get("authorization", "").removeprefix("Bearer ")
        if self._api_key is not None and sent != self._api_key:
            return self.error(401, f"Incorrect API key provided: {sent}")
        if method == "GET":
            found = self.about(request.path)
            return self.no_route() if found is None else ok(found)
        if request.path == "/tokenize":
            return self.tokenized(data)
        if request.path not in self.routes:
            return self.no_route()
        return self.score(request.path, data)

    def about(self, path: str) -> Any:
        """What a GET tells; ``None`` for 404."""
        return None

    def tokenized(self, data: Data) -> Reply:
        """The reply of ``/tokenize``."""
        return self.no_route()

    def score(self, path: str, data: Data) -> Reply:
        """The reply to a request for scores."""
        raise NotImplementedError

    def error(self, status: int, message: str) -> Reply:
        """An error in the server's own envelope."""
        raise NotImplementedError

    def no_route(self) -> Reply:
        """The 404 of a path that is not there."""
        return Reply(404, b'{"detail":"Not Found"}')

    def fits(self, paragraph: str, source: str) -> bool:
        """Whether a pair is no longer than the window."""
        return len(tokens(paragraph)) + len(tokens(source)) + 4 <= self.window

    def value(self, paragraph: str, source: str, *, activated: bool | None = None) -> float:
        """What the server answers for a pair."""
        if self.cuts:
            source = " ".join(source.split()[: max(1, self.window - len(tokens(paragraph)))])
        if self._values is not None:
            return self._values(logit(paragraph, source))
        on = self.activates if activated is None else activated
        raw = logit(paragraph, source)
        return sigmoid(raw) if on else raw


def ok(data: Any) -> Reply:
    """A JSON reply with status 200."""
    return Reply(body=json.dumps(data).encode())


def ranked(values: Sequence[float]) -> list[tuple[int, float]]:
    """Indices with their values, the highest first, as rerank routes order them."""
    return sorted(enumerate(values), key=lambda item: -item[1])


class OldVLLM(ScorerServer):
    """vLLM to 0.10: ``text_1`` and ``text_2``, the flat error envelope, fields unknown ignored."""

    routes: tuple[str, ...] = ("/score", "/v1/score", "/rerank", "/v1/rerank", "/v2/rerank")
    knows_activation = False

    def about(self, path: str) -> Any:
        if path != "/v1/models":
            return None
        card = {
            "id": MODEL,
            "object": "model",
            "created": 1790000000,
            "owned_by": "vllm",
            "root": MODEL,
            "parent": None,
            "max_model_len": self.window,
            "permission": [],
        }
        return {"object": "list", "data": [card]}

    def tokenized(self, data: Data) -> Reply:
        if "prompt" not in data:
            return self.error(400, "[{'type': 'missing', 'loc': ('body', 'prompt')}]")
        found = tokens(data["prompt"])
        return ok(
            {
                "count": len(found),
                "max_model_len": self.window,
                "tokens": list(range(len(found))),
                "token_strs": None,
            }
        )

    def texts(self, path: str, data: Data) -> tuple[str, list[str]] | None:
        """Paragraph and sources of a request; ``None`` where its fields are not this form's."""
        if path.endswith("rerank"):
            return (data["query"], data["documents"]) if "documents" in data else None
        return (data["text_1"], data["text_2"]) if "text_2" in data else None

    def score(self, path: str, data: Data) -> Reply:
        if data.get("model") not in (None, MODEL):
            return self.error(404, f"The model `{data['model']}` does not exist.")
        if (found := self.texts(path, data)) is None:
            return self.error(400, "[{'type': 'missing', 'msg': 'Field required'}]")
        paragraph, sources = found
        if not all(self.fits(paragraph, source) for source in sources):
            return self.error(
                400,
                f"This model's maximum context length is {self.window} tokens. However, you"
                " requested more in the input for score generation. Please reduce the length of"
                " the input.",
            )
        activated = data.get("use_activation") if self.knows_activation else None
        values = [self.value(paragraph, source, activated=activated) for source in sources]
        usage = {"prompt_tokens": 9, "total_tokens": 9}
        if path.endswith("rerank"):
            results = [
                {"index": index, "document": {"text": sources[index]}, "relevance_score": value}
                for index, value in ranked(values)
            ]
            return ok({"id": "rerank-1", "model": MODEL, "usage": usage, "results": results})
        rows = [
            {"index": index, "object": "score", "score": value}
            for index, value in enumerate(values)
        ]
        return ok({"id": "score-1", "object": "list", "model": MODEL, "data": rows, "usage": usage})

    def error(self, status: int, message: str) -> Reply:
        kind = "NotFoundError" if status == 404 else "BadRequestError"
        body = {"object": "error", "message": message, "type": kind, "param": None, "code": status}
        return Reply(status, json.dumps(body).encode())


class NewVLLM(OldVLLM):
    """Later vLLM: ``queries`` and ``documents``, ``use_activation``, the nested envelope."""

    knows_activation = True

    def texts(self, path: str, data: Data) -> tuple[str, list[str]] | None:
        if path.endswith("rerank"):
            return super().texts(path, data)
        return (data["queries"], data["documents"]) if "queries" in data else None

    def error(self, status: int, message: str) -> Reply:
        inner = {"message": message, "type": "BadRequestError", "param": None, "code": status}
        return Reply(status, json.dumps({"error": inner}).encode())


class RerankVLLM(NewVLLM):
    """A vLLM whose score routes are not served: rerank alone."""

    routes = ("/rerank", "/v1/rerank", "/v2/rerank")


class LlamaCpp(ScorerServer):
    """llama.cpp with ``--reranking``: logits as they are, the model's name echoed.

    :ivar batch: its physical batch; an encoder's pair above it gets a 500.
    """

    routes = ("/rerank", "/reranking", "/v1/rerank", "/v1/reranking")
    activates = False
    batch = 100_000

    def about(self, path: str) -> Any:
        if path != "/v1/models":
            return None
        card = {
            "id": "/models/bge-reranker-v2-m3-Q8_0.gguf",
            "object": "model",
            "created": 1790000000,
            "owned_by": "llamacpp",
            "meta": {"vocab_type": 4, "n_ctx": self.window, "n_ctx_train": 8192},
        }
        return {"models": [{"name": card["id"]}], "object": "list", "data": [card]}

    def tokenized(self, data: Data) -> Reply:
        return ok({"tokens": list(range(len(tokens(data.get("content", "")))))})

    def score(self, path: str, data: Data) -> Reply:
        as_tei = "texts" in data
        sources = data["texts"] if as_tei else data.get("documents", [])
        if not sources:
            return self.error(400, '"documents" must be a non-empty string array')
        long = max(len(tokens(data["query"])) + len(tokens(one)) + 4 for one in sources)
        if long > self.batch:
            return self.error(
                500,
                f"input ({long} tokens) is too large to process. increase the physical batch size"
                f" (current batch size: {self.batch})",
            )
        if long > self.window:
            return self.error(
                400,
                f"request ({long} tokens) exceeds the available context size ({self.window}"
                " tokens), try increasing it",
            )
        values = ranked([self.value(data["query"], source) for source in sources])
        if as_tei:
            return ok([{"index": index, "score": value} for index, value in values])
        results = [{"index": index, "relevance_score": value} for index, value in values]
        return ok(
            {
                "model": data.get("model", "gpt-3.5-turbo"),
                "object": "list",
                "usage": {"prompt_tokens": 9, "total_tokens": 9},
                "results": results,
            }
        )

    def error(self, status: int, message: str) -> Reply:
        kind = "server_error" if status == 500 else "invalid_request_error"
        body = {"error": {"code": status, "message": message, "type": kind}}
        return Reply(status, json.dumps(body).encode())

    def no_route(self) -> Reply:
        body = {"error": {"message": "File Not Found", "type": "not_found_error", "code": 404}}
        return Reply(404, json.dumps(body).encode())


class TEI(ScorerServer):
    """text-embeddings-inference: a bare list, ``raw_scores``, 413 for what is too long."""

    routes = ("/rerank",)
    batch = 32

    def about(self, path: str) -> Any:
        if path != "/info":
            return None
        return {
            "model_id": MODEL,
            "model_type": {"reranker": {"id2label": {"0": "LABEL_0"}}},
            "max_input_length": self.window,
            "max_client_batch_size": self.batch,
            "auto_truncate": True,
            "version": "1.8.2",
        }

    def tokenized(self, data: Data) -> Reply:
        if "inputs" not in data:
            return Reply(422, b"Failed to deserialize the JSON body: missing field `inputs`")
        rows = [
            {"id": number, "text": text, "special": False, "start": 0, "stop": 1}
            for number, text in enumerate(tokens(data["inputs"]))
        ]
        return ok([rows])

    def score(self, path: str, data: Data) -> Reply:
        if "texts" not in data:
            return Reply(422, b"Failed to deserialize the JSON body: missing field `texts`")
        if len(data["texts"]) > self.batch:
            return self.error(413, f"batch size > maximum allowed batch size {self.batch}")
        for source in data["texts"]:
            if not self.fits(data["query"], source) and data.get("truncate") is False:
                return self.error(
                    413,
                    f"Input validation error: `inputs` must have less than {self.window} tokens.",
                )
        activated = not data.get("raw_scores", False)
        values = [self.value(data["query"], one, activated=activated) for one in data["texts"]]
        return ok([{"index": index, "score": value} for index, value in ranked(values)])

    def error(self, status: int, message: str) -> Reply:
        kind = "Validation" if status == 413 else "Backend"
        return Reply(status, json.dumps({"error": message, "error_type": kind}).encode())

    def no_route(self) -> Reply:
        return Reply(404, b"")


class Infinity(ScorerServer):
    """Infinity: ``results`` under ``rerank``, ``raw_scores``, what is too long cut silently."""

    routes = ("/rerank",)
    cuts = True
    top = "results"

    def score(self, path: str, data: Data) -> Reply:
        if "documents" not in data:
            body = {"detail": [{"type": "missing", "loc": ["body", "documents"]}]}
            return Reply(422, json.dumps(body).encode())
        activated = not data.get("raw_scores", False)
        values = [self.value(data["query"], one, activated=activated) for one in data["documents"]]
        rows = [
            {"relevance_score": value, "index": index, "document": None}
            for index, value in ranked(values)
        ]
        usage = {"prompt_tokens": 9, "total_tokens": 9}
        return ok({"object": "rerank", self.top: rows, "model": MODEL, "usage": usage, "id": "i"})

    def error(self, status: int, message: str) -> Reply:
        inner = {"message": message, "type": None, "param": None, "code": status}
        return Reply(status, json.dumps({"error": inner}).encode())


class OldInfinity(Infinity):
    """Infinity's first versions: the list stands under ``data``."""

    top = "data"


class Strict(ScorerServer):
    """A hosted API that refuses fields it does not know, and cuts silently what is too long."""

    known: frozenset[str] = frozenset()
    cuts = True

    def score(self, path: str, data: Data) -> Reply:
        if unknown := sorted(set(data) - self.known):
            return self.error(422, f"unknown field {unknown[0]!r}")
        values = ranked([self.value(data["query"], one) for one in data["documents"]])
        return ok(self.shaped(values, data))

    def shaped(self, values: list[tuple[int, float]], data: Data) -> Any:
        """The reply around the values."""
        raise NotImplementedError


class Jina(Strict):
    """Jina's hosted reranker."""

    routes = ("/v1/rerank",)
    known = frozenset({"model", "query", "documents", "top_n", "return_documents"})

    def shaped(self, values: list[tuple[int, float]], data: Data) -> Any:
        texts = data.get("return_documents", True)
        results = [
            {"index": index, "relevance_score": value}
            | ({"document": {"text": data["documents"][index]}} if texts else {})
            for index, value in values
        ]
        return {"model": MODEL, "usage": {"total_tokens": 9}, "results": results}

    def error(self, status: int, message: str) -> Reply:
        return Reply(status, json.dumps({"detail": message}).encode())


class Cohere(Strict):
    """Cohere's second version."""

    routes = ("/v2/rerank",)
    known = frozenset({"model", "query", "documents", "top_n", "max_tokens_per_doc"})

    def shaped(self, values: list[tuple[int, float]], data: Data) -> Any:
        results = [{"index": index, "relevance_score": value} for index, value in values]
        meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
        return {"id": "07734bd2", "results": results, "meta": meta}

    def error(self, status: int, message: str) -> Reply:
        return Reply(status, json.dumps({"message": message}).encode())


DIALECTS: tuple[type[ScorerServer], ...] = (
    OldVLLM, NewVLLM, RerankVLLM, LlamaCpp, TEI, Infinity, OldInfinity, Jina, Cohere,
)  # fmt: skip
