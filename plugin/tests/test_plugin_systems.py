"""Systems from the hook, and the shipped baseline behind an OpenAI-compatible server."""

from __future__ import annotations

import json

import pytest
from projects import CASES, Project, case_of, question
from servers.openai import OpenAIServer, rate_limited

KEY = "sk-touchstone-0123456789abcdef"


def hook(body: str) -> str:
    return f"import app\n\n\ndef pytest_touchstone_systems(config, resources):\n    {body}\n"


@pytest.mark.parametrize("ways", [[], ["-n2"]], ids=["serial", "workers"])
def test_a_conftest_names_systems(project: Project, ways: list[str]) -> None:
    project.configure(system="mine", systems={}, baseline=None, variants=[])
    project.write("conftest.py", hook("return {'mine': app.assistant, 'other': app.plain}"))
    ended = project.end(*ways)
    assert ended.code == 0, ended.text
    assert project.calls() == [f"assistant ask {case}" for case in CASES]
    mine = project.report()["snapshot"]["systems"]["mine"]
    assert len(mine.pop("source_sha256")) == 64
    assert mine == {"object": "app:AsyncWithRetrieve"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "return {'mine': app.assistant, 'plain': app.plain}",
            "system 'plain' is defined twice: by the hook pytest_touchstone_systems and by the"
            " setting systems.plain; remove one",
        ),
        (
            "return [app.assistant]",
            "the hook pytest_touchstone_systems must return a mapping of names to systems, not [<",
        ),
        (
            "return {'mine': 'app:assistant'}",
            "system 'mine': builtins:str has no method `ask(messages, session)`",
        ),
        (
            "raise LookupError('no model here')",
            "the hook pytest_touchstone_systems raised LookupError: no model here (conftest.py:5)",
        ),
        (
            "return {'theirs': app.assistant}",
            "system 'mine' is not defined; known: assistant, baseline, history, plain, theirs.",
        ),
    ],
)
def test_what_is_wrong_with_the_hook_is_one_line(project: Project, body: str, said: str) -> None:
    project.configure(system="mine")
    project.write("conftest.py", hook(body))
    ended = project.end()
    assert ended.code == pytest.ExitCode.USAGE_ERROR, ended.text
    assert f"ERROR: {said}" in ended.err
    assert project.calls() == []


def test_two_conftests_cannot_name_the_same_system(project: Project) -> None:
    project.configure(system="mine")
    for folder in (".", "tests"):
        project.write(f"{folder}/conftest.py", hook("return {'mine': app.assistant}"))
    ended = project.end()
    assert ended.code == pytest.ExitCode.USAGE_ERROR, ended.text
    said = "ERROR: the hook pytest_touchstone_systems names mine in more than one place"
    assert ended.text.count(said) == 1


def test_secrets_among_a_systems_options_reach_no_file(project: Project) -> None:
    project.write(
        "built.py",
        "import app\n\n\ndef build(resources, *, api_key, index, fail):\n"
        "    if fail:\n        raise ValueError('cannot log in with ' + api_key)\n"
        "    return app.assistant\n",
    )
    options = {"api_key": KEY, "index": "/srv/indexes/small", "fail": False}
    project.settings["systems"]["assistant"] = {"build": "built:build", "options": options}
    project.configure()
    ended = project.end()
    assert ended.code == 0, ended.text
    identity = project.report()["snapshot"]["systems"]["assistant"]
    del identity["source_sha256"]
    assert identity == {"build": "built:build", "options": {"index": "small", "fail": False}}
    settings = project.folder / "evaluation/settings.yaml"
    for name, content in project.tree().items():
        assert KEY.encode() not in content or project.folder / name == settings, name

    options["fail"] = True
    project.configure()
    ended = project.end()
    assert ended.code == pytest.ExitCode.USAGE_ERROR
    assert "built:build raised ValueError: cannot log in with [secret]" in ended.err


def test_the_baseline_answers_through_a_server(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"c01": "Gulu paid 50 million.", "c02": "Lira lacked medicines.", "c03": "Arua built."}
    lines = [json.dumps({"id": i, "text": t, "metadata": {}}) for i, t in texts.items()]
    project.write("evaluation/corpus.jsonl", "\n".join(lines))
    history = [
        {"role": "user", "content": "Tell me about Gulu."},
        {"role": "assistant", "content": "Gladly."},
    ]
    project.gold(
        [
            question("a", gold_chunks=["c01"]),
            question("b", "multi_turn", history=history, gold_chunks=["c02"]),
        ]
    )
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with OpenAIServer(lambda request: f"{request['model']} says [1].", api_key=KEY) as server:
        server.script(rate_limited("0"))
        project.configure(
            system="history",
            baseline="baseline",
            variants=[],
            systems={},
            prices={},
            corpus={"chunks": "corpus.jsonl"},
            generator={"url": server.url, "model": "gpt-4o-mini"},
        )
        ended = project.spawn()
        asked = len(server.requests)
    assert ended.code == 0, ended.text
    assert asked == 6, "two answers each, one rewritten question, one 429 and its second try"
    report = project.report()
    for case in ("a", "b"):
        for system in ("history", "baseline"):
            assert case_of(report, case, system)["answer"] == "gpt-4o-mini says [1]."
    rewritten = case_of(report, "b", "history")
    assert [call["input_tokens"] for call in rewritten["usage"]] == [100, 100]
    assert rewritten["cost_usd"] == pytest.approx(2 * case_of(report, "a", "history")["cost_usd"])
    # 60 tokens at 0.15, 40 cached ones at 0.075 and 10 written ones at 0.60 dollars per million.
    assert case_of(report, "a", "baseline")["cost_usd"] == pytest.approx(18e-6)
    prices = report["snapshot"]["prices"]
    assert prices["gpt-4o-mini"]["input"] == pytest.approx(0.15), "stamped beside what they made"
    assert report["snapshot"]["models"]["generator"]["model"] == "gpt-4o-mini"
    assert KEY not in ended.text
    for name, content in project.tree().items():
        assert KEY.encode() not in content, name
