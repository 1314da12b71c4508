"""The same run in one process, in several, without xdist, and from the console script."""

from __future__ import annotations

import json
import threading

from projects import CASES, Ended, Project

EVERY_CALL = sorted(
    f"{system} ask {case}" for system in ("assistant", "history", "plain") for case in CASES
)


def test_every_way_to_run_gives_the_same_results_from_one_call_each(project: Project) -> None:
    digests = {}
    for arguments in ([], ["-p", "no:xdist"]):
        assert project.run(*arguments).ret == 0
        assert project.calls() == EVERY_CALL, arguments
        project.forget_calls()
        digests[" ".join(arguments)] = project.report()["snapshot"]["results_sha256"]
    ended = project.spawn("-n2")
    assert ended.code == 0, ended.text
    assert project.calls() == EVERY_CALL
    project.forget_calls()
    digests["-n2"] = project.report()["snapshot"]["results_sha256"]
    ended = project.spawn("run", module="pytest_touchstone.shell.cli")
    assert ended.code == 0, ended.text
    assert project.calls() == EVERY_CALL
    digests["touchstone run"] = project.report()["snapshot"]["results_sha256"]
    assert len(set(digests.values())) == 1, digests

    # That a digest says something: another answer, another digest.
    project.faults({"assistant q01": "empty"})
    project.run()
    assert project.report()["snapshot"]["results_sha256"] not in digests.values()


def test_workers_show_what_one_process_shows(project: Project) -> None:
    project.configure(floors={"FilterExactMatch": 1})
    one, two = project.spawn(), project.spawn("-n2")
    shown = [ended.out[ended.out.index("= touchstone =") :].splitlines() for ended in (one, two)]
    changing = ("report: ", "page: ", "=")  # name a file; tells the seconds
    alone, together = ([line for line in lines if not line.startswith(changing)] for lines in shown)
    assert alone == together
    assert any(line.startswith("LOW ") for line in alone)
    assert "24 passed, 6 skipped, 1 low" in one.out
    assert "24 passed, 6 skipped, 1 low" in two.out
    reports = [json.loads(file.read_text("utf-8")) for file in project.report_files()]
    for report in reports:
        del report["timing"], report["snapshot"]["run"]
    assert reports[0] == reports[1]


def test_runs_at_the_same_time_in_one_folder_do_not_disturb_each_other(project: Project) -> None:
    project.faults({"plain": "slow"})  # 2.4 s and more: the runs do overlap
    ended: list[Ended] = []
    threads = [threading.Thread(target=lambda: ended.append(project.spawn("-q"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(one.code, one.err) for one in ended] == [(0, ""), (0, "")], ended[0].text
    assert project.calls() == sorted(EVERY_CALL * 2)
    first, second = (json.loads(file.read_text("utf-8")) for file in project.report_files())
    assert first["snapshot"]["run"]["id"] != second["snapshot"]["run"]["id"]
    assert first["snapshot"]["results_sha256"] == second["snapshot"]["results_sha256"]
