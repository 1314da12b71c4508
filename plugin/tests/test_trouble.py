"""The machine makes trouble: one line says what, and nothing that was paid for is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import pytest
from judged import judge, verdict
from projects import CASES, TIMEOUT, Ended, Project
from servers.openai import OpenAIServer

from pytest_touchstone.shell.cli import main
from pytest_touchstone.store import run as run_store
from pytest_touchstone.store.engine import Store

SYSTEMS = ("assistant", "history", "plain")
EVERY_CALL = Counter(f"{system} ask {case}" for system in SYSTEMS for case in CASES)
IN_FLIGHT = 8 + 8 + 1
"""Of two asynchronous systems, and of a plain function."""
FULL = '''
"""No file grows any more, once so many calls were made: as if the disk were full."""

import resource

import app

_note = app.note
NOTED = []


def note(*words):
    NOTED.append(words)
    if len(NOTED) == 20 and (app.HERE / "full").exists():
        file = app.HERE / "reports" / "touchstone.sqlite-wal"
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, hard))
    _note(*words)


app.note = note
'''
FULL_WHILE_JUDGED = """
import resource
from pathlib import Path

from pytest_touchstone.llm.chat import Chat

HERE = Path(__file__).parent
complete = Chat.complete
ASKED = []


async def asked(self, *args, **kwargs):
    ASKED.append(args)
    if len(ASKED) == 30:
        file = HERE / "reports" / "touchstone.sqlite-wal"
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, hard))
    return await complete(self, *args, **kwargs)


Chat.complete = asked
"""
FULL_AT_THE_END = """
import resource

import pytest

LIMIT = 33_000  # what the database needs to be read, and less than a report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    return (yield)
"""
IMPATIENT = """
from pytest_touchstone.store import engine

engine._LOCK_PATIENCE_S = 1
"""
QUICK = ("-q", "-p", "no:cacheprovider", "tests/test_retrieval.py", "tests/test_cost.py")
"""Two modules, and no file of pytest's own, which a full disk would be in the way of too."""
NO_LIMITS = "resource limits are Unix's"


def digest(project: Project) -> str:
    """What the newest report's results are."""
    found: str = project.report()["snapshot"]["results_sha256"]
    return found


def undisturbed(project: Project) -> str:
    """The digest of a run that nothing happened to; nothing is left of it."""
    assert project.run(*QUICK).ret == 0
    found = digest(project)
    shutil.rmtree(project.folder / "reports")
    project.forget_calls()
    return found


def assert_resumed(project: Project, ended: Ended, expected: str) -> None:
    """Once the trouble is over, the run goes on to the report of an undisturbed one."""
    assert ended.code == pytest.ExitCode.TESTS_FAILED, ended.text
    assert "Traceback" not in ended.text
    assert "go on with it: --touchstone-resume=" in ended.out
    stored = rows(project, "eval_questions")
    assert 0 < stored < EVERY_CALL.total()
    (project.folder / "conftest.py").unlink(missing_ok=True)  # it would change this process
    before = Counter(project.calls())
    project.forget_calls()
    assert project.run(*QUICK, "--touchstone-resume=latest").ret == 0
    assert digest(project) == expected
    after = Counter(project.calls())
    assert after.total() == EVERY_CALL.total() - stored, "what is stored is not asked again"
    assert set(before + after) == set(EVERY_CALL)
    assert (before + after - EVERY_CALL).total() <= IN_FLIGHT


def rows(project: Project, table: str) -> int:
    """How many there are in the store."""
    with closing(sqlite3.connect(project.folder / "reports/touchstone.sqlite")) as store:
        (found,) = store.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
    return int(found)


# Disk full.


@pytest.mark.skipif(sys.platform == "win32", reason=NO_LIMITS)
def test_the_disk_of_the_store_is_full(project: Project) -> None:
    expected = undisturbed(project)
    (project.folder / "full").touch()
    project.write("conftest.py", FULL)
    ended = project.spawn(*QUICK)
    says = "ERROR: the evaluation is incomplete: store sqlite:////"
    (line,) = (line for line in ended.out.splitlines() if line.startswith(says))
    assert "reports/touchstone.sqlite: disk I/O error; the disk may be full, or broken" in line
    assert_resumed(project, ended, expected)


