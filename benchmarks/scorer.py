"""Scoring citations, beside bare loops that make the same requests.

``python benchmarks/scorer.py [REPEATS]``: 2,000 paragraphs with three sources each, against a
server in its own process that answers after 50 ms, with 32 calls in flight.  Each repeat runs the
scorer's client and a bare aiohttp loop, in turns; a bare httpx loop runs once.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import re
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import cast

import aiohttp
import httpx

from pytest_touchstone.scorer.client import HttpScorer, open_scorer
from pytest_touchstone.settings import ScorerSettings

PARAGRAPHS, SOURCES, LATENCY_S, IN_FLIGHT = 2000, 3, 0.05, 32
TEXT = "The committee found that district funds for roads went missing in 2021. "


def main() -> None:
    """Measure and print."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(theirs,), daemon=True
    )
    server.start()
    asyncio.run(_compare(f"http://127.0.0.1:{ours.recv()}", repeats))
    server.terminate()
    server.join()


async def _compare(url: str, repeats: int) -> None:
    pairs = [_pair(number) for number in range(PARAGRAPHS)]
    scorer = await open_scorer(ScorerSettings(url=url, concurrency=IN_FLIGHT))
    if not isinstance(scorer, HttpScorer):
        raise SystemExit(scorer.message)
    route = f"{url}{scorer.identity['route']}"
    clients: list[float] = []
    bare: list[float] = []
    for turn in range(repeats + 1):
        runs = [
            (clients, lambda: _by_scorer(scorer, pairs)),
            (bare, lambda: _by_aiohttp(route, pairs)),
        ]
        for times, run in runs[:: 1 if turn % 2 else -1]:
            seconds = await _timed(run)
            if turn:  # the first one warms up
                times.append(seconds)
    slow = await _timed(lambda: _by_httpx(route, pairs))
    await scorer.aclose()
    floor = PARAGRAPHS / IN_FLIGHT * LATENCY_S
    ratio = statistics.median(a / b for a, b in zip(clients, bare, strict=True))
    print(f"latency alone      {floor:.2f} s")
    print(f"bare httpx         {slow:.2f} s")
    print(f"bare aiohttp       {statistics.median(bare):.2f} s")
    print(f"this               {statistics.median(clients):.2f} s")
    print(f"ratio to aiohttp   {ratio:.3f} (median of {repeats} pairs)")


def _pair(number: int) -> tuple[str, list[str]]:
    return f"{number}. {TEXT * 3}", [f"{number} {source}. {TEXT * 12}" for source in range(SOURCES)]


async def _by_scorer(scorer: HttpScorer, pairs: list[tuple[str, list[str]]]) -> None:
    got = await asyncio.gather(*(scorer.cover(paragraph, sources) for paragraph, sources in pairs))
    if any(one.score is None for several in got for one in several):
        raise SystemExit(scorer.warning)


async def _by_aiohttp(route: str, pairs: list[tuple[str, list[str]]]) -> None:
    connector = aiohttp.TCPConnector(limit=IN_FLIGHT)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(body: dict[str, object]) -> None:
            async with session.post(route, json=body) as reply:
                if len((await reply.json())["data"]) != SOURCES:
                    raise SystemExit("too few results")

        await _in_flight(ask, pairs)


async def _by_httpx(route: str, pairs: list[tuple[str, list[str]]]) -> None:
    limits = httpx.Limits(max_connections=IN_FLIGHT)
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:

        async def ask(body: dict[str, object]) -> None:
            if len((await client.post(route, json=body)).json()["data"]) != SOURCES:
                raise SystemExit("too few results")

        await _in_flight(ask, pairs)


async def _in_flight(
    ask: Callable[[dict[str, object]], Awaitable[None]], pairs: list[tuple[str, list[str]]]
) -> None:
    places = asyncio.Semaphore(IN_FLIGHT)

    async def one(paragraph: str, sources: list[str]) -> None:
        async with places:
            await ask({"model": "m", "text_1": paragraph, "text_2": sources})

    await asyncio.gather(*(one(paragraph, sources) for paragraph, sources in pairs))


async def _timed(run: Callable[[], Awaitable[None]]) -> float:
    start = time.perf_counter()
    await run()
    return time.perf_counter() - start


class _Server(asyncio.Protocol):
    """Just enough of HTTP to answer these clients, so that it takes little of the machine."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, rest = self._buffer.partition(b"\r\n\r\n")
            found = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            length = int(found[1]) if found else 0
            if len(rest) < length:
                return
            self._buffer = rest[length:]
            reply = _reply(head.split(b" ", 2)[1], rest[:length])
            asyncio.get_running_loop().call_later(LATENCY_S, self._send, reply)

    def _send(self, reply: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(reply)


def _reply(path: bytes, body: bytes) -> bytes:
    if path != b"/v1/score":
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    data = json.loads(body)
    wanted = set(data["text_1"].split())
    rows = [
        {"index": index, "score": 0.01 + 0.98 * (len(wanted & set(text.split())) > 3)}
        for index, text in enumerate(data["text_2"])
    ]
    text = json.dumps({"object": "list", "data": rows}).encode()
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
    return f"{head}{len(text)}\r\n\r\n".encode() + text


def _serve(connection: Connection) -> None:
    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(_Server, "127.0.0.1", 0)
        connection.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


if __name__ == "__main__":
    main()
