"""The worksheet: safe in any spreadsheet, and read back whatever a spreadsheet made of it."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.annotations import Annotation, Target, answer_digest, is_opinion
from pytest_touchstone.drawing import Question
from pytest_touchstone.measures import MEASURES
from pytest_touchstone.rubrics import RUBRICS, rubric
from pytest_touchstone.worksheet import (
    COLUMNS,
    Blank,
    Sheet,
    WorksheetError,
    additions,
    cell,
    read_worksheet,
    worksheet,
)

FROM = "f" * 64
QUESTION = Question(
    measure="Faithfulness",
    case="q1",
    answer_sha256=answer_digest("It is red."),
    drawn=3,
    judged=24,
    drawn_from=FROM,
    question="What colour?",
    conversation="",
    answer="It is red.",
    passages=("The bridge is red.", "Page 3"),
    reference="",
)
TONE = replace(QUESTION, measure="Formality", case="q2")
FORMULA = tuple("=+-@\t\r＝＋－＠")
Rows = list[dict[str, str]]


def rows(text: str) -> Rows:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def filled(
    values: list[str], *questions: Question, delimiter: str = ",", bom: bool = True
) -> bytes:
    """A worksheet with values, as a spreadsheet saves it."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, delimiter=delimiter)
    writer.writeheader()
    for row, value in zip(rows(worksheet(questions or (QUESTION,))), values, strict=True):
        writer.writerow(row | {"value": value})
    return (("\ufeff" if bom else "") + out.getvalue()).encode()


def read(data: bytes) -> Sheet:
    return read_worksheet(data, file="f.csv", annotator="ann")


def annotation(value: float, question: Question = QUESTION) -> Annotation:
    return Annotation(
        question.case,
        question.measure,
        question.answer_sha256,
        "ann",
        value,
        question.drawn / question.judged,
        question.drawn_from,
    )


def test_what_people_see_and_nothing_else() -> None:
    text = worksheet([QUESTION])
    assert text.startswith('\ufeff"measure","instruction","allowed","question"')
    (row,) = rows(text)
    assert row["passages"] == "[1] The bridge is red.\n\n[2] Page 3"
    assert (row["allowed"], row["value"], row["probability"]) == ("0 to 1", "", "3 of 24")
    assert "3 of 4 is 0.75" in row["instruction"]
    assert rows(worksheet([TONE]))[0]["allowed"] == "1 / 2 / 3 / 4 / 5"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(("typed", "value"), [("0.5", 0.5), ("0,5", 0.5), (" 1 ", 1), ("1e0", 1)])
def test_a_value_comes_back_from_any_spreadsheet(delimiter: str, typed: str, value: float) -> None:
    expected = (annotation(value),)
    assert read(filled([typed], delimiter=delimiter)).annotations == expected
    assert read(filled([typed], delimiter=delimiter, bom=False)).annotations == expected


def test_rows_may_be_left_empty_and_moved() -> None:
    sheet = read(filled(["4", ""], TONE, QUESTION) + b"\r\n,,,,,,,,,,,,,\r\n")
    assert sheet.annotations == (annotation(4, TONE),)
    target = Target(QUESTION.case, QUESTION.measure, QUESTION.answer_sha256)
    assert sheet.blank == (Blank(target, 0.125, FROM),)


def test_every_fault_is_named_by_row_and_column() -> None:
    more = [replace(QUESTION, case=f"q{n}") for n in range(3, 9)]
    typed = ["good", "1.5", "-0.1", "nan", "75%", "0.5"]
    with pytest.raises(WorksheetError) as caught:
        read(filled(typed, *more))
    assert str(caught.value).splitlines() == [
        "f.csv: row 2: column I, value: 'good' is no number",
        "f.csv: row 3: column I, value: must be a number from 0 to 1, not 1.5",
        "f.csv: row 4: column I, value: must be a number from 0 to 1, not -0.1",
        "f.csv: row 5: column I, value: 'nan' is no number",
        "f.csv: row 6: column I, value: '75%' is no number",
    ]
    with pytest.raises(WorksheetError, match=r"row 2: column I, value: must be one of 1, 2, 3, 4"):
        read(filled(["3.5"], TONE))
    with pytest.raises(WorksheetError, match=r"row 3: q1 Faithfulness: stands in the sheet twice"):
        read(filled(["0.5", "0.5"], QUESTION, QUESTION))


