"""Canaries as data: they are what they claim to be, and verdicts are reduced to labels."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import pytest
from canary_replies import CANARIES, canary_of, reply
from judging import SAMPLES, judge_prompts

from pytest_touchstone.judge.canaries import form_of, label, read_canaries
from pytest_touchstone.judge.llm import ChatRequest, LLMJudge
from pytest_touchstone.llm.chat import Completion

DIGESTS = {name: prompt.sha256 for name, prompt in judge_prompts().items()}


def test_there_are_enough_of_every_task_in_both_languages() -> None:
    languages = Counter(one.lang for one in CANARIES)
    assert languages["en"] >= 12
    assert languages["sv"] >= 12
    assert len({one.id for one in CANARIES}) == len(CANARIES)
    for lang in languages:
        tasks = {one.task.prompt for one in CANARIES if one.lang == lang}
        assert len(tasks) == len(SAMPLES), lang


def test_no_canary_is_settled_without_asking() -> None:
    assert [one.id for one in CANARIES if one.task.settled is not None] == []


def test_a_judge_that_knows_them_all_is_read_as_right() -> None:
    async def ask(request: ChatRequest) -> Completion:
        canary = canary_of(request.messages[0].content)
        assert canary is not None
        assert len(request.messages) == 1, "nothing is asked again"
        return Completion(reply(canary, canary.known[0]), finish_reason="stop")

    async def all_of_them() -> list[str]:
        judge = LLMJudge(ask, judge_prompts())
        verdicts = [(await judge.judge(one.task)).verdict for one in CANARIES]
        return [label(verdict) for verdict in verdicts]

    found = asyncio.run(all_of_them())
    assert found == [one.known[0] for one in CANARIES]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("claims", "some"),
        ("claim_verdicts", "supported, contradicted, not_found"),
        ("relevance", "partly, relevant"),
        ("coherence", "boilerplate"),
        ("coverage", "present, absent"),
        ("tone", "formality high, caution middling"),
        ("support", "supported, unsupported"),
        ("behaviour", "admitted"),
        ("conversation", "failed"),
    ],
)
def test_a_verdict_is_reduced_to_its_label(name: str, said: str) -> None:
    assert label(SAMPLES[name].verdict) == said


def test_what_is_no_verdict_has_no_label() -> None:
    with pytest.raises(TypeError, match="str is no verdict"):
        label("supported")


def test_the_form_changes_with_inputs_and_prompts_and_not_with_their_order() -> None:
    form = form_of(CANARIES, DIGESTS)
    assert form == form_of(CANARIES, dict(reversed(DIGESTS.items())))
    assert form != form_of(CANARIES[1:], DIGESTS)
    assert form != form_of(CANARIES, DIGESTS | {"judge_tone": "0" * 64})


def test_a_line_that_names_no_task_is_refused() -> None:
    line = {"id": "x", "lang": "en", "task": "taste", "given": {}, "known": ["good"]}
    with pytest.raises(KeyError, match="taste"):
        read_canaries(json.dumps(line))
