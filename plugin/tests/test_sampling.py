"""A sample of the gold questions: stratified, the same everywhere, smaller ones within larger."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.gold import CASE_TYPES, Case
from pytest_touchstone.gold.sampling import stratified_sample


def cases(counts: tuple[int, ...]) -> list[Case]:
    return [
        Case(f"{kind}-{n}", kind, "?")
        for kind, count in zip(CASE_TYPES, counts, strict=True)
        for n in range(count)
    ]


def types(sample: list[Case]) -> list[int]:
    found = Counter(case.type for case in sample)
    return [found[kind] for kind in CASE_TYPES]


COUNTS = st.tuples(*[st.integers(0, 12)] * 5).filter(any)


def test_types_are_in_proportion() -> None:
    gold = cases((80, 40, 20, 16, 4))
    assert types(stratified_sample(gold, 40)) == [20, 10, 5, 4, 1]
    assert types(stratified_sample(gold, 5)) == [1, 1, 1, 1, 1], "every type, while there is room"
    assert types(stratified_sample(gold, 3)) == [1, 1, 1, 0, 0], "the largest types first"
    assert stratified_sample(gold, 160) == stratified_sample(gold, 999) == gold


def test_the_draw_does_not_favour_what_stands_first() -> None:
    gold = cases((400, 0, 0, 0, 0))
    places = [gold.index(case) for case in stratified_sample(gold, 100)]
    assert places == sorted(places)
    assert 150 < sum(places) / len(places) < 250
    assert [case.id for case in stratified_sample(gold, 3)] == [
        "factual-229", "factual-233", "factual-350",
    ]  # fmt: skip


@given(COUNTS, st.integers(1, 40), st.randoms(use_true_random=False))
def test_a_sample_is_nested_and_knows_no_order(
    counts: tuple[int, ...], size: int, rng: random.Random
) -> None:
    gold = cases(counts)
    sample = stratified_sample(gold, size)
    assert len(sample) == min(size, len(gold))
    assert sample == [case for case in gold if case in sample]
    assert set(map(id, sample)) <= set(map(id, stratified_sample(gold, size + 1)))
    shuffled = rng.sample(gold, len(gold))
    assert {case.id for case in stratified_sample(shuffled, size)} == {c.id for c in sample}


@given(COUNTS, st.integers(1, 40))
def test_shares_differ_from_proportion_by_less_than_the_types_that_need_one(
    counts: tuple[int, ...], size: int
) -> None:
    gold = cases(counts)
    size = min(size, len(gold))
    for share, count in zip(types(stratified_sample(gold, size)), counts, strict=True):
        assert share <= count
        assert abs(share - size * count / len(gold)) < 5
        assert share > 0 or count == 0 or size < 5


@given(COUNTS, st.integers(1, 40), st.sampled_from(CASE_TYPES))
def test_a_new_question_pushes_out_one_at_most(
    counts: tuple[int, ...], size: int, kind: str
) -> None:
    gold = cases(counts)
    before = {case.id for case in stratified_sample(gold, size)}
    grown = [*gold, Case("new", kind, "?")]  # type: ignore[arg-type]
    after = {case.id for case in stratified_sample(grown, size)}
    assert len(before - after) <= 1
