"""A chat client for any OpenAI-compatible URL: one call, one completion or one classified fault.

Retries, deadlines over several tries and limits belong to the flight: the SDK's own retries are
off, and a fault says whether trying again may help.  Replies are read from the raw JSON, since
servers that call themselves compatible differ in what they leave out.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import urlsplit

from pytest_touchstone.llm.wire import LONGEST_REPLY, Reply, ReplyTooLong, Wire
from pytest_touchstone.settings import GeneratorSettings
from pytest_touchstone.trace import Message, Usage
from pytest_touchstone.unusable import Unusable

if TYPE_CHECKING:
    import openai

FaultKind = Literal[
    "rate_limited",
    "server_error",
    "timeout",
    "connection",
    "refused",
    "truncated",
    "bad_reply",
    "unauthorized",
    "unknown_model",
    "bad_request",
    "not_installed",
    "budget",
    "not_recorded",
]
ReplyForm = Literal["json_schema", "json_object", "none"]
REPLY_FORMS: tuple[ReplyForm, ...] = get_args(ReplyForm)
"""How a server is told the form of the reply, the strictest first."""
RETRYABLE: frozenset[FaultKind] = frozenset(
    {"rate_limited", "server_error", "timeout", "connection", "bad_reply"}
)
NO_KEY = "none"
"""Sent where no key is set: servers of one's own want none, and the SDK insists on one."""

_LONGEST_MESSAGE = 300
_LONGEST_WAIT_S = 999_999_999.0
_LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|rk)-[\w*.-]{6,}|(?i:bearer)\s+[\w.~+/=-]{8,}")
_REFUSALS: Mapping[str, re.Pattern[str]] = {
    "temperature": re.compile(r"temperature.*(support|default|deprecated)|support.*temperature"),
    "seed": re.compile(r"\bseed\b.*(support|permitted|forbidden|allowed)|(support|unknown|unrecogni"
                       r"[sz]ed|unexpected|extra|forbidden|permitted).*\bseed\b", re.DOTALL),
}  # fmt: skip
_REFUSED_FORM = re.compile(
    r"response_?format|json_?schema|json_?object|json mode|structured output|grammar"
)
_STATUS_KINDS: Mapping[int, FaultKind] = {
    401: "unauthorized",
    403: "unauthorized",
    404: "unknown_model",
    408: "timeout",
    409: "server_error",
    429: "rate_limited",
}


