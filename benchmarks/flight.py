"""A whole judged evaluation beside a bare loop that makes the same calls.

``python benchmarks/flight.py [CASES] [IN_FLIGHT]``: every case is one call to a system and four
to a judge (claims, their verdicts, citations, tone), 0.3 s each, ``IN_FLIGHT`` at most to either.
The bare loop is aiohttp with the same bodies, the same two limits and the same dependencies, and
nothing else.  Prints, as ratios to it, the time from first to last call of the evaluation alone,
and with ``-n 2``; and the whole command beside the time that the limit alone would take.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from collections.abc import Iterator

LATENCY_S = 0.3
CALLS_A_CASE = 5
APP = """
import aiohttp
from pytest_touchstone import Answer, Passage

SESSION = None


async def ask(messages, session):
    global SESSION
    if SESSION is None:
        SESSION = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
    body = {"messages": [message.content for message in messages]}
    async with SESSION.post("URL/ask", json=body) as response:
        data = await response.json()
    return Answer(data["text"], tuple(Passage(**p) for p in data["passages"]), usage=())
"""
MODULE = """
import pytest
from pytest_touchstone import Caution, Faithfulness, Formality

pytestmark = pytest.mark.touchstone(Faithfulness, Formality, Caution)


def test_judged(case, scores):
    scores.meet_floors()
"""


def main() -> None:
    """Measure and print."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    in_flight = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    with tempfile.TemporaryDirectory() as folder, stub() as url:
        project(Path(folder), url, cases, in_flight)
        limit = cases * (CALLS_A_CASE - 1) * LATENCY_S / in_flight
        print(f"{cases} cases, {in_flight} in flight: the judge's limit alone is {limit:.2f} s")
        bare = counted(url, lambda: asyncio.run(bare_loop(url, cases, in_flight)))
        alone = counted(url, lambda: evaluated(Path(folder)))
        two = counted(url, lambda: evaluated(Path(folder), "-n2"))
    start = plain_pytest()
    for name, (spent, times) in {"bare aiohttp": bare, "evaluation": alone, "-n 2": two}.items():
        ratio = times["seconds"] / bare[1]["seconds"]
        print(
            f"{name:14}first to last call {times['seconds']:6.2f} s ({ratio:.2f} of bare),"
            f" {times['calls']} calls, {times['peak']} in flight at most, command {spent:.2f} s"
        )
    whole = cases * CALLS_A_CASE * LATENCY_S / in_flight + start
    print(f"whole command {alone[0] / whole:.2f} of all calls x latency / limit + pytest's start")


@contextmanager
def stub() -> Iterator[str]:
    """The server in its own process; its URL."""
    script = Path(__file__).parent / "stubs" / "endpoint.py"
    command = [sys.executable, str(script), str(LATENCY_S)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()


def counted(url: str, run: Any) -> tuple[float, dict[str, Any]]:
    """Seconds that ``run`` took, and what the server counted meanwhile."""
    urllib.request.urlopen(f"{url}/reset", data=b"").close()
    start = time.perf_counter()
    run()
    spent = time.perf_counter() - start
    with urllib.request.urlopen(f"{url}/times") as reply:
        return spent, json.load(reply)


async def bare_loop(url: str, cases: int, in_flight: int) -> None:
    """The same calls, with the same two limits and dependencies."""
    system, judge = asyncio.Semaphore(in_flight), asyncio.Semaphore(in_flight)
    bodies = [_body(name) for name in ("claims", "verdicts", "paragraphs", "formality")]
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(places: asyncio.Semaphore, path: str, body: Any) -> None:
            async with places, session.post(url + path, json=body) as response:
                await response.json()

        async def claims() -> None:
            await call(judge, "/v1/chat/completions", bodies[0])
            await call(judge, "/v1/chat/completions", bodies[1])

        async def case(number: int) -> None:
            await call(system, "/ask", {"messages": [f"Question {number}?"]})
            rest = (call(judge, "/v1/chat/completions", body) for body in bodies[2:])
            await asyncio.gather(claims(), *rest)

        await asyncio.gather(*(case(number) for number in range(cases)))


def _body(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {name: {}}}
    return {
        "model": "stub",
        "messages": [{"role": "user", "content": "x" * 3000}],
        "temperature": 0,
        "response_format": {"type": "json_schema", "json_schema": {"schema": schema}},
    }


def project(folder: Path, url: str, cases: int, in_flight: int) -> None:
    """A project whose system and judge are the stub."""
    (folder / "evaluation").mkdir()
    (folder / "tests").mkdir()
    (folder / "app.py").write_text(APP.replace("URL", url))
    (folder / "tests" / "test_judged.py").write_text(MODULE)
    gold = (
        {"id": f"q{n}", "type": "factual", "question": f"Question {n}?", "answer": f"Answer {n}."}
        for n in range(cases)
    )
    (folder / "evaluation" / "gold.jsonl").write_text("".join(json.dumps(g) + "\n" for g in gold))
    settings = {
        "dataset": "gold.jsonl",
        "system": "app",
        "baseline": "none",
        "systems": {"app": {"ask": "app:ask", "concurrency": in_flight}},
        "judge": {
            "model": "stub", "url": f"{url}/v1", "concurrency": in_flight, "canaries": False,
        },
    }  # fmt: skip
    (folder / "evaluation" / "settings.yaml").write_text(json.dumps(settings))


def evaluated(folder: Path, *arguments: str) -> None:
    """One evaluation from an empty store."""
    for file in (folder / "reports").glob("*"):
        file.unlink()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:deepeval", *arguments]
    ended = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(ended.stdout + ended.stderr)


def plain_pytest() -> float:
    """Seconds of pytest's own start and end."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:touchstone"]
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, env=_environment(), check=True, capture_output=True)
        return time.perf_counter() - start


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


if __name__ == "__main__":
    main()
