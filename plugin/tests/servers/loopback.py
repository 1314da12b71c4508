"""An HTTP server on loopback, in threads that end with it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Reply:
    """What the server sends; ``hang`` sends nothing until the server closes, ``drop`` hangs up."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    hang: bool = False
    drop: bool = False


class LoopbackServer(ABC):
    """Base of the servers: subclasses implement :meth:`answer`; use it in a ``with`` block."""

    def __init__(self) -> None:
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def address(self) -> str:
        """``http://127.0.0.1:<port>``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @abstractmethod
    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        """The reply to one request; called from many threads at once.  Header names are lower."""

    def wait_for_end(self) -> None:
        """Block until the server closes."""
        self._closing.wait()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: LoopbackServer
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; everything else is a fault of the test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    # Header and body leave in two packets; without this the second waits for the first's ACK.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.owner.answer(self.command, self.path, headers, body)
        if reply.hang:
            self.server.owner.wait_for_end()
        if reply.hang or reply.drop:
            self.close_connection = True
            return
        if "Date" in reply.headers:
            self.send_response_only(reply.status)
        else:
            self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the server must not write into a test's output."""
