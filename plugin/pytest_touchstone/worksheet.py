"""The worksheet that people fill in: rows as CSV text that any spreadsheet opens, and back.

Everything in it was written by systems and documents: no cell can become a formula (OWASP, *CSV
Injection*), move a cursor or grow beyond what a spreadsheet holds.  What comes back was saved by
some spreadsheet: with a semicolon or a tab for the comma, a decimal comma, ids turned into dates.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pytest_touchstone.annotations import Annotation, Target, annotation_from, target
from pytest_touchstone.drawing import Question
from pytest_touchstone.measures import parse
from pytest_touchstone.report.display import printable
from pytest_touchstone.rubrics import rubric
from pytest_touchstone.unusable import Unusable

COLUMNS = (
    "measure",
    "instruction",
    "allowed",
    "question",
    "conversation",
    "answer",
    "passages",
    "reference",
    "value",
    "case",
    "answer_sha256",
    "probability",
    "drawn_from",
    "check",
)
"""``value`` is for people to fill in; what stands to its right is for :func:`read_worksheet`."""

_IDENTITY = ("measure", "case", "answer_sha256", "probability", "drawn_from")
_READ = (*_IDENTITY, "value", "check")
_MOST = 30_000  # characters of a cell; a spreadsheet's own limit is 32,767
_FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"
# Apostrophes that a text begins with itself are marked too, so that one can be taken off again.
_BEGINS = re.compile(rf"\s*'*[{re.escape(_FORMULA)}]")
# A spreadsheet that takes another character for the comma sees a cell begin in the middle of ours.
_WITHIN = re.compile(rf"([\n;|])(?=[\"']*[{re.escape(_FORMULA)}])")
_BOM = "\ufeff"


class WorksheetError(Unusable):
    """A worksheet that cannot be read back; one line per fault, with row and column."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What came back.

    :param blank: rows whose value was left empty, as annotations would be about them.
    """

    annotations: tuple[Annotation, ...]
    blank: tuple[Blank, ...]


@dataclass(frozen=True, slots=True)
class Blank:
    """A row without a value."""

    target: Target
    probability: float
    drawn_from: str


def worksheet(questions: Iterable[Question]) -> str:
    """The questions as CSV text: a byte-order mark, so that spreadsheets know it is UTF-8, and
    every cell quoted."""
    out = io.StringIO()
    out.write(_BOM)
    writer = csv.DictWriter(out, COLUMNS, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writeheader()
    for question in questions:
        writer.writerow({name: cell(text) for name, text in _texts(question).items()})
    return out.getvalue()


def cell(text: str) -> str:
    """A text that is safe in a cell: no formula, no control characters, at most 30,000 characters.

    Line breaks stay.  What would begin a formula gets an apostrophe in front, which spreadsheets
    take for "this is text".
    """
    # One character may become ten in print; what is cut off need not be made printable.
    lines = text[: _MOST + 1].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    shown = _WITHIN.sub(r"\1 ", "\n".join(printable(line, 12 * _MOST) for line in lines))
    if len(text) > _MOST or len(shown) > _MOST:
        shown = f"{shown[: _MOST - 100]}\n[cut: the report has all {len(text):,} characters]"
    return f"'{shown}" if _BEGINS.match(shown) else shown


def read_worksheet(data: bytes, *, file: str, annotator: str) -> Sheet:
    """What people filled in.

    :param annotator: who did.
    :raises WorksheetError: with every fault.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise WorksheetError(f"{file}: is not UTF-8: save it as `CSV UTF-8`") from None
    header, rows = _table(text, file)
    found: dict[Target, Annotation] = {}
    blank: list[Blank] = []
    faults: list[str] = []
    for number, cells in rows:
        if not any(each.strip() for each in cells):
            continue
        try:
            if len(cells) != len(header):
                raise ValueError(f"has {len(cells)} cells, the first row {len(header)}")
            read = _row(dict(zip(header, cells, strict=True)), header, annotator)
            if isinstance(read, Blank):
                blank.append(read)
            elif found.setdefault(target(read), read) is not read:
                raise ValueError(f"{read.case} {read.measure}: stands in the sheet twice")
        except ValueError as error:
            faults.append(f"{file}: row {number}: {error}")
    if faults:
        raise WorksheetError("\n".join(faults))
    return Sheet(tuple(found.values()), tuple(blank))


