"""What a report says in a sentence: for whoever reads nothing else of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from pytest_touchstone.measures.base import counted
from pytest_touchstone.report.cases import case_numbers
from pytest_touchstone.report.display import printable
from pytest_touchstone.report.figures import compared
from pytest_touchstone.report.model import Delta, MeasureEntry, Report

Standing = Literal["better", "worse", "undecided"]
"""The system under test against the baseline: what the data show of a difference."""

_LONGEST = 1000
_NAMED = 3


class Verdict(NamedTuple):
    """A report in a few sentences.

    :param comparison: the system under test against the baseline.
    :param gates: what became of the gates; empty where there are none.
    """

    comparison: str
    gates: str

    def __str__(self) -> str:
        return " ".join(filter(None, self))


def standing(entry: MeasureEntry, confidence: float) -> Standing | None:
    """Where the system under test stands on one measure; ``None`` where nothing was compared.

    It is better or worse where the difference is beyond chance after the correction for the number
    of measures (Holm, 1979); where no p-value could be had, nothing is claimed.

    :param confidence: of the report's intervals; 1 minus it is the level of the test.
    """
    delta = entry["delta"]
    if delta is None:
        return None
    return shown_by(delta, higher_is_better=entry["higher_is_better"], confidence=confidence)


def shown_by(delta: Delta, *, higher_is_better: bool, confidence: float) -> Standing:
    """What a difference shows, by the rule of :func:`standing`."""
    p = delta["p_adjusted"]
    if p is None or p > 1 - confidence or delta["estimate"] == 0:
        return "undecided"
    return "better" if (delta["estimate"] > 0) == higher_is_better else "worse"


def verdict(report: Report) -> Verdict:
    """The report in a few sentences, safe to print."""
    return Verdict(
        printable(" ".join(_comparison(report)), _LONGEST),
        printable(" ".join(_gates(report)), _LONGEST),
    )


def _comparison(report: Report) -> Iterator[str]:
    snapshot = report["snapshot"]
    roles = snapshot["roles"]
    asked = counted(len(case_numbers(report)), "gold question")
    if not compared(report):
        yield f"{roles['system']} was asked {asked}; there is no baseline to compare it with."
        return
    found = (
        (name, entry["title"])
        for entry in report["measures"]
        if (name := standing(entry, snapshot["confidence"])) is not None
    )
    yield f"{roles['system']} beside {roles['baseline']} on {asked}{tally(found)}."


def tally(found: Iterable[tuple[Standing, str]]) -> str:
    """The rest of a sentence: on how many measures, and on which, something is better or worse.

    :param found: what each measure shows, and its title.
    """
    by: dict[Standing, list[str]] = {"better": [], "worse": [], "undecided": []}
    for name, title in found:
        by[name].append(title)
    if not any(by.values()):
        return ": no measure could be compared"
    total = counted(sum(map(len, by.values())), "measure")
    told = [f"{name} on {len(titles)} ({_first(titles)})" for name, titles in by.items() if titles]
    return f", over {total} and corrected for their number: {', '.join(told)}"


def _first(titles: list[str]) -> str:
    more = f" and {len(titles) - _NAMED} more" if len(titles) > _NAMED else ""
    return ", ".join(titles[:_NAMED]) + more


def _gates(report: Report) -> Iterator[str]:
    if not report["gates"]:
        return
    outcomes: Counter[str] = Counter(entry["outcome"] for entry in report["gates"])
    words = {"pass": "passed", "fail": "failed", "undecided": "undecided", "not_run": "not run"}
    told = [f"{outcomes[name]} {word}" for name, word in words.items() if outcomes[name]]
    yield f"Of {counted(len(report['gates']), 'gate')}: {', '.join(told)}."
