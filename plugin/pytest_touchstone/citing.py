"""What an answer cites, and how well a source covers a paragraph that cites it, in bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from pytest_touchstone.paragraphs import CITATION, Paragraph, paragraphs
from pytest_touchstone.trace import Answer

SUPPORTS: Final = 0.8
"""Coverage above this: the source supports the paragraph."""
RELATED: Final = 0.4
"""Coverage from this up to :data:`SUPPORTS`: the source is related, and the paragraph may
overreach.  Below, the source does not support it."""

Band = Literal["supports", "related", "does_not_support"]


def band(coverage: float) -> Band:
    """What a coverage from 0 to 1 says."""
    if coverage > SUPPORTS:
        return "supports"
    return "related" if coverage >= RELATED else "does_not_support"


def cited_paragraphs(answer: Answer, pattern: str = CITATION) -> tuple[Paragraph, ...]:
    """The paragraphs of an answer with what they cite, as numbers of its passages, from 1.

    Where the text itself marks nothing, and the system reports its citations apart from it, every
    paragraph that claims something cites them all.  A reported id that is no passage's counts as
    number 0, which resolves to nothing.

    :param pattern: regular expression of one citation marker.
    """
    found = paragraphs(answer.text, pattern)
    if not answer.citations or any(each.cited for each in found):
        return found
    places: dict[str, int] = {}
    for number, passage in enumerate(answer.passages, start=1):
        places.setdefault(passage.id, number)
    cited = tuple(dict.fromkeys(places.get(name, 0) for name in answer.citations))
    return tuple(
        Paragraph(each.index, each.text, cited, each.kind) if each.claims else each
        for each in found
    )


def resolved(paragraph: Paragraph, passages: Sequence[object]) -> tuple[int, ...]:
    """The numbers that a paragraph cites and that are passages."""
    return tuple(number for number in paragraph.cited if 1 <= number <= len(passages))
