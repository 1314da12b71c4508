"""A server that speaks Qdrant's REST wire format, backed by the client's own local mode.

It proves the client's path: URLs, the key's header, request bodies as a server parses them, the
envelope ``{result, status, time}``, pages of a scroll, errors as Qdrant words them.  What it cannot
prove, and a real server still has to: that ``exact`` switches the approximate index off, that
filters on unindexed fields are allowed (strict mode forbids them), how a server tells 2022 from
2022.0, TLS, and behaviour under load.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from qdrant_client import QdrantClient, models

from .loopback import LoopbackServer, Reply

_ROUTE = re.compile(r"/collections/(?P<name>[^/?]+)(?P<rest>/[^?]*)?(\?.*)?")


class QdrantServer(LoopbackServer):
    """Fill ``client`` with collections, then point a real client at ``url``.

    :param api_key: where given, requests without it in ``api-key`` are refused.
    """

    def __init__(self, *, api_key: str | None = None) -> None:
        super().__init__()
        self.client = QdrantClient(location=":memory:")
        self.requests: list[tuple[str, str, Mapping[str, Any]]] = []
        self._api_key = api_key
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The address for a client."""
        return self.address

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        """See :class:`LoopbackServer`."""
        plain = {"Content-Type": "text/plain"}
        if self._api_key is not None and "api-key" not in headers:
            said = b"Must provide an API key or an Authorization bearer token"
            return Reply(401, said, plain)
        if self._api_key is not None and headers["api-key"] != self._api_key:
            return Reply(401, b"Invalid API key or JWT", plain)
        data = json.loads(body) if body else {}
        route = _ROUTE.fullmatch(path)
        if route is None:
            return Reply(404, b"", plain)
        with self._lock:
            self.requests.append((method, path, data))
            name, rest = route["name"], route["rest"] or ""
            if not self.client.collection_exists(name):
                return _error(404, f"Not found: Collection `{name}` doesn't exist!")
            try:
                result = self._result(f"{method} {rest}", name, data)
            except ValidationError as fault:
                return _error(400, f"Format error in JSON body: {fault.errors()[0]['msg']}")
        if result is None:
            return Reply(404, b"", plain)
        return _envelope(result)

    def _result(self, operation: str, name: str, data: Mapping[str, Any]) -> Any:
        if operation == "GET ":
            return self.client.get_collection(name)
        if operation == "POST /points/query":
            query = models.QueryRequest.model_validate(data)
            assert query.params is not None
            assert query.params.exact is True
            return self.client.query_points(
                name,
                query=query.query,
                using=query.using,
                query_filter=query.filter,
                limit=query.limit or 10,
                with_payload=query.with_payload or False,
            )
        if operation == "POST /points/count":
            counted = models.CountRequest.model_validate(data)
            return self.client.count(name, count_filter=counted.filter, exact=bool(counted.exact))
        if operation == "POST /points/scroll":
            scroll = models.ScrollRequest.model_validate(data)
            records, offset = self.client.scroll(
                name,
                scroll_filter=scroll.filter,
                limit=scroll.limit or 10,
                offset=scroll.offset,
                with_payload=_selector(scroll.with_payload),
            )
            return {"points": [_plain(one) for one in records], "next_page_offset": offset}
        if operation == "POST /points":
            wanted = models.PointRequest.model_validate(data)
            return self.client.retrieve(name, wanted.ids, _selector(wanted.with_payload))
        return None


def _selector(value: Any) -> Any:
    return False if value is None else value


def _envelope(result: Any) -> Reply:
    body = {"result": _plain(result), "status": "ok", "time": 0.0005}
    return Reply(body=json.dumps(body).encode())


def _error(status: int, message: str) -> Reply:
    body = {"status": {"error": message}, "time": 0.0001}
    return Reply(status, json.dumps(body).encode())


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value
