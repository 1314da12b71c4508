"""How the sources that a paragraph cites support it: together, and each alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_touchstone.judge.offline.claims import claims
from pytest_touchstone.judge.offline.embedding import Embed
from pytest_touchstone.judge.offline.evidence import Source
from pytest_touchstone.judge.offline.support import Finding, finding, sources
from pytest_touchstone.paragraphs import Paragraph
from pytest_touchstone.verdicts import (
    CitationVerdict,
    ParagraphSupport,
    ParagraphVerdict,
    SupportLabel,
)

_SOME = 0.5
"""Overlap from which on a claim that is not supported as a whole is stated in part."""


def support(
    paragraphs: Sequence[Paragraph],
    passages: Sequence[str],
    embed: Embed,
    about: Sequence[Mapping[str, Any]] = (),
) -> ParagraphSupport:
    """A verdict on each citing paragraph; those that cite nothing are left out.

    :param passages: what the numbers cited refer to, from 1; a number beyond them supports nothing.
    :param about: the metadata of each passage; none of any where empty.
    :raises EmbedderError: where ``embed`` does.
    """
    known = sources(passages, about)
    citing = (each for each in paragraphs if each.cited)
    return ParagraphSupport(tuple(_verdict(each, known, embed) for each in citing))


def _verdict(
    paragraph: Paragraph, passages: Mapping[int, Source], embed: Embed
) -> ParagraphVerdict:
    cited = {n: passages[n] for n in paragraph.cited if n in passages}
    label, why, alone = _judged(claims(paragraph.text), cited, embed)
    citations = tuple(CitationVerdict(n, alone.get(n, "unsupported")) for n in paragraph.cited)
    return ParagraphVerdict(paragraph.index, paragraph.text, label, why, citations)


def _judged(
    stated: Sequence[str], cited: Mapping[int, Source], embed: Embed
) -> tuple[SupportLabel, str, dict[int, SupportLabel]]:
    """The label of all sources together, why, and the label of each alone."""
    if not cited:
        return "unsupported", "It cites no source that exists.", {}
    if not stated:
        why = "It states nothing that a source would have to bear out."
        return "supported", why, dict.fromkeys(cited, "supported")
    found = [finding(claim, cited, embed) for claim in stated]
    alone = {
        n: _label([finding(claim, {n: each}, embed) for claim in stated])
        for n, each in cited.items()
    }
    return _label(found), _why(found), alone


def _label(found: Sequence[Finding]) -> SupportLabel:
    if all(each.verdict.label == "supported" for each in found):
        return "supported"
    some = any(
        each.verdict.label == "supported"
        or (each.verdict.label == "not_found" and each.near >= _SOME)
        for each in found
    )
    return "partial" if some else "unsupported"


def _why(found: Sequence[Finding]) -> str:
    """One line: how many claims are borne out where, and what is wrong with the first other."""
    kept = [each.verdict for each in found if each.verdict.label == "supported"]
    where = ", ".join(str(n) for n in sorted({v.passage for v in kept if v.passage is not None}))
    share = f"{len(kept)} of {len(found)} claims borne out" + (
        f" by source {where}" if kept else ""
    )
    lacking = next((each.verdict for each in found if each.verdict.label != "supported"), None)
    return share if lacking is None else f"{share}; {lacking.claim!r}: {lacking.rationale}"
