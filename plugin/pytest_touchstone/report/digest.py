"""The digest of a run's results: equal wherever the same answers got the same scores."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_touchstone.report.rows import PlanRow, QuestionRow, ScoreRow


def results_sha256(
    dataset_sha256: str,
    plan: Iterable[PlanRow],
    questions: Iterable[QuestionRow],
    scores: Iterable[ScoreRow],
) -> str:
    """SHA-256 of the canonical JSON of an allow-list.

    The dataset's digest, then per case and system, both in order of name: per mode, repeat and
    turn the answer's text, filters and behaviour, or the kind of its error; per measure, mode
    and repeat of the plan the score with nine significant digits, ``null`` where there is none.
    Nothing else enters: no machine, time, cache, store, worker, retry, order of rows or message.
    """
    values = {_score_key(row): row.value for row in scores}
    asked: dict[tuple[str, str], list[list[Any]]] = defaultdict(list)
    for question in questions:
        key = (question.case_id, question.system)
        asked[key].append([question.mode, question.repeat, question.turn, *_answer(question)])
    scored: dict[tuple[str, str], list[list[Any]]] = defaultdict(list)
    for row in plan:
        case, system, *place = _score_key(row)
        scored[case, system].append([*place, _digits(values.get(_score_key(row)))])
    results = [
        [*key, _ordered(asked.get(key, [])), _ordered(scored.get(key, []))]
        for key in sorted({*asked, *scored})
    ]
    text = json.dumps([dataset_sha256, results], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _ordered(entries: list[list[Any]]) -> list[list[Any]]:
    """By the first three items: an entry's place, unique, so that no two answers are compared."""
    return sorted(entries, key=lambda entry: entry[:3])


def _score_key(row: PlanRow | ScoreRow) -> tuple[str, str, str, str, int]:
    return row.case_id, row.system, row.measure, row.mode, row.repeat


def _answer(row: QuestionRow) -> list[Any]:
    filters: Mapping[str, Any] | None = None if row.filters is None else dict(row.filters)
    return [row.answer, filters, row.behavior, row.error["kind"] if row.error else None]


def _digits(value: float | None) -> str | None:
    # Adding zero turns -0.0 into 0.0.
    return None if value is None else f"{value + 0.0:.9g}"
