"""Which calls the verdicts on one answer rest on, noted by whoever makes them."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from pytest_touchstone.llm.chat import ChatError

FAULT = "fault"
"""In a use's result: kind and message of what went wrong with the call."""

Uses = dict[str, Any]
"""Key of a call to its result, where that is not kept for others; ``None`` where it is."""

_trail: ContextVar[Uses | None] = ContextVar("touchstone_trail", default=None)


def begin_trail() -> Uses:
    """From now on this task, and those that it starts, note the calls they use here."""
    uses: Uses = {}
    _trail.set(uses)
    return uses


def used(key: str, result: Mapping[str, Any] | None) -> None:
    """Note a call.

    :param result: its result, where it is not kept for others.
    """
    uses = _trail.get()
    if uses is not None:
        uses[key] = result


def failed(key: str, error: ChatError) -> None:
    """Note a call that came to nothing."""
    used(key, {FAULT: [error.kind, error.message]})


def checked(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result, unless a replayed run tells that the call came to nothing.

    :raises ChatError: what went wrong then.
    """
    if FAULT in result:
        kind, message = result[FAULT]
        raise ChatError(kind, message, retryable=False)
    return result
