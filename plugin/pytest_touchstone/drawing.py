"""Which judged answers people read too: a tenth, say, drawn from a report.

Drawn within each type of question and measure, each stratum for itself, so that none goes without.
Who is drawn hangs on a number that case and answer have for good (permanent random numbers: Ohlsson
1995, *Coordination of samples using permanent random numbers*): the same answers are drawn for
every measure, as far as they have it, so that people read fewer texts, and a larger drawing holds
the smaller one.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_touchstone.annotations import PEOPLE, REPLACED, answer_digest, is_opinion
from pytest_touchstone.measures import parse
from pytest_touchstone.report.model import CaseEntry, Report
from pytest_touchstone.rubrics import rubric


@dataclass(frozen=True, slots=True)
class Question:
    """One measure of one answer, to be put to people; nothing in it tells system or judge.

    :param drawn: how many answers were drawn where it was, out of ``judged``.
    :param drawn_from: ``results_sha256`` of the report.
    :param passages: as many as the measure is about.
    :param reference: what of the gold question people need to know, as text.
    """

    measure: str
    case: str
    answer_sha256: str
    drawn: int
    judged: int
    drawn_from: str
    question: str
    conversation: str
    answer: str
    passages: tuple[str, ...]
    reference: str


@dataclass(frozen=True, slots=True)
class Stratum:
    """How many of the judged answers of one type of question were drawn for one measure."""

    measure: str
    type: str
    drawn: int
    judged: int


def draw(report: Report, share: float) -> tuple[list[Question], list[Stratum]]:
    """Draw from the judged answers of the system under test.

    :param share: of each stratum, rounded up; within (0, 1].
    :return: what was drawn, in an order that has nothing to do with systems or scores, and from
        how much of what.
    :raises ValueError: for another share.
    """
    if not 0 < share <= 1:
        raise ValueError(f"a share lies above 0 and up to 1, not {share!r}")
    snapshot = report["snapshot"]
    pools: dict[tuple[str, str], dict[str, CaseEntry]] = defaultdict(dict)
    for entry in report["cases"]:
        if entry["system"] != snapshot["roles"]["system"]:
            continue
        number = _number(snapshot["seed"], entry["case"], entry["answer"] or "")
        for measure in entry["scores"]:
            if judge_value(entry, measure) is not None:
                pools[measure, entry["gold"]["type"]][number] = entry
    questions: list[tuple[str, Question]] = []
    strata = []
    for (measure, kind), pool in pools.items():
        drawn = sorted(pool)[: math.ceil(share * len(pool) - 1e-9)]
        stratum = Stratum(measure, kind, len(drawn), len(pool))
        strata.append(stratum)
        questions += ((number, _question(report, pool[number], stratum)) for number in drawn)
    order = {info["measure"]: place for place, info in enumerate(report["measures"])}
    questions.sort(key=lambda item: (item[0], order[item[1].measure]))
    strata.sort(key=lambda stratum: (order[stratum.measure], stratum.type))
    return [question for _, question in questions], strata


def judge_value(entry: CaseEntry, measure: str) -> float | None:
    """What the judge said, also where people's word stands in its place; ``None`` where it said
    nothing: no judge was asked, or none answered, or facts decided."""
    detail: Mapping[str, Any] = entry["details"].get(measure, {})
    value = entry["scores"][measure]
    if entry["error"] is not None or entry["answer"] is None or not is_opinion(parse(measure)):
        return None
    if PEOPLE in detail:
        own = detail.get(REPLACED)
        return own["value"] if own is not None and own["origin"] == "judge" else None
    # Measures that rest on facts first keep the judge's word apart, where it was asked for.
    return value if parse(measure).judged or "judge" in detail else None


def _number(seed: int, case: str, answer: str) -> str:
    """The answer's place in any drawing, as hexadecimal digits."""
    return hashlib.sha256(f"{seed}\n{case}\n{answer_digest(answer)}".encode()).hexdigest()


def _question(report: Report, entry: CaseEntry, stratum: Stratum) -> Question:
    how = rubric(stratum.measure)
    texts = [report["passages"][ref["digest"]]["text"] for ref in entry["passages"]]
    *before, last = entry["conversation"]
    return Question(
        measure=stratum.measure,
        case=entry["case"],
        answer_sha256=answer_digest(entry["answer"] or ""),
        drawn=stratum.drawn,
        judged=stratum.judged,
        drawn_from=report["snapshot"]["results_sha256"],
        question=last["content"],
        conversation="\n".join(f"{each['role']}: {each['content']}" for each in before),
        answer=(entry["answer"] or "") if how.answer else "",
        passages=tuple(texts if how.passages is None else texts[: how.passages]),
        reference="\n".join(_reference(entry["gold"], how.reference)),
    )


def _reference(gold: Mapping[str, Any], wanted: tuple[str, ...]) -> Iterator[str]:
    for what in wanted:
        match what:
            case "key_points":
                points = enumerate(gold.get("key_points", ()), start=1)
                yield from (f"key point {number}: {point}" for number, point in points)
            case "gold_answer":
                yield f"gold answer: {gold.get('answer', '')}"
            case "filters":
                told = (f"{name} {value!r}" for name, value in (gold.get("filters") or {}).items())
                yield f"filters: {', '.join(told)}"
            case "behaviours":
                yield f"acceptable: {', '.join(gold.get('behavior', ()))}"
