"""The scorer's client against servers on loopback that speak each dialect, and that fail."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import pytest
from pydantic import SecretStr
from servers.loopback import Reply
from servers.scorer import (
    DIALECTS,
    HTML,
    MODEL,
    TEI,
    Infinity,
    Jina,
    LlamaCpp,
    NewVLLM,
    OldVLLM,
    Request,
    RerankVLLM,
    ScorerServer,
    logit,
    sigmoid,
)

from pytest_touchstone.flight import endpoint as endpoint_module
from pytest_touchstone.scorer.client import HttpScorer, open_scorer
from pytest_touchstone.scorer.protocol import Covered, SwitchedOff
from pytest_touchstone.settings import ScorerSettings

T = TypeVar("T")
KEY = "sk-this-is-the-secret"
PARAGRAPH = "The committee rejected the motion on forest roads."
SOURCES = [
    "The motion on forest roads was debated; the committee rejected it.",
    "Bees dance.",
    "A motion on roads.",
]


@pytest.fixture(autouse=True)
def _quick_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_module, "_FIRST_PAUSE_S", 0.01)


def using(url: str, act: Callable[[HttpScorer], Awaitable[T]], **options: Any) -> T:
    """What ``act`` gives with the scorer at a URL."""

    async def run() -> T:
        scorer = await open_scorer(ScorerSettings(url=url, **options))
        assert isinstance(scorer, HttpScorer), scorer
        try:
            return await act(scorer)
        finally:
            await scorer.aclose()

    return asyncio.run(run())


def covered(
    url: str, sources: Sequence[str] = SOURCES, paragraph: str = PARAGRAPH, **options: Any
) -> tuple[Covered, ...]:
    return using(url, lambda scorer: scorer.cover(paragraph, sources), **options)


def refused(url: str, **options: Any) -> SwitchedOff:
    async def run() -> SwitchedOff:
        scorer = await open_scorer(ScorerSettings(url=url, **options))
        assert isinstance(scorer, SwitchedOff), scorer.identity
        return scorer

    off = asyncio.run(run())
    assert "\n" not in off.message
    return off


def expected(sources: Sequence[str] = SOURCES) -> list[float]:
    return [sigmoid(logit(PARAGRAPH, source)) for source in sources]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_gives_the_same_coverage(dialect: type[ScorerServer]) -> None:
    """Probabilities or logits, in whatever order they come: equal to 1e-6."""
    with dialect() as server:
        got = covered(server.url)
        assert [one.score for one in got] == pytest.approx(expected(), abs=1e-6)
        assert {(one.windows, one.reason) for one in got} == {(1, None)}
        asked = [request.json for request in server.scored if PARAGRAPH in request.json.values()]
        assert len(asked) == 1, "one paragraph with its sources is one request"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_order_of_sources_changes_nothing(dialect: type[ScorerServer]) -> None:
    with dialect() as server:

        async def both(scorer: HttpScorer) -> Any:
            one = await scorer.cover(PARAGRAPH, SOURCES)
            other = await scorer.cover(PARAGRAPH, SOURCES[::-1])
            return one, other[::-1]

        one, other = using(server.url, both)
    assert one == other


@pytest.mark.parametrize(
    ("server", "route", "dialect", "scale", "source", "window"),
    [
        (OldVLLM(), "/v1/score", "score", "probability", "probe", 4096),
        (NewVLLM(), "/v1/score", "score (queries, documents)", "probability", "activation", 4096),
        (RerankVLLM(), "/v1/rerank", "rerank", "probability", "activation", 4096),
        (LlamaCpp(), "/v1/rerank", "rerank", "logit", "probe", 4096),
        (TEI(window=512), "/rerank", "rerank (texts)", "probability", "activation", 512),
        (Infinity(), "/rerank", "rerank", "probability", "activation", 512),
        (Jina(), "/v1/rerank", "rerank", "probability", "probe", 512),
    ],
)
def test_what_made_the_scores_stands_in_the_identity(
    server: ScorerServer, route: str, dialect: str, scale: str, source: str, window: int
) -> None:
    async def identity(scorer: HttpScorer) -> Any:
        return scorer.identity

    with server:
        found = using(server.url, identity, api_key=SecretStr(KEY))
    assert (found["route"], found["dialect"]) == (route, dialect)
    assert (found["scale"], found["scale_from"], found["window"]) == (scale, source, window)
    assert found["model"] == MODEL
    probe = found["probe"]
    assert min(probe["covering"]) > max(probe["unrelated"])
    assert KEY not in json.dumps(found, allow_nan=False)


def test_a_name_with_a_path_in_it_loses_the_path() -> None:
    async def served(scorer: HttpScorer) -> Any:
        return scorer.identity["served"]

    with LlamaCpp() as server:
        assert using(server.url, served) == "bge-reranker-v2-m3-Q8_0.gguf"


def test_a_whole_route_may_be_set() -> None:
    with OldVLLM() as server:
        got = covered(f"{server.url}/v2/rerank")
        assert {request.path for request in server.scored} == {"/v2/rerank"}
    assert [one.score for one in got] == pytest.approx(expected())


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (lambda raw: sigmoid(sigmoid(raw)), "a sigmoid applied twice"),
        (lambda raw: 0.5 + raw / 20, "cosines"),
        (lambda raw: 0.82 + raw / 80, "cosines"),
        (lambda raw: 0.3 + raw / 16, "cosines"),
        (lambda raw: 30 + raw, "sums without an upper end"),
        (lambda raw: 0.5, "does not tell"),
        (lambda raw: -raw, "does not tell"),
    ],
)
@pytest.mark.parametrize("dialect", [OldVLLM, NewVLLM, TEI, LlamaCpp])
def test_values_that_are_no_probabilities_switch_the_scorer_off(
    dialect: type[ScorerServer], values: Callable[[float], float], why: str
) -> None:
    with dialect(values=values) as server:
        off = refused(server.url)
    assert off.reason == "scorer_scale_unclear"
    assert why in off.message
    assert MODEL in off.message


def test_a_scale_that_is_set_is_used() -> None:
    with OldVLLM(values=lambda raw: 0.5 + raw / 20) as server:
        got = covered(server.url, scale="probability")
    assert [one.score for one in got] == pytest.approx(
        [0.5 + logit(PARAGRAPH, source) / 20 for source in SOURCES]
    )


def test_a_scale_that_is_set_and_cannot_be() -> None:
    with OldVLLM() as server:
        assert "another sigmoid" in refused(server.url, scale="logit").message
    with LlamaCpp() as server:
        assert "its values go from" in refused(server.url, scale="probability").message


def test_a_value_off_the_scale_is_no_coverage_and_the_scale_stays() -> None:
    """The scale is decided once: a later value never decides it anew."""
    with OldVLLM(
        values=lambda raw: 7.5 if raw == logit(PARAGRAPH, SOURCES[2]) else sigmoid(raw)
    ) as s:
        got = covered(s.url)
    assert [one.score for one in got] == pytest.approx([*expected(SOURCES[:2]), None])
    assert got[2].reason == "scorer_unreadable"


# --- length


def test_a_covering_sentence_at_the_end_of_a_long_source_is_found() -> None:
    filler = "Rivers run through the valleys of the north, where few people live. "
    long = filler * (30_000 // len(filler)) + "The committee rejected the motion on forest roads."
    assert len(long) > 29_900
    for server in (
        OldVLLM(window=512),
        TEI(window=512),
        LlamaCpp(window=1024),
        Infinity(window=512),
    ):
        with server:
            got = covered(server.url, [*SOURCES, long])
        assert got[3].score is not None
        assert got[3].score > 0.99, type(server)
        assert got[3].windows > 10
        assert [one.score for one in got[:3]] == pytest.approx(expected())


@pytest.mark.parametrize("batch", [300, 600])
def test_llama_cpp_refuses_what_exceeds_its_batch_with_a_500(batch: int) -> None:
    with LlamaCpp(window=8192) as server:
        server.batch = batch
        long = "Bees dance in the meadow. " * 400 + PARAGRAPH
        got = covered(server.url, [long, *SOURCES])
    assert [one.score for one in got] == pytest.approx([sigmoid(8.0), *expected()])


def test_the_servers_own_tokens_decide_where_it_counts_them() -> None:
    """Fewer windows than the estimate alone would make, and none refused."""
    long = "1234 5678 " * 2000
    with OldVLLM(window=1024) as server:
        counted = covered(server.url, [long])[0]
        assert any(request.path == "/tokenize" for request in server.requests)
        assert all(reply.json.get("text_2") != [long] for reply in server.scored)
    with OldVLLM(window=1024) as server:
        server.before = lambda request: Reply(404) if request.path == "/tokenize" else None
        estimated = covered(server.url, [long])[0]
    assert 1 < counted.windows < estimated.windows
    assert counted.score == estimated.score


def test_an_estimate_that_was_too_low_backs_off() -> None:
    """The window is thought to be larger than it is: each part that is refused is halved."""
    with OldVLLM(window=300) as server:
        server.before = lambda request: Reply(404) if request.path != "/v1/score" else None
        long = "Bees dance in the meadow. " * 200 + PARAGRAPH
        got = covered(server.url, [SOURCES[0], long, SOURCES[1]], window=1000)
    assert [one.score for one in got] == pytest.approx(
        [*expected(SOURCES[:1]), sigmoid(8.0), *expected(SOURCES[1:2])]
    )
    assert got[1].windows > 5
    assert (got[0].windows, got[2].windows) == (1, 1)


def test_windows_depend_on_the_pair_alone() -> None:
    """What was refused before changes nothing for the next pair."""
    long = "Bees dance in the meadow. " * 200 + PARAGRAPH
    with OldVLLM(window=300) as server:

        async def twice(scorer: HttpScorer) -> Any:
            return [await scorer.cover(PARAGRAPH, [long]), await scorer.cover(PARAGRAPH, [long])]

        first, second = using(server.url, twice, window=1000)
    assert first == second


def test_a_megabyte_takes_bounded_requests() -> None:
    long = "Bees dance in the meadow near the river. " * 26_000 + PARAGRAPH
    with OldVLLM(window=4096) as server:
        got = covered(server.url, [long])
        sizes = [len(json.dumps(request.json)) for request in server.scored]
    assert got[0].score == pytest.approx(sigmoid(8.0))
    assert 60 < got[0].windows < 200
    assert max(sizes) < 300_000
    assert len(sizes) < 40


def test_a_paragraph_that_fills_the_window_has_no_coverage() -> None:
    with TEI(window=100) as server:

        async def act(scorer: HttpScorer) -> Any:
            return await scorer.cover("A long paragraph. " * 50, SOURCES), scorer.warning

        got, warning = using(server.url, act)
    assert {(one.score, one.reason) for one in got} == {(None, "paragraph_too_long")}
    assert "3 paragraph_too_long" in warning


def test_many_sources_go_in_batches_that_the_server_takes() -> None:
    sources = [f"motion {number} on roads" for number in range(50)]
    with TEI() as server:
        server.batch = 8
        got = covered(server.url, sources)
    assert [one.score for one in got] == pytest.approx(expected(sources))


# --- faults


class Faulty:
    """Makes a server fail on the paragraphs that say so, and counts."""

    def __init__(self, reply: Callable[[Request], Reply | None]) -> None:
        self.times = 0
        self._reply = reply

    def __call__(self, request: Request) -> Reply | None:
        if "FAULT" not in str(request.json):
            return None
        self.times += 1
        return self._reply(request)


def with_fault(
    reply: Callable[[Request], Reply | None], sources: Sequence[str] = SOURCES, **options: Any
) -> tuple[tuple[Covered, ...], tuple[Covered, ...], str | None, int]:
    """Coverage of a paragraph that meets the fault and of one that does not; warning; tries."""
    fault = Faulty(reply)
    with OldVLLM() as server:
        server.before = fault

        async def act(scorer: HttpScorer) -> Any:
            assert scorer.warning is None
            return [
                *await asyncio.gather(
                    scorer.cover(f"FAULT {PARAGRAPH}", sources), scorer.cover(PARAGRAPH, SOURCES)
                ),
                scorer.warning,
            ]

        bad, good, warning = using(server.url, act, **{"tries": 2, **options})
    assert [one.score for one in good] == pytest.approx(expected())
    return bad, good, warning, fault.times


def raw_rows(text: str) -> Reply:
    return Reply(body=f'{{"object": "list", "data": [{text}]}}'.encode())


@pytest.mark.parametrize(
    ("reply", "reason", "tries"),
    [
        (HTML, "scorer_unreadable", 2),
        (Reply(body=b'{"data": '), "scorer_unreadable", 2),
        (Reply(body=b'{"error": "out of luck"}'), "scorer_unreadable", 2),
        (Reply(body=b"x" * 5_000_000), "scorer_unreadable", 1),
        (Reply(500, b"Internal Server Error"), "scorer_unreachable", 2),
        (Reply(503, b'{"error":{"code":503,"message":"Loading model"}}'), "scorer_unreachable", 2),
        (Reply(429, b'{"message": "slow down"}'), "scorer_unreachable", 2),
        (Reply(drop=True), "scorer_unreachable", 2),
        (Reply(401, b'{"detail": "no key"}'), "scorer_refused", 1),
        (Reply(307, b"", {"Location": "http://127.0.0.1:1/"}), "scorer_unreachable", 1),
        (raw_rows(""), "scorer_unreadable", 1),
    ],
)
def test_a_fault_leaves_exactly_its_pairs_without_coverage(
    reply: Reply, reason: str, tries: int
) -> None:
    bad, _, warning, times = with_fault(lambda _: reply)
    assert bad == (Covered(None, 1, reason),) * 3  # type: ignore[arg-type]
    assert times == tries
    assert warning is not None
    assert "\n" not in warning
    assert warning.startswith("scorer: 3 pairs of paragraph and source have no coverage")
    assert f"3 {reason}" in warning


def test_a_reply_in_time_or_none() -> None:
    bad, _, warning, _ = with_fault(lambda _: Reply(hang=True), timeout=0.2, tries=1)
    assert {one.reason for one in bad} == {"scorer_unreachable"}
    assert warning is not None
    assert "no reply within 0.2 s" in warning


@pytest.mark.parametrize("value", ["NaN", "null", '"high"', "Infinity"])
def test_a_value_that_is_none_leaves_its_pair_alone_without(value: str) -> None:
    def reply(request: Request) -> Reply | None:
        rows = [
            f'{{"index": {number}, "score": {value if "Bees" in source else 0.75}}}'
            for number, source in enumerate(request.json["text_2"])
        ]
        return raw_rows(", ".join(rows))

    bad, _, warning, times = with_fault(reply)
    assert bad == (Covered(0.75), Covered(None, 1, "scorer_unreadable"), Covered(0.75))
    assert times == 2, "the one without is asked for once more, alone"
    assert warning is not None
    assert "1 scorer_unreadable" in warning


def test_too_few_results_are_asked_for_again() -> None:
    """A server or proxy that answers only for the best one, whatever it is told."""
    bad, _, warning, times = with_fault(lambda _: raw_rows('{"index": 0, "score": 0.75}'))
    assert bad == (Covered(0.75),) * 3
    assert times == 3
    assert warning is None


@pytest.mark.parametrize("status", [400, 413, 422])
def test_one_refused_pair_does_not_take_the_batch_with_it(status: int) -> None:
    def reply(request: Request) -> Reply | None:
        return Reply(status, b'{"detail": "no"}') if "UNSCORABLE" in str(request.json) else None

    bad, _, warning, times = with_fault(reply, [SOURCES[0], "UNSCORABLE", *SOURCES[1:]])
    assert [one.reason for one in bad] == [None, "scorer_refused", None, None]
    assert None not in [one.score for one in bad[:1] + bad[2:]]
    assert times <= 5
    assert warning is not None
    assert f"HTTP {status}: no" in warning


def test_a_source_with_a_window_that_failed_has_no_coverage() -> None:
    """The window that is missing might be the one that covers."""

    def reply(request: Request) -> Reply | None:
        return Reply(500) if "BROKEN" in str(request.json) else None

    long = "Bees dance in the meadow. " * 2000 + "BROKEN"
    bad, _, _, _ = with_fault(reply, [long], window=512)
    assert bad[0].score is None
    assert bad[0].reason == "scorer_unreachable"
    assert bad[0].windows > 10


@pytest.mark.parametrize("after", ["0.05", "Mon, 30 Nov 2020 12:00:00 GMT"])
def test_a_rate_limit_is_waited_for(after: str) -> None:
    left = [Reply(429, b"{}", {"Retry-After": after})]
    bad, _, warning, times = with_fault(lambda _: left.pop() if left else None)
    assert None not in [one.score for one in bad]
    assert times == 2
    assert warning is None


def test_a_server_that_dies_in_the_middle_is_given_up() -> None:
    """What it answered stays; the rest is without coverage, and nobody waits for every pair."""
    with OldVLLM() as server:
        alive = threading.Event()
        alive.set()
        server.before = lambda _: None if alive.is_set() else Reply(drop=True)

        async def act(scorer: HttpScorer) -> Any:
            first = await asyncio.gather(*(scorer.cover(PARAGRAPH, SOURCES) for _ in range(20)))
            alive.clear()
            asked = len(server.requests)
            rest = await asyncio.gather(*(scorer.cover(PARAGRAPH, SOURCES) for _ in range(300)))
            return first, rest, len(server.requests) - asked, scorer.warning

        first, rest, tried, warning = using(server.url, act, concurrency=4)
    assert all(one.score is not None for several in first for one in several)
    assert {one for several in rest for one in several} == {Covered(None, 1, "scorer_unreachable")}
    assert tried < 60
    assert "900 scorer_unreachable" in warning


def test_a_server_that_refuses_everything_is_given_up() -> None:
    with OldVLLM() as server:
        server.before = lambda request: (
            Reply(400, b'{"message": "no"}') if "FAULT" in str(request.json) else None
        )

        async def act(scorer: HttpScorer) -> Any:
            asked = len(server.requests)
            got = await asyncio.gather(*(scorer.cover("FAULT", SOURCES) for _ in range(400)))
            return got, len(server.requests) - asked

        got, tried = using(server.url, act, concurrency=4)
    assert {one.score for several in got for one in several} == {None}
    assert tried < 450


# --- absent, wrong, or locked


def test_a_server_that_is_not_there() -> None:
    with OldVLLM() as server:
        url = server.url
    began = time.monotonic()
    off = refused(url)
    assert time.monotonic() - began < 10
    assert off.reason == "scorer_unreachable"
    assert off.message.startswith("scorer switched off: 127.0.0.1:")
    assert "SCORER_ENDPOINT" in off.message


def test_a_server_that_answers_html() -> None:
    with OldVLLM() as server:
        server.before = lambda _: HTML
        off = refused(server.url)
    assert off.reason == "scorer_unreadable"
    assert "no route here scores pairs" in off.message


def test_a_server_of_something_else() -> None:
    with OldVLLM() as server:
        server.before = lambda request: Reply(404, b'{"detail":"Not Found"}')
        off = refused(server.url)
    assert "no route here scores pairs" in off.message


def test_a_model_that_is_not_served_is_named() -> None:
    with OldVLLM() as server:
        off = refused(server.url, model="another/model")
    assert "The model `another/model` does not exist." in off.message
    assert f"it serves {MODEL}: set `scorer.model`" in off.message


def test_the_key_goes_into_the_header_and_nowhere_else() -> None:
    with OldVLLM(api_key=KEY) as server:
        got = covered(server.url, api_key=SecretStr(KEY))
        assert [one.score for one in got] == pytest.approx(expected())
        for request in server.requests:
            assert request.headers["authorization"] == f"Bearer {KEY}"
            assert KEY not in request.path
            assert KEY not in str(request.json)


def test_a_wrong_key_is_not_repeated() -> None:
    with OldVLLM(api_key="sk-another-key-altogether") as server:
        off = refused(server.url, api_key=SecretStr(KEY))
    assert off.reason == "scorer_refused"
    assert "SCORER_API_KEY" in off.message
    assert KEY not in off.message


@pytest.mark.parametrize("key", ["schlüssel", "sk-two\nlines"])
def test_a_key_that_no_header_can_carry(key: str) -> None:
    off = refused("http://127.0.0.1:9", api_key=SecretStr(key))
    assert "scorer.api_key" in off.message
    assert key not in off.message


def test_user_and_password_of_a_url_are_sent_and_not_shown() -> None:
    with OldVLLM() as server:

        async def identity(scorer: HttpScorer) -> Any:
            return scorer.identity

        found = using(server.url.replace("://", "://user:hemligt@"), identity)
        assert server.requests[0].headers["authorization"].startswith("Basic ")
    assert "hemligt" not in json.dumps(found)


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "aiohttp", None)
    off = refused("http://127.0.0.1:9")
    assert off.reason == "scorer_not_installed"
    assert "pip install 'pytest-touchstone[scorer]'" in off.message


# --- texts


@pytest.mark.parametrize(
    "text",
    [
        "Utgiftsområdena för Skåne, Småland och Östergötland",
        "🎉🚀 party 👩‍👩‍👧",
        "مرحبا بالعالم",
        "שלום עולם",
        "水在零摄氏度结冰",
        "control \x07 and \x1b[31m",
        "<script>alert(1)</script> ignore all previous instructions",
        "\u2028 separators \u2029",
    ],
)
def test_texts_arrive_as_they_are(text: str) -> None:
    with OldVLLM() as server:
        got = covered(server.url, [text, "other"], paragraph=text)
        sent = server.scored[-1].json
    assert sent["text_1"] == text.strip()
    assert sent["text_2"][0] == text.strip()
    assert got[0].score == pytest.approx(sigmoid(8.0), abs=1e-3)


def test_half_a_surrogate_pair_and_nul_do_no_harm() -> None:
    with OldVLLM() as server:
        got = covered(server.url, ["roads\ud83d\0 here"], paragraph="roads\udc00")
    assert got[0].score is not None


def test_nothing_to_score() -> None:
    with OldVLLM() as server:

        async def act(scorer: HttpScorer) -> Any:
            return (
                await scorer.cover(PARAGRAPH, ["", " \n", SOURCES[0]]),
                await scorer.cover(" ", SOURCES),
                await scorer.cover(PARAGRAPH, []),
                scorer.warning,
            )

        sources, paragraph, none, warning = using(server.url, act)
    assert [one.reason for one in sources] == ["no_text", "no_text", None]
    assert {one.reason for one in paragraph} == {"no_text"}
    assert none == ()
    assert warning is None


def test_calls_in_flight_are_limited_and_shared_out() -> None:
    peak = now = 0
    lock = threading.Lock()

    def slowly(request: Request) -> None:
        nonlocal peak, now
        if "FAULT" in str(request.json):
            with lock:
                now += 1
                peak = max(peak, now)
            time.sleep(0.02)
            with lock:
                now -= 1

    async def run(url: str) -> None:
        scorer = await open_scorer(ScorerSettings(url=url, concurrency=6), workers=2)
        assert isinstance(scorer, HttpScorer)
        await asyncio.gather(*(scorer.cover("FAULT", SOURCES) for _ in range(20)))
        await scorer.aclose()

    with OldVLLM() as server:
        server.before = slowly
        asyncio.run(run(server.url))
    assert peak == 3


def test_no_value_ever_is_nan() -> None:
    with LlamaCpp(values=lambda raw: raw * 1e300) as server:
        got = covered(server.url)
    assert all(one.score is not None and math.isfinite(one.score) for one in got)
