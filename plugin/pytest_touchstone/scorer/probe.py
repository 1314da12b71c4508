"""What is found out about a scorer's server at the start: form, model, window, scale."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pytest_touchstone.flight.endpoint import Endpoint
from pytest_touchstone.llm.chat import ChatError
from pytest_touchstone.scorer.dialects import (
    Candidate,
    NoScoresError,
    base_path,
    candidates,
    read_scores,
)
from pytest_touchstone.scorer.pairs import PAIRS, Pair
from pytest_touchstone.scorer.scale import Decision, Probe, Unclear, decide, decide_asked
from pytest_touchstone.scorer.windows import estimated_tokens
from pytest_touchstone.scorer.wire import Wire
from pytest_touchstone.settings import ScorerSettings

DEFAULT_WINDOW = 512
"""Tokens that most cross-encoders take at least, where the server does not say how many."""
LARGEST_BATCH = 32
"""Sources in one request at most: what text-embeddings-inference takes by default."""

_NO_SUCH_ROUTE = frozenset({"unknown_model", "bad_request", "bad_reply"})
_SAME = 1e-3


class Tokenizer(NamedTuple):
    """How a server counts the tokens of a text."""

    path: str
    form: str

    def body(self, model: str, text: str) -> dict[str, Any]:
        """The request: vLLM's form, text-embeddings-inference's, or llama.cpp's."""
        if self.form == "prompt":
            return {"model": model, "prompt": text, "add_special_tokens": False}
        if self.form == "inputs":
            return {"inputs": text, "add_special_tokens": False}
        return {"content": text, "add_special": False}

    @staticmethod
    def read(reply: bytes) -> int | None:
        """The number of tokens, or ``None`` where the reply does not say."""
        try:
            said = json.loads(reply)
        except (ValueError, RecursionError):
            return None
        if isinstance(said, dict):
            said = said.get("tokens", said.get("count"))
        if isinstance(said, list) and len(said) == 1 and isinstance(said[0], list):
            said = said[0]
        count = len(said) if isinstance(said, list) else said
        return count if isinstance(count, int) and not isinstance(count, bool) else None


@dataclass(frozen=True, slots=True)
class Found:
    """A server that can be used.

    :param served: the model's name as the server has it, where it says.
    :param window: tokens of paragraph and source together.
    :param fields: what is sent beside paragraph and sources, to get values on the ``decision``'s
        scale.
    """

    candidate: Candidate
    served: str | None
    window: int
    batch: int
    tokenizer: Tokenizer | None
    decision: Decision
    fields: Mapping[str, bool]


async def find(wire: Wire, endpoint: Endpoint, settings: ScorerSettings) -> Found | Unclear:
    """What the server is and what its values mean.

    :raises ChatError: where it is out of reach, or answers in no form that is known.
    """
    probing = _Probing(wire, endpoint, settings)
    candidate = await probing.candidate()
    decided = await probing.decide(candidate)
    if isinstance(decided, Unclear):
        return decided
    facts = await probing.facts()
    tokenizer = await probing.tokenizer()
    fields = candidate.dialect
    asked = {"activated": fields.activated, "raw": fields.raw, None: {}}[decided.asking]
    window = settings.window or await probing.window(candidate, facts)
    return Found(candidate, facts.model, window, facts.batch, tokenizer, decided, asked)


class _Facts(NamedTuple):
    model: str | None = None
    window: int | None = None
    batch: int = LARGEST_BATCH
    splits: bool = True


