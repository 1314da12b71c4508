"""A language model as the judge.

Calling it is somebody else's work: :class:`LLMJudge` is given a function that answers a
:class:`ChatRequest`, with limits, retries and the cache behind it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pytest_touchstone.judge.protocol import Judged
from pytest_touchstone.judge.reading import Unreadable, parse_reply, unfound
from pytest_touchstone.judge.tasks import PROMPTS, Task, json_line
from pytest_touchstone.llm.chat import ChatError, Completion, FaultKind
from pytest_touchstone.llm.prompts import Prompt, PromptError
from pytest_touchstone.score import BUDGET, JUDGE_UNREACHABLE, NOT_RECORDED
from pytest_touchstone.trace import Message, Usage
from pytest_touchstone.verdicts import NoVerdict

V = TypeVar("V")

AGAIN = "judge_again"
"""The prompt that names the fault of a reply and asks for another."""
ALL_PROMPTS: Mapping[str, frozenset[str]] = {**PROMPTS, AGAIN: frozenset({"fault"})}
"""Every prompt that :class:`LLMJudge` needs, with its placeholders."""

_LONGEST_QUOTATION_SHOWN = 200
_REASONS: Mapping[FaultKind, str] = {
    "refused": "judge_refused",
    "truncated": "judge_truncated",
    "bad_reply": "judge_unreadable",
    "not_installed": "no_judge",
    "budget": BUDGET,
    "not_recorded": NOT_RECORDED,
}
CUT_OFF = NoVerdict(
    "judge_truncated",
    "the reply was cut off at the token limit; raise `max_tokens` of the prompt",
)


def not_answered(error: ChatError) -> NoVerdict:
    """Why there is no verdict where the call itself failed."""
    return NoVerdict(_REASONS.get(error.kind, JUDGE_UNREACHABLE), error.message)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call to the judge's model, complete but for the model itself.

    :param params: parameters of the call, such as ``temperature``.
    :param schema: JSON Schema of the reply.
    """

    messages: tuple[Message, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None

    def canonical(self) -> str:
        """The request as JSON that is the same for equal requests: what a key is made from."""
        data = {
            "messages": [[message.role, message.content] for message in self.messages],
            "params": self.params,
            "schema": self.schema,
        }
        return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


class LLMJudge:
    """Judges by asking a model, at most twice a task.

    A reply that cannot be read, or that quotes what does not stand in the text, is asked again
    once with the fault named.  Then an unreadable one is no verdict, and a quotation that still is
    not found stays, marked so.

    :param ask: one call, retries included; it fails with :class:`ChatError`.
    :param prompts: by name, all of :data:`ALL_PROMPTS`.
    :raises PromptError: where a prompt is missing, has other placeholders or no schema.
    """

    def __init__(
        self,
        ask: Callable[[ChatRequest], Awaitable[Completion]],
        prompts: Mapping[str, Prompt],
    ) -> None:
        for name, placeholders in ALL_PROMPTS.items():
            _check(name, placeholders, prompts.get(name))
        self._ask = ask
        self._prompts = prompts

    async def judge(self, task: Task[V]) -> Judged[V]:
        """See :class:`~pytest_touchstone.judge.protocol.Judge`."""
        if task.settled is not None:
            return Judged(task.settled)
        request = self._request(task)
        first = await self._attempt(task, request)
        if first.fault is None:
            return first.judged
        again = await self._attempt(task, self._again(request, first))
        calls = first.judged.calls + again.judged.calls
        # A quotation that is asked again must not cost the verdict that there was.
        kept = again if again.judged.verdict is not None or first.judged.verdict is None else first
        return replace(kept.judged, calls=calls)

    def _request(self, task: Task[V]) -> ChatRequest:
        prompt = self._prompts[task.prompt]
        message = Message("user", prompt.fill(**task.data))
        return ChatRequest((message,), prompt.params, prompt.schema)

    def _again(self, request: ChatRequest, attempt: _Attempt[V]) -> ChatRequest:
        fault = json_line(fault=attempt.fault)
        more = Message("user", self._prompts[AGAIN].fill(fault=fault))
        reply = Message("assistant", attempt.text)
        return replace(request, messages=(*request.messages, reply, more))

    async def _attempt(self, task: Task[V], request: ChatRequest) -> _Attempt[V]:
        try:
            completion = await self._ask(request)
        except ChatError as error:
            usage = (error.usage,) if error.usage else ()
            return _Attempt(Judged(None, not_answered(error), usage))
        if completion.finish_reason == "length":
            return _Attempt(_judged(completion, None, CUT_OFF))
        try:
            verdict = task.read(parse_reply(completion.text))
        except Unreadable as error:
            failure = NoVerdict("judge_unreadable", error.why)
            return _Attempt(_judged(completion, None, failure), error.why, completion.text)
        missing = [one.text[:_LONGEST_QUOTATION_SHOWN] for one in unfound(verdict)]
        fault = (
            f"not found word for word in the text quoted: {json.dumps(missing, ensure_ascii=False)}"
        )
        return _Attempt(_judged(completion, verdict), fault if missing else None, completion.text)


@dataclass(frozen=True, slots=True)
class _Attempt(Generic[V]):
    """One call: what came of it, and the fault to ask again for, where that may help."""

    judged: Judged[V]
    fault: str | None = None
    text: str = ""


def _judged(
    completion: Completion, verdict: V | None, failure: NoVerdict | None = None
) -> Judged[V]:
    calls: tuple[Usage | None, ...] = (completion.usage,)
    return Judged(verdict, failure, calls, completion.model, completion.fingerprint)


def _check(name: str, placeholders: frozenset[str], prompt: Prompt | None) -> None:
    if prompt is None:
        raise PromptError(f"prompt {name}: is missing among the judge's prompts")
    if prompt.placeholders != placeholders:
        expected = ", ".join(sorted(placeholders))
        raise PromptError(f"prompt {name}: must have exactly the placeholders {expected}")
    if name != AGAIN and prompt.schema is None:
        raise PromptError(f"prompt {name}: front matter lacks the `schema` of the reply")
