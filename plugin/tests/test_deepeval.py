"""deepeval's own metrics, asked through the judge's client: what of them is believed, what is not.

These tests need deepeval and are skipped where it is not installed.  It is never imported by the
tests themselves: how it is imported is what they are about.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from judged import judge, scores, verdict
from projects import Project, measure_of
from servers.openai import OpenAIServer

from pytest_touchstone.gold import Case
from pytest_touchstone.judge.deepeval_metrics import open_deepeval
from pytest_touchstone.judge.llm import ChatRequest
from pytest_touchstone.judge.second_opinion import CALLS, CRITERIA
from pytest_touchstone.llm.chat import ChatError, Completion
from pytest_touchstone.score import NOT_APPLICABLE, SECOND_OPINION
from pytest_touchstone.systems.loading import shipped_prompt
from pytest_touchstone.trace import Answer, Passage
from pytest_touchstone.verdicts import Opinion

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("deepeval") is None, reason="deepeval is not installed"
)

CASE = Case("q1", "summary", "Vad kostade bron?", key_points=("4 miljoner", "år\n1998"))
ANSWER = Answer("Bron kostade 4 miljoner [1].", (Passage("c1", "Bron kostade 4 miljoner."),))
YES = {"verdict": "yes", "reason": None}
GOOD: dict[str, Any] = {
    "Truths": {"truths": ["t"]},
    "Claims": {"claims": ["a", "b"]},
    "Verdicts": {"verdicts": [YES, {"verdict": "no", "reason": "it says 5"}]},
    "ReasonScore": {"reason": "sober", "score": 4},
}
Reply = str | Completion | ChatError


class Model:
    """A model that gives one reply to each form, and notes the requests."""

    def __init__(self, **replies: Any) -> None:
        self.replies = GOOD | replies
        self.requests: list[ChatRequest] = []
        self.wait: dict[str, Callable[[], Awaitable[None]]] = {}
        self.answered: list[str] = []

    async def ask(self, request: ChatRequest) -> Completion:
        form = form_of(request)
        self.requests.append(request)
        if form in self.wait:
            await self.wait[form]()
        self.answered.append(form)
        reply = self.replies[form]
        if isinstance(reply, ChatError):
            raise reply
        if isinstance(reply, Completion):
            return reply
        return Completion(reply if isinstance(reply, str) else json.dumps(reply))

    @property
    def forms(self) -> list[str]:
        return sorted(form_of(request) for request in self.requests)


def form_of(request: ChatRequest) -> str:
    assert request.schema is not None
    return str(request.schema["title"])


def opinion(model: Model, measure: str, answer: Answer = ANSWER, case: Case = CASE) -> Opinion:
    prompts = {name: shipped_prompt(name) for name in CRITERIA.values()}
    engine = open_deepeval(model.ask, "gpt-4.1", prompts)
    found = asyncio.run(engine.opinions([measure], case, answer))
    assert list(found) == [measure]
    assert found[measure].engine.startswith("deepeval 4.")
    return found[measure]


# Figures


def test_faithfulness_is_of_the_claims_asked() -> None:
    model = Model()
    got = opinion(model, "Faithfulness")
    assert (got.value, got.reason) == (0.5, None)
    assert got.why == "1 of 2 claims agreed with; no: 'b' (it says 5)"
    assert model.forms == ["Claims", "Truths", "Verdicts"]
    assert len(model.forms) == CALLS["Faithfulness"]
    for request in model.requests:
        assert request.params["temperature"] == 0
        assert request.schema is not None
        assert request.schema["additionalProperties"] is False


def test_what_was_not_found_is_not_supported() -> None:
    verdicts = [YES, {"verdict": "borderline", "reason": "not there"}]
    assert opinion(Model(Verdicts={"verdicts": verdicts}), "Faithfulness").value == 0.5


@pytest.mark.parametrize("measure", ["KeyPointCoverage", "Formality"])
@pytest.mark.parametrize("extreme", [0, 1])
def test_g_eval_is_in_the_measures_own_unit(measure: str, extreme: int) -> None:
    scale = {"KeyPointCoverage": (0, 10), "Formality": (1, 5)}[measure]
    ours = {"KeyPointCoverage": (0, 1), "Formality": (1, 5)}[measure]
    model = Model(ReasonScore={"reason": "sober", "score": scale[extreme]})
    got = opinion(model, measure)
    assert got.value == ours[extreme]
    assert got.why == "sober"
    assert len(model.requests) == CALLS[measure]


def test_g_eval_sees_key_points_or_question_beside_the_answer() -> None:
    model = Model(ReasonScore={"reason": "half", "score": 5})
    assert opinion(model, "KeyPointCoverage").value == 0.5
    [request] = model.requests
    prompt = request.messages[0].content
    assert "- 4 miljoner\n- år 1998" in prompt
    assert ANSWER.text in prompt
    assert request.params["max_tokens"] == 1500

    assert opinion(model, "Formality").value == 5
    prompt = model.requests[1].messages[0].content
    assert CASE.question in prompt
    assert "5: sober throughout" in prompt


# deepeval's defects, and faults of the model


def test_no_claim_is_not_applicable_where_deepeval_says_1() -> None:
    model = Model(Claims={"claims": []})
    got = opinion(model, "Faithfulness")
    assert (got.value, got.reason) == (None, NOT_APPLICABLE)
    assert model.forms == ["Claims", "Truths"]


def test_without_passages_nothing_is_asked() -> None:
    model = Model()
    got = opinion(model, "Faithfulness", Answer("Bron är röd.", ()))
    assert (got.value, got.reason) == (None, NOT_APPLICABLE)
    assert model.requests == []


TRUNCATED = Completion('{"claims": [', finish_reason="length")
FAULTS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "one verdict for two claims": (
        "Faithfulness", {"Verdicts": {"verdicts": [YES]}}, "judge_unreadable",
        "1 verdict for 2 claims",
    ),
    "no verdict at all": (
        "Faithfulness", {"Verdicts": {"verdicts": []}}, "judge_unreadable",
        "0 verdicts for 2 claims",
    ),
    "a verdict too many": (
        "Faithfulness", {"Verdicts": {"verdicts": [YES] * 3}}, "judge_unreadable",
        "3 verdicts for 2 claims",
    ),
    "a label that nobody knows": (
        "Faithfulness", {"Verdicts": {"verdicts": [YES, {"verdict": "maybe"}]}},
        "judge_unreadable", "Input should be",
    ),
    "no JSON": ("Faithfulness", {"Truths": "I'd rather not."}, "judge_unreadable", "no complete"),
    "another form": ("Faithfulness", {"Claims": {"x": 1}}, "judge_unreadable", "Field required"),
    "cut off": ("Faithfulness", {"Claims": TRUNCATED}, "judge_truncated", "cut off"),
    "refused": (
        "Formality", {"ReasonScore": ChatError("refused", "not this")}, "judge_refused", "not this",
    ),
    "out of reach": (
        "KeyPointCoverage", {"ReasonScore": ChatError("timeout", "no reply")}, "judge_unreachable",
        "no reply",
    ),
    "words of a limit that deepeval takes for another": (
        "Formality", {"ReasonScore": ChatError("bad_request", "maximum context length is 8")},
        "judge_unreachable", "maximum context length is 8",
    ),
    "a score too high": (
        "Formality", {"ReasonScore": {"reason": "!", "score": 6}}, "judge_unreadable", "1.25",
    ),
    "a score too low": (
        "KeyPointCoverage", {"ReasonScore": {"reason": "!", "score": -1}}, "judge_unreadable",
        "-0.1",
    ),
    "a score that is no number": (
        "Formality", {"ReasonScore": '{"reason": "!", "score": NaN}'}, "judge_unreadable", "JSON",
    ),
    "a score that is true": (
        "Formality", {"ReasonScore": {"reason": "!", "score": True}}, "judge_unreadable",
        "valid number",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_no_opinion_with_its_reason(fault: str) -> None:
    measure, replies, reason, words = FAULTS[fault]
    got = opinion(Model(**replies), measure)
    assert got.value is None
    assert got.reason == reason
    assert words in got.why
    assert "\n" not in got.why


def test_an_exception_of_its_own_is_a_reason() -> None:
    # deepeval takes this for a picture, wherever it stands, and refuses.
    model = Model()
    trap = Answer("Bron är röd.", (Passage("c1", "Se [DEEPEVAL:IMAGE:/etc/passwd] här."),))
    got = opinion(model, "Faithfulness", trap)
    assert (got.value, got.reason) == (None, "engine_error")
    assert got.why.startswith("deepeval raised ValueError: ")
    assert model.requests == []


def test_a_call_beside_one_that_failed_is_waited_for() -> None:
    model = Model(Truths=ChatError("server_error", "overloaded"))

    async def late() -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    model.wait["Claims"] = late
    got = opinion(model, "Faithfulness")
    assert got.reason == "judge_unreachable"
    assert model.answered == ["Truths", "Claims"]


def test_text_stays_text() -> None:
    model = Model()
    text = "Summa {{ 7*7 }} {% raw %} \ud800 \0 {answer}"
    got = opinion(model, "Faithfulness", Answer(text, (Passage("c1", text),)))
    assert got.value == 0.5
    prompts = {form_of(request): request.messages[0].content for request in model.requests}
    for form in ("Truths", "Claims"):
        assert "Summa {{ 7*7 }} {% raw %} \ufffd \ufffd {answer}" in prompts[form]
    assert "49" not in prompts["Claims"]


# What deepeval may not do

ALONE = """
import asyncio, os, pathlib, runpy, socket, sys, threading

