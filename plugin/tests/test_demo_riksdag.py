"""The Swedish demonstration's data: what can be checked of corpus and gold questions."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_touchstone.corpus.chunks import Chunk, read_chunks
from pytest_touchstone.gold import CASE_TYPES, Case, case_to_json, parse_gold

FOLDER = Path(__file__).parents[2] / "evaluation/demo/riksdag"
FILTER_FIELDS = {"speaker", "party", "year"}

CHUNKS: Mapping[str, Chunk] = {chunk.id: chunk for chunk in read_chunks(FOLDER / "corpus.jsonl")}
GOLD = parse_gold((FOLDER / "gold.jsonl").read_bytes(), file="gold.jsonl")
NOISE = {
    entry["id"]: entry["kind"]
    for entry in map(json.loads, (FOLDER / "noise.jsonl").read_text("utf-8").splitlines())
}

every_case = pytest.mark.parametrize("case", GOLD.cases, ids=lambda case: case.id)


def matches(chunk: Chunk, filters: Mapping[str, Any]) -> bool:
    return all(
        chunk.metadata.get(name) in (wanted if isinstance(wanted, list) else [wanted])
        for name, wanted in filters.items()
    )


def selected(filters: Mapping[str, Any]) -> list[Chunk]:
    return [chunk for chunk in CHUNKS.values() if matches(chunk, filters)]


def gold_ids(case: Case) -> list[str]:
    return [name for chunk in case.gold_chunks for name in sorted(chunk.ids)]


def numbers(text: str) -> set[str]:
    """Numbers as Swedish writes them: `24 300`, `0,07`."""
    return set(re.findall(r"\d+(?:[ \N{NO-BREAK SPACE}]\d{3}\b)*(?:,\d+)?", text))


def numbers_of(chunks: list[Chunk]) -> set[str]:
    found = {chunk.metadata["year"] for chunk in chunks}
    return found.union(*(numbers(chunk.text) for chunk in chunks))


def turn_filters(case: Case) -> Iterator[Mapping[str, Any]]:
    yield from (message.filters for message in case.history if message.filters is not None)
    if case.filters is not None:
        yield case.filters


def test_numbers_are_read_as_swedish_writes_them() -> None:
    text = "Av 24 300 kronor är 0,07 procent kvar, 2 100 av 9 600. År 2023 12 stycken."
    assert numbers(text) == {"24 300", "0,07", "2 100", "9 600", "2023", "12"}


def test_writing_the_corpus_again_gives_the_same_bytes(tmp_path: Path) -> None:
    generator().write(tmp_path)
    for name in ("corpus.jsonl", "noise.jsonl"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("riksdag_generate", FOLDER / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]
    return module


def test_the_corpus_is_of_the_promised_shape() -> None:
    speeches = [chunk for chunk in CHUNKS.values() if chunk.id not in NOISE]
    assert 120 <= len(CHUNKS) <= 200
    assert len({chunk.metadata["debate"] for chunk in CHUNKS.values()}) >= 12
    assert {chunk.id for chunk in speeches if not 300 <= len(chunk.text) <= 700} == set()
    assert len({chunk.text for chunk in speeches}) == len(speeches)
    assert set(NOISE) < set(CHUNKS)
    assert set(NOISE.values()) == {"öppning", "avslutning", "yrkande", "tack"}


def test_metadata_are_strings_that_agree_with_each_other() -> None:
    parties: dict[str, set[str]] = {}
    for chunk in CHUNKS.values():
        data = chunk.metadata
        assert set(data) == {"speaker", "party", "date", "year", "topic", "debate"}
        assert all(isinstance(value, str) and value for value in data.values())
        assert re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", data["date"])
        assert data["date"].startswith(data["year"] + "-")
        assert chunk.id.startswith(data["debate"] + "-")
        parties.setdefault(data["speaker"], set()).add(data["party"])
    assert {name for name, found in parties.items() if len(found) != 1} == set()


@pytest.mark.parametrize("name", ["corpus.jsonl", "gold.jsonl", "noise.jsonl", "debates.txt"])
def test_swedish_letters_survive(name: str) -> None:
    data = (FOLDER / name).read_bytes()
    text = data.decode("utf-8")
    assert b"\r" not in data
    assert unicodedata.is_normalized("NFC", text)
    assert "ö" in text if name == "noise.jsonl" else set("åäöÅÄÖ") <= set(text)
    assert not re.search("\\\\u00|\N{REPLACEMENT CHARACTER}|Ã", text)


def test_there_are_enough_questions_of_every_type_in_both_splits() -> None:
    least = {"factual": 8, "comparative": 5, "summary": 5, "multi_turn": 4, "edge_case": 3}
    assert {kind for kind, count in GOLD.counts.items() if count < least[kind]} == set()
    for split in ("dev", "test"):
        assert {case.type for case in GOLD.cases if case.split == split} == set(least)


def test_the_readme_counts_what_is_there() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert "synthetic" in readme
    assert f"| {len(CHUNKS)} chunks" in readme
    assert f"| {len(GOLD.cases)} gold questions" in readme
    assert f"{len(NOISE)} chunks are boilerplate" in readme
    for split in ("dev", "test"):
        of_type = Counter(case.type for case in GOLD.cases if case.split == split)
        row = " | ".join(str(of_type[kind]) for kind in CASE_TYPES)
        assert f"| {split} | {row} |" in readme


def test_a_topic_is_in_one_split_only() -> None:
    splits: dict[str, set[str | None]] = {}
    for case in GOLD.cases:
        for topic in {CHUNKS[name].metadata["topic"] for name in gold_ids(case)}:
            splits.setdefault(topic, set()).add(case.split)
    assert {topic for topic, found in splits.items() if len(found) != 1} == set()
    by_cluster = {(case.cluster, case.split) for case in GOLD.cases}
    assert len(by_cluster) == len({cluster for cluster, _ in by_cluster})


def test_no_question_is_asked_twice() -> None:
    asked = [" ".join(case.question.casefold().split()) for case in GOLD.cases]
    assert len(set(asked)) == len(asked)


def test_every_line_holds_what_a_case_is_written_as() -> None:
    lines = (FOLDER / "gold.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [case_to_json(case) for case in GOLD.cases]


@every_case
def test_gold_chunks_exist_and_speak_in_the_cluster(case: Case) -> None:
    assert set(gold_ids(case)) <= set(CHUNKS) - set(NOISE)
    if case.gold_chunks:
        assert case.cluster in {CHUNKS[name].metadata["debate"] for name in gold_ids(case)}
    else:
        assert case.type == "edge_case"


@every_case
def test_numbers_in_answer_and_key_points_occur_in_gold_chunks(case: Case) -> None:
    said = numbers("\n".join([case.answer, *case.key_points]))
    known = numbers_of([CHUNKS[name] for name in gold_ids(case)])
    if not case.gold_chunks:  # such an answer only repeats what was asked for
        known = numbers(case.question) | set((case.filters or {}).values())
    assert said <= known


@every_case
def test_numbers_in_earlier_answers_occur_where_their_filters_point(case: Case) -> None:
    for asked, answered in zip(case.history[::2], case.history[1::2], strict=True):
        assert asked.filters is not None
        said = numbers(re.sub(r"\[\d+\]", "", answered.content))
        assert said <= numbers_of(selected(asked.filters))


@every_case
def test_filters_select_the_gold_chunks_and_impossible_ones_nothing(case: Case) -> None:
    assert case.filters is not None
    assert all(matches(CHUNKS[name], case.filters) for name in gold_ids(case))
    assert bool(case.behavior) == (not selected(case.filters))


@every_case
def test_filter_values_are_written_as_in_the_metadata(case: Case) -> None:
    for filters in turn_filters(case):
        assert set(filters) <= FILTER_FIELDS
        for name, wanted in filters.items():
            known = {chunk.metadata[name] for chunk in CHUNKS.values()}
            if name == "year" and case.behavior:  # a year without debates
                assert re.fullmatch(r"20\d\d", wanted)
            else:
                assert set(wanted if isinstance(wanted, list) else [wanted]) <= known


@every_case
def test_a_case_is_complete_for_its_type(case: Case) -> None:
    assert case.lang == "sv"
    assert case.answer
    assert bool(case.key_points) == (case.type == "summary")
    if case.type == "multi_turn":
        assert case.history
    if case.type == "comparative":
        voices = {
            (data["speaker"], data["party"])
            for data in (CHUNKS[name].metadata for name in gold_ids(case))
        }
        assert len(voices) >= 2
        assert "\n\n" in case.answer
