"""A whole judged evaluation beside bare loops that make the same calls.

``python benchmarks/flight.py [CASES] [IN_FLIGHT] [ROUNDS]``: every case is one call to a system and
four to a judge (claims, their verdicts, citations, form), 0.3 s each, ``IN_FLIGHT`` at most to
either.  The bare loops have the same two limits and dependencies, send the bodies that the
evaluation sends, and do nothing else: one over aiohttp, and one that asks the judge through the
openai client over aiohttp.  The evaluation uses that client's connections and headers, but not its
``create``, which costs more than all that an evaluation adds.  Of several rounds, in turn, the best
of each counts, since whatever else runs on the machine can only add to it.

Prints, as ratios to the bare loops, the time from first to last call of the evaluation alone and
with ``-n 2`` (from when both workers had come), and its CPU time per call: what ``CASES`` cases
cost more than ``CASES / 10`` do, tests and report included.  Then the calls of ``-n 4``, and the
whole command beside the time that the limit alone would take.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import openai

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

LATENCY_S = 0.3
CALLS_A_CASE = 5
CHAT = "/chat/completions"
APP = """
import os

import aiohttp
from pytest_touchstone import Answer, Passage

SESSION = None
HEADERS = {"X-Process": os.environ.get("PYTEST_XDIST_WORKER", "main")}


async def ask(messages, session):
    global SESSION
    if SESSION is None:
        SESSION = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=HEADERS)
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


@dataclass(frozen=True, slots=True)
class Run:
    """What one run took.

    :ivar seconds: from first to last call; ``ready``: from when all processes had come.
    :ivar whole: from the start of the command to its end.
    :ivar cpu: user and system time in seconds.
    """

    seconds: float
    ready: float
    whole: float
    cpu: float
    calls: int
    peak: int


