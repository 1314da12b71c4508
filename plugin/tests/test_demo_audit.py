"""The audit demonstration: its corpus and its gold questions are what their README says."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evaluation.demo.audit import build_gold, generate
from evaluation.demo.audit.build_gold import Evidence, Question, QuestionError, selects
from evaluation.demo.audit.facts import ENTITIES, fact, shown
from evaluation.demo.audit.generate import AuditChunk
from pytest_touchstone.corpus.chunks import Chunk, read_chunks
from pytest_touchstone.dataset import read_gold
from pytest_touchstone.gold import Case, GoldSet

HERE = Path(generate.__file__).parent
_FISCAL = re.compile(r"\b(20\d\d)/(\d\d)\b")
_NUMBER = re.compile(r"(\d[\d,]*(?:\.\d+)?)( billion)?")


@pytest.fixture(scope="module")
def made() -> tuple[AuditChunk, ...]:
    return generate.corpus()


@pytest.fixture(scope="module")
def chunks() -> dict[str, Chunk]:
    return {chunk.id: chunk for chunk in read_chunks(HERE / "corpus.jsonl")}


@pytest.fixture(scope="module")
def noise() -> dict[str, str]:
    lines = (HERE / "noise.jsonl").read_text(encoding="utf-8").splitlines()
    return {one["id"]: one["kind"] for one in map(json.loads, lines)}


@pytest.fixture(scope="module")
def gold() -> GoldSet:
    return read_gold(build_gold.GOLD)


def test_the_files_are_what_the_generator_writes(made: tuple[AuditChunk, ...]) -> None:
    assert (HERE / "corpus.jsonl").read_bytes() == generate.corpus_lines(made)
    assert (HERE / "noise.jsonl").read_bytes() == generate.noise_lines(made)
    assert (build_gold.GOLD).read_bytes() == build_gold.gold_lines(made)


def test_the_corpus_is_large_enough_and_templated(
    chunks: dict[str, Chunk], noise: dict[str, str]
) -> None:
    assert len(chunks) >= 1000
    assert len({chunk.metadata["document"] for chunk in chunks.values()}) >= 60
    assert 0.12 <= len(noise) / len(chunks) <= 0.18
    texts = Counter(chunk.text for chunk in chunks.values())
    assert max(texts.values()) == 1
    lengths = [len(chunk.text) for chunk in chunks.values() if chunk.id not in noise]
    assert min(lengths) >= 180
    assert max(lengths) <= 760
    # Without names and numbers, hundreds of chunks are the same few sentences.
    shapes = Counter(_shape(chunks[name].text) for name in chunks if name not in noise)
    assert sum(many for _, many in shapes.most_common(60)) >= 400


def _shape(text: str) -> str:
    """The first words of a text, without figures: its template."""
    return re.sub(r"\d", "", text)[:22]


def test_metadata_are_strings_but_for_the_page(chunks: dict[str, Chunk]) -> None:
    for chunk in chunks.values():
        data = dict(chunk.metadata)
        assert isinstance(data.pop("page"), int)
        assert all(type(value) is str for value in data.values()), chunk.id
        assert data["year"] in {"2019", "2020", "2021", "2022", "2023"}
        assert data["source"] in {"consolidated", "district", "ministry", "thematic"}
        assert len(data.keys() & {"district", "city", "ministry"}) <= 1


def test_noise_is_named_and_answers_nothing(
    chunks: dict[str, Chunk], noise: dict[str, str], gold: GoldSet
) -> None:
    assert noise.keys() <= chunks.keys()
    assert set(noise.values()) == {"boilerplate", "contents", "fragment", "table_debris"}
    assert not noise.keys() & {name for case in gold.cases for name in _ids(case)}


def test_a_chunk_says_what_it_is_taken_to_state(made: tuple[AuditChunk, ...]) -> None:
    for chunk in made:
        for key, name in chunk.states:
            value = fact(key)[name]
            forms = {shown(key, name), f"{value:,}" if isinstance(value, int) else value}
            assert any(form.lower() in chunk.text.lower() for form in forms), (chunk.id, key, name)


def test_counts_by_type(gold: GoldSet) -> None:
    assert dict(gold.counts) == {
        "factual": 48,
        "comparative": 32,
        "summary": 32,
        "multi_turn": 24,
        "edge_case": 24,
    }
    assert sum(bool(case.behavior) for case in gold.cases) == 16


def test_no_question_occurs_twice(gold: GoldSet) -> None:
    asked = Counter(" ".join(case.question.casefold().split()) for case in gold.cases)
    assert [text for text, many in asked.items() if many > 1] == []


def test_the_halves_share_no_cluster(gold: GoldSet) -> None:
    halves = {half: [case for case in gold.cases if case.split == half] for half in ("dev", "test")}
    clusters = {half: {case.cluster for case in cases} for half, cases in halves.items()}
    assert not clusters["dev"] & clusters["test"]
    for kind, many in gold.counts.items():
        share = sum(case.type == kind for case in halves["dev"])
        assert abs(share - many / 2) <= 1, kind
    assert len(halves["dev"]) + len(halves["test"]) == len(gold.cases)


def test_gold_filters_select_the_gold_chunks(gold: GoldSet, chunks: dict[str, Chunk]) -> None:
    for case in gold.cases:
        if case.filters is None:
            continue
        chosen = {one.id for one in chunks.values() if selects(case.filters, one.metadata)}
        if case.behavior:
            assert not chosen, case.id
        else:
            assert {one.id for one in case.gold_chunks} <= chosen, case.id
        # Equivalents may lie outside: an annexed table has no district.
        assert _ids(case) <= chunks.keys()


def test_filters_of_earlier_turns_match_something(gold: GoldSet, chunks: dict[str, Chunk]) -> None:
    for case in gold.cases:
        for turn in case.history:
            if turn.filters:
                assert any(selects(turn.filters, one.metadata) for one in chunks.values()), case.id


def test_conversations_have_two_to_five_turns(gold: GoldSet) -> None:
    turns: Counter[int] = Counter()
    for case in gold.cases:
        roles = [message.role for message in case.history]
        assert roles == ["user", "assistant"] * (len(roles) // 2), case.id
        if case.type == "multi_turn":
            turns[len(roles) // 2 + 1] += 1
        elif case.type != "edge_case":
            assert not roles
    assert set(turns) == {2, 3, 4, 5}


def test_every_number_of_an_answer_stands_in_a_gold_chunk(
    gold: GoldSet, chunks: dict[str, Chunk]
) -> None:
    checked = 0
    for case in gold.cases:
        if not case.gold_chunks:
            continue
        held = [chunks[chunk.id] for chunk in case.gold_chunks]
        known = set().union(*(_numbers(chunk.text) for chunk in held))
        years = {float(str(chunk.metadata["year"])) for chunk in held}
        for text in (case.answer, *case.key_points):
            missing = _numbers(text) - known - years
            assert not missing, (case.id, missing)
            checked += len(_numbers(text))
    assert checked > 300


def test_summaries_have_key_points(gold: GoldSet) -> None:
    for case in gold.cases:
        assert bool(case.key_points) == (case.type == "summary"), case.id


def test_no_chunk_that_answers_is_left_without_a_label(made: tuple[AuditChunk, ...]) -> None:
    """By the text, not by what the generator knows: same body, year, category and figures."""
    evidence = Evidence(made)
    for question in build_gold.read_questions():
        line = build_gold.gold(question, evidence)
        labelled = {
            name
            for chunk in line.get("gold_chunks", ())
            for name in (chunk["id"], *chunk.get("equivalents", ()))
        }
        for key, fields in question.needs():
            entity = ENTITIES.get(key.entity)
            if entity is None:
                continue
            figures = [_forms(key, name) for name in fields]
            for chunk in made:
                if chunk.id in labelled or chunk.metadata.get("category") != key.category:
                    continue
                own = chunk.metadata.get(entity.kind) == entity.name
                named = own or entity.label in chunk.text or entity.short in chunk.text
                if not named or chunk.metadata["year"] != key.year:
                    continue
                found = all(any(form.search(chunk.text) for form in forms) for forms in figures)
                assert not found, (question.id, key, chunk.id)


def _forms(key: Any, name: str) -> list[re.Pattern[str]]:
    value = fact(key)[name]
    texts = {shown(key, name), f"{value:,}" if isinstance(value, int) else value}
    return [re.compile(rf"(?<![\d,.]){re.escape(text)}(?![\d,]*\d)", re.I) for text in texts]


def test_a_question_that_the_corpus_does_not_bear_out_is_refused(
    made: tuple[AuditChunk, ...],
) -> None:
    evidence = Evidence(made)
    entry = {
        "id": "audit-f99",
        "question": "?",
        "split": "dev",
        "about": {"a": "kasese-d/2022/payroll"},
        "answer": "{a.amount}",
        "filters": {"district": "Kasese", "year": "2022"},
    }
    assert build_gold.gold(Question(entry), evidence)["gold_chunks"]
    for change, message in (
        ({"filters": {"district": "Kasese", "year": "2023"}}, None),
        ({"filters": {"district": "Nebbi"}}, "filters select no chunk"),
        ({"answer": "{a.days}"}, "has no days|no chunk states"),
        ({"answer": "{b.amount}"}, "nothing is called b"),
        ({"holds": ["a.amount < a.staff"], "answer": "{a.amount}"}, None),
        ({"holds": ["a.amount > a.staff"], "answer": "{a.amount}"}, "does not hold"),
        ({"holds": ["so it is"]}, "cannot read"),
    ):
        question = Question(entry | change)
        if message is None:
            assert build_gold.gold(question, evidence)["gold_chunks"]
            continue
        with pytest.raises(QuestionError, match=message):
            build_gold.gold(question, evidence)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, True),
        ({"year": "2022"}, True),
        ({"year": 2022}, False),
        ({"year": ["2021", "2022"]}, True),
        ({"year": "2022", "district": "Gulu"}, False),
    ],
)
def test_filters_match_exactly(filters: dict[str, Any], expected: bool) -> None:
    assert selects(filters, {"year": "2022", "city": "Gulu"}) is expected


def _ids(case: Case) -> frozenset[str]:
    return frozenset().union(*(chunk.ids for chunk in case.gold_chunks))


def _numbers(text: str) -> set[float]:
    """The numbers of a text, billions as millions; ``FY 2021/22`` counts as 2022."""
    plain = _FISCAL.sub(lambda year: str(int(year[1]) + 1), text)
    return {
        round(float(digits.rstrip(",").replace(",", "")) * (1000 if billion else 1), 3)
        for digits, billion in _NUMBER.findall(plain)
    }
