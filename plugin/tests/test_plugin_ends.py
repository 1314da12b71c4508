"""Runs that end early or lose a process: exit codes, and what the report still says."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from projects import CASES, Project, case_of

WAYS = pytest.mark.parametrize("ways", [[], ["-n2"]], ids=["serial", "workers"])
HUNG = {f"assistant {case}": "hang" for case in CASES[:4]}
"""The last four questions of the file never come back."""

EVERY_CALL = Counter(
    f"{system} ask {case}" for system in ("assistant", "history", "plain") for case in CASES
)


def assert_partial(report: dict[str, Any]) -> None:
    """All that was planned is listed: what was done with its scores, the rest as not run."""
    assert len(report["cases"]) == 24
    for case in CASES[:4]:
        entry = case_of(report, case, "assistant")
        assert set(entry["reasons"].values()) == {"not_run"}, case
        assert entry["error"] is None, "the system did not fail: nobody waited"
    assert case_of(report, "q05", "assistant")["scores"]["Recall@5"] == 1


def reasons(report: dict[str, Any]) -> set[str]:
    """Why scores are missing, all over the report."""
    return {reason for case in report["cases"] for reason in case["reasons"].values()}


@WAYS
def test_ctrl_c_ends_soon_with_a_report_of_what_is_there(project: Project, ways: list[str]) -> None:
    project.faults(HUNG)
    ended = project.interrupt(*ways, after=24)
    assert ended.code == pytest.ExitCode.INTERRUPTED, ended.text
    assert "KeyboardInterrupt" in ended.text
    assert "INTERNALERROR" not in ended.text
    assert_partial(project.report())
    assert "report: " in ended.out


def test_workers_are_told_of_a_ctrl_c_that_only_their_controller_saw(project: Project) -> None:
    project.faults({"assistant": "hang"})
    ended = project.interrupt("-n2", after=24, everywhere=False)
    assert ended.code == pytest.ExitCode.INTERRUPTED, ended.text
    assert "no tests ran" in ended.out, "so that nobody but the store knows of a run"
    report = project.report()
    assert "not_run" in case_of(report, "q05", "assistant")["reasons"].values()
    assert case_of(report, "q05", "history")["scores"]["MRR"] == 0.5
    with sqlite3.connect(project.folder / "reports/touchstone.sqlite") as store:
        assert store.execute("SELECT stop FROM eval_runs").fetchall() == [(1,)]
    store.close()


@WAYS
def test_the_first_failure_ends_a_run_where_it_is_asked_to(
    project: Project, ways: list[str]
) -> None:
    project.faults(HUNG)
    project.configure(floors={"CostPerQuery": 0})
    # Citations come first and would wait for the case that hangs.
    ended = project.spawn("-x", "--touchstone-strict", "-k", "not citations", *ways)
    # xdist interrupts its own session where pytest alone fails it.
    assert ended.code == (2 if ways else 1), ended.text
    assert "stopping after 1 failures" in ended.out
    assert_partial(project.report())


def test_a_test_may_end_the_session(project: Project) -> None:
    project.faults(HUNG)
    project.write(
        "tests/test_a.py",
        "import pytest\nfrom pytest_touchstone import MRR\n\n"
        "@pytest.mark.touchstone(MRR)\n"
        "def test_it(scores):\n    pytest.exit('enough', returncode=7)\n",
    )
    ended = project.spawn()
    assert ended.code == 7, ended.text
    assert "Exit: enough" in ended.out
    assert case_of(project.report(), "q01", "assistant")["reasons"]["MRR"] == "not_run"


def test_a_killed_worker_costs_only_what_it_was_doing(project: Project) -> None:
    project.faults({"plain q02": "kill once", "assistant q03": "until a kill"})
    project.write(
        "conftest.py",
        "from pytest_touchstone.store import run\n\nrun.DEAD_AFTER_S = 2.5\n",
    )
    ended = project.spawn("-n2")
    assert (project.folder / "killed").exists()
    assert "crashed" in ended.out
    assert "INTERNALERROR" not in ended.text
    calls = Counter(project.calls())
    assert set(calls) == set(EVERY_CALL)
    # Half of eight asynchronous calls a system and worker, and one of the plain function.
    assert (calls - EVERY_CALL).total() <= 9
    report = project.report()
    assert case_of(report, "q03", "assistant")["scores"]["Recall@5"] == 1
    assert case_of(report, "q02", "plain")["scores"]["Recall@10"] == 1
    assert "not_run" not in reasons(report)
    assert ended.code in (0, 1), "xdist fails the test that the worker was in, where there was one"


def test_a_run_that_cannot_be_carried_out_says_why(project: Project) -> None:
    project.write(
        "conftest.py",
        """
        from pytest_touchstone.flight.observe import Observer

        async def observe(self, work, lane):
            raise RuntimeError(f"a fault of our own at {work.case.id}")

        Observer.observe = observe
        """.replace("\n        ", "\n"),
    )
    one, two = project.spawn("-q"), project.spawn("-q", "-n2")
    for ended in (one, two):
        assert ended.code == pytest.ExitCode.TESTS_FAILED, ended.text
        assert "ERROR: the evaluation is incomplete: RuntimeError: a fault of our own" in ended.out
        assert "25 errors" in ended.out
    assert reasons(project.report()) == {"not_run"}


def test_a_report_that_cannot_be_written_leaves_the_table(project: Project) -> None:
    project.write(
        "conftest.py",
        """
        import pathlib, pytest

        @pytest.fixture(autouse=True, scope="session")
        def in_the_way():
            yield
            pathlib.Path("out").write_text("a file where the folder should be")
        """.replace("\n        ", "\n"),
    )
    result = project.run("--touchstone-output=out")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=25, skipped=6)
    result.stdout.fnmatch_lines(
        ["Recall@5 *", "ERROR: the report cannot be written: */out: File exists; the*"]
    )
    result.stdout.no_fnmatch_line("report: *")


def test_patience_ends(project: Project) -> None:
    project.faults(HUNG)
    project.configure(patience=0.2)
    ended = project.spawn("-x", "tests/test_filters.py", "-k", "q01")
    assert ended.code == pytest.ExitCode.TESTS_FAILED, ended.text
    assert "no score for q01 within 0.2 s; the setting `patience` allows more" in ended.out


_LEAK = """
class Held: pass

def leak(name):
    held = Held()
    held.itself, held.file = held, open(__file__)
    held.file.reconfigure(errors=name)

leak("strict")

def pytest_configure():
    leak("ignore")

def pytest_collection_finish():
    leak("replace")
"""


def test_what_is_lost_before_a_run_begins_is_told_of_as_ever(project: Project) -> None:
    """Garbage is frozen for the collector; what it would have told of must not be lost with it."""
    project.write("conftest.py", _LEAK)
    ended = project.spawn("-q", "tests/test_cost.py", "-W", "error")
    assert ended.code == 1, ended.text
    assert ended.text.count("ResourceWarning: unclosed file") >= 3, ended.text


def test_sessions_of_one_process_leave_no_garbage_to_the_next(project: Project) -> None:
    project.write(
        "often.py",
        """
import gc, sys
import pytest

frozen = []
for _ in range(5):
    assert pytest.main(["-q", "tests/test_cost.py"]) == 0
    frozen.append(gc.get_freeze_count())
print("frozen", *frozen)
""",
    )
    command = [sys.executable, "often.py"]
    ended = subprocess.run(
        command, cwd=project.folder, capture_output=True, text=True, check=True, timeout=120
    )
    frozen = [int(count) for count in ended.stdout.split("frozen ")[1].split()]
    assert frozen[-1] - frozen[1] < 2000, frozen
