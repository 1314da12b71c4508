"""What people said of answers: it takes precedence over any judge, for exactly the answer they saw.

One JSON object a line: ``{"case", "measure", "answer_sha256", "annotator", "value"}``.  The digest
ties an annotation to a text; a system that answers otherwise tomorrow is judged anew.  An answer
that was drawn for people to read has ``probability`` and ``drawn_from`` too: how likely it was to
be drawn, and out of which results.  Only such labels say anything about what nobody read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from pytest_touchstone.measures import parse
from pytest_touchstone.measures.base import Measure
from pytest_touchstone.score import Score
from pytest_touchstone.storable import storable
from pytest_touchstone.unusable import Unusable

PEOPLE = "annotations"
"""In the ``detail`` of a score that people gave: annotator to value."""
DRAWN = "drawn"
"""In the same place: how the answer was drawn for them, where it was."""
REPLACED = "replaced"
"""In the same place: the measure's own score, with its evidence."""

_TEXTS = ("case", "measure", "answer_sha256", "annotator")
_DRAWING = ("probability", "drawn_from")
_DIGEST = re.compile("[0-9a-f]{64}")
_SHOWN = 3


class AnnotationError(Unusable):
    """Annotations that cannot be used; one line per fault."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One person's value for one measure of one answer, within the measure's range.

    :param probability: with which the answer was drawn to be read, within (0, 1]; ``None`` where
        somebody chose it.
    :param drawn_from: ``results_sha256`` of the report that it was drawn from.
    :param where: file and line, for messages.
    """

    case: str
    measure: str
    answer_sha256: str
    annotator: str
    value: float
    probability: float | None = None
    drawn_from: str | None = None
    where: str = field(default="", compare=False)


class Target(NamedTuple):
    """What an annotation is about."""

    case: str
    measure: str
    answer_sha256: str


def target(annotation: Annotation) -> Target:
    """What an annotation is about."""
    return Target(annotation.case, annotation.measure, annotation.answer_sha256)


def is_opinion(measure: Measure) -> bool:
    """Whether people's word can count for it: it rests, or may rest, on somebody's reading."""
    return measure.judged or bool(measure.wants)


def answer_digest(text: str) -> str:
    """SHA-256 (hex) of an answer's text as it is stored, in UTF-8: an annotation is tied to it."""
    return hashlib.sha256(storable(text).encode()).hexdigest()


def parse_annotations(data: bytes, *, file: str) -> tuple[Annotation, ...]:
    """The annotations in the bytes of a JSONL file.

    :raises AnnotationError: with every fault of the file, each with its line.
    """
    found: list[Annotation] = []
    faults: list[str] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        try:
            found.append(replace(annotation_from(json.loads(line)), where=where))
        except (ValueError, RecursionError) as error:
            faults.append(f"{where}: {error}")
    if faults:
        raise AnnotationError("\n".join(faults))
    return tuple(found)


def annotation_line(annotation: Annotation) -> str:
    """The annotation as a line of a file, without its end."""
    data = asdict(annotation)
    del data["where"]
    kept = {key: value for key, value in data.items() if value is not None}
    return json.dumps(kept, ensure_ascii=False, allow_nan=False)


def over(own: Score, said: Score) -> Score:
    """People's score instead of a measure's own, which stays in its detail where it is a number."""
    if own.value is None:
        return said
    kept = {
        "value": own.value,
        "why": own.why,
        "origin": own.origin,
        "engine": own.engine,
        "detail": dict(own.detail),
    }
    return replace(said, detail={**said.detail, REPLACED: kept})


def own_value(value: float | None, detail: Mapping[str, Any]) -> float | None:
    """A score's value before people's word replaced it: what two systems are compared by.

    People read the answers of one system; beside a judge's word on the other their word would
    look like a difference.
    """
    replaced = detail.get(REPLACED)
    return value if replaced is None else replaced["value"]


