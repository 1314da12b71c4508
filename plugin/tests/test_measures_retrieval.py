"""Recall, MRR and nDCG: equal to trec_eval's, and equivalents are one find."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import ir_measures
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_touchstone.gold import Case, GoldChunk
from pytest_touchstone.measures import MRR, Measure, Recall, nDCG
from pytest_touchstone.score import Score
from pytest_touchstone.trace import Answer, Observation, Passage, Turn


def case_with(*chunks: GoldChunk) -> Case:
    return Case("c", "factual", "Who?", gold_chunks=chunks)


def seen(ids: Sequence[str], *, retrieved_only: bool = True) -> Observation:
    answer = Answer("", tuple(Passage(name, "text") for name in ids))
    return Observation("c", "s", (Turn(0, "Who?", answer, retrieved_only=retrieved_only),))


def score(measure: Measure, chunks: Sequence[GoldChunk], ids: Sequence[str]) -> Score:
    return measure.score(case_with(*chunks), seen(ids))


def value(measure: Measure, chunks: Sequence[GoldChunk], ids: Sequence[str]) -> float:
    found = score(measure, chunks, ids).value
    assert found is not None
    return found


REFERENCE = {
    Recall @ 5: ir_measures.R @ 5,
    Recall @ 10: ir_measures.R @ 10,
    Recall @ 20: ir_measures.R @ 20,
    MRR: ir_measures.RR,
    nDCG: ir_measures.nDCG,
    nDCG @ 5: ir_measures.nDCG @ 5,
    nDCG @ 10: ir_measures.nDCG @ 10,
}


def test_equal_to_trec_eval_on_1000_random_rankings() -> None:
    rng = np.random.default_rng(20260101)
    pool = [f"d{i:02d}" for i in range(30)]
    judged: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in map(str, range(1000)):
        grades = rng.integers(0, 4, size=rng.integers(1, 15)).tolist()
        judged[query] = dict(zip(rng.permutation(pool).tolist(), grades, strict=False))
        judged[query][pool[0]] = max(1, judged[query].get(pool[0], 0))  # one is relevant
        length = 0 if rng.random() < 0.05 else int(rng.integers(1, 31))
        # Few distinct scores, so that most rankings hold ties.
        scores = (rng.integers(0, 8, size=length) / 4).tolist()
        run[query] = dict(zip(rng.permutation(pool).tolist(), scores, strict=False))
    assert sum(not ranking for ranking in run.values()) > 20
    expected = {
        (metric.query_id, metric.measure): metric.value
        for metric in ir_measures.iter_calc(
            list(REFERENCE.values()), judged, {q: r for q, r in run.items() if r}
        )
    }
    assert len(expected) == 1000 * len(REFERENCE)
    for query, ranking in run.items():
        chunks = [GoldChunk(name, grade) for name, grade in judged[query].items()]
        # trec_eval's order: by score, ties by id, both falling.
        ids = sorted(ranking, key=lambda name: (ranking[name], name), reverse=True)
        for measure, theirs in REFERENCE.items():
            assert value(measure, chunks, ids) == pytest.approx(
                expected[query, theirs], abs=1e-9
            ), (query, measure)


def test_values_by_hand() -> None:
    chunks = [GoldChunk("a", 3), GoldChunk("b", 1), GoldChunk("no", 0)]
    ids = ["x", "no", "b", "y", "a"]
    assert value(Recall @ 3, chunks, ids) == 0.5
    assert value(Recall, chunks, ids) == 1.0
    assert value(MRR, chunks, ids) == pytest.approx(1 / 3)
    assert value(MRR @ 2, chunks, ids) == 0.0
    assert value(nDCG @ 5, chunks, ids) == pytest.approx(
        (1 / math.log2(4) + 3 / math.log2(6)) / (3 + 1 / math.log2(3))
    )


def test_an_equivalent_is_the_same_find_and_is_not_counted_twice() -> None:
    chunks = [GoldChunk("a", 2, ("a2", "a3")), GoldChunk("b")]
    assert value(Recall @ 3, chunks, ["a3", "a", "a2"]) == 0.5
    assert value(nDCG @ 4, chunks, ["a3", "a", "a3", "b"]) == pytest.approx(
        (2 + 1 / math.log2(5)) / (2 + 1 / math.log2(3))
    )
    assert value(Recall @ 2, [GoldChunk("b")], ["x", "x", "b"]) == 0.0  # a repeat takes its rank


def test_why_tells_where_each_chunk_was_found_and_which_were_missed() -> None:
    chunks = [GoldChunk("a", 1, ("a2",)), GoldChunk("b"), GoldChunk("c"), GoldChunk("no", 0)]
    found = score(Recall @ 2, chunks, ["x", "a2", "b"])
    assert found.why == (
        "1 of 3 gold chunks in the top 2; found a as a2 at rank 2; "
        "below the cutoff b at rank 3; missed c"
    )
    assert found.detail == {
        "ranks": {"a": 2, "b": 3, "c": None},
        "found_as": {"a": "a2"},
        "returned": 3,
    }


def test_why_tells_that_fewer_passages_came_than_the_cutoff() -> None:
    assert score(Recall @ 5, [GoldChunk("a")], ["a"]).why == (
        "1 of 1 gold chunks in the top 5; found a at rank 1; 1 passage returned"
    )
    assert score(MRR, [GoldChunk("a")], []).why.endswith("missed a; no passages returned")


def test_why_stays_one_short_line() -> None:
    chunks = [GoldChunk(f"{i}\n" + "x" * 500) for i in range(40)]
    why = score(Recall @ 5, chunks, [chunk.id for chunk in chunks]).why
    assert why.isprintable()
    assert "and 30 more" in why
    assert len(why) < 1500


@pytest.mark.parametrize("measure", [Recall @ 5, MRR, nDCG @ 10])
@pytest.mark.parametrize("chunks", [(), (GoldChunk("a", 0),)])
def test_without_a_relevant_chunk_retrieval_does_not_apply(
    measure: Measure, chunks: tuple[GoldChunk, ...]
) -> None:
    case = case_with(*chunks)
    assert not measure.applies(case)
    unscored = measure.score(case, seen(["a"]))
    assert (unscored.value, unscored.reason) == (None, "not_applicable")


MEASURED = [Recall, Recall @ 1, Recall @ 3, MRR, MRR @ 3, nDCG, nDCG @ 3]
names = st.sampled_from([f"{letter}{n}" for letter in "abcdx" for n in range(3)])
rankings = st.lists(names, max_size=12)


@st.composite
def gold_chunks(draw: st.DrawFn) -> list[GoldChunk]:
    """Up to four chunks with up to two equivalents each, at least one of them relevant."""
    chunks = [
        GoldChunk(
            f"{letter}0",
            draw(st.integers(0, 3)),
            tuple(draw(st.lists(st.sampled_from([f"{letter}1", f"{letter}2"]), unique=True))),
        )
        for letter in draw(st.lists(st.sampled_from("bcd"), unique=True))
    ]
    return [GoldChunk("a0", draw(st.integers(1, 3)), ("a1",)), *chunks]


def values(chunks: Sequence[GoldChunk], ids: Sequence[str]) -> dict[Measure, float]:
    return {measure: value(measure, chunks, ids) for measure in MEASURED}


@given(chunks=gold_chunks(), ids=rankings)
def test_values_stay_in_their_range(chunks: list[GoldChunk], ids: list[str]) -> None:
    assert all(0.0 <= each <= 1.0 for each in values(chunks, ids).values())


@given(chunks=gold_chunks(), ids=rankings, rng=st.randoms(use_true_random=False))
def test_the_order_of_gold_chunks_and_of_equivalents_means_nothing(
    chunks: list[GoldChunk], ids: list[str], rng: random.Random
) -> None:
    shuffled = []
    for chunk in rng.sample(chunks, len(chunks)):
        first, *others = rng.sample(sorted(chunk.ids), len(chunk.ids))
        shuffled.append(GoldChunk(first, chunk.grade, tuple(others)))
    assert values(shuffled, ids) == values(chunks, ids)


@given(chunks=gold_chunks(), ids=rankings, data=st.data())
def test_returning_a_second_equivalent_never_gains(
    chunks: list[GoldChunk], ids: list[str], data: st.DataObject
) -> None:
    ranks = [(min(map(ids.index, hits)), chunk) for chunk in chunks if (hits := chunk.ids & {*ids})]
    assume(ranks)
    first, chunk = data.draw(st.sampled_from(ranks))
    again = data.draw(st.sampled_from(sorted(chunk.ids)))
    at = data.draw(st.integers(first + 1, len(ids)))  # behind the passage that found the chunk
    before, after = values(chunks, ids), values(chunks, [*ids[:at], again, *ids[at:]])
    assert all(after[measure] <= before[measure] for measure in MEASURED)


@given(chunks=gold_chunks(), ids=rankings, data=st.data())
def test_moving_a_find_up_past_what_finds_nothing_never_lowers(
    chunks: list[GoldChunk], ids: list[str], data: st.DataObject
) -> None:
    relevant = {name for chunk in chunks if chunk.grade for name in chunk.ids}
    swaps = [i for i in range(1, len(ids)) if ids[i] in relevant and ids[i - 1] not in relevant]
    assume(swaps)
    at = data.draw(st.sampled_from(swaps))
    moved = [*ids[: at - 1], ids[at], ids[at - 1], *ids[at + 1 :]]
    before, after = values(chunks, ids), values(chunks, moved)
    assert all(after[measure] >= before[measure] for measure in MEASURED)


@given(chunks=gold_chunks())
def test_a_perfect_ranking_is_exactly_1(chunks: list[GoldChunk]) -> None:
    best = sorted(chunks, key=lambda chunk: chunk.grade, reverse=True)
    ids = [sorted(chunk.ids)[-1] for chunk in best]
    for measure in (Recall, MRR, nDCG, nDCG @ 3, nDCG @ 20):
        assert value(measure, chunks, ids) == 1.0
