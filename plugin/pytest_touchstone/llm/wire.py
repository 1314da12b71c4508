"""The OpenAI SDK's HTTP client, without what the SDK does around each request.

The SDK's ``create`` walks through every request by its types, the schema of the reply included, and
makes URL and headers anew; that takes two thirds of a call's CPU time.  What it sends is JSON
already, and its answer is read from the raw JSON.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import openai

LONGEST_REPLY = 8 << 20
"""Bytes of a reply, unpacked: a hundred times what the longest completion has."""
_MOST_REDIRECTS = 5
_KEEPING = (307, 308)


class Reply(Protocol):
    """A reply of whatever status, read to its end."""

    @property
    def status_code(self) -> int:
        """Of HTTP."""

    @property
    def is_success(self) -> bool:
        """Whether the status is one of 200 to 299."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Names in any case."""

    @property
    def content(self) -> bytes:
        """The body."""

    @property
    def text(self) -> str:
        """The body, in the encoding that the headers name."""


class ReplyTooLong(Exception):  # noqa: N818 - a fault of the server's
    """A reply of more than :data:`LONGEST_REPLY` bytes, of which no more was read."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A :class:`Reply`."""

    status_code: int
    is_success: bool
    headers: Mapping[str, str]
    content: bytes
    encoding: Callable[[], str | None]

    @property
    def text(self) -> str:
        try:
            return self.content.decode(self.encoding() or "utf-8", "replace")
        except LookupError:
            return self.content.decode("utf-8", "replace")


async def _read(reply: Any) -> _Read:
    """A reply up to the longest there may be; of a refusal the beginning will do.

    :param reply: of the HTTP client that the SDK brings, not read yet.
    """
    content = bytearray()
    async for part in reply.aiter_bytes():
        content += part
        if len(content) > LONGEST_REPLY:
            if reply.is_success:
                raise ReplyTooLong
            break
    return _Read(
        reply.status_code,
        reply.is_success,
        reply.headers,
        bytes(content[:LONGEST_REPLY]),
        # Parsed where somebody wants it: of a completion nobody does.
        lambda: reply.charset_encoding,
    )


class Wire:
    """Chat completions of one URL, with the headers, proxies and certificates of the SDK.

    :param url: ``None`` is the SDK's own default.
    :ivar host: with its port, where it names one.
    :raises ImportError: where the SDK is not installed.
    """

    def __init__(self, url: str | None, api_key: str) -> None:
        import openai

        # httpx's own transport costs 8 ms CPU a call and slows down beyond 50 connections.
        try:
            self._http = openai.DefaultAioHttpClient(timeout=None)
        except RuntimeError:
            self._http = openai.DefaultAsyncHttpxClient(timeout=None)
        self._sdk: openai.AsyncOpenAI = openai.AsyncOpenAI(
            base_url=url, api_key=api_key, max_retries=0, http_client=self._http
        )
        # Some that are not to be sent stand for that with a mark in place of a text.
        headers = {**self._sdk.default_headers, **self._sdk.auth_headers}
        self._http.headers.update({k: v for k, v in headers.items() if isinstance(v, str)})
        base = self._sdk.base_url
        self.host = f"{base.host}{f':{base.port}' if base.port else ''}"
        # aiohttp takes no credentials in a URL beside a header for them.
        if base.userinfo:
            pair = f"{base.username}:{base.password}".encode()
            self._http.headers["Authorization"] = f"Basic {b64encode(pair).decode()}"
        self._encoding = self._http.headers.encoding
        path = f"{base.path.rstrip('/')}/chat/completions"
        self._url = base.copy_with(userinfo=b"", path=path)

    async def complete(self, body: Mapping[str, Any]) -> Reply:
        """The reply to a request; how long it may take is the caller's business.

        A redirect is followed where it keeps method and body (307 and 308, RFC 9110, 15.4), to
        another host without the key; any other is the reply itself.

        :raises ReplyTooLong: where it is one with a completion.
        :raises Exception: whatever the transport raises where there is no reply.
        """
        request = self._http.build_request("POST", self._url, json=body)
        request.headers.encoding = self._encoding  # else found out anew for each
        for _ in range(_MOST_REDIRECTS + 1):
            reply = await self._http.send(request, stream=True, follow_redirects=False)
            try:
                onward = reply.next_request if reply.status_code in _KEEPING else None
                if onward is None:
                    return await _read(reply)
            finally:
                await reply.aclose()
            request = onward
        raise ConnectionError(f"more than {_MOST_REDIRECTS} redirects")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._sdk.close()
