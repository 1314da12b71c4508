"""A comparison as GitHub-flavoured Markdown: for the reviewer of a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_touchstone.comparing import case_words, words
from pytest_touchstone.comparing.model import (
    Against,
    Comparison,
    MeasureDelta,
    MeasureMove,
    Move,
    Run,
)
from pytest_touchstone.measures.base import counted
from pytest_touchstone.report.figures import number
from pytest_touchstone.report.markdown import escaped, more, table

_VALUE = 80
_ANSWER = 300
_WHY = 160
_MEASURES = 3
_ONE_SIDED = 20
_OPEN = 12
"""Differences of the snapshots that stand there at once; more are read on demand."""


def markdown(found: Comparison) -> str:
    """Verdict, differences of the snapshots, scores; the cases that moved most on demand."""
    runs = [found.yardstick, *(one.run for one in found.others)]
    parts = [
        f"## {escaped(words.title(found))}",
        "\n".join(f"* {escaped(words.run_line(run))}" for run in runs),
    ]
    for one in found.others:
        if len(found.others) > 1:
            parts.append(f"### {one.run.letter} against {found.yardstick.letter}")
        parts += _against(one, found.yardstick)
    return "\n\n".join(parts) + "\n"


def _against(found: Against, yardstick: Run) -> Iterator[str]:
    yield f"**{escaped(words.verdict(found, yardstick))}**"
    yield from _snapshot(found, yardstick)
    yield "\n".join(f"* {escaped(line)}" for line in words.remarks(found, yardstick))
    if moving := words.moving(found):
        yield _scores(moving, found, yardstick)
        yield f"<sub>{escaped(words.LEGEND)}.</sub>"
    if still := words.still(found):
        rest = f"No question moved on {counted(len(still), 'measure')}"
        yield more(rest, _scores(still, found, yardstick))
    if found.one_sided:
        yield more(words.one_sided_title(found), "\n".join(_one_sided(found, yardstick)))
    moves = found.moves
    for direction, shown in (("better", moves.better), ("worse", moves.worse)):
        if shown:
            told = _moves(shown, yardstick, found.run)
            yield more(words.moved_title(found, direction), *told)
    if found.measures:
        lines = [f"* {escaped(line)}" for line in words.methods(found.measures)]
        how = f"{escaped(words.MOVED)}."
        yield more("How these figures were made", "\n".join(lines), how)


def _scores(measures: Sequence[MeasureDelta], found: Against, yardstick: Run) -> str:
    rows = [words.score_row(one, yardstick, found.run) for one in measures]
    return table([escaped(cell) for cell in row] for row in [words.header(found, yardstick), *rows])


def _one_sided(found: Against, yardstick: Run) -> Iterator[str]:
    for one in found.one_sided[:_ONE_SIDED]:
        why = f" ({escaped(one.why, _WHY)})" if one.why else ""
        yield f"* {escaped(words.one_sided(one, yardstick, found.run))}{why}"
    if len(found.one_sided) > _ONE_SIDED:
        yield f"* and {len(found.one_sided) - _ONE_SIDED} more"


def _snapshot(found: Against, yardstick: Run) -> Iterator[str]:
    yield escaped(words.summary(found.snapshot))
    if not found.snapshot:
        return
    rows = [["Differs", yardstick.letter, found.run.letter]]
    for one in found.snapshot:
        before, after = words.values(one)
        rows.append([escaped(text, _VALUE) for text in (words.where(one), before, after)])
    yield table(rows) if len(found.snapshot) <= _OPEN else more("What differs", table(rows))


def _moves(moves: Sequence[Move], yardstick: Run, other: Run) -> Iterator[str]:
    for move in moves:
        case = f"**{escaped(move.case)}** ({escaped(move.type)}, {case_words.how_far(move)})"
        lines = [f"{case}: {escaped(move.question, _ANSWER)}"]
        lines += [
            f"* {run.letter}: {escaped(text, _ANSWER)}"
            for run, text in zip((yardstick, other), case_words.excerpts(move), strict=True)
        ]
        lines += [f"* {line}" for line in case_words.about(move, yardstick, other)]
        shown = case_words.notable(move)[:_MEASURES]
        lines += [f"* {_measure(one, yardstick, other)}" for one in shown]
        if rest := case_words.not_shown(move, len(shown)):
            lines.append(f"* {rest}")
        yield "\n".join(lines)


def _measure(measure: MeasureMove, yardstick: Run, other: Run) -> str:
    mark = f"{words.OTHER_INSTRUMENT} " if measure.other_instrument else ""
    before, after = (number(v, measure.digits) for v in (measure.yardstick, measure.other))
    return (
        f"{mark}{escaped(measure.title)} {before} → {after}:"
        f" {yardstick.letter} {escaped(measure.yardstick_why, _WHY)};"
        f" {other.letter} {escaped(measure.other_why, _WHY)}"
    )
