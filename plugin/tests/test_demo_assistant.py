"""The demonstration's assistant: its rules one by one, and its steps through a model over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from servers.openai import OpenAIServer

from evaluation.demo.assistant import Assistant
from evaluation.demo.assistant.rules import RuleSteps
from pytest_touchstone import Answer, Message, Passage, Resources, Session
from pytest_touchstone.llm.chat import Chat

T = TypeVar("T")

KNOWN = {
    "district": ["Gulu", "Kabale", "Kabarole", "Kibaale", "Kasese"],
    "city": ["Gulu"],
    "ministry": [
        "Ministry of Education and Sports",
        "Ministry of Finance, Planning and Economic Development",
        "Ministry of Health",
    ],
    "source": ["consolidated", "district", "ministry", "thematic"],
    "year": ["2019", "2020", "2021", "2022", "2023"],
}
FIELDS = ("district", "city", "ministry", "year", "source")
EXCLUSIVE = {
    "district": ["district", "dlg", "cao"],
    "city": ["city", "town clerk"],
    "ministry": ["ministry"],
}


def inferred(*questions: str) -> dict[str, Any]:
    """The filters that the rules find after a conversation of these questions."""
    messages = [
        message
        for question in questions
        for message in (Message("user", question), Message("assistant", "Gulu, 2019."))
    ][:-1]
    return asyncio.run(RuleSteps(FIELDS, EXCLUSIVE).filters(messages, KNOWN, []))


@pytest.mark.parametrize(
    ("question", "filters"),
    [
        ("Payroll in Kasese, 2022?", {"district": "Kasese", "year": "2022"}),
        ("kasese FY 2021/22", {"district": "Kasese", "year": "2022"}),
        ("Kasese FY22/23 pls", {"district": "Kasese", "year": "2023"}),
        ("Kasese FY22", {"district": "Kasese", "year": "2022"}),
        ("Kibale 2019-20", {"district": "Kibaale", "year": "2020"}),
        ("Kabarole or Kabale?", {"district": ["Kabarole", "Kabale"]}),
        ("the town clerk of Gulu", {"city": "Gulu"}),
        ("Gulu City in 2021", {"city": "Gulu", "year": "2021"}),
        ("Gulu DLG", {"district": "Gulu"}),
        ("Gulu district or Gulu city, 2022?", {"year": "2022"}),
        ("Kasese City?", {"city": "Kasese"}),
        ("what does MoFPED owe", {"ministry": KNOWN["ministry"][1]}),
        ("the health ministry's arrears", {"ministry": "Ministry of Health"}),
        ("drugs in health centres", {}),
        ("the consolidated report", {"source": "consolidated"}),
        ("2020 compared with the year after", {"year": ["2020", "2021"]}),
        ("and in 2031?", {"year": "2031"}),
        ("", {}),
    ],
)  # fmt: skip
def test_filters_of_one_question(question: str, filters: dict[str, Any]) -> None:
    assert inferred(question) == filters


def test_filters_hold_until_they_are_replaced() -> None:
    assert inferred("Kasese 2020?", "and for 2021?") == {"district": "Kasese", "year": "2021"}
    assert inferred("Kasese 2020?", "two years later?") == {"district": "Kasese", "year": "2022"}
    assert inferred("Kasese 2020?", "what about MoES") == {
        "ministry": "Ministry of Education and Sports",
        "year": "2020",
    }
    assert inferred("Gulu City, 2021", "no, the district") == {"district": "Gulu", "year": "2021"}


class Collection:
    """Three chunks, found by no vector but in order, filtered exactly."""

    chunks = (
        Passage("a", "Kasese paid 40 people.", 0.9, {"district": "Kasese", "year": "2022"}),
        Passage("b", "Kabale paid 12 people.", 0.8, {"district": "Kabale", "year": "2022"}),
        Passage("c", "Kabale paid 15 people.", 0.7, {"district": "Kabale", "year": "2021"}),
    )

    def fields(self) -> Mapping[str, Sequence[Any]]:
        return {"district": ("Kabale", "Kasese"), "year": ("2021", "2022")}

    def count(self, filters: Mapping[str, Any]) -> int:
        return len(self.search("", filters=filters, limit=9))

    def search(self, query: str, *, filters: Mapping[str, Any], limit: int) -> tuple[Passage, ...]:
        found = (
            chunk
            for chunk in self.chunks
            if all(
                chunk.metadata.get(field) in (value if isinstance(value, list) else [value])
                for field, value in filters.items()
            )
        )
        return tuple(found)[:limit]


async def in_thread(function: Callable[[], T]) -> T:
    return function()


def ask(question: str, complete: Any = None, **options: Any) -> Answer:
    async def asked() -> Answer:
        resources = Resources(Collection(), complete, in_thread)  # type: ignore[arg-type]
        assistant = Assistant(resources, fields=["district", "year"], **options)
        return await assistant.ask([Message("user", question)], Session("s"))

    return asyncio.run(asked())


def test_what_matches_is_answered_and_cited() -> None:
    answer = ask("Kabale in 2021?")
    assert answer.filters == {"district": "Kabale", "year": "2021"}
    assert [passage.id for passage in answer.passages] == ["c"]
    assert answer.text == "Kabale paid 15 people. [1]"
    assert (answer.behavior, answer.usage) == (None, ())


def test_what_matches_nothing_is_relaxed_and_said() -> None:
    answer = ask("Kasese in 2021?")
    assert answer.filters == {"district": "Kasese", "year": "2021"}
    assert [passage.id for passage in answer.passages] == ["a"]
    assert answer.behavior == "relaxed"
    assert answer.text.startswith(
        "Nothing matches district Kasese, year 2021. What follows leaves out year 2021.\n\n"
    )


def test_without_the_step_nobody_is_told() -> None:
    answer = ask("Kasese in 2021?", steps=["filters"])
    assert [passage.id for passage in answer.passages] == ["a"]
    assert (answer.behavior, "Nothing" in answer.text) == (None, False)


def test_each_side_of_a_comparison_is_searched() -> None:
    answer = ask("Kabale against Kasese, 2022", steps=["filters", "relaxation"])
    assert [passage.id for passage in answer.passages] == ["b", "a"]


def test_an_unknown_step_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown steps: filter; known: history"):
        ask("?", steps=["filter"])


def _model(request: Mapping[str, Any]) -> str:
    """Replies of a model, each wrapped as models like to."""
    prompt = request["messages"][-1]["content"]
    if "Which filters" in prompt:
        return 'Sure! ```json\n{"district": "Kabale", "year": "2022", "colour": "red"}\n```'
    if "in which order" in prompt:
        return '{"order": [2, 7, 1, "x"]}'
    if "Rewrite the last" in prompt:
        return "Payroll of Kabale in 2022?"
    return "Kabale paid 12 people [1]."


def test_the_same_steps_through_a_model(tmp_path: Path) -> None:
    async def asked(url: str) -> Answer:
        chat = Chat("gpt-4o-mini", url=url, api_key="k")
        resources = Resources(Collection(), chat.complete, in_thread)  # type: ignore[arg-type]
        assistant = Assistant(resources, fields=["district", "year"])
        history = [Message("user", "Kabale, 2021?"), Message("assistant", "15 people.")]
        try:
            return await assistant.ask([*history, Message("user", "and 2022?")], Session("s"))
        finally:
            await chat.aclose()

    with OpenAIServer(_model) as server:
        answer = asyncio.run(asked(server.url))
        prompts = [request.json["messages"][-1]["content"] for request in server.requests]
    assert answer.filters == {"district": "Kabale", "year": "2022"}
    assert answer.text == "Kabale paid 12 people [1]."
    assert [passage.id for passage in answer.passages] == ["b"]
    # One candidate needs no reranking: three calls, each with its usage.
    assert len(prompts) == 3
    assert answer.usage is not None
    assert [(u.model, u.input_tokens, u.cached_input_tokens) for u in answer.usage] == [
        ("gpt-4o-mini", 100, 40)
    ] * 3
    assert json.dumps(["Kabale", "Kasese"]) in prompts[1]


@pytest.mark.parametrize(
    ("reply", "order"),
    [
        ('{"order": [2, 1]}', ["b", "a"]),
        ('{"order": [9, true, 2]}', ["b", "a"]),
        ("no idea", ["a", "b"]),
        ('{"order": 2}', ["a", "b"]),
        ("[2, 1]", ["a", "b"]),
    ],
)
def test_whatever_a_model_says_of_the_order_no_passage_is_lost(
    reply: str, order: list[str]
) -> None:
    async def complete(_: Sequence[Message]) -> Any:
        from pytest_touchstone.llm.chat import Completion

        return Completion(reply)

    answered: Callable[[Sequence[Message]], Awaitable[Any]] = complete
    answer = ask("people in 2022?", answered, steps=["reranker"])
    assert [passage.id for passage in answer.passages][:2] == order
    assert answer.usage is None  # the server did not say
