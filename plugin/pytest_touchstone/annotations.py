"""What people said of answers: it takes precedence over any judge, for exactly the answer they saw.

One JSON object a line: ``{"case", "measure", "answer_sha256", "annotator", "value"}``.  The digest
ties an annotation to a text; a system that answers otherwise tomorrow is judged anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pytest_touchstone.measures import parse
from pytest_touchstone.score import Score
from pytest_touchstone.unusable import Unusable

_FIELDS = ("case", "measure", "answer_sha256", "annotator", "value")


class AnnotationError(Unusable):
    """Annotations that cannot be used; one line per fault."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One person's value for one measure of one answer, within the measure's range."""

    case: str
    measure: str
    answer_sha256: str
    annotator: str
    value: float


def answer_digest(text: str) -> str:
    """SHA-256 (hex) of an answer's text in UTF-8: what an annotation is tied to."""
    return hashlib.sha256(text.encode()).hexdigest()


def parse_annotations(data: bytes, *, file: str) -> tuple[Annotation, ...]:
    """The annotations in the bytes of a JSONL file.

    :raises AnnotationError: with every fault of the file, each with its line.
    """
    found: list[Annotation] = []
    faults: list[str] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append(_annotation(json.loads(line)))
        except (ValueError, RecursionError) as error:
            faults.append(f"{file}:{number}: {error}")
    if faults:
        raise AnnotationError("\n".join(faults))
    return tuple(found)


class Annotations:
    """All annotations of a gold set.

    Where several people annotated one answer the value is their mean; where one person did so
    twice, the later line counts.
    """

    def __init__(self, annotations: Iterable[Annotation] = ()) -> None:
        self._values: dict[tuple[str, str, str], dict[str, float]] = {}
        for one in annotations:
            key = (one.case, one.measure, one.answer_sha256)
            self._values.setdefault(key, {})[one.annotator] = one.value

    @property
    def measures(self) -> frozenset[str]:
        """Names of the measures that people gave values for."""
        return frozenset(measure for _, measure, _ in self._values)

    def score(self, case: str, measure: str, answer: str) -> Score | None:
        """What people said of exactly this answer, or ``None``."""
        values = self._values.get((case, measure, answer_digest(answer)))
        if not values:
            return None
        who = ", ".join(f"{name} {value:g}" for name, value in sorted(values.items()))
        return Score(
            fmean(values.values()),
            f"annotated: {who}",
            origin="human",
            engine="people",
            detail={"annotations": dict(sorted(values.items()))},
        )


def _annotation(data: Any) -> Annotation:
    """The annotation in a line's JSON.

    :raises ValueError: naming the field at fault.
    """
    if not isinstance(data, Mapping):
        raise ValueError("is no JSON object")
    if odd := sorted(set(data) ^ set(_FIELDS)):
        raise ValueError(f"must have exactly the fields {', '.join(_FIELDS)}; see {odd[0]!r}")
    for name in _FIELDS[:-1]:
        if not isinstance(data[name], str) or not data[name].strip():
            raise ValueError(f"{name}: must be text")
    try:
        measure = parse(data["measure"])
    except ValueError as error:
        raise ValueError(f"measure: {error}") from None
    value, (low, high) = data["value"], measure.range
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= (float("inf") if high is None else high):
        raise ValueError(f"value: must be a number from {low:g} to {high or 'any'}, not {value!r}")
    return Annotation(
        data["case"], measure.name, data["answer_sha256"].lower(), data["annotator"], float(value)
    )
