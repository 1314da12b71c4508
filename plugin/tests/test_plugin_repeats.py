"""`--touchstone-repeats K`: every question asked so often, averaged, and its variance told."""

from __future__ import annotations

import pytest
from projects import CASES, Project, case_of, measure_of

WAYS = pytest.mark.parametrize("ways", [[], ["-n2"]], ids=["serial", "workers"])

UNSTEADY = '''

class Unsteady(AsyncWithRetrieve):
    """Finds nothing the second time it is asked for q01, wherever it was asked the first."""

    async def ask(self, messages, session):
        given = await super().ask(messages, session)
        second = session.id.split("/")[2] == "1"
        if second and messages[-1].content == "What is q01?":
            return Answer(given.text, [Passage("nothing", "Text.")], usage=given.usage)
        return given

    retrieve = None


assistant = Unsteady("assistant", 0)
'''


@WAYS
def test_each_system_is_asked_so_often_and_scores_are_averaged(
    project: Project, ways: list[str]
) -> None:
    app = (project.folder / "app.py").read_text("utf-8")
    project.write("app.py", app + UNSTEADY)
    project.configure(variants=[], floors={"Recall@5": 0.6})
    ended = project.end("-q", "--touchstone-repeats=2", *ways)
    assert ended.code == 0, ended.text
    assert project.calls() == sorted(
        f"{system} ask {case}" for system in ("assistant", "plain") for case in CASES * 2
    )
    report = project.report()
    assert len(report["cases"]) == 32
    repeats = [c for c in report["cases"] if (c["case"], c["system"]) == ("q01", "assistant")]
    assert [(c["repeat"], c["scores"]["Recall@5"]) for c in repeats] == [(0, 1), (1, 0)]
    recall = measure_of(report, "Recall@5")["system"]
    assert (recall["estimate"], recall["n"]) == (pytest.approx(6.5 / 7), 7)
    assert "Recall@5 0.5 < 0.6: mean of 2 repeats (1, 0); " in ended.out
    flaky = report["findings"]["flaky"]
    assert {"case": "q01", "measure": "Recall@5", "values": [1, 0]} in flaky
    assert {finding["case"] for finding in flaky} == {"q01"}
    (entry,) = (e for e in report["findings"]["repeats"] if e["measure"] == "Recall@5")
    assert (entry["questions"], entry["flaky"]) == (7, 1)
    assert entry["within"] == pytest.approx(0.5 / 7)
    assert "Flaky: 1 question" in ended.out


def test_a_failure_on_one_repeat_is_shown_once(project: Project) -> None:
    project.faults({"assistant q02": "empty"})
    ended = project.end("-q", "tests/test_retrieval.py", "--touchstone-repeats=3", "-k", "q02")
    assert ended.code == 1, "nobody answered anything"
    ended = project.end("-q", "tests/test_cost.py", "--touchstone-repeats=2", "-k", "q02 or q03")
    assert ended.code == 0, ended.text
    (line,) = (line for line in ended.out.splitlines() if line.startswith("LOW "))
    assert "on 2 of 2 repeats: system error (empty_answer)" in line


def test_once_is_as_it_was(project: Project) -> None:
    project.end("-q", "tests/test_retrieval.py")
    once = project.report()
    project.end("-q", "tests/test_retrieval.py", "--touchstone-repeats=1")
    again = project.report()
    digests = [report["snapshot"]["results_sha256"] for report in (once, again)]
    assert digests[0] == digests[1]
    assert once["findings"]["repeats"] == once["findings"]["flaky"] == []
    assert case_of(once, "q01", "assistant")["repeat"] == 0
