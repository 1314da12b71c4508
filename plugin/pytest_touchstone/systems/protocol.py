"""How a system is asked, and what is made of whatever it returns.

A system is an object with ``ask(messages, session) -> Answer``, sync or async, or a function
of that form.  An optional ``retrieve(messages, session) -> Retrieval`` is called instead where
only retrieval is measured, so that no generation is paid for.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

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
    """

    name: str
    ask: Callable[..., Any]
    retrieve: Callable[..., Any] | None
    identity: dict[str, Any]
    timeout: float
    concurrency: int | None = None


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

    try:
        value: Returned = _adapters()[form].validate_python(returned)
        # What goes into store and report is JSON: refuse here what is none.
        json.dumps(None if value.filters is None else dict(value.filters), allow_nan=False)
        passages = tuple(_storable_passage(rank, p) for rank, p in enumerate(value.passages))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or form.__name__
        raise InvalidAnswer(f"{where}: {first['msg']}") from None
    except (TypeError, ValueError) as error:
        raise InvalidAnswer(f"metadata or filters are not JSON data: {error}") from None
    _check_usage(value.usage or ())
    if isinstance(value, Retrieval):
        return replace(value, passages=passages)
    return replace(value, text=_storable(value.text), passages=passages)


def _storable_passage(rank: int, passage: Passage) -> Passage:
    if not passage.id.strip():
        raise InvalidAnswer(f"passages.{rank}.id: is empty; a passage is known by its chunk's id")
    metadata = json.loads(json.dumps(dict(passage.metadata), allow_nan=False))
    return replace(
        passage, id=_storable(passage.id), text=_storable(passage.text), metadata=metadata
    )


def _check_usage(usage: Sequence[Usage]) -> None:
    for index, call in enumerate(usage):
        if min(call.input_tokens, call.cached_input_tokens, call.output_tokens) < 0:
            raise InvalidAnswer(f"usage.{index}: a number of tokens is negative")
        if call.cached_input_tokens > call.input_tokens:
            raise InvalidAnswer(
                f"usage.{index}: more cached input tokens than input tokens"
                " (input_tokens includes the cached ones)"
            )


def _storable(text: str) -> str:
    """``text`` with lone surrogates replaced: they cannot be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@cache
def _adapters() -> dict[type, TypeAdapter[Any]]:
    # Made once, and late: pydantic is not imported where nothing is asked.
    from pydantic import TypeAdapter

    return {Answer: TypeAdapter(Answer), Retrieval: TypeAdapter(Retrieval)}
