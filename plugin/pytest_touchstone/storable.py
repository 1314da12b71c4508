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
    return _copied(value, (where,) if where else ())


def _copied(value: object, path: tuple[str, ...]) -> Any:
    if type(value) in _AS_IT_IS:
        return value
    if isinstance(value, str):
        # Plain: a member of a `str` enumeration would be written by its name in some places.
        return storable(str.__str__(value))
    if isinstance(value, int):
        if value.bit_length() > _LONGEST_INTEGER:
            raise _fault(path, "is too large a number")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _fault(path, f"is {value}, not a finite number")
        return float(value)
    if len(path) > _DEEPEST:
        raise _fault(path[:1], "is nested too deeply")
    if isinstance(value, Mapping):
        return {_key(key, path): _copied(item, (*path, str(key))) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item, (*path, str(index))) for index, item in enumerate(value)]
    kind = type(value)
    raise _fault(path, f"is a {kind.__module__}.{kind.__qualname__}, which is no JSON data")


def _key(key: object, path: tuple[str, ...]) -> str:
    if not isinstance(key, str):
        raise _fault(path, f"has a key that is no string but a {type(key).__qualname__}")
    return storable(str.__str__(key))


def _fault(path: tuple[str, ...], message: str) -> ValueError:
    return ValueError(f"{storable('.'.join(path)) or 'the value'} {message}")
