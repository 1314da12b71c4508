"""Paragraphs, sentences and citation markers of an answer, in any script.

What counts as a paragraph, as a marker and as a claim is told in ``docs/citations.md``.
"""

from pytest_touchstone.paragraphs.markers import CITATION, checked_pattern, citations, plain
from pytest_touchstone.paragraphs.parting import Kind, Paragraph, paragraphs
from pytest_touchstone.paragraphs.sentences import sentences

__all__ = [
    "CITATION",
    "Kind",
    "Paragraph",
    "checked_pattern",
    "citations",
    "paragraphs",
    "plain",
    "sentences",
]
