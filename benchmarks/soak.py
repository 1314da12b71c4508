"""A long evaluation against a server on a bad day: it ends, and nothing grows.

``python benchmarks/soak.py [CALLS] [SHARE]``: every case is one call of a system, through the
run's own client, and four of a judge; the server answers in a few milliseconds, but ``SHARE`` of
its replies are faults: 429, 500, a reset, a hang beyond the deadline, a body that is no JSON, one
that is cut off.  What failed is asked again and counts as one of the ``CALLS`` too.

Every twentieth of the calls, the process that evaluates notes its open sockets, tasks, threads and
memory.  Prints them, and those at the end beside those at a quarter of the calls, from which all
should be flat; beside the memory, what plain pytest takes for as many tests, which it keeps all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SAMPLES = 20
CALLS_A_CASE = 5
IN_FLIGHT = 32
LATENCY_S = 0.004
APP = """
from pytest_touchstone import Answer, Passage

PASSAGE = Passage("c1", "The bridge is red. It cost 4 million.")


def build(resources, **options):
    async def ask(messages, session):
        done = await resources.complete(messages)
        return Answer(done.text, (PASSAGE,), usage=() if done.usage is None else (done.usage,))

    return ask
"""
MODULE = """
import pytest
from pytest_touchstone import Caution, Faithfulness, Formality

pytestmark = pytest.mark.touchstone(Faithfulness, Formality, Caution)


def test_judged(case, scores):
    assert scores
"""
CONFTEST = '''
"""Notes what the process holds, each time the server has answered so many calls more."""

import asyncio
import json
import os
import threading
import time
import urllib.request

LOOPS = []
_new = asyncio.new_event_loop


def _remembered():
    LOOPS.append(_new())
    return LOOPS[-1]


asyncio.new_event_loop = _remembered


def sockets():
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
        except OSError:
            pass
    return count


def sample(calls):
    pages = int(open("/proc/self/statm").read().split()[1])
    return {
        "calls": calls,
        "sockets": sockets(),
        "tasks": sum(len(asyncio.all_tasks(loop)) for loop in LOOPS if not loop.is_closed()),
        "threads": threading.active_count(),
        "mb": pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
    }


def watch():
    due = EVERY
    while True:
        with urllib.request.urlopen("URL/times") as reply:
            calls = json.load(reply)["calls"]
        if calls >= due:
            with open("samples.jsonl", "a") as file:
                file.write(json.dumps(sample(calls)) + "\\n")
            due += EVERY
        time.sleep(0.05)


threading.Thread(target=watch, daemon=True).start()
'''


def main() -> None:
    """Run it, and print."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    share = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1
    # Each call takes 1 / (1 - share) tries; some cases more, so that the last sample is under way.
    cases = round(1.02 * calls * (1 - share) / CALLS_A_CASE)
    with tempfile.TemporaryDirectory() as name, stub(share) as url:
        folder = Path(name)
        project(folder, url, cases, calls // SAMPLES)
        start = time.perf_counter()
        ended = pytest_in(folder, "-p", "no:deepeval")
        seconds = time.perf_counter() - start
        if ended.returncode not in (0, 1):
            raise SystemExit(ended.stdout + ended.stderr)
        lines = (folder / "samples.jsonl").read_text().splitlines()
        made, sent = got(f"{url}/times")["calls"], got(f"{url}/faults")
        report = json.loads(next((folder / "reports").glob("*.json")).read_text())
        plain = plain_mb(cases)
    print(
        f"{cases} cases, exit code {ended.returncode}, {seconds:.0f} s, {made} calls; faults sent:"
    )
    print("  " + ", ".join(f"{kind} {count}" for kind, count in sorted(sent.items())))
    print("  " + "\n  ".join(ended.stdout.strip().splitlines()[-14:]))
    print(f"  reported: {reported(report)}")
    printed([json.loads(line) for line in lines])
    print(f"plain pytest: {plain:.1f} MB more from a quarter of as many tests to all of them")


def printed(samples: Sequence[dict[str, float]]) -> None:
    """The table, and what became of each from a quarter of the calls to the last sample."""
    names = ("calls", "sockets", "tasks", "threads", "mb")
    print("".join(f"{name:>9}" for name in names))
    for sample in samples:
        print("".join(f"{sample[name]:9.0f}" for name in names))
    early, late = samples[SAMPLES // 4 - 1], samples[SAMPLES - 1]
    ratios = "".join(f"{late[name] / early[name]:9.2f}" for name in names[1:])
    print(f"{'of 1/4':>9}{ratios}")


def reported(report: dict[str, Any]) -> str:
    """Why cases have no score."""
    reasons: dict[str, int] = {}
    for case in report["cases"]:
        for reason in case["reasons"].values():
            reasons[reason] = reasons.get(reason, 0) + 1
    total = sum(len(case["scores"]) for case in report["cases"])
    return f"{total} scores, without a value: {reasons or 'none'}"


def plain_mb(cases: int) -> float:
    """Megabytes by which plain pytest grows between a quarter of so many tests and all of them."""
    code = (
        "import os, pytest\n"
        "def mb():\n"
        "    pages = int(open('/proc/self/statm').read().split()[1])\n"
        "    return pages * os.sysconf('SC_PAGE_SIZE') / 1e6\n"
        "SEEN = []\n"
        f"@pytest.mark.parametrize('case', range({cases}))\n"
        "def test_it(case):\n"
        f"    if case in ({cases // 4}, {cases - 1}): SEEN.append(mb())\n"
        f"    if case == {cases - 1}: open('mb', 'w').write(str(SEEN[1] - SEEN[0]))\n"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_plain.py").write_text(code)
        pytest_in(folder, "-p", "no:touchstone", "-p", "no:deepeval")
        return float((folder / "mb").read_text())


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pytest, quiet, in a folder."""
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )


def project(folder: Path, url: str, cases: int, every: int) -> None:
    """A project whose system and judge are the stub."""
    (folder / "evaluation").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "app.py").write_text(APP)
    (folder / "tests" / "test_judged.py").write_text(MODULE)
    (folder / "conftest.py").write_text(CONFTEST.replace("URL", url).replace("EVERY", str(every)))
    gold = (
        {"id": f"q{n}", "type": "factual", "question": f"Question {n}?", "answer": f"Answer {n}."}
        for n in range(cases)
    )
    (folder / "evaluation" / "gold.jsonl").write_text("".join(json.dumps(g) + "\n" for g in gold))
    server = {"url": f"{url}/v1", "concurrency": IN_FLIGHT, "timeout": 1.0, "tries": 6}
    settings = {
        "dataset": "gold.jsonl",
        "system": "app",
        "baseline": "none",
        "systems": {"app": {"build": "app:build", "concurrency": IN_FLIGHT}},
        "generator": {"model": "writer", **server},
        "judge": {"model": "stub", "canaries": False, **server},
    }
    (folder / "evaluation" / "settings.yaml").write_text(json.dumps(settings))


@contextmanager
def stub(share: float) -> Iterator[str]:
    """The server in its own process; its URL."""
    script = Path(__file__).parent / "stubs" / "faulty.py"
    command = [sys.executable, str(script), str(LATENCY_S), str(share)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        port = process.stdout.readline().strip() if process.stdout else ""
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def got(url: str) -> Any:
    """JSON from the stub."""
    with urllib.request.urlopen(url) as reply:  # noqa: S310 - the stub's own
        return json.load(reply)


if __name__ == "__main__":
    main()
