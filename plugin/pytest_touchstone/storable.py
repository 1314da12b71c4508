"""Text and data that every database, file and browser can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_AS_IT_IS = frozenset({bool, type(None)})
_DEEPEST = 64
_LONGEST_INTEGER = 4096  # bits; Python itself refuses to write far longer ones


def storable(text: str) -> str:
    """``text`` with what cannot be stored replaced by U+FFFD.

    That is half of a surrogate pair, which UTF-8 cannot write, and NUL, which PostgreSQL
    refuses.
    """
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd")


def json_data(value: object, where: str = "") -> Any:
    """A copy of ``value`` as JSON data: dicts, lists, plain scalars, storable text.

    :param where: path of the value, for the message: ``filters.year``.
    :raises ValueError: naming the path of what is no JSON data, such as a set, a date, NaN or
        a key that is no string.
    """
    try:
        return _copied(value, _DEEPEST - bool(where))
    except _NoDataError as fault:
        path = [*([where] if where else ()), *reversed(fault.steps)]
        shown = path[:1] if fault.whole else path
        raise ValueError(f"{storable('.'.join(shown)) or 'the value'} {fault}") from None


class _NoDataError(Exception):
    """What is no JSON data.

    :ivar steps: where it is, from the innermost outwards: put together on the way out, for next to
        nothing is at fault.
    :ivar whole: the fault is that of the whole value, wherever it shows.
    """

    def __init__(self, message: str, *, whole: bool = False) -> None:
        super().__init__(message)
        self.steps: list[str] = []
        self.whole = whole


def _copied(value: object, deeper: int) -> Any:
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if isinstance(value, str):
        # Plain: a member of a `str` enumeration would be written by its name in some places.
        return storable(str.__str__(value))
    if isinstance(value, int):
        if value.bit_length() > _LONGEST_INTEGER:
            raise _NoDataError("is too large a number")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _NoDataError(f"is {value}, not a finite number")
        return float(value)
    if deeper < 0:
        raise _NoDataError("is nested too deeply", whole=True)
    if isinstance(value, list | tuple):
        return [_item(index, item, deeper) for index, item in enumerate(value)]
    if kind is dict or isinstance(value, Mapping):  # asking the abstract type takes longer
        items = value.items()  # type: ignore[attr-defined]
        return {_key(key): _item(key, item, deeper) for key, item in items}
    raise _NoDataError(f"is a {kind.__module__}.{kind.__qualname__}, which is no JSON data")


def _item(step: object, item: object, deeper: int) -> Any:
    try:
        return _copied(item, deeper - 1)
    except _NoDataError as fault:
        fault.steps.append(str(step))
        raise


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise _NoDataError(f"has a key that is no string but a {type(key).__qualname__}")
    return storable(str.__str__(key))
