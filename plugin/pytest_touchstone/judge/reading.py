"""Reading a judge's reply: strict about what was asked, tolerant about what stands around it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from pytest_touchstone.storable import storable
from pytest_touchstone.verdicts import Quotation

Label = TypeVar("Label", bound=str)

_THINKING = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_MOST_FAULTY_STARTS = 200
_LONGEST_SHOWN = 80
_DEEPEST = 20
_QUOTATION_MARKS = dict.fromkeys(map(ord, "\"'`´‘’‚‛“”„‟‹›«»「」『』〝〞＂＇ʼ′″"), "'")


class Unreadable(Exception):  # noqa: N818 - says of a reply what it is
    """A reply that is not of the form asked for.

    :ivar why: one line that names the fault, fit to be sent back to the model.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def parse_reply(text: str) -> object:
    """The one JSON object in a reply: bare, in a fence, or with prose around it.

    A reply with several different objects is refused, since nobody can say which is meant (a model
    may repeat an object that stands in what it judges); so is a key that occurs twice.

    :raises Unreadable: where there is not exactly one.
    """
    text = _THINKING.sub("", text, count=1) if text.lstrip().startswith("<think>") else text
    found: list[object] = []
    faulty, start = 0, text.find("{")
    while start >= 0 and faulty < _MOST_FAULTY_STARTS:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            faulty, end = faulty + 1, start + 1
        else:
            if _depth(value) > _DEEPEST:
                raise Unreadable("the reply is nested too deeply")
            if not any(_same(value, other) for other in found):
                found.append(value)
            if len(found) > 1:
                raise Unreadable("the reply holds several JSON objects; exactly one is asked for")
        start = text.find("{", end)
    if not found or faulty == _MOST_FAULTY_STARTS:
        raise Unreadable("the reply holds no complete JSON object")
    return found[0]


def members(value: object, where: str) -> Mapping[str, Any]:
    """``value`` as a JSON object."""
    if not isinstance(value, dict):
        raise Unreadable(f"{where} is {_shown(value)}, not an object")
    return value


def member(value: object, key: str, where: str = "the reply") -> object:
    """What stands under a key of a JSON object."""
    data = members(value, where)
    if key not in data:
        raise Unreadable(f"{where} has no `{key}`")
    return data[key]


def listed(value: object, where: str) -> list[Any]:
    """``value`` as a JSON list."""
    if not isinstance(value, list):
        raise Unreadable(f"{where} is {_shown(value)}, not a list")
    return value


def numbered(
    value: object, where: str, asked: Sequence[int], key: str = "number"
) -> dict[int, Mapping[str, Any]]:
    """A list of objects that answers each number asked exactly once, by number.

    :raises Unreadable: naming the numbers that are missing, given twice or were not asked.
    """
    items = [members(item, f"an item of `{where}`") for item in listed(value, f"`{where}`")]
    numbers = [whole(member(item, key, f"an item of `{where}`"), f"`{key}`") for item in items]
    counts, expected = Counter(numbers), set(asked)
    faults = [
        f"{name}: {', '.join(map(str, found[:20]))}"
        for name, found in (
            ("missing", [number for number in asked if number not in counts]),
            ("more than once", [number for number, count in counts.items() if count > 1]),
            ("not asked", [number for number in counts if number not in expected]),
        )
        if found
    ]
    if faults:
        raise Unreadable(f"`{where}` must hold each {key} asked exactly once; {'; '.join(faults)}")
    return dict(zip(numbers, items, strict=True))


def whole(value: object, where: str) -> int:
    """``value`` as an integer; ``true`` and ``4.0`` are none."""
    if not isinstance(value, int) or isinstance(value, bool) or value.bit_length() > 63:
        raise Unreadable(f"{where} is {_shown(value)}, not an integer")
    return value


def within(value: object, where: str, low: int, high: int) -> int:
    """``value`` as an integer from ``low`` to ``high``."""
    number = whole(value, where)
    if not low <= number <= high:
        raise Unreadable(f"{where} is {number}, not from {low} to {high}")
    return number


def one_of(value: object, labels: Sequence[Label], where: str) -> Label:
    """``value`` as one of the labels, spelt exactly so."""
    for label in labels:
        if value == label:
            return label
    raise Unreadable(f"{where} is {_shown(value)}, not one of {', '.join(labels)}")


def true_or_false(value: object, where: str) -> bool:
    """``value`` as a boolean."""
    if not isinstance(value, bool):
        raise Unreadable(f"{where} is {_shown(value)}, not true or false")
    return value


def said(value: object, where: str) -> str:
    """``value`` as text that says something, storable, without white space around it."""
    text = storable(value).strip() if isinstance(value, str) else ""
    if not text:
        raise Unreadable(f"{where} is {_shown(value)}, not a text")
    return text


def quoted(value: object, where: str, source: str) -> Quotation:
    """``value`` as a quotation, and whether it occurs in its source.

    :raises Unreadable: where it holds no letter and no digit, so that nothing rests on it.
    """
    text = said(value, where)
    if not any(map(str.isalnum, text)):
        raise Unreadable(f"{where} is {_shown(value)}, which quotes nothing")
    return Quotation(text, occurs(text, source))


def occurs(quotation: str, source: str) -> bool:
    """Whether a quotation stands in its source, signs of quotation, white space and NFC apart.

    Invisible characters (soft hyphens, zero widths, marks of direction) do not count either; upper
    and lower case do.
    """
    return _alike(quotation).strip("' ") in _alike(source)


def unfound(verdict: object) -> tuple[Quotation, ...]:
    """Every quotation in a verdict that does not occur in its source, in order."""
    return tuple(one for one in _quotations(verdict) if not one.found)


def _quotations(value: object) -> Iterator[Quotation]:
    if isinstance(value, Quotation):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _quotations(item)
    elif is_dataclass(value):
        for one in fields(value):
            yield from _quotations(getattr(value, one.name))


def _alike(text: str) -> str:
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    normal = unicodedata.normalize("NFC", visible).translate(_QUOTATION_MARKS)
    return " ".join(normal.split())


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            item
            for one in level
            if isinstance(one, dict | list)
            for item in (one.values() if isinstance(one, dict) else one)
        ]
    return depth


def _same(one: object, other: object) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)  # 1 is not true


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unreadable("an object of the reply has a key twice")
    return found


def _no_constant(name: str) -> Any:
    raise Unreadable(f"the reply holds {name}, which is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
