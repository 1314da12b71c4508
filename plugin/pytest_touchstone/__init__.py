"""Evaluate a question-answering system against gold questions.

Names are imported when they are first used: a project that merely has the plugin installed pays
for none of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_touchstone.floors import BelowFloor, CaseScores
    from pytest_touchstone.gold import Case
    from pytest_touchstone.measures import (
        MRR,
        AcceptableBehaviour,
        Caution,
        CitationCoverage,
        CitationPrecision,
        CitationRecall,
        Coherence,
        Contradictions,
        CostPerQuery,
        CoveragePrecision,
        CoverageRecall,
        Faithfulness,
        FilterExactMatch,
        FilterF1,
        FilterPrecision,
        FilterRecall,
        FiltersRemembered,
        Formality,
        JointGoalAccuracy,
        KeyPointCoverage,
        OnTopic,
        Padding,
        ParagraphRelevance,
        Recall,
        RougeL,
        RougeLsum,
        SilentFailure,
        TaskCompletion,
        Uncited,
        Unresolved,
        nDCG,
    )
    from pytest_touchstone.notebook import frames
    from pytest_touchstone.systems.loading import Resources
    from pytest_touchstone.systems.protocol import Session
    from pytest_touchstone.trace import Answer, Message, Passage, Retrieval, Usage

_HOMES = {
    "pytest_touchstone.floors": ("BelowFloor", "CaseScores"),
    "pytest_touchstone.gold": ("Case",),
    "pytest_touchstone.measures": (
        "MRR",
        "AcceptableBehaviour",
        "Caution",
        "CitationCoverage",
        "CitationPrecision",
        "CitationRecall",
        "Coherence",
        "Contradictions",
        "CostPerQuery",
        "CoveragePrecision",
        "CoverageRecall",
        "Faithfulness",
        "FilterExactMatch",
        "FilterF1",
        "FilterPrecision",
        "FilterRecall",
        "FiltersRemembered",
        "Formality",
        "JointGoalAccuracy",
        "KeyPointCoverage",
        "OnTopic",
        "Padding",
        "ParagraphRelevance",
        "Recall",
        "RougeL",
        "RougeLsum",
        "SilentFailure",
        "TaskCompletion",
        "Uncited",
        "Unresolved",
        "nDCG",
    ),
    "pytest_touchstone.notebook": ("frames",),
    "pytest_touchstone.systems.loading": ("Resources",),
    "pytest_touchstone.systems.protocol": ("Session",),
    "pytest_touchstone.trace": ("Answer", "Message", "Passage", "Retrieval", "Usage"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "MRR",
    "AcceptableBehaviour",
    "Answer",
    "BelowFloor",
    "Case",
    "CaseScores",
    "Caution",
    "CitationCoverage",
    "CitationPrecision",
    "CitationRecall",
    "Coherence",
    "Contradictions",
    "CostPerQuery",
    "CoveragePrecision",
    "CoverageRecall",
    "Faithfulness",
    "FilterExactMatch",
    "FilterF1",
    "FilterPrecision",
    "FilterRecall",
    "FiltersRemembered",
    "Formality",
    "JointGoalAccuracy",
    "KeyPointCoverage",
    "Message",
    "OnTopic",
    "Padding",
    "ParagraphRelevance",
    "Passage",
    "Recall",
    "Resources",
    "Retrieval",
    "RougeL",
    "RougeLsum",
    "Session",
    "SilentFailure",
    "TaskCompletion",
    "Uncited",
    "Unresolved",
    "Usage",
    "frames",
    "nDCG",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
