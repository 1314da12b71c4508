"""What stands under the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from pytest_touchstone.report.model import Report
from pytest_touchstone.report.notes import notes
from pytest_touchstone.report_file import read_report

SAMPLE = Path(__file__).parents[2] / "reports" / "sample.json"


def renamed(questions: int) -> Report:
    """So many questions whose passages go by other ids than the gold file's."""
    report = cast(Any, read_report(SAMPLE))
    kept: dict[str, None] = {}
    for case in report["cases"]:
        if case["gold"].get("gold_chunks") and case["passages"]:
            kept[case["case"]] = None
    chosen = list(kept)[:questions]
    report["cases"] = [case for case in report["cases"] if case["case"] in chosen]
    for case in report["cases"]:
        for passage in case["passages"]:
            passage["id"] = f"uuid-{passage['id']}"
    return cast(Report, report)


def test_ids_that_never_meet_are_pointed_out_but_a_miss_is_none() -> None:
    def hints(questions: int) -> list[str]:
        return [line for line in notes(renamed(questions)) if "the id of a gold chunk" in line]

    (hint,) = hints(3)
    assert "it returns ids like 'uuid-" in hint
    assert not hints(2)
