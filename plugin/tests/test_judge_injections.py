"""Untrusted text stays data: in the prompt, and in what a reply can do."""

import json
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from injections import INJECTIONS
from judging import SAMPLES, judge_prompts, tasks_about

from pytest_touchstone.judge.reading import Unreadable, parse_reply
from pytest_touchstone.judge.tasks import ClaimVerdictsTask, Task
from pytest_touchstone.llm.prompts import Prompt

PROMPTS = judge_prompts()
BEGIN = re.compile(r"\[begin (\w+) ([0-9a-f]{16})\]")
every_injection = pytest.mark.parametrize("text", INJECTIONS, ids=range(len(INJECTIONS)))


def taken_apart(filled: str) -> tuple[str, dict[str, list[str]]]:
    """A prompt's own words, with a placeholder where each block stood, and the blocks' lines."""
    words, blocks, lines = [], {}, iter(filled.split("\n"))
    for line in lines:
        found = BEGIN.fullmatch(line)
        if found is None:
            words.append(line)
            continue
        end = f"[end {found[1]} {found[2]}]"
        words.append(f"{{{found[1]}}}")
        blocks[found[1]] = list(iter(lines.__next__, end))
    return "\n".join(words), blocks


def check_contained(task: Task[Any], prompt: Prompt) -> None:
    """The prompt says what its file says, and each block holds exactly the items asked about."""
    words, blocks = taken_apart(prompt.fill(**task.data))
    assert words == prompt.body
    assert {name: "\n".join(lines) for name, lines in blocks.items()} == dict(task.data)
    for lines in blocks.values():
        items = [json.loads(line) for line in lines]
        numbers = [value for item in items for value in list(item.values())[:1] if len(item) > 1]
        assert numbers == sorted(set(numbers))
        for line in lines:
            assert not re.search(r"<[^\s\d]|\[/?(?!true|false|null)[^\W\d]", line)
            assert line.isprintable() or set(filter(lambda c: not c.isprintable(), line)) <= {
                *"\u200c\u200d", *(c for c in line if unicodedata.category(c) == "Zs")
            }  # fmt: skip


def test_there_are_enough_of_them() -> None:
    assert len(set(INJECTIONS)) >= 40


@every_injection
def test_no_text_leaves_its_block_poses_as_an_item_or_hides(text: str) -> None:
    for task in tasks_about(text):
        check_contained(task, PROMPTS[task.prompt])


@given(st.text() | st.text(alphabet='[]{}<>|/"\\\n be\u2028\u200b\U000e0041'))
def test_that_holds_for_any_text(text: str) -> None:
    for task in tasks_about(text):
        check_contained(task, PROMPTS[task.prompt])


@every_injection
def test_what_is_asked_is_what_was_given(text: str) -> None:
    data = ClaimVerdictsTask((text, "b"), (text, "d")).data
    for name, key, other in (("claims", "claim", "b"), ("passages", "passage", "d")):
        items = [json.loads(line) for line in data[name].split("\n")]
        assert items == [{key: 1, "text": text}, {key: 2, "text": other}]


@every_injection
def test_a_reply_that_is_the_injection_is_no_verdict_on_what_was_asked(text: str) -> None:
    for name in ("claims", "claim_verdicts", "relevance", "coverage", "support", "conversation"):
        with pytest.raises(Unreadable):
            SAMPLES[name].task.read(parse_reply(text))


@every_injection
def test_a_reply_that_repeats_the_injection_is_its_own_verdict_or_unreadable(text: str) -> None:
    for sample in SAMPLES.values():
        reply = json.dumps(sample.reply)
        for both in (f"{text}\n{reply}", f"{reply}\n{text}", f"```\n{text}\n```\n{reply}"):
            try:
                verdict = sample.task.read(parse_reply(both))
            except Unreadable:
                continue
            assert verdict == sample.verdict


@every_injection
def test_an_injection_in_a_rationale_changes_nothing_else(text: str) -> None:
    sample = SAMPLES["relevance"]
    reply = json.loads(json.dumps(sample.reply))
    reply["verdicts"][0]["rationale"] = text
    first, second = sample.task.read(parse_reply(json.dumps(reply))).verdicts
    assert (first.rank, first.label) == (1, "partly")
    assert second == sample.verdict.verdicts[1]
    first.rationale.encode()
