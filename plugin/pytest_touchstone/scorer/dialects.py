"""The formats in which servers are asked for scores, and the one way to read their answers.

Sources: the request models of vLLM (``/score``, ``/rerank``), text-embeddings-inference
(``/rerank``), Infinity and llama.cpp, and the reference pages of Jina's and Cohere's rerank API.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One form of request.

    :param name: stands in the report.
    :param body: the request for (model, paragraph, sources).
    :param activated, raw: fields that ask for probabilities, and for the values before the
        sigmoid, where servers of this form know such fields.
    """

    name: str
    body: Callable[[str, str, Sequence[str]], Body]
    activated: Mapping[str, bool]
    raw: Mapping[str, bool]


def _texts(model: str, paragraph: str, sources: Sequence[str]) -> Body:
    return {"model": model, "text_1": paragraph, "text_2": list(sources)}


def _queries(model: str, paragraph: str, sources: Sequence[str]) -> Body:
    return {"model": model, "queries": paragraph, "documents": list(sources)}


def _rerank(model: str, paragraph: str, sources: Sequence[str]) -> Body:
    return {
        "model": model,
        "query": paragraph,
        "documents": list(sources),
        "top_n": len(sources),
    }


def _rerank_quietly(model: str, paragraph: str, sources: Sequence[str]) -> Body:
    # Jina's API sends every document back unless told not to; Cohere's second version, unlike
    # its first, does not know the field.
    return {**_rerank(model, paragraph, sources), "return_documents": False}


def _tei(model: str, paragraph: str, sources: Sequence[str]) -> Body:  # noqa: ARG001 - one shape
    # Without `truncate: false` a server started with --auto-truncate cuts silently.
    return {"query": paragraph, "texts": list(sources), "truncate": False, "return_text": False}


_VLLM_ON, _VLLM_OFF = {"use_activation": True}, {"use_activation": False}
_ON, _OFF = {"raw_scores": False}, {"raw_scores": True}
SCORE = Dialect("score", _texts, _VLLM_ON, _VLLM_OFF)
SCORE_QUERIES = Dialect("score (queries, documents)", _queries, _VLLM_ON, _VLLM_OFF)
# vLLM knows the first field of these, Infinity the second; both ignore the other's.
RERANK = Dialect("rerank", _rerank, {**_VLLM_ON, **_ON}, {**_VLLM_OFF, **_OFF})
RERANK_QUIET = Dialect("rerank", _rerank_quietly, RERANK.activated, RERANK.raw)
TEI = Dialect("rerank (texts)", _tei, _ON, _OFF)

_BY_END: Mapping[str, tuple[Dialect, ...]] = {
    "/score": (SCORE, SCORE_QUERIES),
    "/v1/rerank": (RERANK_QUIET, RERANK),
    "/v2/rerank": (RERANK,),
    "/rerank": (TEI, RERANK_QUIET, RERANK),
}
_ROUTES = ("/v1/score", "/score", "/v1/rerank", "/v2/rerank", "/rerank")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A path to try, and a form to try there."""

    path: str
    dialect: Dialect


def candidates(url: str) -> list[Candidate]:
    """What a server may be asked in, given the endpoint as set, in the order of trying.

    A path that ends in ``score`` or ``rerank`` is the route itself; any other is the base of all
    routes, with or without its ``/v1`` or ``/v2``.
    """
    path = urlsplit(url).path.rstrip("/")
    if path.endswith(("/score", "/rerank")):
        return [Candidate(path, dialect) for dialect in _forms(path)]
    base, version = path, ""
    if path.endswith(("/v1", "/v2")):
        base, version = path[:-3], path[-3:]
    routes = sorted(_ROUTES, key=lambda route: not (version and route.startswith(version)))
    return [Candidate(base + route, dialect) for route in routes for dialect in _forms(route)]


def base_path(url: str) -> str:
    """The path that a server's other routes (``/tokenize``, ``/v1/models``) hang from."""
    path = urlsplit(url).path.rstrip("/")
    for end in ("/score", "/rerank"):
        path = path.removesuffix(end)
    return path.removesuffix("/v1").removesuffix("/v2")


def _forms(path: str) -> tuple[Dialect, ...]:
    return next(forms for end, forms in _BY_END.items() if path.endswith(end))


class NoScoresError(ValueError):
    """A reply that is no list of scores at all."""


def read_scores(text: bytes, count: int) -> list[float | None]:
    """The values of a reply by the index of their source, whatever order they came in.

    A list of ``index`` and ``score`` or ``relevance_score``, bare or under ``data`` or
    ``results``.  A source whose value is absent, no finite number, or there twice has ``None``.

    :param count: how many sources were asked about.
    :raises NoScoresError: where the reply has no such list.
    """
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        raise NoScoresError("the reply is not JSON") from None
    items = reply
    if isinstance(reply, dict):
        items = reply.get("results", reply.get("data"))
    if not isinstance(items, list):
        raise NoScoresError("the reply has no list of scores")
    scores: list[float | None] = [None] * count
    seen: set[int] = set()
    for item in items:
        index = item.get("index") if isinstance(item, dict) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            continue
        scores[index] = None if index in seen else _finite(item)
        seen.add(index)
    return scores


def _finite(item: Mapping[str, Any]) -> float | None:
    value = item.get("relevance_score", item.get("score"))
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def read_error(text: bytes) -> str:
    """What an error body says: vLLM's old and new envelope, TEI's, FastAPI's, Cohere's; else all.

    At most 2,000 characters, without those that a terminal would obey.
    """
    said: Any
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = text[:2000].decode("utf-8", "replace")
    for _ in range(3):
        if not isinstance(said, dict):
            break
        said = next((said[key] for key in ("error", "message", "detail") if said.get(key)), "")
    return "".join(sign if sign.isprintable() else " " for sign in str(said)[:2000])
