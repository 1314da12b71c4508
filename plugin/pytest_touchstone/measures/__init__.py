"""The measures, as values, and the reader of their names.

``Recall @ 5``, ``MRR`` and ``FilterF1("district")`` are hashable values; ``str`` gives the
canonical name (``Recall@5``, ``FilterF1(district)``) and :func:`parse` reads it back.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pytest_touchstone.measures.base import JUDGEMENTS, Judgement, Measure, Need
from pytest_touchstone.measures.behaviour import (
    AcceptableBehaviour,
    Observed,
    SilentFailure,
    observed_behaviour,
)
from pytest_touchstone.measures.citations import (
    CitationPrecision,
    CitationRecall,
    Uncited,
    Unresolved,
)
from pytest_touchstone.measures.conversation import FiltersRemembered, OnTopic, TaskCompletion
from pytest_touchstone.measures.cost import CostPerQuery
from pytest_touchstone.measures.coverage import (
    AtThreshold,
    CitationCoverage,
    CoveragePrecision,
    CoverageRecall,
)
from pytest_touchstone.measures.faithfulness import Contradictions, Faithfulness
from pytest_touchstone.measures.filters import (
    FilterExactMatch,
    FilterF1,
    FilterMeasure,
    FilterPrecision,
    FilterRecall,
    JointGoalAccuracy,
)
from pytest_touchstone.measures.paragraphs import Coherence, ParagraphRelevance
from pytest_touchstone.measures.retrieval import MRR, Ranked, Recall, nDCG
from pytest_touchstone.measures.summarisation import KeyPointCoverage, Padding, RougeL, RougeLsum
from pytest_touchstone.measures.tone import Caution, Formality
from pytest_touchstone.nearest import hint

__all__ = [
    "JUDGEMENTS",
    "MEASURES",
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
    "Judgement",
    "KeyPointCoverage",
    "Measure",
    "Need",
    "Observed",
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
    "observed_behaviour",
    "parse",
]

MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        Recall,
        MRR,
        nDCG,
        Coherence,
        ParagraphRelevance,
        Faithfulness,
        Contradictions,
        CitationCoverage,
        CitationRecall,
        CitationPrecision,
        CoverageRecall,
        CoveragePrecision,
        Uncited,
        Unresolved,
        RougeL,
        RougeLsum,
        KeyPointCoverage,
        Padding,
        Formality,
        Caution,
        FilterExactMatch,
        FilterPrecision,
        FilterRecall,
        FilterF1,
        JointGoalAccuracy,
        FiltersRemembered,
        TaskCompletion,
        OnTopic,
        AcceptableBehaviour,
        SilentFailure,
        CostPerQuery,
    )
}
"""All measures by name, without cutoff or field, in the order in which tables list them."""

_LONGEST = (
    2500  # characters: any field's name escaped; Python's parser may crash on far longer text
)
_FORMS = "write it like `Recall@5`, `MRR` or `FilterF1(district)`"


def parse(name: str) -> Measure:
    """The measure with this name.

    The name is read through Python's syntax tree; nothing in it is evaluated.

    :raises ValueError: in one line, with the nearest known name where there is one.
    """
    shown = _without_unit(name.strip())
    for known, measure in MEASURES.items():
        if shown == _without_unit(measure.title) != known.casefold():
            raise ValueError(f"{_quoted(name)} is the title of a measure: its name is `{known}`")
    tree = _tree(name)
    try:
        return _measure(tree)
    except ValueError as error:
        raise ValueError(f"{_quoted(name)} is no measure: {error}") from None


def _without_unit(title: str) -> str:
    return title.partition(" (")[0].casefold()


def _tree(name: str) -> ast.expr:
    problem = f"{_quoted(name)} is no measure: {_FORMS}"
    if len(name) > _LONGEST:
        raise ValueError(problem)
    try:
        return ast.parse(name.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(problem) from None


def _measure(tree: ast.expr) -> Measure:
    match tree:
        case ast.Name(id=base):
            return _known(base)
        case ast.BinOp(left=ast.Name(id=base), op=ast.MatMult(), right=ast.Constant(value=cutoff)):
            return _cut(base, cutoff)
        case ast.Call(func=ast.Name(id=base), args=[ast.Name(id=field)], keywords=[]):
            return _restricted(base, field)
        case ast.Call(func=ast.Name(id=base), args=[ast.Constant(value=field)], keywords=[]):
            return _restricted(base, field)
    raise ValueError(_FORMS)


def _known(base: str) -> Measure:
    if base not in MEASURES:
        raise ValueError(f"there is no `{base}`; {hint(base, tuple(MEASURES))}")
    return MEASURES[base]


def _cut(base: str, cutoff: object) -> Measure:
    measure = _known(base)
    if not isinstance(measure, Ranked | AtThreshold):
        raise ValueError(f"{base} takes no cutoff; write `{base}`")
    return measure @ cutoff  # type: ignore[operator]  # it checks the type itself


def _restricted(base: str, field: object) -> Measure:
    measure = _known(base)
    if not isinstance(measure, FilterMeasure):
        raise ValueError(f"{base} takes no field; write `{base}`")
    return measure(field)  # type: ignore[arg-type]  # it checks the type itself


def _quoted(name: str) -> str:
    return repr(name) if len(name) <= 80 else f"{name[:80]!r}..."
