"""Annotations: read strictly, tied to exactly one answer, and before any judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_touchstone.annotations import (
    Annotation,
    AnnotationError,
    Annotations,
    annotation_line,
    answer_digest,
    over,
    parse_annotations,
)
from pytest_touchstone.dataset import append_annotations, read_annotations
from pytest_touchstone.score import NEEDS_JUDGE, Score, unscored

SAID = "The bridge is red [1]."
FROM = "f" * 64
GOOD = {
    "case": "s1",
    "measure": "Faithfulness",
    "answer_sha256": answer_digest(SAID),
    "annotator": "ann",
    "value": 0.5,
}


def line(**changes: Any) -> bytes:
    return json.dumps(GOOD | changes).encode() + b"\n"


def test_a_line_is_an_annotation() -> None:
    assert parse_annotations(line() + b"\n", file="a.jsonl") == (
        Annotation("s1", "Faithfulness", answer_digest(SAID), "ann", 0.5),
    )


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"{", "a.jsonl:1: "),
        (b"[]", "a.jsonl:1: is no JSON object"),
        (line(note="x"), "see 'note'"),
        (line(measure="Faithfullness"), "measure: "),
        (line(value=1.5), "value: must be a number from 0 to 1"),
        (line(value=True), "value: must be a number"),
        (line(value="1"), "value: must be a number"),
        (line(value=float("nan")), "value: must be a number"),
        (line(case=" "), "case: must be text"),
        (b"[" * 100_000, "a.jsonl:1: "),
        (line(measure="MRR", value=1), "measure: MRR is computed; there is no opinion"),
        (line(answer_sha256="abc"), "answer_sha256: must be 64 hexadecimal digits"),
        (line(probability=0.1), "probability: stands together with probability and drawn_from"),
        (line(drawn_from=FROM), "drawn_from: stands together with"),
        (line(drawn_from=FROM, probability=0), "probability: must be a number above 0 and up to 1"),
        (line(drawn_from=FROM, probability=1.5), "probability: must be a number above 0"),
        (line(drawn_from=FROM, probability=True), "probability: must be a number above 0"),
        (line(drawn_from="run", probability=0.1), "drawn_from: must be 64 hexadecimal digits"),
    ],
)
def test_a_faulty_line_is_named(data: bytes, fault: str) -> None:
    with pytest.raises(AnnotationError) as caught:
        parse_annotations(data, file="a.jsonl")
    assert fault in str(caught.value)


def test_every_fault_is_said_in_one_go() -> None:
    with pytest.raises(AnnotationError) as caught:
        parse_annotations(line(value=2) + line() + line(case=""), file="a.jsonl")
    assert [text.split(" ")[0] for text in str(caught.value).splitlines()] == [
        "a.jsonl:1:",
        "a.jsonl:3:",
    ]


def test_people_speak_of_exactly_one_answer() -> None:
    people = Annotations(
        parse_annotations(line() + line(annotator="bo", value=1) + line(value=0.8), file="a.jsonl")
    )
    score = people.score("s1", "Faithfulness", SAID)
    assert score is not None
    assert score.value == pytest.approx(0.9)  # ann's second word counts, and bo's
    assert (score.origin, score.why) == ("human", "annotated: ann 0.8, bo 1")
    assert people.score("s1", "Faithfulness", SAID + " ") is None
    assert people.score("s1", "Contradictions", SAID) is None
    assert people.score("s2", "Faithfulness", SAID) is None
    assert people.measures == {"Faithfulness"}


def test_all_files_beside_the_gold_set_are_read(tmp_path: Path) -> None:
    assert read_annotations(tmp_path).measures == frozenset()
    (tmp_path / "annotations.jsonl").write_bytes(line())
    (tmp_path / "annotations-2.jsonl").write_bytes(line(measure="Formality", value=4))
    assert read_annotations(tmp_path).measures == {"Faithfulness", "Formality"}


def test_a_drawn_answer_carries_its_probability() -> None:
    drawn = line(probability=0.125, drawn_from=FROM.upper())
    (one,) = parse_annotations(drawn, file="a.jsonl")
    assert (one.probability, one.drawn_from, one.where) == (0.125, FROM, "a.jsonl:1")
    assert parse_annotations(annotation_line(one).encode(), file="b.jsonl") == (one,)
    other = line(probability=0.125, drawn_from=FROM, case="s2")
    people = Annotations(parse_annotations(drawn + other + line(annotator="bo"), file="a.jsonl"))
    score = people.score("s1", "Faithfulness", SAID)
    assert score is not None
    assert score.detail["drawn"] == {"probability": 0.125, "drawn_from": FROM, "labels": 2}
    chosen = Annotations(parse_annotations(line(), file="a.jsonl"))
    assert "drawn" not in (chosen.score("s1", "Faithfulness", SAID) or score).detail


def test_what_the_judge_said_stays_beside_what_people_say() -> None:
    said = Annotations(parse_annotations(line(), file="a.jsonl")).score("s1", "Faithfulness", SAID)
    assert said is not None
    own = Score(0.75, "3 of 4", origin="judge", engine="gpt-4.1", detail={"claims": [1]})
    both = over(own, said)
    assert (both.value, both.origin) == (0.5, "human")
    assert both.detail["annotations"] == {"ann": 0.5}
    assert both.detail["replaced"] == {
        "value": 0.75,
        "why": "3 of 4",
        "origin": "judge",
        "engine": "gpt-4.1",
        "detail": {"claims": [1]},
    }
    assert over(unscored(NEEDS_JUDGE, "nobody"), said) == said


def test_questions_that_are_not_there_are_told_in_one_line() -> None:
    people = Annotations(parse_annotations(line() + line(case="gone"), file="a.jsonl"))
    assert people.unknown({"s1", "gone"}) is None
    assert people.unknown({"s1"}) == (
        "annotations that say nothing here: a.jsonl:2: no gold question is called 'gone'"
    )


def test_an_answer_that_no_file_can_hold_has_a_digest_too() -> None:
    assert answer_digest("\ud800 \0") == answer_digest("\ufffd \ufffd")


def test_annotations_are_written_behind_those_that_are_there(tmp_path: Path) -> None:
    file = tmp_path / "annotations.jsonl"
    (one,) = parse_annotations(line(), file="a.jsonl")
    append_annotations(file, [one])
    file.write_bytes(file.read_bytes().rstrip())  # an editor that ends files without a line end
    (two,) = parse_annotations(line(case="Ärende", annotator="bo"), file="a.jsonl")
    append_annotations(file, [two, two])
    assert parse_annotations(file.read_bytes(), file="x") == (one, two, two)
    assert "Ärende" in file.read_text("utf-8")
    assert file.read_bytes().endswith(b"\n")
