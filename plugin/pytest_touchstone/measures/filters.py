"""Filters: were the right ones inferred from the question?

Values are compared as the collection compares them: types count (``"2022"`` is not ``2022``,
``True`` is not ``1``; ``2022`` and ``2022.0`` are the same JSON number), strings are compared
exactly, after Unicode NFC.  A list is a set of alternatives; a list of one is that value.
Precision, recall and F1 count (field, value) pairs, each alternative being a pair.
"""

from __future__ import annotations

import json
import keyword
import math
import unicodedata
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from pytest_touchstone.gold import Case
from pytest_touchstone.measures.base import Measure, Need, answered
from pytest_touchstone.score import NO_FILTERS, NOT_APPLICABLE, NOT_ASKED, Score, unscored
from pytest_touchstone.trace import Filters, Observation, Turn

Value = tuple[str, str | float | bool]
"""A JSON type and a value: ``("number", 2022)``."""
Pairs = frozenset[tuple[str, Value]]
"""(field, value) pairs."""

_LONGEST_FIELD = 200  # characters, so that every measure's name is short enough to be read back


def alternatives(value: object) -> frozenset[Value]:
    """The values that a filter on one field lets through, comparable with ``==``."""
    if isinstance(value, list | tuple) and value:
        return frozenset(_typed(each) for each in value)
    return frozenset({_typed(value)})


def _typed(value: object) -> Value:
    if isinstance(value, str):
        return ("string", unicodedata.normalize("NFC", value))
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, int | float):
        return ("number", value)
    return ("other", repr(value))  # no gold value is like this, so it never matches


def normalized(filters: Filters) -> dict[str, frozenset[Value]]:
    """Field names (NFC) to the alternatives of each; equal exactly where the filters are."""
    return {
        unicodedata.normalize("NFC", name): alternatives(value) for name, value in filters.items()
    }


def pairs(filters: Filters, field: str | None = None) -> Pairs:
    """The (field, value) pairs of a filter dict, of one field only where ``field`` is given."""
    return frozenset(
        (name, value)
        for name, values in normalized(filters).items()
        if field is None or name == field
        for value in values
    )


@dataclass(frozen=True, repr=False)
class FilterMeasure(Measure):
    """A comparison of gold and inferred filters, on all fields or on one ``field``."""

    field: str | None = None

    dimension: ClassVar[str] = "filters"
    needs: ClassVar[frozenset[Need]] = frozenset({"answer"})
    base_name: ClassVar[str]
    base_label: ClassVar[str]

    def __call__(self, field: str) -> Self:
        """The same measure on one field: ``FilterF1("district")``.

        :raises ValueError: for an empty or very long name, or where a field is given already.
        """
        if not isinstance(field, str) or not field.strip():
            raise ValueError(f"{self.base_name}(field) needs the name of a field, not {field!r}")
        if self.field is not None:
            raise ValueError(f"{self.name} has its field already")
        field = unicodedata.normalize("NFC", field)
        if len(field) > _LONGEST_FIELD:
            raise ValueError(f"the name of a field has at most {_LONGEST_FIELD} characters")
        return replace(self, field=field)

    @property
    def name(self) -> str:
        return self.base_name + (f"({_argument(self.field)})" if self.field is not None else "")

    @property
    def label(self) -> str:
        return self.base_label + (f" ({_argument(self.field)})" if self.field is not None else "")

    def applies(self, case: Case) -> bool:
        return case.filters is not None

    def measure(self, case: Case, seen: Observation) -> Score:
        found = answered(seen).filters
        if case.filters is None:
            return unscored(NOT_APPLICABLE, "the gold question's filters are not labelled")
        if found is None:
            return _no_filters(self.value(pairs(case.filters, self.field), frozenset()))
        wanted_pairs, found_pairs = pairs(case.filters, self.field), pairs(found, self.field)
        if self.field is not None and not wanted_pairs and not found_pairs:
            return unscored(NOT_APPLICABLE, f"neither side filters by {_argument(self.field)}")
        value = self.value(wanted_pairs, found_pairs)
        if value is None:
            return unscored(NOT_APPLICABLE, self.undefined)
        return Score(
            value,
            differences(case.filters, found, self.field),
            detail={
                "expected": as_json(case.filters, self.field),
                "found": as_json(found, self.field),
            },
        )

    def score(self, case: Case, seen: Observation) -> Score:
        """See :meth:`Measure.score`; a failed system says nothing of a field that gold lacks."""
        if self.field and seen.last.error and not pairs(case.filters or {}, self.field):
            return unscored(NOT_APPLICABLE, f"gold does not filter by {_argument(self.field)}")
        return super().score(case, seen)

    undefined: ClassVar[str] = ""
    """Why there is no number, for a share whose denominator can be 0."""

    @abstractmethod
    def value(self, wanted: Pairs, found: Pairs) -> float | None:
        """The number, or ``None`` where its denominator is 0."""