def changed(old: str, new: str) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old.encode(), new.encode())


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (changed(",q1,", ",Q1,"), r"row 2: one of the columns A \(measure\), J \(case\)"),
        (changed("3 of 24", "mars-24"), "a spreadsheet may have turned an id"),
        (changed("Faithfulness", "Contradictions"), "take the row from the worksheet again"),
        (changed("case", "Case"), "row 1: needs each of the columns"),
        (changed(",value,", ",value,value,"), "row 2: has 14 cells, the first row 15|row 1: needs"),
        (lambda data: data + b'"never closed', "row 3: unexpected end of data"),
        (lambda data: data + b"too,few\r\n", "row 3: has 2 cells, the first row 14"),
        (lambda _: b"", "row 1: needs each of the columns"),
        (lambda _: "värde".encode("latin-1"), "is not UTF-8: save it as `CSV UTF-8`"),
        (lambda data: data.decode().encode("utf-16"), "is not UTF-8"),
        (lambda data: data + b"x" * 200_000, "field larger than field limit"),
    ],
)
def test_a_sheet_that_was_spoilt_is_refused(change: Callable[[bytes], bytes], fault: str) -> None:
    with pytest.raises(WorksheetError, match=fault):
        read(change(filled(["0.5"])))


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    with pytest.raises(WorksheetError):
        read(data)


@given(st.text(max_size=60))
def test_no_text_becomes_a_formula(text: str) -> None:
    shown = cell(text)
    assert not shown.lstrip().startswith(FORMULA)
    assert not re.search(r"[\n;|][\"']*[=+\-@＝＋－＠]", shown)
    assert all(unicodedata.category(c)[0] != "C" or c in "\n\u200c\u200d" for c in shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("  @SUM(A1)", "'  @SUM(A1)"),
        ("\t=cmd", "' =cmd"),
        ("\r\n-1", "'\n -1"),
        ("'=1+1", "''=1+1"),
        ("fine - really", "fine - really"),
        ("a list:\n- one\n- two", "a list:\n - one\n - two"),
        ('in others;"=cmd', 'in others; "=cmd'),
        ("\x1b[31mred\x00 \u202eevil", "\\x1b[31mred\\x00 \\u202eevil"),
        ("＝１＋１", "'＝１＋１"),
        ("Ärende 漢字 🎉", "Ärende 漢字 🎉"),
        ("", ""),
    ],
)
def test_what_a_cell_shows(text: str, shown: str) -> None:
    assert cell(text) == shown


@pytest.mark.parametrize("text", ["x" * 1_000_000, "\x1b" * 29_000, "漢\n" * 100_000])
def test_no_cell_outgrows_a_spreadsheet(text: str) -> None:
    shown = cell(text)
    assert len(shown) < 32_767
    assert shown.endswith(f"[cut: the report has all {len(text):,} characters]")


@given(
    st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
)
def test_any_id_comes_back(name: str) -> None:
    question = replace(QUESTION, case=name)
    assert read(filled(["1"], question)).annotations == (annotation(1, question),)


def test_nothing_is_added_twice() -> None:
    sheet = read(filled(["0.5"]))
    first = additions(sheet, [], file="f.csv", annotator="ann")
    assert first == (annotation(0.5),)
    assert additions(sheet, first, file="f.csv", annotator="ann") == ()
    bo = read_worksheet(filled(["0.5"]), file="f.csv", annotator="bo")
    assert len(additions(bo, first, file="f.csv", annotator="bo")) == 1
    other = read(filled(["1"]))
    placed = [replace(annotation(0.5), where="a.jsonl:3")]
    with pytest.raises(WorksheetError, match=r"gives 1 here, and gave 0\.5 in a\.jsonl:3"):
        additions(other, placed, file="f.csv", annotator="ann")


def test_a_later_drawing_takes_over_what_was_said() -> None:
    larger = replace(QUESTION, drawn=6, drawn_from="e" * 64)
    left_empty = read(filled([""], larger))
    again = additions(left_empty, [annotation(0.5)], file="f.csv", annotator="ann")
    assert again == (annotation(0.5, larger),)
    assert additions(left_empty, again, file="f.csv", annotator="ann") == ()
    assert additions(left_empty, [], file="f.csv", annotator="ann") == ()
    said_anew = additions(
        read(filled(["1"], larger)), [annotation(0.5)], file="f.csv", annotator="ann"
    )
    assert said_anew == (annotation(1, larger),)


def test_every_opinion_has_a_rubric() -> None:
    opinions = {name for name, measure in MEASURES.items() if is_opinion(measure)}
    read_by_a_scorer = {name for name in opinions if "citation_coverage" in MEASURES[name].needs}
    assert opinions - read_by_a_scorer == set(RUBRICS)
    for name, how in RUBRICS.items():
        low, high = MEASURES[name].range
        assert high is not None
        assert how.values is None or (how.values[0], how.values[-1]) == (low, high)
        assert "\n" not in how.instruction
    assert rubric("CitationCoverage").allowed((0, None)) == "0 or more"
