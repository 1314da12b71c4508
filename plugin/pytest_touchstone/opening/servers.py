"""Servers of language models, each with this process's share of its limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_touchstone.flight.endpoint import Endpoint
from pytest_touchstone.flight.pace import Pace
from pytest_touchstone.flight.waits import Told
from pytest_touchstone.llm.chat import open_chat
from pytest_touchstone.llm.masked import Masked
from pytest_touchstone.redact import Redact
from pytest_touchstone.settings import EXTRACTIVE, GeneratorSettings, JudgeSettings, Settings
from pytest_touchstone.systems.loading import Complete
from pytest_touchstone.trace import Usage


def open_generator(settings: Settings, mask: Redact) -> Masked | None:
    """The generator's client; ``None`` where answers are extracted from passages.

    :param mask: takes known secrets out of what it says.
    """
    generator = settings.generator
    if generator.effective_model == EXTRACTIVE:
        return None
    return Masked(open_chat(generator), mask)


def completer(chat: Masked | None, settings: Settings, workers: int, told: Told) -> Complete | None:
    """One call to the generator, with the run's limits and retries, for systems to use.

    :param told: told of long waits that it asks for.
    """
    if chat is None:
        return None
    endpoint = endpoint_for(
        settings.generator, settings, workers, lambda done: tokens_of(done.usage), told
    )
    return lambda messages: endpoint.call(lambda: chat.complete(messages))


def endpoint_for(
    server: GeneratorSettings | JudgeSettings,
    settings: Settings,
    workers: int,
    tokens_of: Callable[[Any], int | None],
    told: Told,
) -> Endpoint:
    """This process's share of a server's limits.

    :param told: told of long waits that it asks for.
    """
    calls, tokens = server.requests_per_minute, server.tokens_per_minute
    return Endpoint(
        limit=max(1, server.concurrency // workers),
        tries=server.tries,
        timeout=server.deadline,
        patience=settings.patience,
        pace=Pace(
            calls=None if calls is None else calls / workers,
            tokens=None if tokens is None else tokens / workers,
        ),
        tokens_of=tokens_of,
        told=told,
    )


def tokens_of(usage: Usage | None) -> int | None:
    """All tokens of a call, where they were counted."""
    return None if usage is None else usage.input_tokens + usage.output_tokens