@dataclass(frozen=True, repr=False)
class FilterExactMatchMeasure(FilterMeasure):
    """1 where gold and inferred filters are the same, else 0."""

    base_name: ClassVar[str] = "FilterExactMatch"
    base_label: ClassVar[str] = "Filter exact match"

    def value(self, wanted: Pairs, found: Pairs) -> float:
        return float(wanted == found)


@dataclass(frozen=True, repr=False)
class FilterPrecisionMeasure(FilterMeasure):
    """Inferred (field, value) pairs that are gold, divided by all that were inferred."""

    base_name: ClassVar[str] = "FilterPrecision"
    base_label: ClassVar[str] = "Filter precision"
    undefined: ClassVar[str] = "nothing was inferred"

    def value(self, wanted: Pairs, found: Pairs) -> float | None:
        return len(wanted & found) / len(found) if found else None


@dataclass(frozen=True, repr=False)
class FilterRecallMeasure(FilterMeasure):
    """Gold (field, value) pairs that were inferred, divided by all gold ones."""

    base_name: ClassVar[str] = "FilterRecall"
    base_label: ClassVar[str] = "Filter recall"
    undefined: ClassVar[str] = "there is nothing to infer"

    def applies(self, case: Case) -> bool:
        # Where nothing is to be inferred, not even a failed system has a recall.
        return case.filters is not None and bool(pairs(case.filters, self.field))

    def value(self, wanted: Pairs, found: Pairs) -> float | None:
        return len(wanted & found) / len(wanted) if wanted else None


@dataclass(frozen=True, repr=False)
class FilterF1Measure(FilterMeasure):
    """Harmonic mean of precision and recall, 2·hits / (inferred + gold); 1 where both are none."""

    base_name: ClassVar[str] = "FilterF1"
    base_label: ClassVar[str] = "Filter F1"

    def value(self, wanted: Pairs, found: Pairs) -> float:
        both = len(wanted) + len(found)
        return 2 * len(wanted & found) / both if both else 1.0


@dataclass(frozen=True, repr=False)
class JointGoalAccuracyMeasure(Measure):
    """Share of a conversation's labelled user turns whose filters are exactly the gold ones.

    The measure of dialogue state tracking (Henderson, Thomson and Williams, 2014).  A turn on
    which the system failed counts as wrong.
    """

    dimension: ClassVar[str] = "filters"
    needs: ClassVar[frozenset[Need]] = frozenset({"answer", "turns"})

    @property
    def name(self) -> str:
        return "JointGoalAccuracy"

    @property
    def label(self) -> str:
        return "Joint goal accuracy"

    def applies(self, case: Case) -> bool:
        return any(message.filters is not None for message in case.history)

    def measure(self, case: Case, seen: Observation) -> Score:
        if not self.applies(case):
            return unscored(NOT_APPLICABLE, "no earlier turn's filters are labelled")
        verdicts = turn_verdicts(case, seen)
        if isinstance(verdicts, Score):
            return verdicts
        right = sum(verdict["exact"] for verdict in verdicts)
        wrong = "; ".join(
            f"turn {verdict['turn']}: {verdict['why']}"
            for verdict in verdicts
            if not verdict["exact"]
        )
        why = f"{right} of {len(verdicts)} labelled turns exact" + (f"; {wrong}" if wrong else "")
        return Score(right / len(verdicts), why, detail={"turns": verdicts})