class _Probing:
    def __init__(self, wire: Wire, endpoint: Endpoint, settings: ScorerSettings) -> None:
        self._wire = wire
        self._endpoint = endpoint
        self._model = settings.model
        self._setting = settings.scale
        self._base = base_path(settings.server)
        self._candidates = candidates(settings.server)

    async def candidate(self) -> Candidate:
        """The first form that the server answers with a value for each source."""
        refusals: list[ChatError] = []
        for one in self._candidates:
            try:
                await self._pair(one, PAIRS[0], 0, {})
            except ChatError as error:
                if error.kind not in _NO_SUCH_ROUTE:
                    raise
                refusals.append(error)
            else:
                return one
        raise await self._why_none(refusals)

    async def _why_none(self, refusals: list[ChatError]) -> ChatError:
        # Where there is no such route, another refusal says more than that there is none.
        told = [error for error in refusals if error.kind != "unknown_model"]
        about_model = [error for error in refusals if "model" in error.message.casefold()]
        last = (about_model or told or refusals)[0]
        served = (await self.facts()).model
        there = f"; it serves {served}: set `scorer.model`" if served else ""
        asked = f"no route here scores pairs with {self._model}: {last.message}{there}"
        return ChatError(last.kind, asked, retryable=False)

    async def decide(self, candidate: Candidate) -> Decision | Unclear:
        """What the values mean, by activation, setting or probe."""
        plain = await self._probe(candidate, {})
        if self._setting is None and (asked := await self._asked(candidate, plain)) is not None:
            return asked
        return decide(plain, self._setting)

    async def _asked(self, candidate: Candidate, plain: Probe) -> Decision | Unclear | None:
        """The decision where the server knows how to be asked for probabilities."""
        known = candidate.dialect
        first = (plain.covering[0], plain.unrelated[0])
        try:
            for fields in (known.raw, known.activated):
                if not _same(first, await self._pair(candidate, PAIRS[0], 0, fields)):
                    break
            else:
                return None
            activated = await self._probe(candidate, known.activated)
            return decide_asked(activated, await self._probe(candidate, known.raw))
        except ChatError as error:
            if error.kind == "bad_request":
                return None
            raise

    async def _probe(self, candidate: Candidate, fields: Mapping[str, bool]) -> Probe:
        rows = await asyncio.gather(
            *(self._pair(candidate, pair, number, fields) for number, pair in enumerate(PAIRS))
        )
        return Probe(tuple(row[0] for row in rows), tuple(row[1] for row in rows))

    async def _pair(
        self, candidate: Candidate, pair: Pair, number: int, fields: Mapping[str, bool]
    ) -> tuple[float, float]:
        """The values of the covering source and the unrelated one, asked for in turns' order."""
        sources = [pair.covering, pair.unrelated]
        turned = number % 2 == 1
        sent = candidate.dialect.body(self._model, pair.paragraph, sources[:: -1 if turned else 1])
        reply = await self._post(candidate.path, {**sent, **fields})
        try:
            values = read_scores(reply, len(sources))
        except NoScoresError as error:
            raise self._unreadable(candidate, str(error)) from None
        one, other = values[:: -1 if turned else 1]
        if one is None or other is None:
            raise self._unreadable(candidate, "a source has no finite value")
        return one, other

    async def facts(self) -> _Facts:
        """What the server says of itself, where it does."""
        info, models = await asyncio.gather(
            self._wire.get(f"{self._base}/info"), self._wire.get(f"{self._base}/v1/models")
        )
        if isinstance(info, dict) and isinstance(info.get("model_id"), str):
            batch = _count(info.get("max_client_batch_size")) or LARGEST_BATCH
            window = _count(info.get("max_input_length"))
            return _Facts(_name(info["model_id"]), window, min(batch, LARGEST_BATCH))
        rows = models.get("data") if isinstance(models, dict) else None
        rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        row = next((row for row in rows if row.get("id") == self._model), rows[0] if rows else {})
        meta = row.get("meta")
        inside = meta.get("n_ctx") if isinstance(meta, dict) else None
        window = _count(row.get("max_model_len")) or _count(inside)
        return _Facts(_name(row.get("id")), window, splits=row.get("owned_by") != "llamacpp")

    async def tokenizer(self) -> Tokenizer | None:
        """How the server counts tokens, where it does."""
        for form in ("prompt", "inputs", "content"):
            one = Tokenizer(f"{self._base}/tokenize", form)
            try:
                reply = await self._post(one.path, one.body(self._model, PAIRS[0].paragraph))
            except ChatError as error:
                if error.kind == "unknown_model":
                    return None
                continue
            # llama.cpp answers any form, with no token where it does not find its field.
            if one.read(reply):
                return one
        return None

    async def window(self, candidate: Candidate, facts: _Facts) -> int:
        """Tokens that a pair may have: as the server says, for llama.cpp as it does.

        llama.cpp's encoders take no more than its physical batch, which it does not tell until a
        pair is longer.
        """
        window = facts.window or DEFAULT_WINDOW
        if facts.splits:
            return window
        while window > DEFAULT_WINDOW:
            source = _filler(window)
            body = candidate.dialect.body(self._model, PAIRS[0].paragraph, [source])
            try:
                await self._post(candidate.path, body)
            except ChatError as error:
                if error.kind != "bad_request":
                    return DEFAULT_WINDOW
                said = re.search(r"current batch size: (\d{1,7})", error.message)
                window = min(int(said[1]) if said else window, window // 2)
            else:
                return window
        return max(window, 64)

    async def _post(self, path: str, body: dict[str, Any]) -> bytes:
        return await self._endpoint.call(lambda: self._wire.post(path, body))

    def _unreadable(self, candidate: Candidate, why: str) -> ChatError:
        where = f"{self._wire.host}{candidate.path}"
        return ChatError("bad_reply", f"{where}: {why}", retryable=False)


def _same(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return all(abs(a - b) <= _SAME for a, b in zip(one, other, strict=True))


def _filler(tokens: int) -> str:
    text = " ".join(pair.covering for pair in PAIRS)
    return " ".join([text] * max(1, int(tokens / estimated_tokens(text))))


def _count(value: Any) -> int | None:
    valid = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31
    return value if valid else None


def _name(value: Any) -> str | None:
    """A model's name; of a file on the server, its name alone."""
    if not isinstance(value, str) or not value:
        return None
    is_path = value.startswith("/") or value.endswith(".gguf")
    return (value.replace("\\", "/").rpartition("/")[2] if is_path else value)[:200]
