"""Substitutes are named on every figure of theirs, and on no other."""

from __future__ import annotations

from typing import Any

from pytest_touchstone.report.substitutes import explained, marked, short

RULES: dict[str, Any] = {
    "judge": {"model": "offline", "agreement": "AUC 0.9"},
    "scorer": {"model": None},
}
PROXY: dict[str, Any] = {"judge": {"model": "gpt-4.1"}, "scorer": {"model": "m", "scale": "proxy"}}


def entry(**origin: int) -> Any:
    result = {"origin": origin}
    return {"title": "Faithfulness", "system": result, "baseline": None}


def test_a_figure_says_which_substitute_made_it() -> None:
    assert marked(entry(judge=3, human=1), RULES)["title"] == "Faithfulness (offline)"
    assert marked(entry(scorer=3), PROXY)["title"] == "Faithfulness (proxy)"
    assert short("Citation recall (offline)") == "Citation recall °"


def test_others_do_not() -> None:
    assert marked(entry(computed=3), RULES)["title"] == "Faithfulness"
    assert marked(entry(judge=3), PROXY)["title"] == "Faithfulness"
    assert marked(entry(human=3), RULES)["title"] == "Faithfulness"


def test_each_is_explained_once_with_its_agreement() -> None:
    assert list(explained(RULES)) == [
        "° offline: judged by rules, no model. Agreement with people: AUC 0.9"
    ]
    (proxy,) = explained(PROXY)
    assert proxy.endswith("Its agreement with people is not known.")
    assert list(explained({"judge": {"model": None}})) == []
