"""Retrieval: are the gold chunks among the passages, and how far up?

All measures read the order in which the system returned its passages.  A gold chunk together
with its equivalents is one find: the first passage that is any of them finds it, a later one
takes up its rank and gains nothing.  A chunk of grade 0 was judged and is not relevant.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from pytest_touchstone.gold import Case, GoldChunk
from pytest_touchstone.measures.base import Measure, Need, answered
from pytest_touchstone.score import NOT_APPLICABLE, Score, unscored
from pytest_touchstone.trace import Observation, Passage


@dataclass(frozen=True, slots=True)
class Find:
    """A positive gold chunk and the passage that found it first.

    :param rank: 1-based, or ``None`` where no passage is this chunk or an equivalent.
    :param passage_id: the id that was returned at that rank.
    """

    chunk: GoldChunk
    rank: int | None = None
    passage_id: str | None = None

    def within(self, cutoff: int | None) -> bool:
        """Whether it was found among the first ``cutoff`` passages (``None``: anywhere)."""
        return self.rank is not None and (cutoff is None or self.rank <= cutoff)


def positive(case: Case) -> tuple[GoldChunk, ...]:
    """The gold chunks that are relevant: those with a grade above 0."""
    return tuple(chunk for chunk in case.gold_chunks if chunk.grade > 0)


def find(chunks: Sequence[GoldChunk], passages: Sequence[Passage]) -> tuple[Find, ...]:
    """Where each chunk was found first; one entry per chunk, in the chunks' order."""
    first: dict[str, int] = {}
    for rank, passage in enumerate(passages, start=1):
        first.setdefault(passage.id, rank)
    finds = []
    for chunk in chunks:
        ranks = [(first[name], name) for name in chunk.ids if name in first]
        finds.append(Find(chunk, *min(ranks)) if ranks else Find(chunk))
    return tuple(finds)


@dataclass(frozen=True, repr=False)
class Ranked(Measure):
    """A measure of the ranking, over the first ``cutoff`` passages (``None``: over all)."""

    cutoff: int | None = None

    dimension: ClassVar[str] = "retrieval"
    needs: ClassVar[frozenset[Need]] = frozenset({"passages"})
    base_name: ClassVar[str]

    def __matmul__(self, cutoff: int) -> Self:
        """The same measure over the first ``cutoff`` passages: ``Recall @ 5``.

        :raises ValueError: unless the cutoff is a whole number from 1, given once.
        """
        if isinstance(cutoff, bool) or not isinstance(cutoff, int) or cutoff < 1:
            raise ValueError(f"{self.base_name}@k needs a whole number k from 1, not {cutoff!r}")
        if self.cutoff is not None:
            raise ValueError(f"{self.name} has its cutoff already")
        return replace(self, cutoff=cutoff)

    @property
    def name(self) -> str:
        return self.base_name if self.cutoff is None else f"{self.base_name}@{self.cutoff}"

    def applies(self, case: Case) -> bool:
        return bool(positive(case))

    def measure(self, case: Case, seen: Observation) -> Score:
        chunks = positive(case)
        if not chunks:
            return unscored(NOT_APPLICABLE, "the gold question has no relevant chunk")
        passages = answered(seen).passages
        finds = find(chunks, passages)
        return Score(
            self.value(finds),
            _why(finds, self.cutoff, len(passages)),
            detail=_detail(finds, len(passages)),
        )

    @abstractmethod
    def value(self, finds: Sequence[Find]) -> float:
        """The number, from all positive gold chunks (at least one)."""


@dataclass(frozen=True, repr=False)
class RecallMeasure(Ranked):
    """Gold chunks found in the top k, divided by all gold chunks (trec_eval's ``recall_k``)."""

    base_name: ClassVar[str] = "Recall"

    def value(self, finds: Sequence[Find]) -> float:
        return sum(each.within(self.cutoff) for each in finds) / len(finds)


@dataclass(frozen=True, repr=False)
class ReciprocalRankMeasure(Ranked):
    """1 / rank of the first find, 0 without one (trec_eval's ``recip_rank``).

    Its mean over the cases is the mean reciprocal rank.
    """

    base_name: ClassVar[str] = "MRR"

    def value(self, finds: Sequence[Find]) -> float:
        ranks = [each.rank for each in finds if each.rank is not None and each.within(self.cutoff)]
        return 1 / min(ranks) if ranks else 0.0


@dataclass(frozen=True, repr=False)
class GainMeasure(Ranked):
    """Normalized discounted cumulative gain (Järvelin and Kekäläinen, 2002).

    As trec_eval's ``ndcg_cut``: the gain is the grade itself, the discount log2(rank + 1), and
    the ideal ranking lists all gold chunks by falling grade, cut at k.
    """

    base_name: ClassVar[str] = "nDCG"

    def value(self, finds: Sequence[Find]) -> float:
        gains = {
            each.rank: each.chunk.grade
            for each in finds
            if each.rank is not None and each.within(self.cutoff)
        }
        ideal = sorted((each.chunk.grade for each in finds), reverse=True)[: self.cutoff]
        best = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal, start=1))
        # In rank order, so that a perfect ranking adds up the same numbers as the ideal one.
        return min(1.0, sum(gains[rank] / math.log2(rank + 1) for rank in sorted(gains)) / best)


_NAMED = 5  # gold chunks that one line of explanation names


def _why(finds: Sequence[Find], cutoff: int | None, returned: int) -> str:
    hits = sorted((each for each in finds if each.rank is not None), key=lambda hit: hit.rank or 0)
    within = [_found(hit) for hit in hits if hit.within(cutoff)]
    below = [_found(hit) for hit in hits if not hit.within(cutoff)]
    missed = [_shown(each.chunk.id) for each in finds if each.rank is None]
    where = "" if cutoff is None else f" in the top {cutoff}"
    parts = [f"{len(within)} of {len(finds)} gold chunks{where}"]
    parts += [f"found {_list(within)}"] if within else []
    parts += [f"below the cutoff {_list(below)}"] if below else []
    parts += [f"missed {_list(missed)}"] if missed else []
    if returned == 0 or (cutoff is not None and returned < cutoff):
        parts.append(f"{returned or 'no'} passage{'' if returned == 1 else 's'} returned")
    return "; ".join(parts)


def _found(each: Find) -> str:
    stands_for = "" if each.passage_id == each.chunk.id else f" as {_shown(each.passage_id or '')}"
    return f"{_shown(each.chunk.id)}{stands_for} at rank {each.rank}"


def _list(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _shown(name: str) -> str:
    """An id as it may stand in one line; ids come from outside."""
    return name if name.isprintable() and len(name) <= 80 else repr(name[:80])


def _detail(finds: Sequence[Find], returned: int) -> dict[str, Any]:
    return {
        "ranks": {each.chunk.id: each.rank for each in finds},
        "found_as": {
            each.chunk.id: each.passage_id
            for each in finds
            if each.rank is not None and each.passage_id != each.chunk.id
        },
        "returned": returned,
    }


Recall = RecallMeasure()
MRR = ReciprocalRankMeasure()
nDCG = GainMeasure()  # noqa: N816 (the measure's own spelling)
