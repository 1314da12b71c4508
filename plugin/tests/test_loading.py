"""Systems by name: from settings, from the hook, built in."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import pytest

from pytest_touchstone.corpus.collection import Corpus
from pytest_touchstone.settings import Settings
from pytest_touchstone.systems.loading import Resources, SystemNotFound, load_systems
from pytest_touchstone.systems.protocol import Loaded, as_answer
from pytest_touchstone.systems.single_shot import SingleShot
from pytest_touchstone.trace import Answer, Message, Passage

MODULE = '''
"""Somebody's systems."""

import os

from pytest_touchstone import Answer


def ask(messages, session):
    return Answer("function")


def ask_shorter(messages):
    return Answer("short")


class Assistant:
    identity = {"model": "m-1", "api_key": "sk-hunter2hunter2"}

    def __init__(self, resources=None, greeting="hello", **options):
        if greeting == "broken":
            raise ValueError("no greeting")
        self.greeting = greeting

    async def ask(self, messages, session):
        return Answer(self.greeting)

    def retrieve(self, messages, session):
        return []


class Nested:
    assistant = Assistant(greeting="nested")


class Old:
    def ask(self, question):
        return Answer("old")


assistant = Assistant()
old = Old()
five = 5
'''


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "somebodys.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "somebodys", raising=False)
    return tmp_path


class FakeCorpus:
    def check_vectors(self) -> None:
        """Fine."""

    def search(self, query: Any, *, limit: int) -> tuple[Passage, ...]:
        return (Passage("c1", "Roads in Gulu are good."),)[:limit]


async def at_once(function: Any) -> Any:
    return function()


def load(
    name: str,
    systems: Mapping[str, Any] | None = None,
    hooked: Mapping[str, object] | None = None,
    corpus: object = None,
) -> Loaded:
    settings = Settings.model_validate({"dataset": "gold.jsonl", "systems": systems or {}})
    resources = Resources(cast(Corpus | None, corpus), None, at_once)
    return load_systems([name], settings, hooked or {}, resources)[name]


def answer(system: Loaded) -> str:
    returned = system.ask((Message("user", "Roads?"),), None)
    return as_answer(asyncio.run(returned) if asyncio.iscoroutine(returned) else returned).text


@pytest.mark.parametrize(
    ("definition", "text", "identity"),
    [
        ({"ask": "somebodys:ask"}, "function", {"ask": "somebodys:ask"}),
        (
            {"ask": "somebodys:assistant"},
            "hello",
            {"ask": "somebodys:assistant", "model": "m-1"},
        ),
        (
            {"ask": "somebodys:Nested.assistant"},
            "nested",
            {"ask": "somebodys:Nested.assistant", "model": "m-1"},
        ),
        (
            {
                "build": "somebodys:Assistant",
                "options": {"greeting": "hi", "day": "2022-01-01", "token": "hunter2"},
            },
            "hi",
            {
                "build": "somebodys:Assistant",
                "options": {"greeting": "hi", "day": "2022-01-01"},
                "model": "m-1",
            },
        ),
    ],
)
def test_a_system_of_the_settings(
    definition: dict[str, Any], text: str, identity: dict[str, Any]
) -> None:
    system = load("mine", {"mine": definition | {"timeout": 7, "concurrency": 3}})
    assert answer(system) == text
    assert system.identity == identity
    assert (system.name, system.timeout, system.concurrency) == ("mine", 7, 3)
    assert (system.retrieve is None) == (text == "function")


class Speaker:
    def __call__(self, messages: Any, session: Any) -> Answer:
        return Answer("called")


def speak(text: str, messages: Any, session: Any) -> Answer:
    return Answer(text)


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (Speaker(), "called"),
        (functools.partial(speak, "partial"), "partial"),
        (lambda messages, session: Answer("lambda"), "lambda"),
        (Speaker().__call__, "called"),
    ],
)
def test_a_system_of_the_hook_may_be_anything_that_is_called(thing: object, text: str) -> None:
    system = load("mine", {"mine": {"timeout": 5}}, {"mine": thing})
    assert answer(system) == text
    assert system.timeout == 5
    assert list(system.identity) == ["object"]


def test_built_in_systems_search_the_collection() -> None:
    for name, history in {"baseline": False, "history": True}.items():
        system = load(name, corpus=FakeCorpus())
        assert answer(system) == "Roads in Gulu are good. [1]"
        assert isinstance(getattr(system.ask, "__self__", None), SingleShot)
        assert system.identity["options"].get("history", False) is history
    tuned = load("baseline", {"baseline": {"options": {"top_k": 3}}}, corpus=FakeCorpus())
    assert tuned.identity["options"] == {"top_k": 3}


def test_a_project_may_define_a_baseline_of_its_own() -> None:
    assert answer(load("baseline", {"baseline": {"ask": "somebodys:ask"}})) == "function"


FAULTS: list[tuple[str, dict[str, Any], dict[str, object], str]] = [
    ("mine", {}, {}, "'mine' is not defined; known: baseline, history"),
    ("mine", {"yours": {"ask": "a:b"}}, {"hooked": 1}, "known: baseline, history, hooked, yours"),
    ("mine", {"mine": {"ask": "somebodys:ask"}}, {"mine": speak}, "defined twice"),
    ("mine", {"mine": {"ask": "nowhere:ask"}}, {}, "nowhere:ask cannot be imported: No module"),
    ("mine", {"mine": {"ask": "somebodys:aks"}}, {}, "cannot be imported: .*no attribute 'aks'"),
    ("mine", {"mine": {"ask": "broken:ask"}}, {}, r"imported: KeyError: 'MY_KEY'"),
    ("mine", {"mine": {"ask": "faulty:ask"}}, {}, "imported: SyntaxError"),
    ("mine", {"mine": {"ask": "somebodys:five"}}, {}, "int has no method `ask"),
    ("mine", {"mine": {"ask": "somebodys:Assistant"}}, {}, "Assistant is a class; name an inst"),
    ("mine", {}, {"mine": Speaker}, r"Speaker is a class; .*systems\.mine\.build"),
    ("mine", {"mine": {"ask": "somebodys:ask_shorter"}}, {}, r"called as `ask\(messages, session"),
    ("mine", {"mine": {"ask": "somebodys:old"}}, {}, r"`ask` of somebodys:Old cannot be called"),
    ("mine", {"mine": {"build": "somebodys:five"}}, {}, "somebodys:five cannot be called"),
    (
        "mine",
        {"mine": {"build": "somebodys:Assistant", "options": {"greeting": "broken"}}},
        {},
        "build: somebodys:Assistant raised ValueError: no greeting",
    ),
    ("mine", {"mine": {"build": "somebodys:ask"}}, {}, r"ask raised TypeError: ask\(\) missing"),
    ("baseline", {}, {}, "the settings name none: set `corpus`"),
]


@pytest.mark.parametrize(("name", "systems", "hooked", "says"), FAULTS)
def test_what_is_wrong_is_one_line_that_names_the_system(
    name: str, systems: dict[str, Any], hooked: dict[str, object], says: str, module: Path
) -> None:
    (module / "broken.py").write_text("import os\nos.environ['MY_KEY']\n")
    (module / "faulty.py").write_text("def ask(:\n")
    with pytest.raises(SystemNotFound, match=says) as caught:
        load(name, systems, hooked)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_options_of_a_built_in_system() -> None:
    with pytest.raises(SystemNotFound, match=r"systems\.baseline\.options: .*'topk'"):
        load("baseline", {"baseline": {"options": {"topk": 3}}}, corpus=FakeCorpus())


def test_retrieve_must_be_callable_too() -> None:
    class Half:
        retrieve = "no"

        def ask(self, messages: Any, session: Any) -> Answer:
            return Answer("x")

    with pytest.raises(SystemNotFound, match=r"`retrieve` of .*Half cannot be called"):
        load("mine", hooked={"mine": Half()})


def test_an_identity_that_no_report_can_hold() -> None:
    class Odd:
        identity = MappingProxyType({"weight": float("nan")})

        def ask(self, messages: Any, session: Any) -> Answer:
            return Answer("x")

    with pytest.raises(SystemNotFound, match="identity is no JSON data: weight is nan"):
        load("mine", hooked={"mine": Odd()})
