"""A comparison on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_touchstone.comparing import case_words, words
from pytest_touchstone.comparing.model import Against, Comparison, MeasureMove, Move, Run
from pytest_touchstone.report.display import printable
from pytest_touchstone.report.figures import number
from pytest_touchstone.report.table import aligned

_LONGEST = 1000
_VALUE = 120
_ANSWER = 300
_WHY = 200
_MEASURES = 4
_ONE_SIDED = 20
"""Lines of scores that only one run has; the page and JSON have them all."""


def text_lines(found: Comparison, *, width: int) -> list[str]:
    """Which runs, then each against the yardstick; everything is safe to print.

    :param width: columns of the terminal; titles of measures are cut to it, messages never.
    """
    runs = [found.yardstick, *(one.run for one in found.others)]
    lines = [printable(words.run_line(run), _LONGEST) for run in runs]
    for one in found.others:
        lines += ["", *_against(one, found.yardstick, width)]
    return [line.rstrip() for line in lines]


def _against(found: Against, yardstick: Run, width: int) -> Iterator[str]:
    yield printable(words.verdict(found, yardstick), _LONGEST)
    yield ""
    yield printable(words.summary(found.snapshot), _LONGEST)
    for one in found.snapshot:
        before, after = (printable(value, _VALUE) for value in words.values(one))
        yield f"  {printable(words.where(one), _VALUE)}: {before} → {after}"
    yield ""
    yield from (printable(line, _LONGEST) for line in words.remarks(found, yardstick))
    yield ""
    yield from _scores(found, yardstick, width)
    yield from _one_sided(found, yardstick)
    moves = found.moves
    for direction, shown in (("better", moves.better), ("worse", moves.worse)):
        if shown:
            yield ""
            yield words.moved_title(found, direction)
            yield from _moves(shown, yardstick, found.run)
    if moves.better or moves.worse:
        yield ""
        yield words.MOVED


def _one_sided(found: Against, yardstick: Run) -> Iterator[str]:
    if not found.one_sided:
        return
    yield ""
    yield words.one_sided_title(found)
    for one in found.one_sided[:_ONE_SIDED]:
        yield f"  {printable(words.one_sided(one, yardstick, found.run), _LONGEST)}"
        if one.why:
            yield f"    {printable(one.why, _WHY)}"
    if len(found.one_sided) > _ONE_SIDED:
        yield f"  and {len(found.one_sided) - _ONE_SIDED} more"


def _scores(found: Against, yardstick: Run, width: int) -> Iterator[str]:
    if moving := words.moving(found):
        rows = [words.score_row(one, yardstick, found.run) for one in moving]
        yield from aligned([words.header(found, yardstick), *rows], width)
        yield words.LEGEND
        yield "Intervals of Δ:"
        yield from (f"  {printable(line, _LONGEST)}" for line in words.methods(moving))
    if still := words.still(found):
        yield printable(words.stillness(still, yardstick, found.run), _LONGEST)


def _moves(moves: Sequence[Move], yardstick: Run, other: Run) -> Iterator[str]:
    for move in moves:
        yield f"  {printable(f'{move.case} ({move.type})', _VALUE)} {case_words.how_far(move)}"
        yield f"    {printable(move.question, _ANSWER)}"
        before, after = case_words.excerpts(move)
        yield f"    {yardstick.letter}: {printable(before, _ANSWER)}"
        yield f"    {other.letter}: {printable(after, _ANSWER)}"
        for line in case_words.about(move, yardstick, other):
            yield f"    {line}"
        shown = case_words.notable(move)[:_MEASURES]
        for measure in shown:
            yield from _measure(measure, yardstick, other)
        if more := case_words.not_shown(move, len(shown)):
            yield f"    {more}"


def _measure(measure: MeasureMove, yardstick: Run, other: Run) -> Iterator[str]:
    mark = f"{words.OTHER_INSTRUMENT} " if measure.other_instrument else ""
    before, after = (number(v, measure.digits) for v in (measure.yardstick, measure.other))
    yield f"    {mark}{printable(measure.title, _VALUE)} {before} → {after}"
    yield f"      {yardstick.letter}: {printable(measure.yardstick_why, _WHY)}"
    yield f"      {other.letter}: {printable(measure.other_why, _WHY)}"
