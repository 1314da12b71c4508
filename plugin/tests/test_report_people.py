"""The judge against people in a report: who counts, with which weight, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_touchstone.annotations import Annotation, Annotations, answer_digest, over
from pytest_touchstone.calibrate import Item, calibrate
from pytest_touchstone.drawing import draw, judge_value
from pytest_touchstone.gold import Case
from pytest_touchstone.measures import parse
from pytest_touchstone.report import (
    Report,
    build_report,
    measure_info,
    table_lines,
    to_json,
    validate,
)
from pytest_touchstone.report.people import with_people
from pytest_touchstone.report.rows import CaseRow, PlanRow, QuestionRow, RunRecord, ScoreRow
from pytest_touchstone.score import SYSTEM_ERROR, Score

FROM = "f" * 64
NUMBER = 40
MEASURE = "Faithfulness"


def judged(number: int) -> float:
    return (number % 5) / 4


def label(
    number: int, *, name: str = "ann", drawn: bool = True, of: str = "It is {}."
) -> Annotation:
    value = max(judged(number) - 0.25 * (number % 3), 0.0)
    return Annotation(
        f"q{number:02}", MEASURE, answer_digest(of.format(number)), name, value,
        *((0.5, FROM) if drawn else ()),
    )  # fmt: skip


def score(number: int) -> Score:
    return Score(judged(number), "by the judge", origin="judge", engine="gpt-4.1")


def report(
    annotations: Sequence[Annotation] = (),
    *,
    own: dict[str, Score] | None = None,
    systems: Sequence[str] = ("assistant",),
    repeats: int = 1,
    measure: str = MEASURE,
) -> Report:
    """A run of forty questions, of which people read some answers."""
    people = Annotations(annotations)
    run: Any = {
        "plugin_version": "0", "commit": None, "dirty": None,
        "dataset": {"path": "gold.jsonl", "sha256": "ab" * 32, "counts": {"factual": NUMBER}},
        "selection": {"split": None, "sample": None, "applicable": {}},
        "settings_sha256": "cd" * 32, "settings": {},
        "roles": {"system": "assistant", "baseline": None, "variants": []},
        "systems": {}, "models": {}, "prompts": {}, "corpus": None, "prices": {}, "seed": 7,
        "resamples": 200, "confidence": 0.95, "packages": {},
        "measures": [measure_info(parse(measure))],
    }  # fmt: skip
    plan, questions, scores = [], [], []
    cases = [
        Case(f"q{n:02}", "summary" if n % 4 else "factual", f"What is {n}?", answer="Gold.",
             key_points=("one", "two"))
        for n in range(NUMBER)
    ]  # fmt: skip
    for system in systems:
        for n, case in enumerate(cases):
            for repeat in range(repeats):
                at: dict[str, Any] = {"case_id": case.id, "system": system, "repeat": repeat}
                answer = f"It is {n}."
                plan.append(PlanRow(case.id, system, measure, repeat))
                found = (own or {}).get(case.id, score(n))
                failed = found.reason == SYSTEM_ERROR
                error = {"kind": "timeout", "message": "late"} if failed else None
                questions.append(
                    QuestionRow(**at, question=case.question, answer=None if failed else answer,
                                error=error)
                )  # fmt: skip
                said = None if failed else people.score(case.id, measure, answer)
                if said is not None:
                    found = over(found, said)
                scores.append(
                    ScoreRow(**at, measure=measure, value=found.value, why=found.why,
                             reason=found.reason, origin=found.origin, engine=found.engine,
                             detail=found.detail)
                )  # fmt: skip
    built = build_report(
        RunRecord("run", "2026-11-30T12:00:00Z", None, run),
        cases=[CaseRow(case, place) for place, case in enumerate(cases)],
        plan=plan,
        questions=questions,
        scores=scores,
        passages={},
    )
    assert validate(to_json(built)) == built
    return built


def calibrated(built: Report) -> Any:
    return built["measures"][0]["calibrated"]


def lines(built: Report) -> list[str]:
    return [x for x in table_lines(built, width=200) if x.startswith("Judge against people")]


def test_without_people_nothing_is_said() -> None:
    built = report()
    assert calibrated(built) is None
    assert built["findings"]["agreement"] == []
    assert lines(built) == []


def test_the_calibrated_estimate_is_that_of_the_labels_and_the_judges_values() -> None:
    labels = [label(n) for n in range(20)]
    built = report(labels)
    items = [Item(judged(n), f"q{n:02}") for n in range(NUMBER)]
    for n, one in enumerate(labels):
        items[n] = replace(items[n], people=one.value, probability=0.5)
    expected = calibrate(items)
    found = calibrated(built)
    assert (found["estimate"], tuple(found["ci"])) == (expected.estimate, expected.ci)
    assert (found["slope"], found["labels"], found["population"]) == (expected.slope, 20, NUMBER)
    assert found["judge"]["estimate"] == pytest.approx(0.5)
    # The plain estimate mixes: people's word for what they read, the judge's for the rest.
    mixed = [labels[n].value if n < 20 else judged(n) for n in range(NUMBER)]
    assert built["measures"][0]["system"] is not None
    assert built["measures"][0]["system"]["estimate"] == pytest.approx(sum(mixed) / NUMBER)
    (line,) = lines(built)
    assert line.startswith("Judge against people: Faithfulness: 0.50 corrected to 0.")
    assert line.endswith("over 20 pairs")
    assert "by 20 labels of 40 answers; alpha 0." in line


def test_equal_repeats_share_one_label_and_one_question_s_weight() -> None:
    labels = [label(n) for n in range(20)]
    once, thrice = calibrated(report(labels)), calibrated(report(labels, repeats=3))
    assert thrice["population"] == 3 * NUMBER
    assert thrice["estimate"] == pytest.approx(once["estimate"])
    assert thrice["ci"] == pytest.approx(once["ci"])
    assert report(labels, repeats=3)["findings"]["agreement"][0]["answers"] == 20


def test_a_failed_answer_counts_and_needs_no_label() -> None:
    failed = Score(0.0, "system error", SYSTEM_ERROR)
    own = {f"q{n:02}": failed for n in range(36, 40)}
    found = calibrated(report([label(n) for n in range(20)], own=own))
    assert (found["labels"], found["population"]) == (20, NUMBER)
    assert found["judge"]["estimate"] == pytest.approx(sum(map(judged, range(36))) / NUMBER)


def test_an_answer_that_only_people_scored_corrects_no_judge() -> None:
    unread = Score(None, "no verdict", "judge_unreadable")
    own = {"q00": unread, "q39": unread}
    found = calibrated(report([label(n) for n in range(20)], own=own))
    assert (found["population"], found["labels"]) == (NUMBER - 2, 19)
    assert found["estimate"] is not None
    alone = report([label(n) for n in range(20)], own={f"q{n:02}": unread for n in range(NUMBER)})
    assert calibrated(alone) is None
    assert alone["findings"]["agreement"] == []


def test_too_few_labels_are_named_with_what_does_not_count() -> None:
    chosen = [label(n, drawn=False) for n in range(20, 32)]
    built = report([*(label(n) for n in range(8)), *chosen])
    found = calibrated(built)
    assert (found["estimate"], found["left_out"]) == (None, {"not_drawn": 12})
    (line,) = lines(built)
    assert "0.50 not corrected: too few labels (8, at least 10 needed)" in line
    assert "(not counted: 12 of answers that nobody drew)" in line
    assert built["findings"]["agreement"][0]["pairs"] == 20, "agreement is of whatever was read"


def test_labels_of_answers_that_changed_since_are_no_drawing() -> None:
    labels = [label(n) for n in range(20)]
    stale = [label(n, of="It was {}.") for n in range(20, 24)]
    found = calibrated(report([*labels, *stale]))
    assert (found["estimate"], found["left_out"]) == (None, {"answers_changed": 20})


def test_several_people_agree_among_themselves_too() -> None:
    second = [replace(label(n, name="bo"), value=judged(n)) for n in range(10)]
    built = report([*(label(n) for n in range(20)), *second])
    (agreed,) = built["findings"]["agreement"]
    assert (agreed["answers"], agreed["pairs"]) == (20, 30)
    assert agreed["between_people"]["answers"] == 10
    assert agreed["between_people"]["alpha"] is not None
    assert agreed["kappa"] is None
    assert agreed["confusion"] is not None
    assert agreed["confusion"]["values"] == [
        "0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1", "1",
    ]  # fmt: skip
    assert sum(map(sum, agreed["confusion"]["counts"])) == 30


def test_equal_answers_of_two_systems_are_one_pair() -> None:
    built = report([label(n) for n in range(20)], systems=("assistant", "other"))
    assert built["findings"]["agreement"][0]["pairs"] == 20


def test_a_drawing_is_spread_over_types_and_blind() -> None:
    built = report([label(n) for n in range(20)])
    questions, strata = draw(built, 0.25)
    assert [(s.type, s.drawn, s.judged) for s in strata] == [("factual", 3, 10), ("summary", 8, 30)]
    assert len(questions) == len({q.case for q in questions}) == 11
    assert {(q.drawn, q.judged) for q in questions} == {(3, 10), (8, 30)}
    assert draw(built, 0.25) == (questions, strata)
    more, _ = draw(built, 0.5)
    assert {q.case for q in questions} < {q.case for q in more}
    everything, _ = draw(built, 1)
    assert len(everything) == NUMBER
    with pytest.raises(ValueError, match="a share lies"):
        draw(built, 0)


def test_a_drawing_has_what_people_need() -> None:
    points, _ = draw(report(measure="KeyPointCoverage"), 0.1)
    assert points[0].reference == "key point 1: one\nkey point 2: two"
    task, _ = draw(report(measure="TaskCompletion"), 0.1)
    assert task[0].reference == "gold answer: Gold."
    assert (task[0].answer, task[0].question) == (
        f"It is {int(task[0].case[1:])}.", f"What is {int(task[0].case[1:])}?",
    )  # fmt: skip
    form, _ = draw(report(measure="Coherence"), 0.1)
    assert form[0].answer == ""


def test_only_what_a_judge_said_is_drawn() -> None:
    own = {
        "q00": Score(0.0, "system error", SYSTEM_ERROR),
        "q01": Score(None, "no verdict", "judge_unreadable"),
    }
    built = report([label(n) for n in range(2, 4)], own=own)
    by_case = {entry["case"]: judge_value(entry, MEASURE) for entry in built["cases"]}
    assert [by_case[f"q{n:02}"] for n in range(4)] == [None, None, judged(2), judged(3)]
    facts = report(measure="SilentFailure", own={"q00": Score(1.0, "facts say so")})
    questions, strata = draw(facts, 1)
    assert questions == []
    assert strata == []


def test_a_report_is_made_again_with_what_people_said_since() -> None:
    people = Annotations([label(n) for n in range(4)])
    row = ScoreRow("q02", "assistant", MEASURE, judged(2), "by the judge", origin="judge")
    turns = [
        QuestionRow("q02", "assistant", "What is 2?", turn, answer=answer)
        for turn, answer in ((1, "It is 2."), (0, "Earlier."))
    ]
    (said,) = with_people([row], turns, people)
    assert (said.value, said.origin) == (label(2).value, "human")
    assert said.detail["replaced"]["value"] == judged(2)
    later = Annotations([replace(label(2), value=1.0)])
    (again,) = with_people([said], turns, later)
    assert again.value == 1
    assert again.detail["replaced"] == said.detail["replaced"]
    assert with_people([row], turns[1:], people) == [row]
    assert with_people([row], [], people) == [row]