def additions(
    sheet: Sheet, existing: Iterable[Annotation], *, file: str, annotator: str
) -> tuple[Annotation, ...]:
    """What a sheet adds to the annotations that are there; nothing twice.

    A blank row adds what the annotator said of that answer in an earlier drawing, so that nobody
    reads an answer again because more were drawn.

    :raises WorksheetError: where the annotator said something else in the same drawing before.
    """
    before = {target(one): one for one in existing if one.annotator == annotator}
    new: list[Annotation] = []
    faults: list[str] = []
    for one in sheet.annotations:
        earlier = before.get(target(one))
        if earlier is None or _drawing(earlier) != _drawing(one):
            new.append(one)
        elif earlier.value != one.value:
            faults.append(
                f"{file}: {one.case} {one.measure}: {annotator} gives {one.value:g} here, and gave"
                f" {earlier.value:g} in {earlier.where}; to change it, take that line out"
            )
    if faults:
        raise WorksheetError("\n".join(faults))
    for blank in sheet.blank:
        said = before.get(blank.target)
        if said is not None and _drawing(said) != (blank.probability, blank.drawn_from):
            again = replace(said, probability=blank.probability, drawn_from=blank.drawn_from)
            new.append(again)
    return tuple(new)


def _drawing(annotation: Annotation) -> tuple[float | None, str | None]:
    return annotation.probability, annotation.drawn_from


def _texts(question: Question) -> dict[str, str]:
    how = rubric(question.measure)
    identity = _identity(question)
    passages = (f"[{number}] {text}" for number, text in enumerate(question.passages, start=1))
    return {
        **identity,
        "instruction": how.instruction,
        "allowed": how.allowed(parse(question.measure).range),
        "question": question.question,
        "conversation": question.conversation,
        "answer": question.answer,
        "passages": "\n\n".join(passages),
        "reference": question.reference,
        "value": "",
        "check": _check(identity),
    }


def _identity(question: Question) -> dict[str, str]:
    return {
        "measure": question.measure,
        "case": question.case,
        "answer_sha256": question.answer_sha256,
        # In words: a spreadsheet rounds a number, and takes 3/24 for a day in March.
        "probability": f"{question.drawn} of {question.judged}",
        "drawn_from": question.drawn_from,
    }


def _check(identity: Mapping[str, str]) -> str:
    """A digest of what must not change; with a letter in front, so that it is no number."""
    text = "\n".join(identity[name] for name in _IDENTITY)
    return f"x{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def _table(text: str, file: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header and the rows, numbered as a spreadsheet numbers them."""
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        for number, cells in enumerate(reader, start=1):
            rows.append((number, cells))
    except csv.Error as error:
        raise WorksheetError(f"{file}: row {len(rows) + 1}: {error}") from None
    header = [name.strip() for name in rows[0][1]] if rows else []
    if missing := [name for name in _READ if header.count(name) != 1]:
        raise WorksheetError(
            f"{file}: row 1: needs each of the columns {', '.join(_READ)} once;"
            f" see {', '.join(missing)}"
        )
    return header, rows[1:]


def _row(cells: Mapping[str, str], header: list[str], annotator: str) -> Annotation | Blank:
    """One row.

    :raises ValueError: naming the column at fault.
    """
    told = {name: _unquoted(cells[name]) for name in _READ}
    told["case"] = told["case"].replace(" ", "")  # an id has none, but a cell may
    if _check(told) != told["check"]:
        columns = ", ".join(f"{_letter(header.index(n))} ({n})" for n in (*_IDENTITY, "check"))
        raise ValueError(
            f"one of the columns {columns} is not what it was; a spreadsheet may have turned an id"
            " into a date or a number: take the row from the worksheet again"
        )
    drawn, judged = map(int, told["probability"].split(" of "))
    drawing = {"probability": drawn / judged, "drawn_from": told["drawn_from"]}
    if not told["value"]:
        about = Target(told["case"], told["measure"], told["answer_sha256"])
        return Blank(about, drawn / judged, told["drawn_from"])
    column = f"column {_letter(header.index('value'))}"
    try:
        value = _number(told["value"])
    except ValueError:
        raise ValueError(f"{column}, value: {told['value']!r} is no number") from None
    known = {name: told[name] for name in ("case", "measure", "answer_sha256")}
    allowed = rubric(told["measure"]).values
    if allowed is not None and value not in allowed:
        names = ", ".join(f"{each:g}" for each in allowed)
        raise ValueError(f"{column}, value: must be one of {names}, not {told['value']!r}")
    try:
        return annotation_from({**known, **drawing, "annotator": annotator, "value": value})
    except ValueError as error:
        raise ValueError(
            f"{column}, {error}" if str(error).startswith("value") else error
        ) from None


def _unquoted(text: str) -> str:
    """The text of a cell without the apostrophe that :func:`cell` may have put in front."""
    text = text.strip()
    return text[1:] if text[:1] == "'" and _BEGINS.match(text) else text


def _number(text: str) -> float:
    value = float(text.replace(",", ".", 1))
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number")
    return value


def _letter(index: int) -> str:
    """A column's name in spreadsheets: A to Z, AA and so on."""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
