"""The judge against people: how far they agree, and the judge's mean corrected by them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pytest_touchstone.agreement import Coefficient, agreement, confusion, krippendorff_alpha
from pytest_touchstone.annotations import (
    DRAWN,
    PEOPLE,
    REPLACED,
    Annotations,
    answer_digest,
    is_opinion,
)
from pytest_touchstone.calibrate import Item, Mean, calibrate
from pytest_touchstone.measures import parse
from pytest_touchstone.report.index import Index, Unit
from pytest_touchstone.report.model import (
    AgreementEntry,
    Calibrated,
    CoefficientEntry,
    Confusion,
    MeanEntry,
    MeasureEntry,
    MeasureInfo,
)
from pytest_touchstone.report.rows import QuestionRow, ScoreRow
from pytest_touchstone.rubrics import rubric
from pytest_touchstone.score import Score

NOT_DRAWN = "not_drawn"
"""Labels of answers that somebody chose: they say nothing about the others."""
ANSWERS_CHANGED = "answers_changed"
"""Labels of a drawing of which some answers are not in this run: what is left is no drawing."""

_BANDS = 5


def calibrations(index: Index, confidence: float) -> dict[str, Calibrated]:
    """By measure, for those of which people labelled some answer of the system under test."""
    found = {}
    for info in index.measures:
        rows = _rows(index, info["measure"], index.roles["system"])
        if any(row.origin == "human" for _, row in rows):
            calibrated = _calibrated(index, info, rows, confidence)
            if calibrated is not None:
                found[info["measure"]] = calibrated
    return found


def agreements(index: Index, confidence: float) -> list[AgreementEntry]:
    """One entry for each measure of which judge and people scored the same answers.

    Answers of every system count: whose they are does not matter to how well a judge reads.
    """
    entries = []
    for info in index.measures:
        read = list(_both(index, info["measure"]))
        if read:
            entries.append(_agreement(info, read, confidence))
    return entries


def with_people(
    scores: Iterable[ScoreRow], questions: Iterable[QuestionRow], people: Annotations
) -> list[ScoreRow]:
    """A run's scores with what people say of its answers now, in the place of what they said
    when it was made."""
    answers: dict[tuple[str, str, str, int], QuestionRow] = {}
    for turn in questions:
        unit = (turn.case_id, turn.system, turn.mode, turn.repeat)
        answers[unit] = max(answers.get(unit, turn), turn, key=lambda each: each.turn)
    told = []
    for row in scores:
        last = answers.get((row.case_id, row.system, row.mode, row.repeat))
        said = None
        if last is not None and last.answer is not None and is_opinion(parse(row.measure)):
            said = people.score(row.case_id, row.measure, last.answer)
        told.append(row if said is None else _said(row, said))
    return told


def _said(row: ScoreRow, said: Score) -> ScoreRow:
    own = row.detail.get(REPLACED) if row.origin == "human" else None
    if row.origin != "human":
        own = {name: getattr(row, name) for name in ("value", "why", "origin", "engine", "detail")}
    kept = {} if own is None or own["value"] is None else {REPLACED: own}
    return row._replace(
        value=said.value,
        why=said.why,
        reason=None,
        origin=said.origin,
        engine=said.engine,
        detail={**said.detail, **kept},
    )


# -- the corrected mean ----------------------------------------------------------------------


def _calibrated(
    index: Index, info: MeasureInfo, rows: Sequence[tuple[Unit, ScoreRow]], confidence: float
) -> Calibrated | None:
    whole = _whole_drawings(index, rows)
    rows = [(unit, row) for unit, row in rows if row.origin != "human" or REPLACED in row.detail]
    repeats = Counter(unit.case for unit, _ in rows)
    left_out: Counter[str] = Counter()
    items = []
    for unit, row in rows:
        item, fault = _item(index, unit, row, 1 / repeats[unit.case], whole)
        items.append(item)
        left_out.update([fault] if fault else [])
    if all(item.certain for item in items):  # no judge said anything
        return None
    low, high = info["range"]
    found = calibrate(items, confidence=confidence, bounds=(low or 0.0, high))
    return {
        "estimate": found.estimate,
        "ci": None if found.ci is None else list(found.ci),
        "ci_method": found.method,
        "judge": _mean(found.judge),
        "people": None if found.people is None else _mean(found.people),
        "labels": found.labels,
        "population": found.population,
        "slope": found.slope,
        "left_out": dict(sorted(left_out.items())),
    }


def _rows(index: Index, measure: str, system: str) -> list[tuple[Unit, ScoreRow]]:
    """The scores of a system that are a number."""
    units = (
        unit
        for unit, planned in index.units.items()
        if unit.system == system and measure in planned
    )
    rows = ((unit, index.score(unit, measure)) for unit in units)
    return [(unit, row) for unit, row in rows if row.value is not None]


def _item(
    index: Index, unit: Unit, row: ScoreRow, weight: float, whole: frozenset[str]
) -> tuple[Item, str | None]:
    """The answer as it enters the calibration, and why its label does not, where it does not."""
    cluster = index.cases[unit.case].cluster or unit.case
    value = row.value or 0.0
    own = row.detail.get(REPLACED)
    judged = row.origin == "judge" or (own is not None and own["origin"] == "judge")
    if not judged:
        return Item(value, cluster, weight, certain=True), None
    if own is None:
        return Item(value, cluster, weight), None
    drawn = row.detail.get(DRAWN)
    if drawn is not None and drawn["drawn_from"] in whole:
        return Item(own["value"], cluster, weight, value, drawn["probability"]), None
    fault = NOT_DRAWN if drawn is None else ANSWERS_CHANGED
    return Item(own["value"], cluster, weight), fault


def _whole_drawings(index: Index, rows: Sequence[tuple[Unit, ScoreRow]]) -> frozenset[str]:
    """The drawings all of whose labelled answers are in this run.

    Where a system answers otherwise than when it was drawn from, labels are left of just those
    answers that did not change.
    """
    seen: dict[str, set[tuple[str, str]]] = defaultdict(set)
    labels: dict[str, int] = {}
    for unit, row in rows:
        if drawn := row.detail.get(DRAWN):
            seen[drawn["drawn_from"]].add((unit.case, _answer(index, unit)))
            labels[drawn["drawn_from"]] = drawn["labels"]
    return frozenset(name for name, number in labels.items() if len(seen[name]) == number)


def _answer(index: Index, unit: Unit) -> str:
    """Digest of the answer that was scored."""
    turns = index.turns[unit]
    return answer_digest((turns[-1].answer if turns else None) or "")


def _mean(mean: Mean) -> MeanEntry:
    return {"estimate": mean.value, "ci": None if mean.ci is None else list(mean.ci)}


# -- agreement -------------------------------------------------------------------------------


class _Read(NamedTuple):
    """An answer that judge and people scored."""

    cluster: str
    judge: float
    people: Mapping[str, float]


def _both(index: Index, measure: str) -> Iterator[_Read]:
    """Equal answers, of whichever systems, count once."""
    seen = set()
    for unit, planned in index.units.items():
        if measure not in planned:
            continue
        row = index.score(unit, measure)
        own = row.detail.get(REPLACED)
        if row.origin != "human" or own is None or own["origin"] != "judge":
            continue
        read = (unit.case, _answer(index, unit))
        if read not in seen:
            seen.add(read)
            cluster = index.cases[unit.case].cluster or unit.case
            yield _Read(cluster, own["value"], row.detail[PEOPLE])


def _agreement(info: MeasureInfo, read: Sequence[_Read], confidence: float) -> AgreementEntry:
    how = rubric(info["measure"])
    pairs = [(one.judge, value, one.cluster) for one in read for value in one.people.values()]
    judge, people = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    clusters = [pair[2] for pair in pairs]
    categories = None if how.values is None else sorted({*how.values, *judge, *people})
    found = agreement(
        judge, people, clusters, level=how.level, categories=categories, confidence=confidence
    )
    several = [list(one.people.values()) for one in read if len(one.people) > 1]
    alpha = krippendorff_alpha(several, how.level)
    return {
        "measure": info["measure"],
        "level": found.level,
        "answers": len(read),
        "pairs": found.pairs,
        "clusters": found.clusters,
        "raw": found.raw,
        "difference": found.difference,
        "kappa": None if found.kappa is None else _coefficient(found.kappa),
        "kappa_weights": "quadratic" if found.level == "ordinal" else None,
        "alpha": _coefficient(found.alpha),
        "confusion": _confusion(info, judge, people, categories),
        "between_people": {"answers": len(several), "alpha": alpha},
    }


def _coefficient(found: Coefficient) -> CoefficientEntry:
    return {"value": found.value, "ci": None if found.ci is None else list(found.ci)}


def _confusion(
    info: MeasureInfo,
    judge: Sequence[float],
    people: Sequence[float],
    categories: Sequence[float] | None,
) -> Confusion | None:
    """Judge in rows, people in columns; shares in fifths of their range, the best end apart."""
    if categories is not None:
        counts = confusion(judge, people, categories)
        return {"values": [f"{value:g}" for value in categories], "counts": _lists(counts)}
    low, high = info["range"][0] or 0.0, info["range"][1]
    if high is None:
        return None
    width = (high - low) / _BANDS
    bands = range(_BANDS + 1)

    def band(value: float) -> float:
        return math.floor((value - low) / width + 1e-9)

    names = [f"{low + width * n:g} to {low + width * (n + 1):g}" for n in bands[:-1]]
    counts = confusion([*map(band, judge)], [*map(band, people)], bands)
    return {"values": [*names, f"{high:g}"], "counts": _lists(counts)}


def _lists(counts: Sequence[Sequence[int]]) -> list[list[int]]:
    return [list(row) for row in counts]


# -- for the reader --------------------------------------------------------------------------


def people_lines(
    measures: Sequence[MeasureEntry], found: Sequence[AgreementEntry]
) -> Iterator[str]:
    """One line for each measure that people read answers for.

    :param measures: the report's measures.
    :param found: the report's agreement.
    """
    agreed = {entry["measure"]: entry for entry in found}
    for entry in measures:
        calibrated = entry["calibrated"]
        agreement_entry = agreed.get(entry["measure"])
        if calibrated is None and agreement_entry is None:
            continue
        said = [] if calibrated is None else [_corrected(calibrated)]
        if agreement_entry is not None:
            said.append(_agreed(agreement_entry))
        yield f"Judge against people: {entry['title']}: {'; '.join(said)}"


def _corrected(found: Calibrated) -> str:
    judge = f"{found['judge']['estimate']:.2f}"
    if found["estimate"] is None:
        reason = found["ci_method"].removeprefix("none: ")
        return f"{judge} not corrected: {reason}{_left_out(found)}"
    ci = f" [{', '.join(f'{end:.2f}' for end in found['ci'])}]" if found["ci"] else ""
    labels = f"{found['labels']} labels of {found['population']} answers"
    return f"{judge} corrected to {found['estimate']:.2f}{ci} by {labels}{_left_out(found)}"


def _left_out(found: Calibrated) -> str:
    words = {
        NOT_DRAWN: "of answers that nobody drew",
        ANSWERS_CHANGED: "of a drawing whose answers are not all in this run",
    }
    told = [f"{number} {words[name]}" for name, number in found["left_out"].items()]
    return f" (not counted: {', '.join(told)})" if told else ""


def _agreed(entry: AgreementEntry) -> str:
    name, coefficient = ("alpha", entry["alpha"])
    if entry["kappa"] is not None:
        name, coefficient = ("kappa", entry["kappa"])
    value = coefficient["value"]
    if value is None:
        return f"{name} cannot be told, all {entry['pairs']} pairs have one value"
    ci = f" [{', '.join(f'{end:.2f}' for end in coefficient['ci'])}]" if coefficient["ci"] else ""
    return f"{name} {value:.2f}{ci} over {entry['pairs']} pairs"
