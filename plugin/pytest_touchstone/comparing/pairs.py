"""Which questions two runs have in common, and what each system did with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pytest_touchstone.comparing.model import ChangedQuestion, Questions
from pytest_touchstone.report.digest import digits
from pytest_touchstone.report.model import CaseEntry, Report
from pytest_touchstone.report.pairs import changed_labels

Plays = Mapping[str, Sequence[CaseEntry]]
"""Case to what the system under test did with it, by mode and repeat."""


def under_test(report: Report) -> Report:
    """The report with the cases of its system under test alone, all of them made."""
    system = report["snapshot"]["roles"]["system"]
    return {**report, "cases": [entry for entry in report["cases"] if entry["system"] == system]}


def plays_of(report: Report) -> Plays:
    """The plays of a report that has those of its system under test alone, in its order."""
    found: dict[str, list[CaseEntry]] = defaultdict(list)
    for entry in report["cases"]:
        found[entry["case"]].append(entry)
    return found


def questions(yardstick: Plays, other: Plays) -> Questions:
    """What is common to two runs, and what is not."""
    changed = []
    common = [case for case in other if case in yardstick]
    for case in common:
        if labels := changed_labels(yardstick[case][0]["gold"], other[case][0]["gold"]):
            changed.append(ChangedQuestion(case, tuple(labels)))
    return Questions(
        alike=len(common) - len(changed),
        only_yardstick=tuple(case for case in yardstick if case not in other),
        only_other=tuple(case for case in other if case not in yardstick),
        changed=tuple(changed),
    )


def measured(plays: Sequence[CaseEntry], measure: str) -> list[CaseEntry]:
    """The plays that a measure was taken on."""
    return [entry for entry in plays if measure in entry["scores"]]


def same_scores(one: Plays, two: Plays) -> bool:
    """Whether two reports have the same scores, with the digits that the digest of results has."""
    return _scores(one) == _scores(two)


def _scores(plays: Plays) -> dict[tuple[str, str, int], dict[str, str | None]]:
    return {
        (case, entry["mode"], entry["repeat"]): {
            name: digits(value) for name, value in entry["scores"].items()
        }
        for case, entries in plays.items()
        for entry in entries
    }


def same_answers(one: Sequence[CaseEntry], two: Sequence[CaseEntry]) -> bool:
    """Whether the answers are the same, in every repeat."""
    return [entry["answer"] for entry in one] == [entry["answer"] for entry in two]


def same_output(one: Sequence[CaseEntry], two: Sequence[CaseEntry]) -> bool:
    """Whether the system did the same: then only who read it can have changed a score."""
    return list(map(_output, one)) == list(map(_output, two))


def _output(entry: CaseEntry) -> list[object]:
    turns = [*entry["earlier_turns"], entry]
    return [
        [
            turn["answer"],
            [(passage["id"], passage["digest"]) for passage in turn["passages"]],
            turn["filters"],
            turn["behavior"],
            turn["error"] and turn["error"]["kind"],
        ]
        for turn in turns
    ]