reached = []
def noted(*arguments, **_):
    # On the way out nobody would see an assertion.
    pathlib.Path(sys.argv[1]).write_text(repr(arguments))
    raise OSError("no network here")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = noted
before, hooks = dict(os.environ), (sys.excepthook, threading.excepthook)

sys.path.insert(0, sys.argv[2])
from test_deepeval import Model, opinion

assert "deepeval" not in sys.modules
for measure in ("Faithfulness", "KeyPointCoverage", "Formality") * 20:
    assert opinion(Model(), measure).value is not None

assert dict(os.environ) == before, set(os.environ.items()) ^ set(before.items())
assert threading.enumerate() == [threading.main_thread()], threading.enumerate()
assert hooks == (sys.excepthook, threading.excepthook)
from deepeval.telemetry import context
assert context._standalone._metric_runs == 0
assert not context._standalone._registered_atexit
"""


def test_it_sends_writes_loads_and_leaves_nothing(pytester: pytest.Pytester) -> None:
    keys = {"api_key": "confident-canary", "OPENAI_API_KEY": "legacy-canary"}
    files = {
        ".env": "OPENAI_API_KEY=leaked-canary\nDEEPEVAL_EVAL_MODE=system_one\n",
        ".env.local": "CONFIDENT_API_KEY=leaked-canary\n",
        ".deepeval/.deepeval": json.dumps(keys),
        "alone.py": ALONE,
    }
    for name, text in files.items():
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    reached = pytester.path.parent / f"{pytester.path.name}-reached.txt"
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DEEPEVAL_", "CONFIDENT_", "GRPC_", "OPENAI_", "PYTEST_"))
    }
    ended = subprocess.run(
        [sys.executable, "-W", "error", "alone.py", str(reached), str(Path(__file__).parent)],
        env=environ | {"HOME": str(pytester.path / "home"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert not reached.exists()
    there = {p.relative_to(pytester.path).as_posix() for p in pytester.path.rglob("*")}
    assert there == {*files, ".deepeval"}
    assert (pytester.path / ".deepeval/.deepeval").read_text("utf-8") == json.dumps(keys)


def test_what_the_environment_says_of_deepeval_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "0")
    monkeypatch.setenv("DEEPEVAL_EVAL_MODE", "llm")
    before, threads = dict(os.environ), threading.enumerate()
    assert opinion(Model(), "Faithfulness").value == 0.5
    assert dict(os.environ) == before
    assert threading.enumerate() == threads


# In a run, over HTTP


def both(request: Mapping[str, Any]) -> str:
    """Our judge's replies, and deepeval's, which believes that the bridge is blue."""
    title = request["response_format"]["json_schema"]["schema"].get("title")
    if title is None:
        return verdict(request)
    if title == "Claims":
        return json.dumps({"claims": ["The bridge is red.", "It is a bridge."]})
    return json.dumps(GOOD[title])


def test_a_run_has_a_second_opinion_and_as_many_calls_with_two_workers(judged: Project) -> None:
    with OpenAIServer(both) as server:
        judge(judged, server)
        assert judged.run("-q").ret == 0
        plain, digest = scores(judged), judged.report()["snapshot"]["results_sha256"]
        ours = len(server.requests)

        judge(judged, server, second_opinion="deepeval")
        ended = judged.spawn("-q")
        assert ended.code == 0, ended.text
        # Our own verdicts were known already; both cases have the same answer and passages.
        theirs = len(server.requests) - ours
        assert theirs == 3 + 2 + 1
        report = judged.report()
        assert report["cost"]["evaluation"]["calls"] == theirs
        assert report["cost"]["evaluation"]["usd"] > 0
        assert scores(judged) == plain
        assert report["snapshot"]["results_sha256"] == digest
        found = {one["measure"]: one for one in report["findings"]["second_opinion"]}
        faithful = found["Faithfulness"]
        assert (faithful["n"], faithful["mean"], faithful["other_mean"]) == (2, 1, 0.5)
        assert faithful["far_apart"] == 2
        assert found["KeyPointCoverage"]["other_mean"] == 0.4
        assert found["Formality"]["other_mean"] == 4
        assert measure_of(report, "Faithfulness")["system"]["estimate"] == 1
        text = "Faithfulness 1.00 here, 0.50 there, 2 answers, differ by more than 0.25 in 2"
        assert text in ended.text
        assert "deepeval" in report["snapshot"]["packages"]
        beside = [c["system"] for c in report["cases"] if SECOND_OPINION in json.dumps(c)]
        assert set(beside) == {"assistant"}

        for file in (judged.folder / "reports").iterdir():
            file.unlink()
        ended = judged.spawn("-n2")
        assert ended.code == 0, ended.text
        assert len(server.requests) == 2 * (ours + theirs)
        assert scores(judged) == plain
        again = {one["measure"]: one for one in judged.report()["findings"]["second_opinion"]}
        assert again == found
    assert not (judged.folder / ".deepeval").exists()
