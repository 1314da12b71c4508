"""Other tools on the same stub, at the same number of calls in flight.

``python benchmarks/peers.py [CASES] [IN_FLIGHT] [FOLDER]``: installs each tool by name, the newest
that pip finds, into a virtual environment of its own under ``FOLDER`` (a temporary one, unless it
is given: then what is there is used again), and lets it judge ``CASES`` cases with four calls each
in the way its manual shows (`peers/`).  Needs a network, a few minutes and 2 GB, which is why
``make bench`` leaves it out.

Where a tool limits cases and not calls, it is allowed a quarter as many cases as there may be
calls, since it judges each four times at once.  Prints the time from first to last call as a ratio
to the tool's own ideal: the calls that it made x 0.3 s / calls in flight.  A bare aiohttp loop and
pytest-touchstone stand beside them; those ask a system too, at a limit of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from flight import CALLS_A_CASE, LATENCY_S, counted, evaluated, got, over_aiohttp, project, stub

PEERS = {
    "pydantic-evals": ("pydantic-evals", "pydantic-ai-slim[openai]", "aiohttp"),
    "inspect-ai": ("inspect-ai", "openai"),
    # It imports a module that later ones no longer have.
    "ragas": ("ragas", "langchain-openai", "langchain-community<0.4"),
    "deepeval": ("deepeval", "openai"),
}
_SILENT = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true"}
_PATIENCE_S = 600


def main() -> None:
    """Install, measure and print."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    in_flight = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    with tempfile.TemporaryDirectory() as temporary, stub() as url:
        folder = Path(sys.argv[3] if len(sys.argv) > 3 else temporary).absolute()
        own = Path(temporary, "project")
        project(own, url, cases, in_flight)
        ours = counted(url, lambda: evaluated(own))
        bodies = json.loads(got(f"{url}/bodies"))
        bare = counted(url, lambda: asyncio.run(over_aiohttp(url, bodies, cases, in_flight)))
        for name, run in {"bare aiohttp": bare, "pytest-touchstone": ours}.items():
            judged = run.calls * (CALLS_A_CASE - 1) // CALLS_A_CASE
            show(name, run.seconds, judged, run.peak, in_flight)
        for name, packages in PEERS.items():
            python = installed(folder / name, packages)
            if python is None:
                print(f"{name:18} cannot be installed here")
                continue
            script = Path(__file__).parent / "peers" / f"with_{name.replace('-', '_')}.py"
            command = [str(python), str(script), url, str(cases), str(in_flight), temporary]
            outcome: list[subprocess.CompletedProcess[str]] = []
            run = counted(url, lambda: outcome.append(ended(command, temporary)))  # noqa: B023
            if outcome[0].returncode:
                last = (outcome[0].stderr.strip().splitlines() or ["no word"])[-1]
                print(f"{name:18} failed after {run.calls} calls: {last:.200}")
            else:
                show(name, run.seconds, run.calls, run.peak, in_flight)


def show(name: str, seconds: float, calls: int, peak: int, in_flight: int) -> None:
    """One line; ``calls`` are those under the limit that counts."""
    ideal = calls * LATENCY_S / in_flight
    print(
        f"{name:18} {seconds:6.2f} s for {calls} calls, {seconds / ideal:5.2f} of its own"
        f" ideal; {peak} in flight at most",
        flush=True,
    )


def installed(folder: Path, packages: tuple[str, ...]) -> Path | None:
    """The Python of a virtual environment with the packages."""
    python = folder / "bin" / "python"
    if python.exists():
        return python
    venv.create(folder, with_pip=True)
    command = [str(python), "-m", "pip", "install", "--quiet", *packages]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        return None
    return python


def ended(command: list[str], folder: str) -> subprocess.CompletedProcess[str]:
    """What came of a tool's own run."""
    environment = {**os.environ, **_SILENT}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE_S,
    )


if __name__ == "__main__":
    main()
