"""What goes into the store comes out of it: observations become the rows of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runs import PATIENCE_S, assert_all_threads_end, join, start, store_url

from pytest_touchstone.gold import Case, GoldChunk, GoldMessage
from pytest_touchstone.report.model import RunConfig
from pytest_touchstone.report.rows import (
    PassageRef,
    PlanRow,
    QuestionRow,
    RunRecord,
    ScoreRow,
    StoredPassage,
)
from pytest_touchstone.score import Score, unscored
from pytest_touchstone.store import rows as rows_module
from pytest_touchstone.store import tables
from pytest_touchstone.store.answers import passage_digest
from pytest_touchstone.store.engine import Store
from pytest_touchstone.store.rows import RunRows, read_run
from pytest_touchstone.store.run import RunStore, Unit
from pytest_touchstone.systems.protocol import as_answer
from pytest_touchstone.trace import (
    Answer,
    Facts,
    Observation,
    Passage,
    SystemFault,
    Turn,
    Usage,
)

ODD = "får 日本 العربية 👩‍🔬 \u2028 \x1b[31m 'quotes\" \\ %s :name"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(store_url(tmp_path))
    yield store
    store.close()
    assert_all_threads_end()


def rows_of(store: Store, run_id: str = "run") -> RunRows:
    found = read_run(store, run_id)
    assert found is not None
    return found


def put(run: RunStore, case: Case, seen: Observation, scores: dict[str, Score]) -> None:
    unit = Unit(seen.case_id, seen.system, seen.repeat, seen.mode)
    assert run.claim([unit]).result(PATIENCE_S) == unit
    run.record(case, seen, scores).result(PATIENCE_S)


def test_a_run_that_nobody_began(store: Store) -> None:
    assert read_run(store, "run") is None


def test_a_run_comes_out_as_it_went_in(store: Store) -> None:
    cases = [
        Case("b", "summary", ODD, "svar", key_points=("å",), filters={}, tags=("x",), line=7),
        Case(
            "a",
            "multi_turn",
            "And in 2022?",
            history=(
                GoldMessage("user", ODD, {"year": "2022", "n": 2022, "list": ["å", 1, True]}),
                GoldMessage("assistant", ""),
            ),
            gold_chunks=(GoldChunk("c1", 3, ("c2",)), GoldChunk("c3", 0)),
            cluster="talk",
            split="dev",
        ),
    ]
    plan = [PlanRow("b", "s", "MRR"), PlanRow("a", ODD, "Recall@5", 2, "live")]
    begun = start(
        config={"seed": 1, "models": {"scorer": {}}, "text": ODD, "deep": {"é": [None, 0.1]}},
        label=ODD,
    )
    run = RunStore(store, "run", "a")
    run.begin(begun, cases, plan).result(PATIENCE_S)
    found = rows_of(store)
    assert found.run == RunRecord(
        id="run",
        started_at="2026-11-30T12:00:00.000Z",
        finished_at=None,
        config=cast(RunConfig, {**begun.config, "prices": {}}),
        label=ODD,
    )
    assert [(row.case, row.position) for row in found.cases] == [(cases[0], 0), (cases[1], 1)]
    assert sorted(found.plan, key=str) == sorted(plan, key=str)
    assert (found.questions, found.scores) == ((), ())
    assert (found.passages, found.notes) == ({}, {})


def test_an_observation_comes_out_as_it_went_in(store: Store) -> None:
    case = Case("q", "factual", "And then?")
    passages = (
        Passage("c1", ODD, 0.1 + 0.2, {"år": 2022, "text": "2022", "deep": {"a": [1, None]}}),
        Passage(ODD, ODD, None, {"år": 2022, "text": "2022", "deep": {"a": [1, None]}}),
        Passage("c3", "x" * 1_500_000, -1e-300),
        Passage("c4", "", 3.0),
    )
    usage = (Usage("m", 100, 20, 5), Usage(ODD, 0))
    turns = (
        Turn(0, ODD, None, SystemFault("exception", ODD), duration_ms=1.25),
        Turn(1, "Again?", Answer("Answered.", (), {}, usage=()), cost_usd=0.0, duration_ms=2.5),
        Turn(2, "Only passages?", Answer("", passages[:1], None), retrieved_only=True),
        Turn(3, "Text?", Answer("", passages[2:3]), SystemFault("empty_answer", "is empty")),
        Turn(
            4,
            "And then?",
            Answer("y" * 1_500_000, passages, {"år": ["2022", 2022]}, "relaxed", usage, ("c1",)),
            cost_usd=1 / 3,
            cost_reason=None,
            duration_ms=1e6 / 7,
        ),
    )
    seen = Observation("q", "s", turns, 2, "live", Facts(5, 0))
    scores = {
        "Recall@5": Score(1 / 3, ODD, detail={"ranks": [1, None], "é": {"a": 1.5}}),
        "CostPerQuery": unscored("no_price", "no price", model=ODD),
        "MRR": Score(0.0, "worst", "system_error", "judge", "some engine"),
    }
    put(join(store, "a", [case]), case, seen, scores)
    found = rows_of(store)

    digests = [passage_digest(passage) for passage in passages]
    assert digests[0] == digests[1]
    refs = tuple(
        PassageRef(passage.id, passage.score, digest)
        for passage, digest in zip(passages, digests, strict=True)
    )
    common: dict[str, Any] = {"case_id": "q", "system": "s", "repeat": 2, "mode": "live"}
    assert list(found.questions) == [
        QuestionRow(
            question=ODD,
            turn=0,
            error={"kind": "exception", "message": ODD},
            duration_ms=1.25,
            passages=(),
            **common,
        ),
        QuestionRow(
            question="Again?",
            turn=1,
            answer="Answered.",
            filters={},
            usage=[],
            cost_usd=0.0,
            duration_ms=2.5,
            passages=(),
            **common,
        ),
        QuestionRow(question="Only passages?", turn=2, passages=refs[:1], **common),
        QuestionRow(
            question="Text?",
            turn=3,
            answer="",
            passages=refs[2:3],
            error={"kind": "empty_answer", "message": "is empty"},
            **common,
        ),
        QuestionRow(
            question="And then?",
            turn=4,
            answer="y" * 1_500_000,
            passages=refs,
            filters={"år": ["2022", 2022]},
            behavior="relaxed",
            usage=[asdict(call) for call in usage],
            cost_usd=1 / 3,
            duration_ms=1e6 / 7,
            **common,
        ),
    ]
    assert {row.measure: row for row in found.scores} == {
        measure: ScoreRow(measure=measure, **common, **asdict(score))
        for measure, score in scores.items()
    }
    assert found.passages == {
        digest: StoredPassage(passage.text, passage.metadata)
        for digest, passage in zip(digests, passages, strict=True)
    }
    query = sa.select(
        tables.questions.c.citations, tables.questions.c.facts, tables.questions.c.retrieved_only
    ).order_by(tables.questions.c.turn)
    stored = store.read(lambda connection: list(map(tuple, connection.execute(query))))
    assert stored[-1] == ('["c1"]', '{"failed": null, "found_matches": 0, "gold_matches": 5}', 0)
    assert stored[2] == (None, None, 1)


def test_scores_belong_to_the_turn_that_is_scored(store: Store) -> None:
    case = Case("q", "factual", "Last?")
    turns = tuple(Turn(index, f"Turn {index}?", Answer("Yes.")) for index in range(3))
    put(join(store, "a", [case]), case, Observation("q", "s", turns), {"M": Score(1.0, "")})
    query = sa.select(tables.questions.c.turn).join_from(tables.scores, tables.questions)
    assert store.read(lambda connection: connection.execute(query).scalar_one()) == 2


def test_other_runs_passages_are_not_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """All runs of a store share the table, which holds each text once."""
    monkeypatch.setattr(rows_module, "_AT_ONCE", 3)
    for run_id, numbers in {"first": range(10), "second": range(5, 20)}.items():
        case = Case("q", "factual", "What?")
        run = RunStore(store, run_id, run_id)
        run.begin(start(run_id), [case], []).result(PATIENCE_S)
        passages = tuple(Passage(f"c{number}", f"Text {number}.") for number in numbers)
        put(run, case, Observation("q", "s", (Turn(0, "What?", Answer("So.", passages)),)), {})
    others = tables.passages.c.text.in_([f"Text {number}." for number in range(10, 20)])
    breaking = sa.update(tables.passages).where(others).values(metadata="no JSON")
    assert store.write(lambda c: c.execute(breaking).rowcount).result(PATIENCE_S) == 10
    found = rows_of(store, "first").passages
    assert {passage.text for passage in found.values()} == {f"Text {n}." for n in range(10)}


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    text=st.text(st.characters(), max_size=20),
    metadata=st.dictionaries(st.text(st.characters(), max_size=5), anything, max_size=4),
)
def test_whatever_a_system_may_return_is_stored_as_it_was_measured(
    store: Store, text: str, metadata: dict[str, Any]
) -> None:
    """Half surrogate pairs and NUL included, which no database takes."""
    passage = {"id": "c" + text, "text": text, "metadata": metadata}
    answer = as_answer({"text": text, "passages": [passage], "filters": metadata})
    run_id = passage_digest(answer.passages[0])[:32] + str(len(text))
    case = Case("q", "factual", "What?")
    run = RunStore(store, run_id, run_id)
    run.begin(start(run_id), [case], []).result(PATIENCE_S)
    if run.claim([Unit("q", "s")]).result(PATIENCE_S) is None:
        return  # hypothesis tries some examples twice
    seen = Observation("q", "s", (Turn(0, "What?", answer),))
    run.record(case, seen, {"M": Score(1.0, text)}).result(PATIENCE_S)
    found = rows_of(store, run_id)
    assert found.questions[0].answer == answer.text
    assert found.questions[0].filters == answer.filters
    assert found.questions[0].passages[0].id == answer.passages[0].id
    assert [StoredPassage(p.text, p.metadata) for p in answer.passages] == list(
        found.passages.values()
    )
    assert found.scores[0].why == answer.text
