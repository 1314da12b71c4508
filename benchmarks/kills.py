"""Runs that are killed at random moments, and gone on with.

``python benchmarks/kills.py [N] [SEED] [AT_ONCE]``: per kind of harm N runs of a judged evaluation
of 20 cases (one call to a system, four to a judge each), every one with a store of its own, in turn
SQLite and PostgreSQL (where there is a server; see plugin/tests/servers/postgres.py):

* ``main``: SIGKILL to the only process;
* ``main -n 2``: SIGKILL to the process that started two workers;
* ``worker -n 2``: SIGKILL to one of two workers;
* ``connection``: every connection to PostgreSQL ended, five times a run, in turn with one process
  and two; for SQLite another program holds the file's lock for a second or two.

A moment is drawn among the calls, each as likely as the others; one in eight lies before the first
call, one in eight after the last.  Then the run is resumed (``--touchstone-resume=latest``), and
again, when nothing may be left to ask.  Printed per kind and store: runs that end as undisturbed
ones (report equal, nothing asked again that was stored, store sound, no row twice); calls in flight
at the kill; calls made again, and those of them that had been replied to: a reply is lost between
server and store.  Workers whose master is killed go on for some seconds, cancel what is in flight
then, and end; for them the moment is their end.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parent.parent / "plugin" / "tests"))

from disturbed import (
    CALLS_A_CASE,
    JUDGE_CALLS,
    SYSTEM_CALLS,
    Disturbed,
    Lost,
    lost,
    times,
    workers,
)
from servers.counting import CountingServer
from servers.postgres import PostgresServer, why_missing

if TYPE_CHECKING:
    pass

CASES = 20
LATENCY_S = 0.15
CALLS = CASES * CALLS_A_CASE
RESUME = "--touchstone-resume=latest"
TERMINATIONS = 5
SOON_S = 1.0
"""A reply is in the store so long after it left the server, however busy the machine is."""
Process = "subprocess.Popen[bytes]"


@dataclass
class Seen:
    """What became of one run.

    :ivar lost: what the kill cost; ``None`` where nothing had to be resumed.
    :ivar wrong: everything that should not be.
    """

    kind: str
    store: str
    begun: bool = True
    lost: Lost | None = None
    broken: int = 0
    codes: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class Harm:
    """One run that is harmed at a moment that a seed says."""

    def __init__(
        self, run: Disturbed, chance: random.Random, undisturbed: Any, before_s: float
    ) -> None:
        self.run = run
        self.chance = chance
        self.undisturbed = undisturbed
        self.before_s = before_s
        self.dead = 0.0
        self.seen = Seen("", self.run.store.partition(":")[0])

    def moment(self, process: Process) -> None:
        """Wait for the moment."""
        where = self.chance.random()
        if where < 1 / 8:
            time.sleep(self.chance.uniform(0, self.before_s))
            return
        which = CALLS if where > 7 / 8 else self.chance.randint(1, CALLS)
        longest = 1.5 if which == CALLS else LATENCY_S
        self.run.wait_for_calls(which, process)
        time.sleep(self.chance.uniform(0, longest))

    def kill(self, kind: str, *arguments: str) -> Seen:
        """SIGKILL to the process that was started."""
        self.seen.kind = kind
        process = self.run.start(*arguments)
        self.moment(process)
        self.dead = time.monotonic()
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        self.run.end(process)
        if arguments:  # workers end by themselves
            self.dead = time.monotonic()
        return self.gone_on_with(*arguments)

    def kill_worker(self, kind: str) -> Seen:
        """SIGKILL to a worker; its run goes on."""
        self.seen.kind = kind
        process = self.run.start("-n2")
        while len(workers(process.pid)) < 2 and process.poll() is None:
            time.sleep(0.01)
        self.moment(process)
        self.dead = time.monotonic()
        before = self.run.server.calls
        if mortal := workers(process.pid):
            with suppress(ProcessLookupError):
                os.kill(self.chance.choice(mortal), signal.SIGKILL)
        self.seen.codes.append(self.run.end(process))
        after = self.run.server.calls[len(before) :]
        again = {call.what for call in before} & {call.what for call in after}
        seen = self.gone_on_with("-n2")
        if seen.lost is not None:
            kept = len({call.what for call in before}) - len(again)
            seen.lost = lost(before, after, self.dead, kept)
        return seen

    def gone_on_with(self, *arguments: str) -> Seen:
        """Resume what is left, and see that all is as it should be."""
        before = self.run.server.calls
        try:
            stored = sum(self.run.stored())
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            self.seen.wrong.append(f"the store does not open: {error}")
            return self.seen
        code = self.run.run(*arguments, RESUME)
        if code == 4 and not before:
            self.seen.begun = False  # nothing to go on with, so it is begun anew
            if "there is nothing to resume" not in self.run.said:
                self.seen.wrong.append("no clear word that there is nothing to resume")
            code = self.run.run(*arguments)
        after = self.run.server.calls[len(before) :]
        self.seen.lost = lost(before, after, self.dead, stored)
        if self.seen.lost.unstored != self.seen.lost.repeated:
            self.seen.wrong.append(f"asked again what was stored: {self.seen.lost}")
        # Workers that are left behind end by themselves and cancel what is in flight then.
        late = self.seen.lost.late > SOON_S and self.seen.kind != "main -n 2"
        if late or self.seen.lost.repeated > SYSTEM_CALLS + JUDGE_CALLS:
            self.seen.wrong.append(f"more was lost than was under way: {self.seen.lost}")
        self.seen.codes.append(code)
        if code:
            self.seen.wrong.append(f"resumed with {code}")
        return self.whole()

    def break_connections(self, kind: str, postgres: PostgresServer, *arguments: str) -> Seen:
        """End all connections, again and again."""
        self.seen.kind = kind
        process = self.run.start(*arguments)
        marks = sorted(self.chance.choices(range(1, CALLS + 1), k=TERMINATIONS - 1))
        time.sleep(self.chance.uniform(0, self.before_s))
        self.seen.broken += postgres.terminate(self.run.store)
        for mark in marks:
            self.run.wait_for_calls(mark, process)
            time.sleep(self.chance.uniform(0, LATENCY_S))
            self.seen.broken += postgres.terminate(self.run.store)
        return self.undisturbed_after(process, *arguments)

    def lock(self, kind: str, *arguments: str) -> Seen:
        """Hold the lock of a SQLite file."""
        self.seen.kind = kind
        process = self.run.start(*arguments)
        self.moment(process)
        file = Path(self.run.store.removeprefix("sqlite:///"))
        for _ in range(3):
            with suppress(sqlite3.OperationalError):
                other = sqlite3.connect(file, timeout=5, isolation_level=None)
                other.execute("BEGIN EXCLUSIVE")
                time.sleep(self.chance.uniform(0.5, 2))
                self.seen.broken += 1
                other.close()
            time.sleep(self.chance.uniform(0, 0.5))
        return self.undisturbed_after(process, *arguments)

    def undisturbed_after(self, process: Process, *arguments: str) -> Seen:
        """The run should have gone on; where it ended with a word, it is resumed."""
        code = self.run.end(process)
        self.seen.codes.append(code)
        if code:
            self.dead = time.monotonic()
            return self.gone_on_with(*arguments)
        return self.whole()

    def whole(self) -> Seen:
        """See that the report is the undisturbed one, the store sound, and nothing left to ask."""
        if self.run.results() != self.undisturbed:
            self.seen.wrong.append("another report")
        made = len(self.run.server.calls)
        if self.seen.lost is None and times(self.run.server.calls) != {1}:
            self.seen.wrong.append("calls were repeated")
        if self.run.run(RESUME) or len(self.run.server.calls) != made:
            self.seen.wrong.append("something was left to ask")
        if self.run.results() != self.undisturbed:
            self.seen.wrong.append("another report when resumed once more")
        self.seen.wrong += self.run.faults()
        return self.seen


def main() -> None:
    """Harm, resume, compare, print."""
    number, seed, at_once = (
        int(sys.argv[place]) if len(sys.argv) > place else default
        for place, default in ((1, 50), (2, 1), (3, 2))
    )
    with ExitStack() as opened:
        missing = why_missing()
        postgres = None if missing else opened.enter_context(PostgresServer())
        print("stores: SQLite" + (f"; no PostgreSQL: {missing}" if missing else ", PostgreSQL"))
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        undisturbed, before_s, whole_s = measured(folder)
        print(f"undisturbed: {whole_s:.1f} s, the first call after {before_s:.1f} s", flush=True)
        pool = opened.enter_context(ThreadPoolExecutor(at_once))
        kinds = ["main", "main -n 2", "worker -n 2", "connection"]
        jobs = [(kind, index) for index in range(number) for kind in kinds]

        def harmed(job: tuple[str, int]) -> Seen:
            return one(folder, *job, seed, postgres, undisturbed, before_s)

        found: list[Seen] = []
        for job, seen in zip(jobs, pool.map(harmed, jobs), strict=True):
            found.append(seen)
            if seen.wrong:
                print(f"WRONG {job} on {seen.store}: {'; '.join(seen.wrong)[:600]}", flush=True)
            if len(found) % 20 == 0 or len(found) == len(jobs):
                print(f"{len(found)} of {len(jobs)} runs", flush=True)
                for kind in sorted({(seen.kind, seen.store) for seen in found}):
                    alike = [seen for seen in found if (seen.kind, seen.store) == kind]
                    print(line(*kind, alike), flush=True)


def measured(folder: Path) -> tuple[Any, float, float]:
    """What an undisturbed run gives, and its seconds to the first call and to its end."""
    with CountingServer(LATENCY_S) as server:
        run = Disturbed(folder / "undisturbed", server, CASES)
        start = time.monotonic()
        if run.run():
            raise SystemExit(run.said)
        if len(server.calls) != CALLS:
            raise SystemExit(f"{len(server.calls)} calls instead of {CALLS}")
        return run.results(), server.calls[0].came - start, time.monotonic() - start


def one(
    folder: Path,
    kind: str,
    index: int,
    seed: int,
    postgres: PostgresServer | None,
    undisturbed: Any,
    before_s: float,
) -> Seen:
    """One run of a kind."""
    chance = random.Random(f"{seed} {kind} {index}")
    remote = postgres is not None and index % 2 == 1
    store = postgres.database() if remote and postgres is not None else None
    with CountingServer(LATENCY_S) as server:
        run = Disturbed(folder / f"{kind}-{index}", server, CASES, store)
        harm = Harm(run, chance, undisturbed, before_s)
        try:
            if kind == "main":
                return harm.kill(kind)
            if kind == "main -n 2":
                return harm.kill(kind, "-n2")
            if kind == "worker -n 2":
                return harm.kill_worker(kind)
            ways = ["-n2"] if index % 4 >= 2 else []
            if remote and postgres is not None:
                return harm.break_connections(kind, postgres, *ways)
            return harm.lock(kind, *ways)
        except Exception as error:  # noqa: BLE001 - one run that cannot be judged is a finding
            harm.seen.wrong.append(f"{type(error).__name__}: {error}")
            return harm.seen
        finally:
            if harm.seen.wrong:
                kept = Path(tempfile.gettempdir()) / f"kills-{os.getpid()}-{kind}-{index}.txt"
                kept.write_text(run.said)


def line(kind: str, store: str, found: list[Seen]) -> str:
    """The figures of a kind and store."""
    costs = [seen.lost for seen in found if seen.lost is not None]
    codes = Counter(code for seen in found for code in seen.codes)
    parts: Iterator[str] = iter(
        [
            f"{len(found)} runs, {sum(not seen.wrong for seen in found)} as undisturbed",
            f"{sum(not seen.begun for seen in found)} not begun",
            f"{sum(one.in_flight for one in costs)} calls in flight,"
            f" {sum(one.repeated for one in costs)} made again"
            f" (at most {max((one.repeated for one in costs), default=0)} a run),"
            f" {sum(one.replied for one in costs)} of them replied to before, at most"
            f" {max((one.late for one in costs), default=0.0):.2f} s",
            f"{sum(seen.broken for seen in found)} connections ended or locks held",
            "exit codes " + ", ".join(f"{code}: {n}" for code, n in sorted(codes.items())),
        ]
    )
    return f"{kind:12} {store:22} " + "; ".join(parts)


if __name__ == "__main__":
    main()
