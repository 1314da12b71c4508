"""Corpus files: what is read, and every fault with file, line and field."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_touchstone.corpus.chunks import Chunk, ChunksError, chunks_digest, read_chunks


def written(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "corpus.jsonl"
    path.write_bytes(b"\n".join(x.encode() if isinstance(x, str) else x for x in lines))
    return path


def test_chunks_come_in_file_order_with_metadata_of_any_type(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"id": "b", "text": "Två\\u2028rader", "metadata": {"year": 2022, "tags": ["x", null]}}',
        "",
        '{"id": "a", "text": "två"}',
        "",
    )
    assert read_chunks(path) == (
        Chunk("b", "Två\u2028rader", {"year": 2022, "tags": ["x", None]}),
        Chunk("a", "två", {}),
    )


def test_all_faults_are_reported_in_one_go(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        b'\xef\xbb\xbf{"id": "1", "text": "x"}',
        '{"id": "2", "text": "x"',
        b'{"id": "3", "text": "\xff"}',
        '{"id": 4, "txt": "x"}',
        '{"id": "5", "text": " ", "metadata": []}',
        '{"id": "6", "text": "x", "metadata": ["y"]}',
        '{"id": "7", "text": "x"}',
        '{"id": "7", "text": "y", "year": 2022}',
        '{"id": "7", "text": "y"}',
        '["id"]',
        '{"id": "8", "text": "x", "metadata": {"share": NaN}}',
        '{"id": "9", "text": "\\ud800"}',
        '{"id": "10", "text": "x", "metadata": {"share": 1e400}}',
    )
    with pytest.raises(ChunksError) as caught:
        read_chunks(path)
    assert [fault.removeprefix(f"{path}:") for fault in caught.value.faults] == [
        "1: (line): starts with a byte-order mark; save the file as UTF-8 without one",
        "2: (line): is not JSON: Expecting ',' delimiter (column 24)",
        "3: (line): is not UTF-8 (byte 22)",
        "4: id: must be a string, not 4",
        "4: text: is missing",
        "4: txt: unknown field; did you mean `text`?",
        "5: metadata: must be an object of field names to values",
        "5: text: is empty",
        "6: metadata: must be an object of field names to values",
        "8: year: unknown field; put it under `metadata`",
        "9: id: '7' stands on line 7 already",
        "10: (line): must be a JSON object with `id` and `text`",
        "11: (line): is not JSON: NaN is no JSON number",
        "12: (line): holds half of a surrogate pair (\\ud800-\\udfff), which is no text",
        "13: (line): holds a number too large for a float",
    ]


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_an_empty_file_is_a_fault(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ChunksError, match="holds no chunks"):
        read_chunks(written(tmp_path, content))


def test_a_file_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ChunksError, match="cannot be read: No such file"):
        read_chunks(tmp_path / "none.jsonl")


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_chunks_or_faults(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = written(tmp_path_factory.mktemp("any"), data)
    found: tuple[object, ...]
    try:
        found = read_chunks(path)
    except ChunksError as error:
        found = error.faults
    assert found


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
chunk_lists = st.lists(
    st.builds(
        Chunk,
        st.text(min_size=1).filter(str.strip),
        st.text(min_size=1).filter(str.strip),
        st.dictionaries(st.text(), json_values, max_size=3),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda chunk: chunk.id,
)


@settings(deadline=None)
@given(chunk_lists, st.booleans())
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[Chunk], ascii_only: bool
) -> None:
    lines = [
        json.dumps(
            {"id": c.id, "text": c.text, "metadata": dict(c.metadata)}, ensure_ascii=ascii_only
        )
        for c in chunks
    ]
    assert read_chunks(written(tmp_path_factory.mktemp("read"), *lines)) == tuple(chunks)


def test_the_digest_knows_types_but_not_the_order() -> None:
    one, other = Chunk("a", "x", {"year": 2022, "place": "Luleå"}), Chunk("b", "y")
    digest = chunks_digest([one, other])
    assert digest == chunks_digest([other, Chunk("a", "x", {"place": "Luleå", "year": 2022})])
    assert digest != chunks_digest([other, Chunk("a", "x", {"place": "Luleå", "year": "2022"})])
    assert digest != chunks_digest([one])
