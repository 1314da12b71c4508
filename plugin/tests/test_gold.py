"""The reader of gold questions: every fault with its line and field, all of them at once."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_touchstone.gold import (
    CASE_TYPES,
    Case,
    GoldChunk,
    GoldError,
    GoldFault,
    GoldMessage,
    GoldSet,
    case_from_json,
    case_to_json,
    parse_gold,
    reading,
)


def line(**fields: Any) -> str:
    """A sound gold question as JSON, some fields set or (``...``) left out."""
    data = {"id": "q1", "type": "factual", "question": "Who?", "answer": "Nobody."} | fields
    return json.dumps({name: value for name, value in data.items() if value is not ...})


def faults_of(data: bytes | str) -> tuple[GoldFault, ...]:
    raw = data if isinstance(data, bytes) else data.encode()
    with pytest.raises(GoldError) as raised:
        parse_gold(raw, file="g.jsonl")
    return raised.value.faults


def only_case(data: str) -> Case:
    (case,) = parse_gold(data.encode(), file="g.jsonl").cases
    return case


def user(content: str = "Hi?", **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content} | fields


def assistant(content: str = "Hi.", **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content} | fields


def test_a_case_with_every_field_is_read_as_labelled() -> None:
    case = only_case(
        line(
            type="multi_turn",
            history=[user("Vad hände?", filters={"district": "Gulu"}), assistant("")],
            answer="",
            key_points=["a", "b"],
            gold_chunks=["c1", {"id": "c2", "grade": 3, "equivalents": ["c2b"]}, {"id": "c3"}],
            filters={"district": ["Gulu", "Lira"], "year": 2022, "final": True, "rate": 0.5},
            behavior=["relaxed", "failed", "admitted"],
            cluster="talk-7",
            split="dev",
            lang="sv",
            tags=["t"],
            source="ag",
            annotator="ann",
            reviewer="rev",
        )
    )
    assert case == Case(
        id="q1",
        type="multi_turn",
        question="Who?",
        answer="",
        history=(
            GoldMessage("user", "Vad hände?", {"district": "Gulu"}),
            GoldMessage("assistant", ""),
        ),
        key_points=("a", "b"),
        gold_chunks=(GoldChunk("c1"), GoldChunk("c2", 3, ("c2b",)), GoldChunk("c3")),
        filters={"district": ["Gulu", "Lira"], "year": 2022, "final": True, "rate": 0.5},
        behavior=("relaxed", "admitted"),
        cluster="talk-7",
        split="dev",
        lang="sv",
        tags=("t",),
        source="ag",
        annotator="ann",
        reviewer="rev",
    )
    assert case.gold_chunks[1].ids == {"c2", "c2b"}


def test_what_is_not_labelled_keeps_its_default() -> None:
    case = only_case(line(history=[], tags=[], key_points=[], gold_chunks=[]))
    assert case == Case("q1", "factual", "Who?", "Nobody.")
    assert case.cluster == "q1"
    assert case.filters is None
    assert only_case(line(filters={})).filters == {}


def test_a_set_knows_its_bytes_its_lines_and_its_types() -> None:
    data = f"{line(id='b')}\n{line(id='a', type='summary')}\n".encode()
    found = parse_gold(data, file="g.jsonl")
    assert isinstance(found, GoldSet)
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert [(case.id, case.line) for case in found.cases] == [("b", 1), ("a", 2)]
    assert found.by_id["a"] is found.cases[1]
    assert list(found.counts.items()) == [
        ("factual", 1),
        ("comparative", 0),
        ("summary", 1),
        ("multi_turn", 0),
        ("edge_case", 0),
    ]
    assert parse_gold(data.rstrip(), file="g.jsonl").cases == found.cases


def test_unicode_line_separators_within_a_text_end_no_line() -> None:
    question = "a\u2028b\u0085c"
    text = json.dumps(json.loads(line(question=question)), ensure_ascii=False)
    assert only_case(text).question == question


def test_every_field_of_a_case_has_a_reader() -> None:
    fields = [field.name for field in dataclasses.fields(Case) if field.name != "line"]
    assert sorted(reading._READERS) == sorted(fields)


FIELD_FAULTS: list[tuple[dict[str, Any], str, str]] = [
    # fields, where the fault is, a part of the message
    ({"id": ...}, "id", "is missing"),
    ({"id": ""}, "id", "must not be empty"),
    ({"id": "få"}, "id", "holds 'å' (U+00E5)"),
    ({"id": "a b"}, "id", "holds ' ' (U+0020)"),
    ({"id": "a\x7f"}, "id", "U+007F"),
    ({"id": "a\n"}, "id", "U+000A"),
    ({"id": 7}, "id", "must be a string, not 7"),
    ({"type": ...}, "type", "is missing"),
    ({"type": "facual"}, "type", "not 'facual'; did you mean `factual`?"),
    ({"type": "xyz"}, "type", "must be factual or comparative or summary or multi_turn or edge"),
    ({"type": ["factual"]}, "type", "not a list"),
    ({"question": ...}, "question", "is missing"),
    ({"question": " \u00a0\t"}, "question", "must not be empty"),
    ({"question": None}, "question", "must be a string, not null"),
    ({"question": "a\0b"}, "question", "NUL"),
    ({"question": "a\ud800"}, "question", "surrogate"),
    ({"answer": ...}, "answer", "is missing"),
    ({"answer": {"x": 1}}, "answer", "must be a string, not an object"),
    ({"Behaviour": []}, "Behaviour", "unknown field; did you mean `behavior`?"),
    ({"goldchunks": []}, "goldchunks", "did you mean `gold_chunks`?"),
    ({"qqq\n": 1}, "['qqq\\n']", "unknown field; known: id, type, question"),
    ({"filters": {"x\udfff": 1}}, "filters['x\\udfff']", "its name holds half of a surrogate"),
    ({"line": 4}, "line", "unknown field"),
    ({"history": {}}, "history", "must be a list of messages, not an object"),
    ({"history": ["hi"]}, "history[0]", "must be an object with `role` and `content`"),
    ({"history": [user(), assistant(), user()]}, "history", "must end with an `assistant`"),
    ({"history": [user(), user(), assistant()]}, "history[1].role", "must not be `user` here"),
    ({"history": [assistant()]}, "history[0].role", "start with `user`"),
    ({"history": [user(), {"role": "asistant", "content": "x"}]}, "history[1].role", "assistant"),
    ({"history": [user(), {"content": "x"}]}, "history[1].role", "is missing"),
    ({"history": [{"role": "user"}, assistant()]}, "history[0].content", "is missing"),
    ({"history": [user("  "), assistant()]}, "history[0].content", "must not be empty"),
    ({"history": [user(), assistant(3)]}, "history[1].content", "must be a string, not 3"),  # type: ignore[arg-type]
    ({"history": [user(name="x"), assistant()]}, "history[0].name", "known: role, content"),
    ({"history": [user(), assistant(filters={})]}, "history[1].filters", "only user messages"),
    ({"history": [user(filters=[]), assistant()]}, "history[0].filters", "not a list"),
    ({"history": [user(filters={"y": []}), assistant()]}, "history[0].filters.y", "at least one"),
    ({"key_points": "one"}, "key_points", "must be a list of strings, not 'one'"),
    ({"key_points": ["a", " "]}, "key_points[1]", "must not be empty"),
    ({"tags": ["a", 1]}, "tags[1]", "must be a string, not 1"),
    ({"gold_chunks": "c1"}, "gold_chunks", "must be a list of chunk ids or objects"),
    ({"gold_chunks": [3]}, "gold_chunks[0]", "must be a chunk id or an object with `id`, not 3"),
    ({"gold_chunks": [""]}, "gold_chunks[0]", "must not be empty"),
    ({"gold_chunks": [{"grade": 1}]}, "gold_chunks[0].id", "is missing"),
    ({"gold_chunks": [{"id": "c", "grad": 1}]}, "gold_chunks[0].grad", "did you mean `grade`?"),
    ({"gold_chunks": ["a", {"id": "c", "grade": -1}]}, "gold_chunks[1].grade", "not -1"),
    ({"gold_chunks": [{"id": "c", "grade": True}]}, "gold_chunks[0].grade", "not true"),
    ({"gold_chunks": [{"id": "c", "grade": 1.0}]}, "gold_chunks[0].grade", "not 1.0"),
    ({"gold_chunks": [{"id": "c", "grade": 10**400}]}, "gold_chunks[0].grade", "000..."),
    ({"gold_chunks": ["c", "c"]}, "gold_chunks[1]", "'c' stands in gold_chunks[0] already"),
    (
        {"gold_chunks": ["c", {"id": "d", "equivalents": ["c"]}]},
        "gold_chunks[1].equivalents[0]",
        "'c' stands in gold_chunks[0] already",
    ),
    (
        {"gold_chunks": [{"id": "a", "equivalents": ["x"]}, {"id": "b", "equivalents": ["x"]}]},
        "gold_chunks[1].equivalents[0]",
        "'x' stands in gold_chunks[0].equivalents[0] already",
    ),
    (
        {"gold_chunks": [{"id": "a", "equivalents": ["a"]}]},
        "gold_chunks[0].equivalents[0]",
        "'a' stands in gold_chunks[0].id already",
    ),
    ({"gold_chunks": [{"id": "a", "equivalents": "x"}]}, "gold_chunks[0].equivalents", "list"),
    ({"filters": None}, "filters", "leave it out where filters are not labelled"),
    ({"filters": {"a": None}}, "filters.a", "must be a string, a number, true or false"),
    ({"filters": {"a": {"gte": 1}}}, "filters.a", "not an object"),
    ({"filters": {"a": []}}, "filters.a", "must hold at least one alternative"),
    ({"filters": {"a": ["x", ["y"]]}}, "filters.a[1]", "not a list"),
    ({"filters": {"": "x"}}, "filters['']", "needs the name of a field"),
    ({"filters": {"m.year": 2**63}}, "filters['m.year']", "at most 64 bits"),
    ({"filters": {"a": float("nan")}}, "filters.a", "must be a finite number"),
    ({"filters": {"a": [1, float("-inf")]}}, "filters.a[1]", "must be a finite number"),
    ({"behavior": "relaxed", "filters": {"a": 1}}, "behavior", "must be a list of behaviours"),
    ({"behavior": [], "filters": {"a": 1}}, "behavior", "at least one acceptable behaviour"),
    ({"behavior": ["relaxd"], "filters": {"a": 1}}, "behavior[0]", "did you mean `relaxed`?"),
    ({"behavior": [1], "filters": {"a": 1}}, "behavior[0]", "not 1"),
    (
        {"behavior": ["relaxed", "failed_silently"], "filters": {"a": 1}},
        "behavior[1]",
        "is never acceptable",
    ),
    ({"behavior": ["relaxed"]}, "behavior", "is for filters that match nothing"),
    ({"behavior": ["relaxed"], "filters": {}}, "behavior", "is for filters that match nothing"),
    ({"split": "train"}, "split", "must be dev or test, not 'train'"),
    ({"lang": ""}, "lang", "must not be empty"),
    ({"cluster": None}, "cluster", "must be a string, not null"),
    ({"source": 1}, "source", "must be a string, not 1"),
    ({"annotator": " "}, "annotator", "must not be empty"),
    ({"reviewer": False}, "reviewer", "must be a string, not false"),
]


@pytest.mark.parametrize(("fields", "where", "message"), FIELD_FAULTS)
def test_a_fault_in_a_field(fields: dict[str, Any], where: str, message: str) -> None:
    (fault,) = faults_of(f"{line(id='sound')}\n{line(**fields)}\n")
    assert (fault.file, fault.line, fault.field) == ("g.jsonl", 2, where)
    assert message in fault.message
    assert str(fault) == f"g.jsonl:2: {where}: {fault.message}"
    assert str(fault).isprintable()


SOUND = line().encode()

LINE_FAULTS: list[tuple[bytes, int, str, str]] = [
    (b"", 1, "", "the file is empty"),
    (b"\n", 1, "", "the file is empty"),
    (b"\xef\xbb\xbf \n", 1, "", "the file is empty"),
    (line().encode("utf-16"), 1, "", "the file is UTF-16"),
    (b"\xef\xbb\xbf" + SOUND, 1, "", "byte-order mark"),
    (SOUND + b"\n\xef\xbb\xbf" + line(id="q2").encode(), 2, "", "byte-order mark"),
    (SOUND + b"\n" + line(id="q2").encode() + b"\r\n", 2, "", "ends in CRLF; save"),
    (SOUND + b"\r\n" + line(id="q2").encode() + b"\r\n", 1, "", "CRLF (as do 1 more)"),
    (SOUND + b"\n\n" + line(id="q2").encode(), 2, "", "the line is blank"),
    (SOUND + b"\n\n", 2, "", "the line is blank"),
    (SOUND + b'\n{"id": }', 2, "", "not JSON at column 8: Expecting value"),
    (SOUND + b"\n" + SOUND[:-9], 2, "", "not JSON at column"),
    (SOUND + b"\n[1]", 2, "", "must be a JSON object, one gold question a line, not a list"),
    (SOUND + b"\nnull", 2, "", "not null"),
    (SOUND + b'\n{"id": "f\xe5"}', 2, "", "not UTF-8: byte 10 of the line is 0xe5"),
    (SOUND + b'\n{"id": "f\xed\xa0\x80"}', 2, "", "not UTF-8: byte 10"),
    (SOUND + b"\n" + b"9" * 5000, 2, "", "a number has thousands of digits"),
    (SOUND + b"\n" + b"[" * 100_000, 2, "", "nested too deeply"),
    (SOUND + b"\n" + line(question="Why?").encode(), 2, "id", "'q1' is already the id of line 1"),
    (SOUND[:-1] + b', "answer": "Two."}', 1, "answer", "stands twice in its object"),
    (SOUND[:-1] + b', "filters": {"a": 1, "a": 2}}', 1, "filters.a", "stands twice"),
    (SOUND[:-1] + b', "tags": [{"a": 1, "a": 2}], "tags": []}', 1, "a", "stands twice"),
    (SOUND[:-1] + b', "filters": {"a": 1e999}}', 1, "filters.a", "must be a finite number"),
]


@pytest.mark.parametrize(("data", "number", "where", "message"), LINE_FAULTS)
def test_a_fault_of_a_line(data: bytes, number: int, where: str, message: str) -> None:
    found = [(fault.line, fault.field) for fault in faults_of(data) if message in fault.message]
    assert (number, where) in found


def test_all_faults_of_a_file_are_reported_at_once_in_line_order() -> None:
    bad_values = line(id="a", question="", type="facts", filters={"y": float("nan"), "z": []})
    data = "\n".join([bad_values, "{", line(id="sound"), "", line(id="a", anser="x")]) + "\r\n"
    with pytest.raises(GoldError) as raised:
        parse_gold(data.encode(), file="gold/g.jsonl")
    found = [(fault.line, fault.field) for fault in raised.value.faults]
    assert found == [
        (1, "filters.y"),
        (1, "type"),
        (1, "question"),
        (1, "filters.z"),
        (2, ""),
        (4, ""),
        (5, ""),
        (5, "id"),
        (5, "anser"),
    ]
    *lines, count = str(raised.value).splitlines()
    assert lines == [str(fault) for fault in raised.value.faults]
    assert lines[4].startswith("gold/g.jsonl:2: not JSON at column 2: ")
    assert count == "9 faults in the gold questions"


def test_a_duplicate_id_is_found_even_where_its_line_has_other_faults() -> None:
    twins = f"{line(question='')}\n{line()}\n{line()}"
    assert [(fault.line, fault.field) for fault in faults_of(twins)] == [
        (1, "question"),
        (2, "id"),
        (3, "id"),
    ]


# Any text that UTF-8 and a database can hold.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
filled = texts.filter(str.strip)
ids = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1)
scalars = (
    texts
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
filter_dicts = st.dictionaries(filled, scalars | st.lists(scalars, min_size=1), max_size=3)


@st.composite
def histories(draw: st.DrawFn) -> tuple[GoldMessage, ...]:
    messages: list[GoldMessage] = []
    for _ in range(draw(st.integers(0, 2))):
        filters = draw(st.none() | filter_dicts)
        messages.append(GoldMessage("user", draw(filled), filters))
        messages.append(GoldMessage("assistant", draw(texts)))
    return tuple(messages)


@st.composite
def chunk_tuples(draw: st.DrawFn) -> tuple[GoldChunk, ...]:
    names = draw(st.lists(filled, unique=True, max_size=6))
    chunks: list[GoldChunk] = []
    while names:
        size = draw(st.integers(1, len(names)))
        first, *others = names[:size]
        names = names[size:]
        chunks.append(GoldChunk(first, draw(st.integers(0, 9)), tuple(others)))
    return tuple(chunks)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    filters = draw(st.none() | filter_dicts)
    behaviors = st.lists(
        st.sampled_from(["relaxed", "asked_follow_up", "admitted"]), unique=True
    ).map(tuple)
    return Case(
        id=draw(ids),
        type=draw(st.sampled_from(CASE_TYPES)),
        question=draw(filled),
        answer=draw(texts),
        history=draw(histories()),
        key_points=draw(st.lists(filled, max_size=2).map(tuple)),
        gold_chunks=draw(chunk_tuples()),
        filters=filters,
        behavior=draw(behaviors) if filters else (),
        cluster=draw(st.just("") | filled),
        split=draw(st.sampled_from([None, "dev", "test"])),
        lang=draw(st.none() | filled),
        tags=draw(st.lists(filled, max_size=2).map(tuple)),
        source=draw(st.none() | filled),
        annotator=draw(st.none() | filled),
        reviewer=draw(st.none() | filled),
    )


@given(case=cases(), ascii_only=st.booleans())
def test_a_case_survives_the_way_to_json_and_back(case: Case, ascii_only: bool) -> None:
    text = json.dumps(case_to_json(case), ensure_ascii=ascii_only, allow_nan=False)
    back = only_case(text)
    assert back == case
    # `==` takes 1, 1.0 and True for the same; their types are what filters are about.
    assert case_to_json(back) == case_to_json(case)
    assert repr(back.filters) == repr(case.filters)
    stored = case_from_json(json.loads(text))
    assert repr(stored) == repr(dataclasses.replace(back, line=0))


def test_json_of_a_case_holds_the_labelled_fields_only() -> None:
    assert case_to_json(Case("q", "summary", "What?")) == {
        "id": "q",
        "type": "summary",
        "question": "What?",
        "answer": "",
    }
    labelled = case_to_json(
        Case(
            "q",
            "summary",
            "What?",
            gold_chunks=(GoldChunk("a"), GoldChunk("b", 0), GoldChunk("c", 1, ("d",))),
            filters={},
            cluster="k",
        )
    )
    assert labelled["filters"] == {}
    assert labelled["cluster"] == "k"
    assert labelled["gold_chunks"] == [
        "a",
        {"id": "b", "grade": 0},
        {"id": "c", "grade": 1, "equivalents": ["d"]},
    ]


def assert_read_or_refused(data: bytes) -> None:
    """Either a set that has something in it, or faults that can be printed line by line."""
    try:
        assert parse_gold(data, file="g.jsonl").cases
        return
    except GoldError as refused:
        error = refused
    assert error.faults
    assert len(str(error).encode().splitlines()) == len(error.faults) + 1
    assert all(1 <= fault.line <= data.count(b"\n") + 1 for fault in error.faults)
    assert all(str(fault).isprintable() for fault in error.faults)


@given(st.binary())
@example(b"\xff\xfe")
@example(b'{"id":' * 2000)
@example(b'{"a":' * 900 + b"1" + b"}" * 900)
def test_random_bytes_raise_nothing_but_gold_errors(data: bytes) -> None:
    assert_read_or_refused(data)


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
known_names = st.sampled_from([*reading._READERS, "role", "content", "grade", "equivalents"])
near_misses = st.dictionaries(
    known_names,
    any_json
    | st.lists(st.dictionaries(known_names, any_json, max_size=3), max_size=3)
    | st.sampled_from(["factual", "dev", "relaxed", ["relaxed"], {"a": 1}]),
)


@given(st.lists(near_misses | any_json, min_size=1, max_size=3))
def test_random_json_raises_nothing_but_gold_errors(values: list[Any]) -> None:
    assert_read_or_refused("\n".join(json.dumps(value) for value in values).encode())
