"""A model's words without secrets: a server may say again what it was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_touchstone.llm.chat import Chat, ChatError, Completion
from pytest_touchstone.redact import Redact
from pytest_touchstone.trace import Message


class Masked:
    """A :class:`~pytest_touchstone.llm.chat.Chat` out of which no known secret comes.

    :param mask: takes known secrets out of a text.
    """

    def __init__(self, chat: Chat, mask: Redact) -> None:
        self.model = chat.model
        self._chat = chat
        self._mask = mask

    async def complete(
        self,
        messages: Sequence[Message | Mapping[str, str]],
        *,
        schema: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> Completion:
        """See :meth:`pytest_touchstone.llm.chat.Chat.complete`."""
        try:
            said = await self._chat.complete(messages, schema=schema, **params)
        except ChatError as error:
            error.message = self._mask(error.message)
            error.args = (error.message,)
            raise
        return replace(
            said,
            text=self._mask(said.text),
            finish_reason=self._maybe(said.finish_reason),
            fingerprint=self._maybe(said.fingerprint),
            model=self._maybe(said.model),
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._chat.aclose()

    def _maybe(self, text: str | None) -> str | None:
        return None if text is None else self._mask(text)
