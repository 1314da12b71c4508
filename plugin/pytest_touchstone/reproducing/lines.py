"""What was found out about a report, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_touchstone.comparing.words import p_value
from pytest_touchstone.measures.base import counted
from pytest_touchstone.report.display import printable
from pytest_touchstone.report.figures import NOTHING, ends, number
from pytest_touchstone.report.model import Report
from pytest_touchstone.report.table import aligned
from pytest_touchstone.reproducing.check import Item, has_code
from pytest_touchstone.reproducing.verdict import Movement, Verdict

_LONGEST = 1000
_SHOWN = 10
_NAMED = 3
_WORDS = {"holds": "holds", "differs": "DIFFERS", "unknown": "unknown"}
_ONE = frozenset({"commit", "dataset", "corpus"})
"""Names of things in the singular."""
_OF_A_REPLAY = frozenset({"packages"})
"""What a replay still takes from here: everything else is in its bundle."""


def check_lines(items: Sequence[Item]) -> Iterator[str]:
    """One line for each thing that was looked at, those that differ with what differs."""
    width = max(len(item.name) for item in items)
    words = max(map(len, _WORDS.values()))
    for item in items:
        line = f"  {item.name:<{width}}  {_WORDS[item.standing]:<{words}}  {item.said}"
        yield printable(line, _LONGEST).rstrip()
        for difference in item.differences[:_SHOWN]:
            yield printable(f"      {difference}", _LONGEST)
        if (more := len(item.differences) - _SHOWN) > 0:
            yield f"      and {more} more"


def verdict_lines(
    verdict: Verdict, items: Sequence[Item], report: Report, *, replayed: bool, width: int
) -> Iterator[str]:
    """The verdict in a sentence, then measures and cases that differ.

    :param replayed: whether the report was made again from a bundle.
    :param width: columns of the terminal.
    """
    yield printable(f"verdict: {_sentence(verdict, items, report, replayed=replayed)}", _LONGEST)
    if verdict.movements:
        level = f"{100 * verdict.confidence:g}% CI"
        header = [
            "Measure",
            "System",
            f"Then ({level})",
            "Now",
            f"Δ ({level})",
            "Holm",
            "Pairs",
            "",
        ]
        yield ""
        yield from aligned([header, *map(_row, verdict.movements)], width)
    if verdict.cases:
        yield ""
        yield f"{counted(len(verdict.cases), 'score')} of a question differ, the furthest first:"
    for move in verdict.cases[:_SHOWN]:
        then, now = (f"{value:.6g}" for value in (move.then, move.now))
        line = f"  {move.case}  {move.system}  {move.entry['measure']}: {then} → {now}"
        yield printable(line, _LONGEST)
    if (more := len(verdict.cases) - _SHOWN) > 0:
        yield f"  and {more} more"


def _row(movement: Movement) -> list[str]:
    digits, delta = movement.digits, movement.delta
    notes = ["moved"] if movement.moved else []
    notes += [f"{count} not scored now: {reason}" for reason, count in movement.lost.items()]
    notes += [f"{movement.gained} scored only now"] if movement.gained else []
    return [
        movement.entry["title"],
        movement.system,
        _figure(movement.then.value, digits) + ends(movement.then.ci, digits),
        _figure(movement.now, digits),
        _delta(movement),
        NOTHING if delta is None else p_value(delta["p_adjusted"]),
        str(movement.then.n),
        ", ".join(notes),
    ]


def _figure(value: float | None, digits: int) -> str:
    return NOTHING if value is None else number(value, digits)


def _delta(movement: Movement) -> str:
    if movement.delta is None:
        return NOTHING
    shown = number(movement.delta["estimate"], movement.digits, signed=True)
    return shown + ends(movement.delta["ci"], movement.digits, signed=True)


def _sentence(verdict: Verdict, items: Sequence[Item], report: Report, *, replayed: bool) -> str:
    differing = [item for item in items if item.standing == "differs"]
    said = f"{verdict.word}: {_reached(verdict, report)}"
    if verdict.word != "different":
        names = [item.name for item in differing]
        if not names:
            return f"{said}."
        several = len(names) > 1 or names[0] not in _ONE
        return f"{said}, although {_listed(names)} {'are' if several else 'is'} not the same."
    mattering = [item for item in differing if not replayed or item.name in _OF_A_REPLAY]
    if mattering:
        told = (f"{item.name} ({_first(item.differences)})" for item in mattering)
        return f"{said}. What differs here: {'; '.join(told)}."
    unknown = [item.name for item in items if item.standing == "unknown"]
    beside = f" (not known: {_listed(unknown)})" if unknown and not replayed else ""
    if replayed:
        return f"{said}. A bundle brings all but the packages, and those hold: it was changed."
    why = "what was asked does not give the same twice"
    if not _same_code(items, report):
        why = "whether the systems' code is what it was cannot be told"
    return f"{said}. Nothing that was looked at differs here{beside}: {why}."


def _same_code(items: Sequence[Item], report: Report) -> bool:
    """Whether the systems are known to be the code that they were."""
    held = {item.name for item in items if item.standing == "holds"}
    return "commit" in held or ("systems" in held and has_code(report["snapshot"]))


def _reached(verdict: Verdict, report: Report) -> str:
    differing, answers = verdict.answers
    if verdict.word == "identical":
        digest = report["snapshot"]["results_sha256"][:12]
        return f"{counted(answers, 'answer')} and their scores came out again ({digest})"
    moved = [movement for movement in verdict.movements if movement.moved]
    told = f"{differing} of {counted(answers, 'answer')} and {len(verdict.cases)} scores differ"
    if not moved:
        total = counted(len(report["measures"]), "measure")
        return f"{told}, which on none of {total} is more than chance"
    return f"{_first([_moved(movement) for movement in moved])}; {told}"


def _moved(movement: Movement) -> str:
    name = f"{movement.entry['title']} of {movement.system}"
    if movement.delta is None or not movement.delta["estimate"]:
        return f"{name} was not scored again on {sum(movement.lost.values())} questions"
    then, now = (_figure(v, movement.digits) for v in (movement.then.value, movement.now))
    few = "" if movement.delta["ci"] else ", too few questions to tell chance"
    return f"{name} went from {then} to {now}, Δ {_delta(movement)}{few}"


def _first(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return "; ".join(texts[:_NAMED]) + more


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
