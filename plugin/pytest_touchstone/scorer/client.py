"""A scorer behind a server: paragraphs with their sources in, coverage out."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pytest_touchstone.flight.endpoint import Endpoint
from pytest_touchstone.flight.waits import Told
from pytest_touchstone.llm.chat import ChatError, FaultKind
from pytest_touchstone.redact import Redact
from pytest_touchstone.scorer.dialects import NoScoresError, read_scores
from pytest_touchstone.scorer.probe import Found, find
from pytest_touchstone.scorer.protocol import Covered, Reason, SwitchedOff
from pytest_touchstone.scorer.scale import Unclear, coverage
from pytest_touchstone.scorer.windows import clean, estimated_tokens, windows
from pytest_touchstone.scorer.wire import Wire
from pytest_touchstone.settings import ScorerSettings

T = TypeVar("T")
_SEPARATORS = 8
"""Tokens that a model puts around and between the two texts, and some to spare."""
_OVERLAP = 200
"""Tokens that neighbouring windows share: longer than nearly every sentence."""
_SMALLEST = 32
"""Tokens of a source in one window, below which a refusal is not about length."""
_LARGEST_REQUEST = 250_000
"""Characters of sources in one request."""
_COUNTED_AT_ONCE = 65_536
_FAILURES_TOLERATED = 40
"""Tries in a row without an answer, after which nobody waits for the scorer any more: so many, or
three for each call in flight."""
_WEIGHTS: Mapping[FaultKind, float] = {"rate_limited": 0.0, "bad_request": 0.1}
"""What counts for less than a failure: a limit is kept, and one pair refused is no dead server."""

_REASONS: Mapping[FaultKind, Reason] = {
    "bad_request": "scorer_refused",
    "unauthorized": "scorer_refused",
    "bad_reply": "scorer_unreadable",
    "not_installed": "scorer_not_installed",
}


async def open_scorer(
    settings: ScorerSettings,
    *,
    workers: int = 1,
    patience: float = 3600.0,
    mask: Redact = str,
    told: Told = lambda _: None,
) -> HttpScorer | SwitchedOff:
    """The scorer that the settings name, after one probe; close it on the same loop.

    It never raises for what the server does: whatever is wrong with it, the run goes on without.

    :param workers: processes that share the limit of calls in flight.
    :param patience: seconds that the server's rate limits may hold back one result.
    :param mask: takes known secrets out of what the server says of itself.
    :param told: told of long waits that the server asks for.
    """
    try:
        wire = Wire(settings, mask)
    except ChatError as error:
        return _off(error)
    limit = max(1, settings.concurrency // workers)
    # Nobody should wait at the start for a server that is not there.
    first = Endpoint(
        limit=limit,
        tries=min(2, settings.tries),
        timeout=settings.deadline,
        patience=min(patience, settings.deadline),
    )
    try:
        found = await find(wire, first, settings)
    except ChatError as error:
        await wire.aclose()
        return _off(error)
    except BaseException:
        await wire.aclose()
        raise
    if isinstance(found, Unclear):
        await wire.aclose()
        said = f"scorer switched off: {settings.model} at {wire.host}: {found.message}"
        return SwitchedOff("scorer_scale_unclear", said)
    endpoint = Endpoint(
        limit=limit,
        tries=settings.tries,
        timeout=settings.deadline,
        patience=patience,
        told=told,
    )
    tolerated = max(_FAILURES_TOLERATED, 3 * limit)
    return HttpScorer(wire, endpoint, settings.model, found, tolerated=tolerated)


def _off(error: ChatError) -> SwitchedOff:
    said = f"scorer switched off: {error.message}"
    if error.kind in ("connection", "timeout"):
        said += "; start it, or set `scorer.url` (SCORER_ENDPOINT)"
    elif error.kind == "unauthorized":
        said += "; set `scorer.api_key` (SCORER_API_KEY)"
    return SwitchedOff(_REASONS.get(error.kind, "scorer_unreachable"), said)


class HttpScorer:
    """A :class:`~pytest_touchstone.scorer.protocol.Scorer` behind a server that was probed.

    One paragraph with all its sources is one request, as far as they fit; a long source is read
    in overlapping windows, of which the best one counts.

    :param tolerated: tries in a row without an answer, after which no more are made.
    """

    def __init__(
        self, wire: Wire, endpoint: Endpoint, model: str, found: Found, *, tolerated: int
    ) -> None:
        self._wire = wire
        self._endpoint = endpoint
        self._model = model
        self._found = found
        self._failed_in_a_row = 0.0
        self._tolerated = tolerated
        self._lacking: Counter[Reason] = Counter()
        self._first_fault = ""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What the scores depend on, as JSON data without credentials, probe values included."""
        found, decision = self._found, self._found.decision
        return {
            "endpoint": self._wire.host,
            "route": found.candidate.path,
            "dialect": found.candidate.dialect.name,
            "model": self._model,
            "served": found.served,
            "scale": decision.scale,
            "scale_from": decision.source,
            "window": found.window,
            "probe": {
                "covering": [_rounded(value) for value in decision.probe.covering],
                "unrelated": [_rounded(value) for value in decision.probe.unrelated],
            },
        }

    @property
    def warning(self) -> str | None:
        """One line about the pairs that could not be scored so far; ``None`` where all were."""
        if not self._lacking:
            return None
        counts = ", ".join(f"{count} {reason}" for reason, count in sorted(self._lacking.items()))
        first = f"; the first: {self._first_fault}" if self._first_fault else ""
        pairs = self._lacking.total()
        return f"scorer: {pairs} pairs of paragraph and source have no coverage ({counts}){first}"

    async def aclose(self) -> None:
        """Close the connections."""
        await self._wire.aclose()

    async def cover(self, paragraph: str, sources: Sequence[str]) -> tuple[Covered, ...]:
        """See :class:`~pytest_touchstone.scorer.protocol.Scorer`."""
        # The place is held for the whole paragraph: what waits takes no memory for windows.
        async with self._endpoint.place:
            return self._noted(await self._covered(clean(paragraph), list(map(clean, sources))))

    async def _covered(self, paragraph: str, sources: Sequence[str]) -> list[Covered]:
        if not paragraph:
            return [Covered(None, 0, "no_text") for _ in sources]
        room = self._found.window - _SEPARATORS - estimated_tokens(paragraph)
        if room < _SMALLEST:
            return [Covered(None, 0, "paragraph_too_long") for _ in sources]
        parts = [await self._windows(source, room) for source in sources]
        scored = iter(await self._all(paragraph, [part for several in parts for part in several]))
        return [_best(list(itertools.islice(scored, len(several)))) for several in parts]

    async def _windows(self, text: str, room: float) -> list[str]:
        """The parts in which a source is scored; all of it is in them."""
        if estimated_tokens(text) <= room:
            return [text] if text else []
        tokens = room / await self._density(text)
        return windows(text, tokens, min(tokens / 4, _OVERLAP))

    async def _density(self, text: str) -> float:
        """Tokens of the server's own for one estimated token, a tenth to spare, by its count."""
        tokenizer = self._found.tokenizer
        if tokenizer is None:
            return 1.0
        highest = 0.0
        for start in range(0, len(text), _COUNTED_AT_ONCE):
            block = text[start : start + _COUNTED_AT_ONCE]
            body = tokenizer.body(self._model, block)
            try:
                count = await self._call(tokenizer.path, body, tokenizer.read)
            except ChatError:
                return 1.0
            if not count:
                return 1.0
            highest = max(highest, count / max(1, estimated_tokens(block)))
        return highest * 1.1

    async def _all(self, paragraph: str, sources: Sequence[str]) -> list[Covered]:
        scored: list[Covered] = []
        for batch in _batches(sources, self._found.batch):
            scored += await self._scored(paragraph, batch)
        return scored

    async def _scored(self, paragraph: str, sources: list[str]) -> list[Covered]:
        """The coverage of sources that fit the model's window, as far as is known."""
        found = self._found
        sent = found.candidate.dialect.body(self._model, paragraph, sources)
        try:
            values = await self._call(
                found.candidate.path,
                {**sent, **found.fields},
                lambda reply: read_scores(reply, len(sources)),
            )
        except ChatError as error:
            if error.kind == "bad_request" and not self._gave_up:
                return await self._apart(paragraph, sources, error)
            return self._lost(sources, error)
        scores = [
            None if value is None else coverage(value, found.decision.scale) for value in values
        ]
        lacking = [number for number, score in enumerate(scores) if score is None]
        covered = [Covered(score) for score in scores]
        if lacking and len(lacking) < len(sources):
            again = await self._scored(paragraph, [sources[number] for number in lacking])
            for number, one in zip(lacking, again, strict=True):
                covered[number] = one
        elif lacking:
            where = f"{self._wire.host}{found.candidate.path}"
            message = f"{where}: no value on the scale {found.decision.scale} for a source"
            return self._lost(sources, ChatError("bad_reply", message))
        return covered

    async def _apart(self, paragraph: str, sources: list[str], error: ChatError) -> list[Covered]:
        """One of the sources is refused: the long ones apart from the short, and parts of it."""
        if len(sources) > 1:
            order = sorted(range(len(sources)), key=lambda number: len(sources[number]))
            middle = (len(order) + 1) // 2
            covered: dict[int, Covered] = {}
            for half in (order[:middle], order[middle:]):
                scored = await self._scored(paragraph, [sources[number] for number in half])
                covered.update(zip(half, scored, strict=True))
            return [covered[number] for number in range(len(sources))]
        tokens = estimated_tokens(sources[0]) / 2
        if tokens < _SMALLEST:
            return self._lost(sources, error)
        parts = windows(sources[0], tokens + _overlap(tokens) / 2, _overlap(tokens))
        if len(parts) < 2:
            return self._lost(sources, error)
        return [_best(await self._all(paragraph, parts))]

    async def _call(self, path: str, body: dict[str, Any], read: Callable[[bytes], T]) -> T:
        """What a reply says, asked for in the place that is held, and retried.

        :raises ChatError: the last failure; at once, where there were too many in a row.
        """

        async def once() -> T:
            if self._gave_up:
                message = f"not asked: {self._wire.host} failed too often in a row"
                raise ChatError("connection", message, retryable=False)
            try:
                said = read(await self._wire.post(path, body))
            except NoScoresError as error:
                self._failed_in_a_row += 1
                raise ChatError("bad_reply", f"{self._wire.host}{path}: {error}") from None
            except ChatError as error:
                self._failed_in_a_row += _WEIGHTS.get(error.kind, 1.0)
                raise
            self._failed_in_a_row = 0.0
            return said

        return await self._endpoint.in_place(once)

    @property
    def _gave_up(self) -> bool:
        return self._failed_in_a_row >= self._tolerated

    def _lost(self, sources: Sequence[str], error: ChatError) -> list[Covered]:
        self._first_fault = self._first_fault or error.message
        reason = _REASONS.get(error.kind, "scorer_unreachable")
        return [Covered(None, 1, reason) for _ in sources]

    def _noted(self, covered: list[Covered]) -> tuple[Covered, ...]:
        self._lacking.update(one.reason for one in covered if one.reason not in (None, "no_text"))
        return tuple(covered)


def _best(parts: Sequence[Covered]) -> Covered:
    """A source's coverage from that of its windows: none, where one of them has none.

    The window that is missing might be the one that covers.
    """
    if not parts:
        return Covered(None, 0, "no_text")
    count = sum(part.windows for part in parts)
    for part in parts:
        if part.score is None:
            return Covered(None, count, part.reason)
    return Covered(max(part.score for part in parts if part.score is not None), count)


def _batches(sources: Sequence[str], most: int) -> Iterator[list[str]]:
    """The sources in requests of bounded number and size, in their order."""
    batch: list[str] = []
    size = 0
    for source in sources:
        if batch and (len(batch) == most or size + len(source) > _LARGEST_REQUEST):
            yield batch
            batch, size = [], 0
        batch.append(source)
        size += len(source)
    if batch:
        yield batch


def _overlap(tokens: float) -> float:
    return min(tokens / 4, _OVERLAP)


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
