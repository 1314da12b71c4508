"""The server of ``endpoint.py`` on a bad day: a part of its replies are faults, of every kind.

``GET /faults`` tells how many of which kind were sent.  ``python faulty.py LATENCY SHARE`` prints
its port.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter

from aiohttp import web
from endpoint import Stub, answer, completion, serve, verdict

HANG_S = 5.0
"""Longer than anybody waits."""
KINDS = ("429", "500", "reset", "hang", "garbage", "cut off")


class Faulty(Stub):
    """Like the good server; ``share`` of the calls get a fault instead of a reply."""

    def __init__(self, latency: float, share: float) -> None:
        super().__init__(latency)
        self._share = share
        self._random = random.Random(20_000)
        self._faults: Counter[str] = Counter()

    async def judge(self, request: web.Request) -> web.StreamResponse:
        """The judge, and the model that a system asks: which of them, the form asked for tells."""
        asked = await request.json()
        if self._random.random() < self._share:
            kind = self._random.choice(KINDS)
            self._faults[kind] += 1
            self.calls += 1
            return await fault(kind, request)
        if "response_format" in asked:
            return await self.timed(json.dumps(completion(json.dumps(verdict(asked)))))
        said = answer(asked["messages"][-1]["content"])["text"]
        return await self.timed(json.dumps(completion(said)))

    async def faults(self, _: web.Request) -> web.Response:
        """How many faults of which kind were sent."""
        return web.json_response(self._faults)


async def fault(kind: str, request: web.Request) -> web.StreamResponse:
    """What the client gets, or does not get."""
    if kind == "429":
        return web.Response(status=429, text="slow down", headers={"Retry-After": "0.05"})
    if kind == "500":
        return web.Response(status=500, text="<h1>an error that is no JSON</h1>")
    if kind == "garbage":
        return web.Response(body=b'{"choices": [\xff\x00')
    if kind == "hang":
        await asyncio.sleep(HANG_S)
    if kind == "cut off":
        half = web.StreamResponse(headers={"Content-Length": "1000"})
        await half.prepare(request)
        await half.write(b'{"choices": [')
    if request.transport is not None:
        request.transport.abort()  # RST, no goodbye
    raise ConnectionResetError(kind)


def main() -> None:
    """Serve until the process is ended."""
    stub = Faulty(float(sys.argv[1]), float(sys.argv[2]))
    app = stub.application()
    app.router.add_get("/faults", stub.faults)
    asyncio.run(serve(app))


if __name__ == "__main__":
    main()