def _no_filters(value: float | None) -> Score:
    """No filters were reported; ``value`` is the score if that means that none were inferred."""
    return unscored(NO_FILTERS, "the system reported no filters", if_none_inferred=value)


def labelled_turns(case: Case) -> dict[int, Filters]:
    """0-based index of each user turn whose filters are labelled, to those filters, in order."""
    said = [message for message in case.history if message.role == "user"]
    found = {i: message.filters for i, message in enumerate(said) if message.filters is not None}
    return found if case.filters is None else {**found, len(said): case.filters}


def turn_verdicts(case: Case, seen: Observation) -> list[dict[str, Any]] | Score:
    """What each labelled turn inferred, beside its gold filters; or why that cannot be said.

    ``exact`` tells whether they are equal; a turn on which the system failed is not.
    """
    labelled = labelled_turns(case)
    turns = {turn.index: turn for turn in seen.turns}
    if missing := [index for index in labelled if index not in turns]:
        return unscored(NOT_ASKED, f"labelled turn {missing[0] + 1} was not asked")
    asked = [turns[index] for index in labelled]
    if all(turn.answer is not None and turn.answer.filters is None for turn in asked):
        return _no_filters(sum(not filters for filters in labelled.values()) / len(labelled))
    return [_turn_verdict(labelled[turn.index], turn) for turn in asked]


def _turn_verdict(wanted: Filters, turn: Turn) -> dict[str, Any]:
    """One turn for people and for the report; turns count from 1 there."""
    verdict: dict[str, Any] = {"turn": turn.index + 1, "expected": as_json(wanted)}
    if turn.answer is None:
        kind = turn.error.kind if turn.error else "no answer"
        return {**verdict, "found": None, "exact": False, "why": f"system error ({kind})"}
    found = turn.answer.filters
    if found is None:
        return {**verdict, "found": None, "exact": False, "why": "no filters reported"}
    return {
        **verdict,
        "found": as_json(found),
        "exact": normalized(wanted) == normalized(found),
        "why": differences(wanted, found),
    }


def differences(wanted: Filters, found: Filters, field: str | None = None) -> str:
    """One line on what differs, values as JSON so that their types show; ``exact`` if nothing."""
    return "; ".join(_field_differences(wanted, found, field)) or "exact"


def _field_differences(wanted: Filters, found: Filters, field: str | None) -> Iterator[str]:
    expected, inferred = as_json(wanted, field), as_json(found, field)
    left, right = normalized(wanted), normalized(found)
    for name in [*expected, *(name for name in inferred if name not in expected)]:
        if name not in inferred:
            yield f"{_argument(name)}: expected {_json(expected[name])}, not inferred"
        elif name not in expected:
            yield f"{_argument(name)}: inferred {_json(inferred[name])}, not expected"
        elif left[name] != right[name]:
            both = f"expected {_json(expected[name])}, inferred {_json(inferred[name])}"
            yield f"{_argument(name)}: {both}"


def as_json(filters: Filters, field: str | None = None) -> dict[str, Any]:
    """Filters as JSON data (what JSON cannot hold, as its ``repr``), names in NFC."""
    named = {unicodedata.normalize("NFC", name): value for name, value in filters.items()}
    return {
        name: [_scalar(each) for each in value]
        if isinstance(value, list | tuple)
        else _scalar(value)
        for name, value in named.items()
        if field is None or name == field
    }


def _scalar(value: object) -> str | int | float | bool | None:
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value if value is None or isinstance(value, str | int | float) else repr(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _argument(field: str) -> str:
    """A field's name as Python source: bare where it is an identifier, else quoted.

    Python reads identifiers in NFKC, so a name that NFKC would change is quoted too.
    """
    plain = field.isidentifier() and not keyword.iskeyword(field)
    return field if plain and unicodedata.is_normalized("NFKC", field) else repr(field)


FilterExactMatch = FilterExactMatchMeasure()
FilterPrecision = FilterPrecisionMeasure()
FilterRecall = FilterRecallMeasure()
FilterF1 = FilterF1Measure()
JointGoalAccuracy = JointGoalAccuracyMeasure()