def main() -> None:
    """Measure and print."""
    cases, in_flight, rounds = (
        int(sys.argv[place]) if len(sys.argv) > place else default
        for place, default in ((1, 200), (2, 50), (3, 5))
    )
    with tempfile.TemporaryDirectory() as folder, stub() as url:
        whole, part = Path(folder, "whole"), Path(folder, "part")
        project(whole, url, cases, in_flight)
        project(part, url, cases // 10, in_flight)
        evaluated(part)
        bodies = json.loads(got(f"{url}/bodies"))
        found: dict[str, list[Run]] = {}
        for _ in range(rounds):
            for name, run in {
                "bare aiohttp": lambda: asyncio.run(over_aiohttp(url, bodies, cases, in_flight)),
                "bare openai": lambda: asyncio.run(over_openai(url, bodies, cases, in_flight)),
                "evaluation": lambda: evaluated(whole),
                "a tenth": lambda: evaluated(part),
                "-n 2": lambda: evaluated(whole, "-n2"),
            }.items():
                found.setdefault(name, []).append(counted(url, run))
        four = counted(url, lambda: evaluated(whole, "-n4"))
    printed(cases, in_flight, found)
    print(f"-n 4          {four.calls} calls")
    start = min(plain_pytest() for _ in range(rounds))
    limit = cases * CALLS_A_CASE * LATENCY_S / in_flight + start
    command = min(run.whole for run in found["evaluation"])
    print(
        f"whole command {command:.2f} s, {command / limit:.2f} of all calls x latency / in flight,"
        f" and pytest's own start ({start:.2f} s)"
    )


def printed(cases: int, in_flight: int, found: dict[str, list[Run]]) -> None:
    """Each kind of run beside the bare loops."""
    limit = cases * (CALLS_A_CASE - 1) * LATENCY_S / in_flight
    print(f"{cases} cases, {in_flight} in flight: the judge's limit alone is {limit:.2f} s")
    bare = min(run.seconds for run in found["bare aiohttp"])
    alone = min(run.seconds for run in found["evaluation"])
    for name in ("bare aiohttp", "bare openai", "evaluation", "-n 2"):
        best = min(found[name], key=lambda run: run.seconds)
        print(
            f"{name:14}first to last call {best.seconds:6.2f} s, {best.seconds / bare:.2f} of bare"
            f" aiohttp; {best.calls} calls, {best.peak} in flight at most"
        )
    ready = min(run.ready for run in found["-n 2"])
    print(
        f"-n 2          from both ready {ready:.2f} s, {ready / alone:.2f} of the evaluation alone"
    )
    cpu = {name: min(run.cpu for run in runs) for name, runs in found.items()}
    less = CALLS_A_CASE * (cases - cases // 10)
    per_call = 1000 * (cpu["evaluation"] - cpu["a tenth"]) / less
    bare_ms, client_ms = (
        1000 * cpu[name] / (CALLS_A_CASE * cases) for name in ("bare aiohttp", "bare openai")
    )
    print(
        f"CPU per call  evaluation {per_call:.2f} ms, {per_call / client_ms:.2f} of the bare loop"
        f" over the openai client ({client_ms:.2f} ms), {per_call / bare_ms:.1f} of bare aiohttp"
        f" ({bare_ms:.2f} ms)"
    )


@contextmanager
def stub() -> Iterator[str]:
    """The server in its own process; its URL."""
    script = Path(__file__).parent / "stubs" / "endpoint.py"
    command = [sys.executable, str(script), str(LATENCY_S)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        port = process.stdout.readline().strip() if process.stdout else ""
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def got(url: str, data: bytes | None = None) -> bytes:
    """What the server says."""
    with urllib.request.urlopen(url, data) as reply:  # noqa: S310 - the stub's own
        body: bytes = reply.read()
        return body


def counted(url: str, run: Callable[[], Any]) -> Run:
    """What ``run`` took, as this process and the server see it."""
    got(f"{url}/reset", b"")
    start, cpu = time.perf_counter(), _cpu()
    run()
    whole, spent = time.perf_counter() - start, _cpu() - cpu
    times = json.loads(got(f"{url}/times"))
    return Run(
        times["seconds"], times["from_all_ready"], whole, spent, times["calls"], times["peak"]
    )


def _cpu() -> float:
    """Of this process, and of all that it waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


async def over_aiohttp(url: str, bodies: list[Any], cases: int, in_flight: int) -> None:
    """The same calls, with aiohttp alone."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def post(path: str, body: Any) -> None:
            async with session.post(url + path, json=body) as response:
                await response.json()

        await bare_loop(post, lambda body: post(f"/v1{CHAT}", body), bodies, cases, in_flight)


async def over_openai(url: str, bodies: list[Any], cases: int, in_flight: int) -> None:
    """The same calls, the judge's with the openai client over aiohttp."""
    http_client = openai.DefaultAioHttpClient(timeout=60)
    client = openai.AsyncOpenAI(
        base_url=f"{url}/v1", api_key="none", max_retries=0, http_client=http_client
    )
    async with client, aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def post(path: str, body: Any) -> None:
            async with session.post(url + path, json=body) as response:
                await response.json()

        async def judge(body: Any) -> None:
            await client.chat.completions.create(**body)

        await bare_loop(post, judge, bodies, cases, in_flight)


async def bare_loop(
    post: Callable[[str, Any], Awaitable[None]],
    ask: Callable[[Any], Awaitable[None]],
    bodies: list[Any],
    cases: int,
    in_flight: int,
) -> None:
    """The calls of an evaluation, with the same two limits and dependencies."""
    system, judge = asyncio.Semaphore(in_flight), asyncio.Semaphore(in_flight)
    by_form = {_form(body): body for body in bodies}

    async def judged(*forms: str) -> None:
        for form in forms:
            async with judge:
                await ask(by_form[form])

    async def case(number: int) -> None:
        async with system:
            await post("/ask", {"messages": [f"Question {number}?"]})
        await asyncio.gather(
            judged("claims", "verdicts"), judged("paragraphs"), judged("formality")
        )

    await asyncio.gather(*(case(number) for number in range(cases)))


def _form(body: Any) -> str:
    asked: dict[str, Any] = body["response_format"]["json_schema"]["schema"]["properties"]
    return next(name for name in ("claims", "verdicts", "paragraphs", "formality") if name in asked)


def project(folder: Path, url: str, cases: int, in_flight: int) -> None:
    """A project whose system and judge are the stub."""
    (folder / "evaluation").mkdir(parents=True)
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
    ended = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise SystemExit(ended.stdout + ended.stderr)


def plain_pytest() -> float:
    """Seconds of pytest's own start and end."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:touchstone", "-p", "no:deepeval"]
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, env=environment(), check=True, capture_output=True)
        return time.perf_counter() - start


def environment() -> dict[str, str]:
    """This process's, but modules are compiled, as they are for everybody else."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


if __name__ == "__main__":
    main()
