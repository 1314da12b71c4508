"""A project whose answers are judged, and a judge for it that believes red and no other colour."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from canary_replies import canary_of, reply
from projects import Project
from servers.openai import OpenAIServer

APP = """
from pytest_touchstone import Answer, Passage, Usage

PASSAGES = (Passage("c1", "The bridge is red. It cost 4 million."), Passage("c2", "Page 3 of 9"))


async def assistant(messages, session):
    return Answer(
        "The bridge is red [1].", PASSAGES, filters={"year": "2022"},
        usage=(Usage("gpt-4o-mini", 100, 0, 10),),
    )


async def plain(messages, session):
    return Answer("It is blue [1].", PASSAGES, usage=())


async def own(messages, session):
    return Answer("It is blue [1].", PASSAGES, usage=(Usage("gpt-4.1-2025-04-14", 100, 0, 10),))
"""
GOLD: list[dict[str, Any]] = [
    {
        "id": "s1",
        "type": "summary",
        "question": "What about the bridge?",
        "answer": "The bridge is red.",
        "key_points": ["it is red", "it cost 4 million"],
        "gold_chunks": ["c1"],
    },
    {
        "id": "m1",
        "type": "multi_turn",
        "question": "And its colour?",
        "history": [
            {"role": "user", "content": "Is there a bridge?", "filters": {"year": "2022"}},
            {"role": "assistant", "content": "Yes."},
        ],
        "answer": "Red.",
        "filters": {"year": "2022"},
    },
]


def verdict(request: Mapping[str, Any]) -> str:
    """A judge that believes red and no other colour, and knows every canary."""
    prompt = request["messages"][0]["content"]
    if (canary := canary_of(prompt)) is not None:
        return reply(canary, canary.known[0])
    asked = request["response_format"]["json_schema"]["schema"]["properties"]
    red = "is red" in prompt
    if "claims" in asked:
        claim = "The bridge is red." if red else "The bridge is blue."
        return json.dumps({"claims": [{"sentence": 1, "claim": claim}]})
    if "verdicts" in asked and "claim" in asked["verdicts"]["items"]["properties"]:
        good = bool(re.search(r'"claim": 1, [^\n]*The bridge is red', prompt))
        item = {
            "claim": 1, "passage": 1, "quotation": "The bridge is red.", "rationale": "It says so.",
            "label": "supported" if good else "contradicted",
        }  # fmt: skip
        return json.dumps({"verdicts": [item]})
    if "verdicts" in asked:
        items = [
            {"passage": n, "rationale": "Seen.", "label": "relevant" if n == 1 else "irrelevant"}
            for n in (1, 2)
        ]
        return json.dumps({"verdicts": items})
    if "formality" in asked:
        score: dict[str, Any] = {"rationale": "Sober.", "score": 4}
        return json.dumps({"formality": score, "caution": score | {"score": 3}})
    if "points" in asked:
        points: list[dict[str, Any]] = [
            {"point": 1, "quotation": "red", "rationale": "There.", "label": "present"},
            {"point": 2, "quotation": None, "rationale": "Not there.", "label": "absent"},
        ]
        if "is blue" in prompt:
            points[0] |= {"quotation": None, "label": "absent"}
        return json.dumps({"points": points, "sentences": [{"sentence": 1, "serves": [1]}]})
    if "paragraphs" in asked:
        cited = [{"source": 1, "label": "supported"}]
        one = {"paragraph": 1, "sources": cited, "rationale": "It says so.", "label": "supported"}
        return json.dumps({"paragraphs": [one]})
    if "turns" in asked:
        turns = [{"turn": n, "rationale": "On it.", "on_topic": True} for n in (1, 2)]
        return json.dumps({"label": "completed", "rationale": "Told.", "turns": turns})
    label = "boilerplate" if '"Page 3 of 9"' in prompt else "paragraph"
    return json.dumps({"label": label, "rationale": "Read."})


def lay_out(project: Project) -> None:
    """Write systems and gold questions, and name the systems in the settings."""
    project.write("app.py", APP.lstrip())
    project.gold(GOLD)
    project.configure(
        variants=[],
        systems={name: {"ask": f"app:{name}"} for name in ("assistant", "plain", "own")},
    )


def judge(project: Project, server: OpenAIServer, **changes: Any) -> None:
    """Set up a judge behind this server, without canaries unless they are asked for."""
    settings = {"model": "gpt-4.1", "url": server.url, "api_key": "judge-key-canary-1", "tries": 1}
    settings |= {"canaries": False}
    project.configure(judge=settings | changes)


def scores(project: Project, system: str = "assistant") -> dict[str, float | None]:
    """A system's scores in the latest report, by case and measure."""
    found: dict[str, float | None] = {}
    for case in project.report()["cases"]:
        if case["system"] == system:
            found |= {f"{case['case']} {name}": value for name, value in case["scores"].items()}
    return found
