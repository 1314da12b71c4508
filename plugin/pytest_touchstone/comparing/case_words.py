"""A case that moved, in words: what every form of a comparison shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_touchstone.comparing.model import MeasureMove, Move, Run, Said
from pytest_touchstone.comparing.words import OTHER_INSTRUMENT
from pytest_touchstone.measures.base import counted
from pytest_touchstone.report.figures import number

NO_ANSWER = "no answer was asked for"
_ALIKE, _BEFORE = 120, 60
"""Characters that two answers may begin alike with, and how many of these an excerpt keeps."""


def how_far(move: Move) -> str:
    """How far a case moved, with its sign."""
    return number(move.move, 2, signed=True)


def said(side: Said) -> str:
    """An answer, or what stands in its place."""
    if side.error is not None:
        return f"System error: {side.error['kind']}: {side.error['message']}"
    return NO_ANSWER if side.answer is None else side.answer


def excerpts(move: Move) -> tuple[str, str]:
    """Both answers, from shortly before they part where they begin alike at length."""
    one, two = said(move.yardstick), said(move.other)
    pairs = enumerate(zip(one, two, strict=False))
    alike = next((n for n, (a, b) in pairs if a != b), min(len(one), len(two)))
    if one == two or alike <= _ALIKE:
        return one, two
    start = alike - _BEFORE
    return f"… {one[start:]}", f"… {two[start:]}"


def notable(move: Move) -> list[MeasureMove]:
    """The measures whose two values look different, or else the one that moved furthest."""
    found = [
        one
        for one in move.measures
        if number(one.yardstick, one.digits) != number(one.other, one.digits)
    ]
    return found or list(move.measures[:1])


def not_shown(move: Move, shown: int) -> str:
    """How many measures of a case moved and are not shown; empty where all are."""
    rest = len(move.measures) - shown
    return f"and {counted(rest, 'more measure')}" if rest else ""


def about(move: Move, yardstick: Run, other: Run) -> Iterator[str]:
    """What a reader must know of the two answers."""
    if move.same == "output":
        yield "The system did the same (answer, passages, filters, behaviour): the verdict moved."
    elif move.same == "answer":
        yield "The answer is the same; passages, filters or behaviour are not."
    if max(move.yardstick.times, move.other.times) > 1:
        yield _repeated(move, yardstick.letter, other.letter)
    if any(one.other_instrument for one in move.measures):
        yield f"{OTHER_INSTRUMENT} was read by different instruments."


def _repeated(move: Move, yardstick: str, other: str) -> str:
    """Of which times the texts are, where a question was asked several times."""
    one, two = move.yardstick, move.other
    if one.times == two.times:
        asked = f"{one.times} times"
    else:
        asked = f"{counted(one.times, 'time')} in {yardstick} and {two.times} in {other}"
    if one.time == two.time:
        shown = f"time {one.time}"
    else:
        shown = f"time {one.time} in {yardstick} and {two.time} in {other}"
    return (
        f"Asked {asked}: scores are means, the answers those of {shown}, and each reason is of a"
        " time at which the score moved."
    )
