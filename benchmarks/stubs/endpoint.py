"""A server in a process of its own: a system at ``/ask``, a judge at ``/v1/chat/completions``.

Every reply takes the same time and no work.  ``GET /times`` tells how long it took from the first
request to the last reply, and from when each process that names itself in a header had come; how
many calls there were, and the most that were in flight; ``POST /reset`` starts afresh.  ``GET
/bodies`` gives one request of each form that the judge was sent.  ``python endpoint.py LATENCY``
prints its port.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from typing import Any

from aiohttp import web

_WHY = "It says so."
_PASSAGE = {"id": "c1", "text": "The bridge is red. It cost 4 million."}
ANY_VERDICT = {"reason": _WHY, "verdict": 1, "score": 8, "pass": True}
"""What judges of other tools take for a verdict."""
_NUMBER = re.compile(r"(?:Question|Bridge) (\d+)")


def answer(question: str) -> dict[str, Any]:
    """An answer that no other question gets, so that no two calls about them are equal."""
    found = _NUMBER.search(question)
    number = found[1] if found else "0"
    return {"text": f"Bridge {number} is red [1].", "passages": [_PASSAGE]}


def verdict(request: dict[str, Any]) -> dict[str, Any]:
    """A well-formed verdict of the form asked for."""
    asked = request["response_format"]["json_schema"]["schema"]["properties"]
    if "claims" in asked:
        found = _NUMBER.search(request["messages"][0]["content"])
        number = found[1] if found else "0"
        return {"claims": [{"sentence": 1, "claim": f"Bridge {number} is red."}]}
    if "formality" in asked:
        score = {"rationale": _WHY, "score": 4}
        return {"formality": score, "caution": score}
    if "paragraphs" in asked:
        source = [{"source": 1, "label": "supported"}]
        one = {"paragraph": 1, "sources": source, "rationale": _WHY, "label": "supported"}
        return {"paragraphs": [one]}
    one = {"claim": 1, "passage": 1, "quotation": "The bridge is red.", "rationale": _WHY}
    return {"verdicts": [one | {"label": "supported"}]}


def tool_call(name: str) -> dict[str, Any]:
    """A verdict as the call of a function."""
    function = {"name": name, "arguments": json.dumps(ANY_VERDICT)}
    calls = [{"id": "call-1", "type": "function", "function": function}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return _reply(message, "tool_calls")


def completion(text: str) -> dict[str, Any]:
    """A chat completion on the wire."""
    return _reply({"role": "assistant", "content": text}, "stop")


def _reply(message: dict[str, Any], finish: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960},
    }


class Stub:
    """The server's state: what it counted since the last reset."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self.bodies: dict[str, Any] = {}
        self.reset()

    def reset(self) -> None:
        """Forget what was counted."""
        self.first = self.last = 0.0
        self.calls = self.in_flight = self.peak = 0
        self.came: dict[str, float] = {}

    async def timed(self, reply: Any, process: str = "") -> web.Response:
        """The reply, after the latency."""
        now = time.perf_counter()
        self.came.setdefault(process, now)
        self.first = self.first or now
        self.calls += 1
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        await asyncio.sleep(self._latency)
        self.in_flight -= 1
        self.last = time.perf_counter()
        return web.json_response(text=reply)

    def application(self) -> web.Application:
        """Its routes."""
        app = web.Application(client_max_size=1 << 24)
        app.router.add_post("/ask", self.ask)
        app.router.add_post("/v1/chat/completions", self.judge)
        app.router.add_get("/times", self.times)
        app.router.add_get("/bodies", self.seen)
        app.router.add_post("/reset", self.restart)
        return app

    async def ask(self, request: web.Request) -> web.Response:
        """The system."""
        asked = await request.json()
        reply = json.dumps(answer(asked["messages"][-1]))
        return await self.timed(reply, request.headers.get("X-Process", ""))

    async def judge(self, request: web.Request) -> web.StreamResponse:
        """The judge."""
        asked = await request.json()
        if "tools" in asked:
            return await self.timed(json.dumps(tool_call(asked["tools"][0]["function"]["name"])))
        if "json_schema" not in asked.get("response_format", {}):
            return await self.timed(json.dumps(completion(json.dumps(ANY_VERDICT))))
        given = verdict(asked)
        self.bodies.setdefault(" ".join(given), asked)
        return await self.timed(json.dumps(completion(json.dumps(given))))

    async def times(self, _: web.Request) -> web.Response:
        """What was counted."""
        named = [moment for process, moment in self.came.items() if process]
        counted = {
            "seconds": self.last - self.first,
            "from_all_ready": self.last - max(named, default=self.first),
            "calls": self.calls,
            "peak": self.peak,
        }
        return web.json_response(counted)

    async def seen(self, _: web.Request) -> web.Response:
        """The bodies of the judge's requests."""
        return web.json_response(list(self.bodies.values()))

    async def restart(self, _: web.Request) -> web.Response:
        """Forget what was counted."""
        self.reset()
        return web.json_response({})


async def serve(app: web.Application) -> None:
    """Print the port, and serve until the process is ended."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Stub(float(sys.argv[1])).application()))
