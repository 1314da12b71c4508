"""Systems that fail: the run goes on, the case gets the worst value, the reader is told."""

from __future__ import annotations

import pytest
from projects import Project, case_of, measure_of

FAULTS = {
    "assistant q01": "raise",
    "assistant q02": "hang",
    "assistant q03": "swallow",
    "assistant q04": "no ids",
    "assistant q05": "secret",
    "assistant q06": "empty",
    "assistant q07": "nothing",
    "plain q01": "raise",
    "plain q02": "hang",
    "plain q03": "exit",
}
VALUE = "hunter2-hunter2"
"""What the environment holds and no file, nor any output, may."""
KINDS = {
    "q01": ("exception", "ValueError: no luck with q01 (app.py:"),
    "q02": ("timeout", "no answer within 0.5 s"),
    "q03": ("timeout", "no answer within 0.5 s"),
    "q04": ("invalid_answer", "passages.0.id: Field required"),
    "q05": ("exception", "ConnectionError: refused key [secret]"),
    "q06": ("empty_answer", "the answer's text is empty"),
    "q07": ("invalid_answer", "Answer: "),
}


@pytest.fixture
def faulty(project: Project) -> Project:
    """A project whose systems fail in every way; one question is answered by all."""
    project.faults(FAULTS)
    for name in ("assistant", "plain"):
        project.settings["systems"][name]["timeout"] = 0.5
    project.configure()
    return project


def assert_worst_values(project: Project) -> None:
    report = project.report()
    for case, (kind, message) in KINDS.items():
        entry = case_of(report, case, "assistant")
        assert entry["error"]["kind"] == kind
        assert entry["error"]["message"].startswith(message)
        if case != "q04":
            assert entry["scores"]["Recall@5"] == entry["scores"]["MRR"] == 0
            assert entry["reasons"]["Recall@5"] == "system_error"
        assert entry["scores"]["CostPerQuery"] is None
        assert entry["reasons"]["CostPerQuery"] == "system_error"
    assert case_of(report, "q08", "assistant")["scores"]["Recall@5"] == 1
    recall = measure_of(report, "Recall@5")["system"]
    assert (recall["estimate"], recall["n"]) == (pytest.approx(1 / 7), 7)
    cost = measure_of(report, "CostPerQuery")["system"]
    assert (cost["n"], cost["unscored"]) == (1, {"system_error": 7})

    exact = measure_of(report, "FilterExactMatch")
    assert exact["system"]["estimate"] == 0
    assert exact["baseline"]["n"] == 0, "a crash makes no number where the measure says nothing"
    assert exact["baseline"]["unscored"] == {"not_applicable": 2}
    errors = {(e["case"], e["system"], e["kind"]) for e in report["findings"]["system_errors"]}
    assert errors == {(case, "assistant", kind) for case, (kind, _) in KINDS.items()} | {
        ("q01", "plain", "exception"),
        ("q02", "plain", "timeout"),
        ("q03", "plain", "exception"),
    }


@pytest.mark.parametrize("arguments", [[], ["-n2"]], ids=["serial", "workers"])
def test_a_run_completes_whatever_the_systems_do(faulty: Project, arguments: list[str]) -> None:
    ended = faulty.spawn("-v", *arguments, MY_SERVICE_API_KEY=VALUE)  # -v lists all low cases
    assert ended.code == 0, ended.text
    assert len(faulty.calls()) == 24
    assert_worst_values(faulty)
    for line in (
        "LOW tests/test_cost.py::test_cost_stays_under_its_floor[q01]: system error (exception): "
        "ValueError: no luck with q01 (app.py:",
        "LOW tests/test_filters.py::test_filters_are_those_of_the_question[q05]: system error",
        "System errors: 10 (assistant 7, plain 3)",
    ):
        assert line in ended.out
    assert "Traceback" not in ended.text
    assert "\x1b" not in ended.out, "what a system says must not steer the terminal"
    for where, content in {"the output": ended.text.encode(), **faulty.tree()}.items():
        assert VALUE.encode() not in content, where


def test_strict_fails_the_cases_that_a_system_failed_on(faulty: Project) -> None:
    ended = faulty.spawn("--touchstone-strict", "tests/test_cost.py", MY_SERVICE_API_KEY=VALUE)
    assert ended.code == 1, ended.text
    assert "7 failed, 1 passed" in ended.out
    said = "system error (timeout): no answer within 0.5 s\nquestion: What is q02?\n"
    assert said in ended.out
    assert VALUE not in ended.text
    assert "\x1b" not in ended.out


def test_a_system_that_hangs_again_and_again_is_given_up(project: Project) -> None:
    project.faults({"plain": "hang"})
    project.settings["systems"]["plain"]["timeout"] = 0.3
    project.configure()
    ended = project.spawn("-q")
    assert ended.code == 0, ended.text
    assert sum(call.startswith("plain") for call in project.calls()) == 3
    kinds = [e["kind"] for e in project.report()["findings"]["system_errors"]]
    assert sorted(kinds) == ["given_up"] * 5 + ["timeout"] * 3


def test_a_run_without_a_single_answer_fails(project: Project) -> None:
    project.faults({"assistant": "raise"})
    result = project.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(skipped=6)
    result.stdout.fnmatch_lines(["ERROR: the system under test answered no question"])
    assert measure_of(project.report(), "Recall@5")["system"]["estimate"] == 0

    project.faults({"plain": "raise", "history": "raise"})
    assert project.run().ret == pytest.ExitCode.OK, "the baseline may fail"


def test_a_measure_that_is_broken_is_unscored(project: Project) -> None:
    project.write(
        "tests/test_mine.py",
        """
        from dataclasses import dataclass
        import pytest
        from pytest_touchstone.measures import Measure

        @dataclass(frozen=True, repr=False)
        class Broken(Measure):
            dimension = "mine"
            needs = frozenset({"answer"})
            name = "Broken"
            def applies(self, case):
                return True
            def measure(self, case, seen):
                return 1 / 0

        @pytest.mark.touchstone(Broken())
        def test_it(scores):
            assert [s.reason for s in scores.values()] == ["measure_error"]
            scores.meet_floors()
        """.replace("\n        ", "\n"),
    )
    result = project.run("tests/test_mine.py")
    result.assert_outcomes(passed=8)
    assert measure_of(project.report(), "Broken")["system"]["unscored"] == {"measure_error": 8}
    result.stdout.fnmatch_lines(["Unscored: Broken: measure_error 8; q05: Broken raised Zero*"])