@pytest.mark.skipif(sys.platform == "win32", reason=NO_LIMITS)
def test_the_disk_is_full_while_a_judge_reads(project: Project) -> None:
    project.write("conftest.py", FULL_WHILE_JUDGED)

    def slowly(request: Mapping[str, Any]) -> str:
        time.sleep(0.3)  # so that many are under way
        return verdict(request)

    with OpenAIServer(slowly) as server:
        judge(project, server)
        ended = project.spawn("-q", "-p", "no:cacheprovider")
    assert ended.code == pytest.ExitCode.TESTS_FAILED, ended.text
    assert "ERROR: the evaluation is incomplete: store sqlite:////" in ended.out
    assert "never retrieved" not in ended.text
    assert "Traceback" not in ended.text


@pytest.mark.skipif(sys.platform == "win32", reason=NO_LIMITS)
def test_the_disk_of_the_report_is_full(project: Project) -> None:
    project.write("conftest.py", FULL_AT_THE_END)
    ended = project.spawn(*QUICK)
    (project.folder / "conftest.py").unlink()
    assert ended.code == pytest.ExitCode.TESTS_FAILED, ended.text
    (line,) = (line for line in ended.out.splitlines() if line.startswith("ERROR: "))
    said, _, again = line.partition("; the results are in the store: `touchstone ")
    assert said == (
        f"ERROR: the report cannot be written: {project.folder}/reports: File too large"
    )
    assert not project.report_files(), "not a part of one"
    assert "Recall@5" in ended.out

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project.folder)
        assert main(again.split("`")[0].replace("FILE", "mine.json").split()) == 0
    assert rows(project, "eval_questions") == EVERY_CALL.total()
    project.forget_calls()
    assert project.run(*QUICK, "--touchstone-resume=latest").ret == 0
    assert project.calls() == []
    assert digest(project) in (project.folder / "mine.json").read_text("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason=NO_LIMITS)
def test_the_disk_of_the_vectors_is_full(tmp_path: Path) -> None:
    script = f"""
import resource
from pathlib import Path

import numpy as np
from pytest_touchstone.corpus.vectors import VectorCache, VectorCacheError

cache = VectorCache(Path({str(tmp_path / "vectors.sqlite")!r}))
cache.put("m", {{"first": np.ones(384, np.float32)}})
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
try:
    cache.put("m", {{str(n): np.ones(384, np.float32) for n in range(1000)}})
except VectorCacheError as error:
    print(error)
print(*cache.get(["first", "1"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    said, there = done.stdout.splitlines()
    assert said.startswith(f"vector cache {tmp_path}/vectors.sqlite: disk I/O error; make room")
    assert there == "first"


# Locked by another program.


@contextmanager
def locked(project: Project, *, calls: int, seconds: float | None) -> Iterator[None]:
    """Another program locks the store, once so many calls were made.

    :param seconds: ``None``: until the end.
    """
    over = threading.Event()

    def hold() -> None:
        file = project.folder / "reports" / "touchstone.sqlite"
        deadline = time.monotonic() + TIMEOUT
        while len(project.calls()) < calls and time.monotonic() < deadline:
            time.sleep(0.01)
        with closing(sqlite3.connect(file, isolation_level=None, timeout=TIMEOUT)) as other:
            other.execute("BEGIN EXCLUSIVE")
            over.wait(TIMEOUT if seconds is None else seconds)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        yield
    finally:
        over.set()
        holder.join()


def test_a_short_lock_is_waited_for(project: Project) -> None:
    project.faults({"plain": "slow"})
    with locked(project, calls=3, seconds=1.5):
        ended = project.spawn(*QUICK)
    assert ended.code == 0, ended.text
    assert Counter(project.calls()) == EVERY_CALL


def test_a_long_lock_ends_the_run(project: Project) -> None:
    expected = undisturbed(project)
    project.faults({"plain": "slow"})
    project.write("conftest.py", IMPATIENT)
    with locked(project, calls=19, seconds=None):
        ended = project.spawn(*QUICK)
    assert (
        f"ERROR: the evaluation is incomplete: store sqlite:///{project.folder}/reports/"
        "touchstone.sqlite: database is locked; another program has held it"
    ) in ended.out
    project.faults()
    assert_resumed(project, ended, expected)


# Nothing may be written.


@contextmanager
def read_only(path: Path) -> Iterator[None]:
    """Nobody may write there, root neither."""
    mode = path.stat().st_mode
    path.chmod(0o555)
    immutable = False
    if os.access(path, os.W_OK):
        command = ["chattr", "+i", str(path)]
        immutable = shutil.which("chattr") is not None and not subprocess.call(
            command, stderr=subprocess.DEVNULL
        )
    try:
        if os.access(path, os.W_OK):
            pytest.skip("this user may write everywhere")
        yield
    finally:
        if immutable:
            subprocess.check_call(["chattr", "-i", str(path)])
        path.chmod(mode)


@pytest.mark.parametrize("ways", [[], ["-n2"]], ids=["serial", "workers"])
def test_a_folder_that_cannot_be_written_to_costs_nothing(
    project: Project, ways: list[str]
) -> None:
    folder = project.folder / "reports"
    folder.mkdir()
    project.configure(store=f"sqlite:///{project.folder}/elsewhere.sqlite")
    with read_only(folder):
        ended = project.end(*ways)
    assert ended.code == pytest.ExitCode.USAGE_ERROR, ended.text
    assert f"ERROR: the setting `reports`: {folder} cannot be written to\n" in ended.text
    assert project.calls() == []
    assert not (project.folder / "elsewhere.sqlite").exists()


def test_a_store_that_cannot_be_written_to_costs_nothing(project: Project) -> None:
    file = project.folder / "reports" / "touchstone.sqlite"
    file.parent.mkdir()
    Store(f"sqlite:///{file}").close()
    with read_only(file):
        ended = project.end()
    assert ended.code == pytest.ExitCode.USAGE_ERROR, ended.text
    why = "attempt to write a readonly database; file and folder must be writable"
    assert f"ERROR: store sqlite:///{file}: {why}\n" in ended.text
    assert project.calls() == []


# The clock.


class Clock(datetime):
    """A clock that can be set back."""

    back = timedelta()

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        return datetime.now(tz) - cls.back


def test_the_clock_is_set_back_during_a_run(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = undisturbed(project)
    monkeypatch.setattr(run_store, "datetime", Clock)
    project.faults({"plain": "slow"})

    def set_back() -> None:
        while len(project.calls()) < 20:
            time.sleep(0.01)
        monkeypatch.setattr(Clock, "back", timedelta(days=2))

    setter = threading.Thread(target=set_back)
    setter.start()
    ended = project.run(*QUICK)
    setter.join()
    assert ended.ret == 0
    first = project.report()
    assert first["timing"]["wall_s"] is None, "not a negative time"
    assert first["snapshot"]["results_sha256"] == expected
    assert Counter(project.calls()) == EVERY_CALL

    # What began last is the latest, although its clock says that it was before.
    project.faults()
    assert project.run(*QUICK).ret == 0
    second = project.report()["snapshot"]["run"]
    assert second["started_at"] < first["snapshot"]["run"]["started_at"]
    project.forget_calls()
    assert project.run(*QUICK, "--touchstone-resume=latest").ret == 0
    assert project.report()["snapshot"]["run"]["id"] == second["id"]
    assert project.calls() == []


def test_runs_of_the_same_second_have_reports_of_their_own(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = datetime(2026, 11, 30, 12, tzinfo=UTC)

    class Standing(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return moment

    monkeypatch.setattr(run_store, "datetime", Standing)
    for _ in range(3):
        assert project.run("tests/test_cost.py").ret == 0
    names = [f"2026-11-30T120000Z_nocommit{suffix}" for suffix in ("", "-2", "-3")]
    files = project.report_files()
    assert sorted(file.stem for file in files) == names
    assert all(file.with_suffix(".html").exists() for file in files)
    runs = {file.read_text("utf-8").partition('"id": "')[2][:32] for file in files}
    assert len(runs) == 3
