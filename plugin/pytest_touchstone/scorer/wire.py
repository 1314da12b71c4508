"""One request to a scorer's server: what comes back, or one classified fault.

The fault is the chat client's, which the flight's policy of retries reads.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urlsplit

from pytest_touchstone.llm.chat import ChatError, FaultKind, redacted, retry_after
from pytest_touchstone.redact import Redact
from pytest_touchstone.scorer.dialects import read_error
from pytest_touchstone.settings import ScorerSettings

if TYPE_CHECKING:
    import aiohttp

_LARGEST_REPLY = 1 << 20
_STATUS_KINDS: dict[int, FaultKind] = {
    401: "unauthorized",
    403: "unauthorized",
    404: "unknown_model",
    405: "unknown_model",
    408: "timeout",
    429: "rate_limited",
    501: "unknown_model",
}
# llama.cpp answers 500 for a pair that does not fit its batch, which no later try will change.
_TOO_LONG = re.compile(r"too large to process|context size|context length|physical batch")


class Wire:
    """Connections to one server.  Use it from one event loop, then close it.

    :param mask: takes known secrets out of what the server says of itself.
    :raises ChatError: where the client's package is missing or the key cannot be sent.
    """

    def __init__(self, settings: ScorerSettings, mask: Redact = str) -> None:
        try:
            import aiohttp
        except ImportError:
            raise ChatError(
                "not_installed",
                "the scorer's client is not installed: pip install 'pytest-touchstone[scorer]'",
            ) from None
        url = urlsplit(settings.server)
        self._query = f"?{url.query}" if url.query else ""
        self._key = settings.api_key.get_secret_value().strip() if settings.api_key else None
        self._timeout = settings.timeout
        self._mask = mask
        self.host = url.netloc.rpartition("@")[2]
        self._root = f"{url.scheme}://{self.host}"
        headers = {
            "Content-Type": "application/json",
            # A compressed reply of a few kilobytes may unfold to gigabytes.
            "Accept-Encoding": "identity",
            **_authorization(url, self._key),
        }
        self._session: aiohttp.ClientSession = aiohttp.ClientSession(
            headers=headers,
            # Servers close idle connections after five seconds (uvicorn's default).
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=4.0),
            timeout=aiohttp.ClientTimeout(total=None),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def post(self, path: str, body: dict[str, Any]) -> bytes:
        """The body of the reply with status 200.

        :raises ChatError: for every failure, of whatever kind.
        """
        sent = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        return await self._request("POST", path, sent)

    async def get(self, path: str) -> Any:
        """The JSON at a path; ``None`` where there is none, whatever the reason."""
        try:
            return json.loads(await self._request("GET", path, None))
        except (ChatError, ValueError, RecursionError):
            return None

    async def _request(self, method: str, path: str, sent: bytes | None) -> bytes:
        import aiohttp

        where = f"{self.host}{path}"
        # vLLM sends the documents back.
        largest = _LARGEST_REPLY + 8 * len(sent or b"")
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._session.request(
                    method, f"{self._root}{path}{self._query}", data=sent, allow_redirects=False
                ) as reply,
            ):
                text = await _bounded(reply, largest)
        except TimeoutError:
            message = f"{where}: no reply within {self._timeout:g} s"
            raise ChatError("timeout", message) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            said = redacted(self._mask(f"{type(error).__name__}: {error}"), self._key)
            raise ChatError("connection", f"{where}: {said}") from None
        if reply.status != 200:
            raise self._status_error(where, reply, text or b"")
        if text is None:
            message = f"{where}: the reply is longer than {largest} bytes"
            raise ChatError("bad_reply", message, retryable=False)
        return text

    def _status_error(self, where: str, reply: aiohttp.ClientResponse, text: bytes) -> ChatError:
        status, said = reply.status, redacted(self._mask(read_error(text)), self._key)
        kind = _STATUS_KINDS.get(status, "server_error" if status >= 500 else "bad_request")
        if 300 <= status < 400:
            kind, said = "unknown_model", "it sends elsewhere; set `scorer.url` to where it sends"
        elif kind == "server_error" and _TOO_LONG.search(said):
            kind = "bad_request"
        wait = retry_after(reply.headers.get("Retry-After"), datetime.now(UTC))
        return ChatError(kind, f"{where}: HTTP {status}: {said}", retry_after=wait)


async def _bounded(reply: aiohttp.ClientResponse, largest: int) -> bytes | None:
    """The body, or ``None`` where it is longer; nothing more of it is read then."""
    parts, size = [], 0
    async for part in reply.content.iter_any():
        size += len(part)
        if size > largest:
            reply.close()
            return None
        parts.append(part)
    return b"".join(parts)


def _authorization(url: SplitResult, key: str | None) -> dict[str, str]:
    if key is not None:
        if not (key.isascii() and key.isprintable()):
            raise ChatError(
                "unauthorized",
                "scorer.api_key holds characters that no HTTP header can carry; copy it again",
            )
        return {"Authorization": f"Bearer {key}"}
    if url.username is None:
        return {}
    pair = f"{unquote(url.username)}:{unquote(url.password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