class ChatError(Unusable):
    """Why a call gave no usable completion.

    :ivar kind: what went wrong, one of :data:`FaultKind`.
    :ivar message: one line for a reader, without any key.
    :ivar retryable: whether the same call may succeed later.
    :ivar retry_after: seconds that the server asks to wait, where it says so.
    :ivar usage: tokens that were paid for nevertheless (an answer cut off still costs).
    """

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        *,
        retryable: bool | None = None,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind
        self.message = message
        self.retryable = kind in RETRYABLE if retryable is None else retryable
        self.retry_after = retry_after
        self.usage = usage


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model said.

    :param text: never empty.
    :param usage: tokens under the name of the model that was *asked for* (prices are looked up
        by it); ``None`` where the server does not count them.
    :param finish_reason: ``"stop"``, ``"length"`` (the text is cut off), ...
    :param fingerprint: ``system_fingerprint``, where the server gives one.
    :param model: the model that the server says answered.
    """

    text: str
    usage: Usage | None = None
    finish_reason: str | None = None
    fingerprint: str | None = None
    model: str | None = None


class Chat:
    """One model behind one OpenAI-compatible URL.  Use it from one event loop, then close it.

    :param url: ``None`` is the SDK's own default.
    :param timeout: seconds for one call as a whole, reply included.
    :param defaults: parameters of every call (``temperature``, ``max_tokens``, ...); those that
        are ``None`` are not sent.
    """

    def __init__(
        self,
        model: str,
        *,
        url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        **defaults: Any,
    ) -> None:
        self.model = model
        self._api_key = api_key
        self._timeout = timeout
        self._defaults = defaults
        self._refused: set[str] = set()
        self._reply_form: ReplyForm = REPLY_FORMS[0]
        self._wants_max_completion_tokens = False
        try:
            self._wire = Wire(url, api_key or NO_KEY)
        except ImportError:
            raise ChatError(
                "not_installed",
                "the OpenAI client is not installed: pip install 'pytest-touchstone[openai]'",
            ) from None
        self._where = f"{model} at {self._wire.host}"

    async def complete(
        self,
        messages: Sequence[Message | Mapping[str, str]],
        *,
        schema: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> Completion:
        """The model's reply to the messages.

        Where the server refuses ``temperature`` (reasoning models do) or ``seed``, wants
        ``max_completion_tokens`` for ``max_tokens``, or does not know the form of reply asked for,
        the call is made again as it wants it, and all later ones are made that way at once.

        :param schema: a JSON Schema that the reply is to follow: sent as ``json_schema`` where the
            server knows that, else as JSON mode, else not at all.  The reply is *not* checked.
        :raises ChatError: for every failure, of whatever kind.
        """
        wanted = {**self._defaults, **params}
        while True:
            sent = self._adapted(wanted, schema)
            try:
                return await self._once(messages, sent)
            except ChatError as error:
                if not self._adapt(error, sent):
                    raise

    async def aclose(self) -> None:
        """Close the connections."""
        await self._wire.aclose()

    def _adapted(
        self, params: Mapping[str, Any], schema: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        sent = {
            name: value
            for name, value in params.items()
            if value is not None and name not in self._refused
        }
        if self._wants_max_completion_tokens and "max_tokens" in sent:
            sent["max_completion_tokens"] = sent.pop("max_tokens")
        if schema is not None and self._reply_form != "none":
            sent["response_format"] = _response_format(self._reply_form, schema)
        return sent

    def _adapt(self, error: ChatError, sent: Mapping[str, Any]) -> bool:
        """Learn from a refusal.  True where the next call will differ from the one refused."""
        if error.kind != "bad_request":
            return False
        said = error.message.casefold()
        if "response_format" in sent and _REFUSED_FORM.search(said):
            # Calls in flight together are refused together: each moves on from what *it* sent.
            tried = REPLY_FORMS.index(sent["response_format"]["type"])
            known = REPLY_FORMS.index(self._reply_form)
            self._reply_form = REPLY_FORMS[max(tried + 1, known)]
            return True
        if "max_tokens" in sent and "max_completion_tokens" in said:
            self._wants_max_completion_tokens = True
            return True
        for name, refusal in _REFUSALS.items():
            if name in sent and refusal.search(said):
                self._refused.add(name)
                return True
        return False

    async def _once(
        self, messages: Sequence[Message | Mapping[str, str]], params: Mapping[str, Any]
    ) -> Completion:
        body = {"model": self.model, "messages": [_as_dict(m) for m in messages], **params}
        try:
            async with asyncio.timeout(self._timeout):
                reply = await self._wire.complete(body)
        except TimeoutError:
            raise ChatError(
                "timeout", f"{self._where}: no reply within {self._timeout:g} s"
            ) from None
        except ReplyTooLong:
            said = f"{self._where}: the reply is longer than {LONGEST_REPLY >> 20} MB: not read on"
            raise ChatError("bad_reply", said) from None
        except Exception as error:  # noqa: BLE001 - what is no HTTP at all fails in many ways
            raise _no_reply(error, self._api_key, self._where) from None
        if reply.is_success:
            return _completion(reply, self.model, self._where)
        raise _status_error(reply, self._api_key, self._where)


def open_chat(settings: GeneratorSettings) -> Chat:
    """The chat client that the settings describe."""
    return Chat(
        settings.effective_model,
        url=settings.url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        timeout=settings.timeout,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
    )


def chat_error(error: openai.OpenAIError, api_key: str | None, where: str) -> ChatError:
    """The SDK's exception as a classified fault, with every key taken out of its words.

    :param where: model and host, for the message.
    """
    import openai

    if isinstance(error, openai.APIStatusError):
        return _status_error(error.response, api_key, where)
    if isinstance(error, openai.APITimeoutError):
        return ChatError("timeout", f"{where}: no reply in time")
    if isinstance(error, openai.APIConnectionError):
        return _no_reply(error, api_key, where)
    return ChatError("bad_reply", f"{where}: unusable reply: {redacted(str(error), api_key)}")


def redacted(text: str, api_key: str | None) -> str:
    """``text`` as one line of bounded length, without the key and without what looks like one."""
    if api_key and api_key != NO_KEY:
        text = text.replace(api_key, "***")
    text = " ".join(_LOOKS_LIKE_A_KEY.sub("***", text).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds to wait from a ``Retry-After`` header: seconds or an HTTP date (RFC 9110, 10.2.3).

    ``None`` where there is no header or it makes no sense; a date in the past is 0.  What is longer
    than some thirty years is as long as that.
    """
    if value is None:
        return None
    value = value.strip()
    if re.fullmatch(r"\d+(\.\d+)?", value, re.ASCII):
        return min(float(value), _LONGEST_WAIT_S)
    moment = _moment(value)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def _moment(date: str) -> datetime | None:
    """An HTTP date; ``None`` where it is none."""
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _no_reply(error: Exception, api_key: str | None, where: str) -> ChatError:
    """Why there is no reply: what happened is at the end of the chain of causes.

    Its name alone says nothing: the aiohttp transport calls a connection that the server closed or
    refused a timeout.
    """
    causes: list[BaseException] = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return ChatError("timeout", f"{where}: no reply in time")
    why = redacted(str(causes[-1]) or type(causes[-1]).__name__, api_key)
    return ChatError("connection", f"{where}: no connection: {why}")


