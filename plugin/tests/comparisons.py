"""Pairs of reports to compare: built from scores, with answers, or full of hostile text."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

from gated import Scored
from hostile import TEXTS, hostile_report

from pytest_touchstone.annotations import REPLACED
from pytest_touchstone.report import Report

SYSTEM = "mine"
Scores = Mapping[str, Sequence[float | str | Sequence[float | str | None] | None]]


def report(scores: Scores, **given: object) -> Report:
    """A report of one system; without other words its answers are those of its questions."""
    known = Scored(values={SYSTEM: dict(scores)}, baseline=None, **given).report()  # type: ignore[arg-type]
    known["cases"] = list(known["cases"])
    for entry in known["cases"]:
        entry["answer"] = f"The answer to {entry['case']}."
    known["snapshot"]["run"]["finished_at"] = "2026-11-30T14:31:00Z"
    return known


def answers(found: Report, **said: str | None) -> Report:
    """Other answers to some of the questions."""
    for entry in found["cases"]:
        if entry["case"] in said:
            entry["answer"] = said[entry["case"]]
    return found


def by_people(found: Report, measure: str, case: str, value: float) -> Report:
    """What people said of an answer, over what the judge did."""
    for entry in found["cases"]:
        if entry["case"] == case:
            own = {"value": entry["scores"][measure], "why": "the judge's", "origin": "judge"}
            entry["scores"][measure] = value
            entry["why"][measure] = "annotated"
            entry["details"][measure] = {REPLACED: own}
    return found


def hostile_pair(*, cases: int = len(TEXTS), longest: int = 0) -> tuple[Report, Report]:
    """Two hostile reports between which scores, answers and all of the snapshot moved."""
    one = hostile_report(cases=cases, longest=longest)
    one["cases"] = list(one["cases"])
    two = copy.deepcopy(one)
    for entry in two["cases"]:
        n = int(entry["case"].removeprefix("case-"))
        for measure, value in entry["scores"].items():
            if value is not None and n % 4 != 3 and measure != "CostPerQuery":
                entry["scores"][measure] = min(value * (0.4 + n % 5 / 4), 1)
        if entry["answer"] is not None and n % 2 == 0:
            entry["answer"] = f"{TEXTS[(n + 5) % len(TEXTS)]}\n{entry['answer']}"
    snapshot = two["snapshot"]
    snapshot["results_sha256"] = "12" * 32
    snapshot["prompts"] = dict.fromkeys(TEXTS, "34" * 32)
    snapshot["settings"] = {text: {text: [text]} for text in TEXTS}
    snapshot["models"] = {"judge": {"model": TEXTS[4]}}
    snapshot["packages"] = {"numpy": TEXTS[7]}
    return one, two
