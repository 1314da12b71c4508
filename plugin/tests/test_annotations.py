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
    answer_digest,
    parse_annotations,
)
from pytest_touchstone.dataset import read_annotations

SAID = "The bridge is red [1]."
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