class Annotations:
    """All annotations of a gold set.

    Where several people annotated one answer the value is their mean; where one person did so
    twice, the later line counts.
    """

    def __init__(self, annotations: Iterable[Annotation] = ()) -> None:
        self._found: dict[Target, dict[str, Annotation]] = {}
        self._drawn: dict[tuple[str, str], set[Target]] = {}
        for one in annotations:
            self._found.setdefault(target(one), {})[one.annotator] = one
            if one.drawn_from is not None:
                self._drawn.setdefault((one.measure, one.drawn_from), set()).add(target(one))

    @cached_property  # asked for once a test
    def measures(self) -> frozenset[str]:
        """Names of the measures that people gave values for."""
        return frozenset(each.measure for each in self._found)

    def unknown(self, cases: Collection[str]) -> str | None:
        """One line on annotations of gold questions that are not among these, if there are any."""
        lines = [
            f"{one.where}: no gold question is called {one.case!r}"
            for by_person in self._found.values()
            for one in by_person.values()
            if one.case not in cases
        ]
        if not lines:
            return None
        more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
        return f"annotations that say nothing here: {'; '.join(lines[:_SHOWN])}{more}"

    def score(self, case: str, measure: str, answer: str) -> Score | None:
        """What people said of exactly this answer, or ``None``."""
        found = self._found.get(Target(case, measure, answer_digest(answer)))
        if not found:
            return None
        values = {name: one.value for name, one in sorted(found.items())}
        who = ", ".join(f"{name} {value:g}" for name, value in values.items())
        return Score(
            fmean(values.values()),
            f"annotated: {who}",
            origin="human",
            engine="people",
            detail={PEOPLE: values, **self._drawing(found)},
        )

    def _drawing(self, found: Mapping[str, Annotation]) -> dict[str, Any]:
        """How the answer was drawn, and how many labels that drawing has: the latest drawing."""
        drawn = [one for one in found.values() if one.drawn_from is not None]
        if not drawn:
            return {}
        last = drawn[-1]
        labels = len(self._drawn[last.measure, last.drawn_from or ""])
        return {
            DRAWN: {
                "probability": last.probability,
                "drawn_from": last.drawn_from,
                "labels": labels,
            }
        }


def annotation_from(data: Any) -> Annotation:
    """The annotation in a line's JSON.

    :raises ValueError: naming the field at fault.
    """
    if not isinstance(data, Mapping):
        raise ValueError("is no JSON object")
    fields = (*_TEXTS, "value")
    if odd := sorted(set(data) - set(_DRAWING) ^ set(fields)):
        raise ValueError(
            f"must have exactly the fields {', '.join(fields)}, and {' and '.join(_DRAWING)}"
            f" where the answer was drawn; see {odd[0]!r}"
        )
    for name in _TEXTS:
        if not isinstance(data[name], str) or not data[name].strip():
            raise ValueError(f"{name}: must be text")
    try:
        measure = parse(data["measure"])
    except ValueError as error:
        raise ValueError(f"measure: {error}") from None
    if not is_opinion(measure):
        raise ValueError(f"measure: {measure.name} is computed; there is no opinion to give on it")
    if not _DIGEST.fullmatch(data["answer_sha256"].lower()):
        raise ValueError("answer_sha256: must be 64 hexadecimal digits")
    value, (low, high) = data["value"], measure.range
    if not _is_number(value) or not low <= value <= (float("inf") if high is None else high):
        shown = "any" if high is None else f"{high:g}"
        raise ValueError(f"value: must be a number from {low:g} to {shown}, not {value!r}")
    return Annotation(
        data["case"],
        measure.name,
        data["answer_sha256"].lower(),
        data["annotator"],
        float(value),
        *_drawing_from(data),
    )


def _drawing_from(data: Mapping[str, Any]) -> tuple[float | None, str | None]:
    given = [name for name in _DRAWING if name in data]
    if not given:
        return None, None
    if len(given) == 1:
        raise ValueError(
            f"{given[0]}: stands together with {' and '.join(_DRAWING)}, or not at all"
        )
    probability, drawn_from = data["probability"], data["drawn_from"]
    if not _is_number(probability) or not 0 < probability <= 1:
        raise ValueError(f"probability: must be a number above 0 and up to 1, not {probability!r}")
    if not isinstance(drawn_from, str) or not _DIGEST.fullmatch(drawn_from.lower()):
        raise ValueError("drawn_from: must be 64 hexadecimal digits, a report's results_sha256")
    return float(probability), drawn_from.lower()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
