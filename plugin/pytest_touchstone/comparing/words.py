"""A comparison in words and figures: what every form of it shows, so that all show the same."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pytest_touchstone.comparing.model import (
    Against,
    Comparison,
    Difference,
    MeasureDelta,
    OneSided,
    Questions,
    Run,
)
from pytest_touchstone.estimate import MIN_CLUSTERS
from pytest_touchstone.measures.base import counted
from pytest_touchstone.report.figures import ends, number
from pytest_touchstone.report.verdict import tally

SIGNS = {"better": "▲", "worse": "▼", "undecided": "○"}
OTHER_INSTRUMENT = "≠"
LEGEND = (
    "▲ better, ▼ worse, ○ undecided: against chance, with p corrected for the number of measures"
    " (Holm); ≠ read by different instruments"
)
MOVED = (
    "How far a case moved: of each measure as a share of its range, the mean over the measures of"
    " a dimension, summed over dimensions; measures with an open range, such as cost, left out"
)
FILE_CHANGED = (
    "Both say that their results are the same (results_sha256) and their scores are not: one of the"
    " files was changed after its run."
)
_DIGEST = re.compile("[0-9a-f]{40,64}")
_NAMED = 5


def title(found: Comparison) -> str:
    """Which runs these are."""
    letters = [one.run.letter for one in found.others]
    return f"{', '.join(letters)} against {found.yardstick.letter}"


def run_line(run: Run) -> str:
    """Which run a letter stands for."""
    commit = (run.commit or "unknown")[:12] + (" with uncommitted changes" if run.dirty else "")
    name = f"{run.label} ({run.id[:12]})" if run.label else run.id[:12]
    return (
        f"{run.letter}: {run.system}, run {name}, started {run.started_at}, commit {commit},"
        f" {counted(run.questions, 'gold question')} of {run.dataset}"
    )


def verdict(found: Against, yardstick: Run) -> str:
    """The comparison in a sentence."""
    about = f"{found.run.letter} beside {yardstick.letter}"
    over = f"on {counted(found.questions.alike, 'gold question')} asked alike"
    if found.same_results:
        return f"{about}: the same results, {over}."
    said = [_verdict(found, about, over), _lost_and_gained(found, yardstick.letter)]
    if found.file_changed:
        said.append(FILE_CHANGED)
    return " ".join(filter(None, said))


def _verdict(found: Against, about: str, over: str) -> str:
    """What the pairs show."""
    if found.measures and not moving(found):
        which = " that both have" if found.one_sided else ""
        return f"{about}: no score{which} moved, {over}."
    own = [(one.standing, one.title) for one in found.measures if one.instrument is None]
    shown = tally(own)
    if own and found.questions.alike < MIN_CLUSTERS:
        moved = counted(len(moving(found)), "measure")
        shown = f": scores moved on {moved}, and so few questions tell nothing from chance"
    said = f"{about} {over}{shown}."
    others = len(found.measures) - len(own)
    if not others:
        return said
    what = "One measure was" if others == 1 else f"{others} measures were"
    return f"{said} {what} read by different instruments: what moved may be theirs."


def _lost_and_gained(found: Against, yardstick: str) -> str:
    """How many scores only one side has, by the reason why the other has none."""
    told = []
    for side, what in (("yardstick", "lost"), ("other", "gained")):
        of = [one for one in found.one_sided if one.scored == side]
        if not of:
            continue
        where = found.run.letter if side == "yardstick" else yardstick
        reasons: Counter[str] = Counter()
        for one in of:
            reasons[one.reason] += len(one.titles)
        why = _first([f"{reason} {count}" for reason, count in reasons.most_common()])
        if len(reasons) == 1:
            why = of[0].reason
        told.append(f"{what} {counted(reasons.total(), 'score')} ({why} in {where})")
    return f"{found.run.letter} {' and '.join(told)}." if told else ""


def one_sided_title(found: Against) -> str:
    """The heading of the scores that only one run has."""
    scores = sum(len(one.titles) for one in found.one_sided)
    cases = len({one.case for one in found.one_sided})
    return f"Lost or gained: {counted(scores, 'score')} on {counted(cases, 'case')}"


def one_sided(one: OneSided, yardstick: Run, other: Run) -> str:
    """Scores of a case that only one run has: which, where, and why the other has none."""
    sides = (yardstick, other) if one.scored == "yardstick" else (other, yardstick)
    said = f"{one.case} {_first(one.titles)}: scored in {sides[0].letter}, {one.reason} in"
    return f"{said} {sides[1].letter}"


def moving(found: Against) -> list[MeasureDelta]:
    """The measures on which some question moved."""
    return [one for one in found.measures if one.better or one.worse]


def still(found: Against) -> list[MeasureDelta]:
    """The measures on which no question moved."""
    return [one for one in found.measures if not one.better and not one.worse]


def summary(differences: Sequence[Difference]) -> str:
    """Which parts of the snapshots differ, prompts by name."""
    if not differences:
        return "Both were made of the same."
    keys: dict[str, list[str]] = defaultdict(list)
    for one in differences:
        keys[one.part].append(one.key)
    told = []
    for part, found in keys.items():
        if part == "prompts":
            told.append(f"{part} ({', '.join(found)})")
        else:
            told.append(f"{part} ({len(found)})" if len(found) > 1 else part)
    return f"They differ in {', '.join(told)}."


def where(one: Difference) -> str:
    """What differs: the part, and the key within it."""
    return f"{one.part} {one.key}" if one.key else one.part


def values(one: Difference) -> tuple[str, str]:
    """Both values as JSON, digests cut short, and `absent` where a side has none."""
    return (
        "absent" if one.only == "other" else _value(one.yardstick),
        "absent" if one.only == "yardstick" else _value(one.other),
    )


def _value(value: Any) -> str:
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return value[:12]
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def remarks(found: Against, yardstick: Run) -> Iterator[str]:
    """What a reader must know of the figures, a line each."""
    one, two = yardstick.letter, found.run.letter
    if yardstick.dirty and found.run.dirty:
        yield "Both trees had uncommitted changes: what they were is not known."
    for run in (yardstick, found.run):
        if run.finished_at is None:
            yield f"{run.letter} was cut short: what it did not score is not paired."
    yield _asked(found.questions, one, two)
    if yardstick.failed or found.run.failed:
        yield (
            f"System errors: {one} failed on {counted(yardstick.failed, 'question')}, {two} on"
            f" {found.run.failed}; they count with the worst value."
        )
    for why, titles in _grouped((m.instrument, m.title) for m in found.measures):
        yield f"{OTHER_INSTRUMENT} {why}: {', '.join(titles)}"
    kept = [
        f"{m.title} {m.same_output} of {m.better + m.worse}"
        for m in found.measures
        if m.same_output
    ]
    if kept:
        yield f"Moved though the system did the same: {', '.join(kept)}"
    for why, titles in _grouped((left.why, left.title) for left in found.left_out):
        yield f"Not compared, for {why}: {', '.join(titles)}"


def stillness(measures: Sequence[MeasureDelta], yardstick: Run, other: Run) -> str:
    """The measures on which no question moved, with their pairs."""
    told = ", ".join(
        f"{one.title} ({', '.join([str(one.delta['pairs']), *_beside(one, yardstick, other)])})"
        for one in measures
    )
    return f"No question moved on {counted(len(measures), 'measure')} (pairs): {told}"


def methods(measures: Iterable[MeasureDelta]) -> Iterator[str]:
    """How the intervals were made, a line each."""
    for how, titles in _grouped((m.delta["ci_method"], m.title) for m in measures):
        yield f"{how}: {', '.join(titles)}"


def _grouped(pairs: Iterable[tuple[str | None, str]]) -> Iterator[tuple[str, list[str]]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name, item in pairs:
        if name is not None:
            found[name].append(item)
    yield from found.items()


def _asked(questions: Questions, one: str, two: str) -> str:
    said = f"Paired by case: {counted(questions.alike, 'question')} asked alike"
    for who, cases in ((one, questions.only_yardstick), (two, questions.only_other)):
        if cases:
            said += f"; {len(cases)} only in {who} ({_first(cases)})"
    if questions.changed:
        labels = Counter(label for change in questions.changed for label in change.labels)
        what = ", ".join(f"{label} {count}" for label, count in labels.items())
        cases = tuple(change.case for change in questions.changed)
        said += f"; {len(cases)} asked otherwise and not paired ({_first(cases)}; {what})"
    return f"{said}."


def _first(cases: Sequence[str]) -> str:
    more = f" and {len(cases) - _NAMED} more" if len(cases) > _NAMED else ""
    return ", ".join(cases[:_NAMED]) + more


def sign(measure: MeasureDelta) -> str:
    """What a difference shows, as a sign."""
    return OTHER_INSTRUMENT if measure.instrument else SIGNS[measure.standing]


def header(found: Against, yardstick: Run) -> list[str]:
    """The columns of :func:`score_row`."""
    level = f"Δ ({100 * found.confidence:g}% CI)"
    return ["Measure", yardstick.letter, found.run.letter, level, "p", "Holm", "Pairs", "Moved"]


def score_row(measure: MeasureDelta, yardstick: Run, other: Run) -> list[str]:
    """A measure: both means over the pairs, the difference, its p, and how many cases moved."""
    digits, delta = measure.digits, measure.delta
    shown = number(delta["estimate"], digits, signed=True)
    return [
        measure.title,
        number(measure.yardstick, digits),
        number(measure.other, digits),
        f"{sign(measure)} {shown}{ends(delta['ci'], digits, signed=True)}",
        p_value(delta["p_value"]),
        p_value(delta["p_adjusted"]),
        pairs(measure, yardstick, other),
        moved(measure),
    ]


def p_value(value: float | None) -> str:
    """A p with four decimals."""
    return "-" if value is None else number(value, 4)


def pairs(measure: MeasureDelta, yardstick: Run, other: Run) -> str:
    """Pairs, and how many questions only one side has a score on."""
    beside = ", ".join(_beside(measure, yardstick, other))
    return f"{measure.delta['pairs']} ({beside})" if beside else str(measure.delta["pairs"])


def _beside(measure: MeasureDelta, yardstick: Run, other: Run) -> list[str]:
    sides = ((yardstick.letter, measure.only_yardstick), (other.letter, measure.only_other))
    return [f"{letter} +{count}" for letter, count in sides if count]


def moved(measure: MeasureDelta) -> str:
    """How many cases are better and worse."""
    return f"{measure.better} ▲ {measure.worse} ▼"


def moved_title(found: Against, direction: str) -> str:
    """The heading of the cases that moved most in one direction."""
    shown, total = {
        "better": (found.moves.better, found.moves.all_better),
        "worse": (found.moves.worse, found.moves.all_worse),
    }[direction]
    return f"Moved most to the {direction}: {len(shown)} of {counted(total, 'case')}"
