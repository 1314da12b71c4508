"""Reports to hold gates to, built from nothing but scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_touchstone.gate import Previous, gate_entries, parse
from pytest_touchstone.gold import Case, CaseType, GoldChunk
from pytest_touchstone.measures import parse as parse_measure
from pytest_touchstone.report import Report, RunConfig, build_report, measure_info
from pytest_touchstone.report.model import GateEntry
from pytest_touchstone.report.rows import CaseRow, PlanRow, RunRecord, ScoreRow

Value = float | str | None
"""A score, the reason why there is none, or ``None``: no row was ever written."""


@dataclass
class Scored:
    """One run's scores, to be changed before the report is built.

    :ivar values: system to measure to one value per case, or one list of repeats per case.
    :ivar applicable: how many questions a measure applies to, where it is not all.
    """

    values: dict[str, dict[str, Sequence[Value | Sequence[Value]]]]
    types: Sequence[CaseType] = ()
    clusters: Sequence[str] = ()
    baseline: str | None = "plain"
    prefix: str = "q"
    origin: str = "computed"
    judge: str | None = None
    judged_by: str | None = None
    applicable: dict[str, dict[str, int]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    questions: Mapping[int, str] = field(default_factory=dict)
    chunks: Mapping[int, str] = field(default_factory=dict)

    def report(self) -> Report:
        """The report."""
        cases = self._cases()
        plan, scores = [], []
        for system, measures in self.values.items():
            for measure, values in measures.items():
                for case, given in zip(cases, values, strict=True):
                    repeats = given if isinstance(given, list) else [given]
                    for repeat, value in enumerate(repeats):
                        plan.append(PlanRow(case.id, system, measure, repeat))
                        if value is not None:
                            scores.append(self._score(case.id, system, measure, value, repeat))
        run = RunRecord("run", "2026-11-30T14:30:00Z", None, self._config(cases))
        return build_report(
            run,
            cases=[CaseRow(case, place) for place, case in enumerate(cases)],
            plan=plan,
            questions=[],
            scores=scores,
            passages={},
        )

    def _cases(self) -> list[Case]:
        number = len(next(iter(next(iter(self.values.values())).values())))
        return [
            Case(
                f"{self.prefix}{n}",
                self.types[n] if self.types else "factual",
                self.questions.get(n, f"Question {n}?"),
                gold_chunks=(GoldChunk(self.chunks.get(n, f"c{n}")),),
                cluster=self.clusters[n] if self.clusters else "",
            )
            for n in range(number)
        ]

    def _score(self, case: str, system: str, name: str, value: Value, repeat: int) -> ScoreRow:
        if value == "system_error":
            worst = parse_measure(name).worst
            return ScoreRow(case, system, name, worst, "it failed", "system_error", repeat)
        if isinstance(value, str):
            return ScoreRow(case, system, name, None, "none", value, repeat)
        return ScoreRow(case, system, name, value, "so", None, repeat, origin=self.origin)

    def _config(self, cases: Sequence[Case]) -> RunConfig:
        measures = list(dict.fromkeys(name for of in self.values.values() for name in of))
        everything: dict[str, int] = dict(Counter(case.type for case in cases))
        judge = {"model": self.judge} if self.judge else None
        return {
            "plugin_version": "0",
            "commit": None,
            "dirty": None,
            "dataset": {"path": "gold.jsonl", "sha256": "ab" * 32, "counts": everything},
            "selection": {
                "split": None,
                "sample": None,
                "applicable": dict.fromkeys(measures, everything) | self.applicable,
            },
            "settings_sha256": "cd" * 32,
            "settings": {"judge": judge} | self.settings,
            "roles": {"system": "mine", "baseline": self.baseline, "variants": []},
            "systems": {},
            "models": {"judge": {"model": self.judged_by or self.judge}},
            "prompts": self.prompts,
            "corpus": None,
            "prices": {},
            "seed": 7,
            "resamples": 200,
            "confidence": 0.95,
            "packages": {},
            "measures": [measure_info(parse_measure(name)) for name in measures],
        }


def held(text: str, scored: Scored, previous: Scored | None = None) -> GateEntry:
    """One gate's entry."""
    before = None if previous is None else Previous(previous.report(), "main.json")
    (entry,) = gate_entries([parse(text)], scored.report(), before)
    return entry
