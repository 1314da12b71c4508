"""Gold questions: `cases` is what they are, `reading` how a file of them is read."""

from pytest_touchstone.gold.cases import (
    CASE_TYPES,
    Case,
    CaseType,
    GoldChunk,
    GoldError,
    GoldFault,
    GoldMessage,
    GoldSet,
    case_from_json,
    case_to_json,
)
from pytest_touchstone.gold.reading import parse_gold

__all__ = [
    "CASE_TYPES",
    "Case",
    "CaseType",
    "GoldChunk",
    "GoldError",
    "GoldFault",
    "GoldMessage",
    "GoldSet",
    "case_from_json",
    "case_to_json",
    "parse_gold",
]
