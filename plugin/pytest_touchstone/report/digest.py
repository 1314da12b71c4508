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
    asked: dict[tuple[str, str], list[QuestionRow]] = defaultdict(list)
    for question in questions:
        asked[question.case_id, question.system].append(question)
    scored: dict[tuple[str, str], list[PlanRow]] = defaultdict(list)
    for row in plan:
        scored[row.case_id, row.system].append(row)
    # Case by case: the text of all of them is as large as the report.
    digest = hashlib.sha256(f"[{_dumps(dataset_sha256)},[".encode("ascii"))
    before = ""
    for key in sorted({*asked, *scored}):
        answers = [_answer(question) for question in asked.get(key, ())]
        results = [_result(row, values) for row in scored.get(key, ())]
        entry = _dumps([*key, _ordered(answers), _ordered(results)])
        digest.update(f"{before}{entry}".encode("ascii"))
        before = ","
    digest.update(b"]]")
    return digest.hexdigest()


_dumps = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def _ordered(entries: list[list[Any]]) -> list[list[Any]]:
    """By the first three items: an entry's place, unique, so that no two answers are compared."""
    return sorted(entries, key=lambda entry: entry[:3])


_ScoreKey = tuple[str, str, str, str, int]


def _score_key(row: PlanRow | ScoreRow) -> _ScoreKey:
    return row.case_id, row.system, row.measure, row.mode, row.repeat


def _answer(row: QuestionRow) -> list[Any]:
    filters: Mapping[str, Any] | None = None if row.filters is None else dict(row.filters)
    error = row.error["kind"] if row.error else None
    return [row.mode, row.repeat, row.turn, row.answer, filters, row.behavior, error]


def _result(row: PlanRow, values: Mapping[_ScoreKey, float | None]) -> list[Any]:
    return [row.measure, row.mode, row.repeat, digits(values.get(_score_key(row)))]


def digits(value: float | None) -> str | None:
    """A score as the digest has it."""
    # Adding zero turns -0.0 into 0.0.
    return None if value is None else f"{value + 0.0:.9g}"
