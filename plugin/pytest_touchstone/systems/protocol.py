"""How a system is asked, and what is made of whatever it returns.

A system is an object with ``ask(messages, session) -> Answer``, sync or async, or a function
of that form.  An optional ``retrieve(messages, session) -> Retrieval`` is called instead where
only retrieval is measured, so that no generation is paid for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import starmap
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_touchstone.storable import json_data, storable
from pytest_touchstone.trace import Answer, Message, Passage, Retrieval, Usage

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Returned = TypeVar("Returned", Answer, Retrieval)


@dataclass(slots=True)
class Session:
    """One conversation with one system.  ``state`` is the system's own to use.

    A session lives as long as its case; it is never shared between cases, systems or processes.
    """

    id: str
    state: dict[str, Any] = field(default_factory=dict)


class System(Protocol):
    """Anything that answers a conversation.  ``messages`` ends with the user's question."""

    def ask(self, messages: Sequence[Message], session: Session) -> Answer | Awaitable[Answer]: ...


class InvalidAnswer(Exception):  # noqa: N818 - it becomes a fault of the system, not of ours
    """What the system returned is no answer; one line that names the field."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A system ready to be asked.

    :param identity: what its answers depend on (import path, options, model), for the report.
    :param concurrency: calls in flight; ``None`` means the default for its kind.
    :param timeout: seconds for one turn.
    :param source: digest of the files that define it, as far as they can be seen.
    """

    name: str
    ask: Callable[..., Any]
    retrieve: Callable[..., Any] | None
    identity: dict[str, Any]
    timeout: float
    concurrency: int | None = None
    source: str = ""


def as_answer(returned: object) -> Answer:
    """Check what ``ask`` returned: an :class:`Answer`, or a mapping with its fields.

    :raises InvalidAnswer: naming the field, e.g. ``passages.2.id: Field required``.
    """
    return _checked(Answer, returned)


def as_retrieval(returned: object) -> Retrieval:
    """Check what ``retrieve`` returned: a :class:`Retrieval`, a mapping, or just passages.

    :raises InvalidAnswer: naming the field.
    """
    if isinstance(returned, list | tuple):
        returned = {"passages": returned}
    return _checked(Retrieval, returned)


def _checked(form: type[Returned], returned: object) -> Returned:
    from pydantic import ValidationError

    _refuse_lazy(returned)
    try:
        value: Returned = _adapters()[form].validate_python(returned)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or form.__name__
        raise InvalidAnswer(storable(f"{where}: {first['msg']}")) from None
    except Exception as error:
        raise InvalidAnswer(_unreadable(form.__name__, error)) from error
    # What goes into store and report is JSON: refuse here what is none.
    filters = None if value.filters is None else _json_data(value.filters, "filters")
    passages = tuple(_passage(rank, passage) for rank, passage in enumerate(value.passages))
    usage = None if value.usage is None else tuple(starmap(_usage, enumerate(value.usage)))
    value = replace(value, passages=passages, filters=filters, usage=usage)
    if isinstance(value, Retrieval):
        return value
    return replace(
        value,
        text=storable(value.text),
        citations=None if value.citations is None else tuple(map(storable, value.citations)),
    )


def _refuse_lazy(returned: object) -> None:
    """What is made while it is read may take for ever, and no deadline would hold it."""
    found: object
    if isinstance(returned, Mapping):
        found = returned.get("passages", ())
    else:
        found = getattr(returned, "passages", ())
    if not isinstance(found, list | tuple):
        raise InvalidAnswer(f"passages: is a {type(found).__name__}, not a list or tuple")


def _passage(rank: int, passage: Passage) -> Passage:
    if not passage.id.strip():
        raise InvalidAnswer(f"passages.{rank}.id: is empty; a passage is known by its chunk's id")
    metadata = _json_data(passage.metadata, f"passages.{rank}.metadata")
    return Passage(storable(passage.id), storable(passage.text), passage.score, metadata)


def _usage(index: int, call: Usage) -> Usage:
    if min(call.input_tokens, call.cached_input_tokens, call.output_tokens) < 0:
        raise InvalidAnswer(f"usage.{index}: a number of tokens is negative")
    if call.cached_input_tokens > call.input_tokens:
        raise InvalidAnswer(
            f"usage.{index}: more cached input tokens than input tokens"
            " (input_tokens includes the cached ones)"
        )
    return replace(call, model=storable(call.model))


def _json_data(value: object, where: str) -> Any:
    try:
        return json_data(value, where)
    except ValueError as error:
        raise InvalidAnswer(str(error)) from None
    except Exception as error:
        raise InvalidAnswer(_unreadable(where, error)) from error


def _unreadable(where: str, error: Exception) -> str:
    """What is returned may run code of its own when it is looked into, which may fail."""
    return storable(f"{where} cannot be read: {type(error).__name__}: {error}")


@cache
def _adapters() -> dict[type, TypeAdapter[Any]]:
    # Made once, and late: pydantic is not imported where nothing is asked.
    from pydantic import TypeAdapter

    return {Answer: TypeAdapter(Answer), Retrieval: TypeAdapter(Retrieval)}
