"""Who read the answers: values of two runs are comparable where the same instrument gave them."""

from __future__ import annotations

from typing import NamedTuple

from pytest_touchstone.annotations import REPLACED
from pytest_touchstone.measures import parse
from pytest_touchstone.measures.prompts import prompts_of
from pytest_touchstone.report.model import Report, Snapshot

INSTRUMENTS = ("judge", "scorer")
"""Roles whose model, not the system, may be what differs."""


class OtherInstrument(NamedTuple):
    """What was otherwise when two reports' answers were read.

    :param role: `judge` or `scorer`.
    :param then: its model in the earlier report.
    :param now: its model in this one.
    :param prompts: where the model is the same, the prompts that the measure rests on and that it
        was asked with otherwise.
    """

    role: str
    then: str | None
    now: str | None
    prompts: tuple[str, ...] = ()


def other_instrument(report: Report, previous: Report, measure: str) -> OtherInstrument | None:
    """What a measure of two systems under test was read by differently, or ``None``."""
    now, then = report["snapshot"], previous["snapshot"]
    origins = _origins(report, measure) | _origins(previous, measure)
    for role in INSTRUMENTS:
        earlier, own = _model(then, role), _model(now, role)
        if role in origins and earlier != own:
            return OtherInstrument(role, earlier, own)
    if "judge" in origins:
        one, other = then["prompts"], now["prompts"]
        changed = {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
        if prompts := sorted(name for name in changed if rests_on(measure, name)):
            return OtherInstrument(
                "judge", _model(then, "judge"), _model(now, "judge"), (*prompts,)
            )
    return None


def rests_on(measure: str, prompt: str) -> bool:
    """Whether values of a measure that a judge gave may rest on a prompt.

    :param measure: its name; of one that is not known here, such as one that a later version has,
        every prompt of a judge may be behind it.
    """
    try:
        return prompt in prompts_of(parse(measure))
    except ValueError:
        return prompt.startswith("judge")


def _origins(report: Report, measure: str) -> set[str]:
    """Where the values of the system under test are from, those that people replaced included."""
    entry = next((one for one in report["measures"] if one["measure"] == measure), None)
    result = entry["system"] if entry else None
    found = set(result["origin"]) if result else set()
    if "human" in found:
        for case in report["cases"]:
            own = case["details"].get(measure, {}).get(REPLACED)
            if own and case["system"] == report["snapshot"]["roles"]["system"]:
                found.add(own["origin"])
    return found


def _model(snapshot: Snapshot, role: str) -> str | None:
    model: str | None = snapshot["models"].get(role, {}).get("model")
    return model