def _status_error(reply: Reply, api_key: str | None, where: str) -> ChatError:
    status, text = reply.status_code, reply.text
    detail = _error_in(text)
    code = str(detail.get("code") or detail.get("type") or "")
    kind: FaultKind = _STATUS_KINDS.get(status, "server_error" if status >= 500 else "bad_request")
    if kind == "bad_request" and "content_filter" in code:
        kind = "refused"
    said = _redirected(reply) or detail.get("message") or text.strip() or "no reason given"
    message = f"{where}: HTTP {status}: {redacted(str(said), api_key)}"
    if code == "insufficient_quota":
        return ChatError(kind, f"{message} (no quota left: waiting does not help)", retryable=False)
    # By the server's own clock, where it tells it: ours may be wrong.
    now = _moment(reply.headers.get("date") or "") or datetime.now(UTC)
    wait = retry_after(reply.headers.get("retry-after"), now)
    return ChatError(kind, message, retry_after=wait)


def _redirected(reply: Reply) -> str | None:
    """Where a redirect that was not followed leads: the host alone, for the rest may be secret."""
    if not 300 <= reply.status_code < 400 or not (target := reply.headers.get("location")):
        return None
    try:
        parts = urlsplit(target)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    where = "another path of the same host" if host is None else host
    where += f":{port}" if host is not None and port is not None else ""
    return f"the server redirects to {where}; write the URL that it redirects to into the settings"


def _error_in(text: str) -> Mapping[str, Any]:
    """What the body of a refusal says of itself; empty where it is not of the usual form."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    detail = body.get("error", body) if isinstance(body, dict) else None
    return detail if isinstance(detail, dict) else {}


def _response_format(form: ReplyForm, schema: Mapping[str, Any]) -> dict[str, Any]:
    if form == "json_object":
        return {"type": form}
    return {"type": form, "json_schema": {"name": "reply", "strict": True, "schema": schema}}


def _as_dict(message: Message | Mapping[str, str]) -> dict[str, str]:
    if isinstance(message, Message):
        return {"role": message.role, "content": message.content}
    return dict(message)


def _completion(raw: Reply, model: str, where: str) -> Completion:
    """The completion in the body of a reply with status 200."""
    try:
        reply = _parsed(raw)
    except (ValueError, RecursionError):
        raise ChatError(
            "bad_reply", f"{where}: the reply is not JSON: {redacted(raw.text[:80], None)}"
        ) from None
    usage = _usage(reply, model)
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ChatError("bad_reply", f"{where}: the reply has no choices", usage=usage)
    message = choices[0].get("message")
    finish = choices[0].get("finish_reason")
    content = message.get("content") if isinstance(message, dict) else None
    refusal = message.get("refusal") if isinstance(message, dict) else None
    said = _clean(content) if isinstance(content, str) else ""
    if finish == "content_filter" or (refusal and not said):
        why = redacted(str(refusal or "content filter"), None)
        raise ChatError("refused", f"{where}: refused: {why}", usage=usage)
    if not said and finish == "length":
        raise ChatError(
            "truncated",
            f"{where}: the token limit was reached before any text; raise `max_tokens`",
            usage=usage,
        )
    if not said:
        raise ChatError("bad_reply", f"{where}: the reply has no content", usage=usage)
    return Completion(
        said,
        usage,
        _text(finish),
        _text(reply.get("system_fingerprint")),
        _text(reply.get("model")),
    )


def _parsed(raw: Reply) -> Any:
    try:
        return json.loads(raw.content)
    except UnicodeDecodeError:  # JSON is UTF-8, but who knows
        return json.loads(raw.text)


def _clean(text: str) -> str:
    """``text`` without white space around it, and encodable (no half surrogate pairs, no NUL)."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "").strip()


def _text(value: Any) -> str | None:
    return _clean(value) if isinstance(value, str) else None


def _usage(reply: Any, model: str) -> Usage | None:
    """Tokens as the server counted them, or ``None`` where it does not say."""
    counted = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(counted, dict):
        return None
    prompt, output = _count(counted, "prompt_tokens"), _count(counted, "completion_tokens")
    if prompt is None or output is None:
        return None
    details = counted.get("prompt_tokens_details")
    cached = _count(details, "cached_tokens") if isinstance(details, dict) else None
    return Usage(model, prompt, min(cached or 0, prompt), output)


def _count(data: Mapping[str, Any], name: str) -> int | None:
    value = data.get(name)
    valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if valid else None
