"""A part of the gold questions that stands for the whole."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

from pytest_touchstone.gold.cases import CASE_TYPES, Case, CaseType


def stratified_sample(cases: Sequence[Case], size: int) -> list[Case]:
    """So many of the cases, their types in proportion, in their own order.

    Each type's share is that of Sainte-Laguë's divisor method, after one case for every type as
    far as ``size`` allows.  Within a type the draw is seeded by the questions' own ids: the same
    everywhere and in every order, a smaller sample is part of a larger one, and a question that
    joins the gold set pushes out one other at most, so that runs remain comparable.

    :param size: at least 1; one that is not smaller than the number of cases keeps them all.
    """
    strata: dict[CaseType, list[Case]] = defaultdict(list)
    for case in sorted(cases, key=_draw):
        strata[case.type].append(case)
    sizes = {kind: len(strata[kind]) for kind in CASE_TYPES if strata[kind]}
    shares = _apportioned(sizes, min(size, len(cases)))
    drawn = {case.id for kind, share in shares.items() for case in strata[kind][:share]}
    return [case for case in cases if case.id in drawn]


def _apportioned(sizes: dict[CaseType, int], seats: int) -> Counter[CaseType]:
    """How many of each type, larger types first where they have equal claims."""
    shares: Counter[CaseType] = Counter()
    for _ in range(seats):
        kind = max(
            sizes,
            key=lambda kind: (not shares[kind], Fraction(sizes[kind], 2 * shares[kind] + 1)),
        )
        shares[kind] += 1
    return shares


def _draw(case: Case) -> tuple[bytes, str]:
    return hashlib.sha256(f"sample\0{case.id}".encode()).digest(), case.id
