"""Reports compared."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_touchstone.comparing.deltas import measure_deltas
from pytest_touchstone.comparing.model import Against, Comparison, Run
from pytest_touchstone.comparing.moves import moves
from pytest_touchstone.comparing.pairs import (
    Plays,
    plays_of,
    questions,
    same_scores,
    under_test,
)
from pytest_touchstone.comparing.snapshots import snapshot_differences
from pytest_touchstone.report.model import Report

SHOWN = 5
"""Cases in each direction, where nobody asks for another number."""


def compare(yardstick: Report, others: Sequence[Report], *, shown: int = SHOWN) -> Comparison:
    """Each of the other reports against the yardstick.

    :param shown: how many of the cases that moved most there are in each direction.
    """
    # Cases may be made as they are looked at, and every measure looks at them again.
    yardstick, *others = (under_test(one) for one in (yardstick, *others))
    plays = plays_of(yardstick)
    return Comparison(
        _run(yardstick, plays, 0),
        tuple(
            _against(yardstick, plays, other, place, shown) for place, other in enumerate(others, 1)
        ),
    )


def _against(yardstick: Report, plays: Plays, other: Report, place: int, shown: int) -> Against:
    others = plays_of(other)
    one, two = yardstick["snapshot"], other["snapshot"]
    found = measure_deltas(yardstick, other, plays, others)
    # The digest is over all systems: where another is under test it says nothing of the two.
    same_digest = (
        one["results_sha256"] == two["results_sha256"]
        and one["roles"]["system"] == two["roles"]["system"]
    )
    same = same_digest and same_scores(plays, others)
    # Scores that people gave may be the same where those that they replaced are not.
    moved = any(each.delta.better or each.delta.worse for each in found.compared)
    return Against(
        run=_run(other, others, place),
        same_results=same and not moved and not found.one_sided,
        file_changed=same_digest and not same,
        snapshot=tuple(snapshot_differences(one, two)),
        questions=questions(plays, others),
        confidence=two["confidence"],
        measures=tuple(one.delta for one in found.compared),
        left_out=tuple(found.left_out),
        one_sided=tuple(found.one_sided),
        moves=moves(found.compared, plays, others, shown),
    )


def _run(report: Report, plays: Plays, place: int) -> Run:
    snapshot = report["snapshot"]
    failed = [case for case, entries in plays.items() if any(e["error"] for e in entries)]
    return Run(
        letter=letter(place),
        id=snapshot["run"]["id"],
        label=snapshot["run"]["label"],
        started_at=snapshot["run"]["started_at"],
        finished_at=snapshot["run"]["finished_at"],
        commit=snapshot["commit"],
        dirty=snapshot["dirty"],
        dataset=snapshot["dataset"]["path"],
        system=snapshot["roles"]["system"],
        questions=len(plays),
        failed=len(failed),
        results_sha256=snapshot["results_sha256"],
    )


def letter(place: int) -> str:
    """A, B, … Z, AA, AB, …"""
    return (letter(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)
