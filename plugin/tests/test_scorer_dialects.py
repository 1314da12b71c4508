"""Which routes are tried, and how replies are read: by index, whatever order and shape."""

from __future__ import annotations

import contextlib
import json
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.scorer.dialects import (
    NoScoresError,
    base_path,
    candidates,
    read_error,
    read_scores,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["index", "score", "relevance_score", "data", "results", "x"]), inner
        )
    ),
    max_leaves=12,
)


def paths(url: str) -> list[str]:
    return list(dict.fromkeys(candidate.path for candidate in candidates(url)))


@pytest.mark.parametrize("url", ["http://h:8005", "http://h:8005/", "http://h:8005/v1/"])
def test_a_base_is_tried_on_all_routes(url: str) -> None:
    assert paths(url)[0] == "/v1/score"
    assert set(paths(url)) == {"/v1/score", "/score", "/v1/rerank", "/v2/rerank", "/rerank"}
    assert base_path(url) == ""


def test_the_version_that_is_set_comes_first() -> None:
    assert paths("https://h/v2")[0] == "/v2/rerank"


@pytest.mark.parametrize(
    ("url", "path", "base"),
    [
        ("https://h/v1/rerank", "/v1/rerank", ""),
        ("https://h/team/a/v2/rerank?api-version=1", "/team/a/v2/rerank", "/team/a"),
        ("http://h/score/", "/score", ""),
    ],
)
def test_a_route_is_tried_alone(url: str, path: str, base: str) -> None:
    assert paths(url) == [path]
    assert base_path(url) == base


def test_a_prefix_stays_in_front() -> None:
    assert paths("https://h/proxy/v1")[0] == "/proxy/v1/score"
    assert base_path("https://h/proxy/v1") == "/proxy"


def test_every_form_holds_model_paragraph_and_sources() -> None:
    for candidate in candidates("http://h"):
        body = candidate.dialect.body("m", "a paragraph", ["one", "two"])
        assert "a paragraph" in body.values()
        assert ["one", "two"] in body.values()
        # text-embeddings-inference serves one model and knows no name.
        assert body.get("model", "m") == "m"


SHAPES: list[Any] = [
    lambda rows: rows,
    lambda rows: {"results": rows, "id": "x"},
    lambda rows: {"data": rows, "object": "list"},
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("field", ["score", "relevance_score"])
@given(values=st.lists(st.floats(-20, 20), max_size=8), seed=st.integers(0, 99))
def test_values_are_put_back_by_index(
    shape: Any, field: str, values: list[float], seed: int
) -> None:
    rows = [{"index": index, field: value} for index, value in enumerate(values)]
    random.Random(seed).shuffle(rows)
    assert read_scores(json.dumps(shape(rows)).encode(), len(values)) == values


@given(data=json_values, count=st.integers(0, 4))
def test_any_json_is_read_or_refused(data: Any, count: int) -> None:
    try:
        scores = read_scores(json.dumps(data).encode(), count)
    except NoScoresError:
        return
    assert len(scores) == count
    assert all(score is None or math.isfinite(score) for score in scores)


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    with contextlib.suppress(NoScoresError):
        assert len(read_scores(text, 2)) == 2
    assert isinstance(read_error(text), str)


@pytest.mark.parametrize(
    "value", ["NaN", "null", "Infinity", "-Infinity", '"0.5"', "true", "[0.5]", "1" + "0" * 400]
)
def test_what_is_no_finite_number_is_no_value(value: str) -> None:
    text = f'[{{"index": 0, "score": {value}}}, {{"index": 1, "score": 0.5}}]'
    assert read_scores(text.encode(), 2) == [None, 0.5]


def test_an_index_that_is_missing_wrong_or_there_twice() -> None:
    rows = [
        {"score": 0.1},
        {"index": True, "score": 0.1},
        {"index": 9, "score": 0.1},
        {"index": -1, "score": 0.1},
        {"index": "0", "score": 0.1},
        {"index": 2, "score": 0.3},
        {"index": 2, "score": 0.4},
        {"index": 0, "score": 0.5},
        "no row",
    ]
    assert read_scores(json.dumps(rows).encode(), 3) == [0.5, None, None]


@pytest.mark.parametrize("text", [b"<html>", b'{"a": 1}', b"3", b"[" * 100_000, b"", b"\xff"])
def test_what_has_no_scores(text: bytes) -> None:
    with pytest.raises(NoScoresError):
        read_scores(text, 1)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"object": "error", "message": "too long", "type": "BadRequestError"}, "too long"),
        ({"error": {"message": "too long", "code": 400}}, "too long"),
        ({"error": "too long", "error_type": "Validation"}, "too long"),
        ({"message": "too long"}, "too long"),
        ({"detail": "too long"}, "too long"),
        ({"detail": [{"msg": "too long"}]}, "[{'msg': 'too long'}]"),
        (["too long"], "['too long']"),
        ({}, ""),
        ({"message": "too\x1b[31m long\x07\n"}, "too [31m long  "),
    ],
)
def test_what_an_error_says(body: Any, said: str) -> None:
    assert read_error(json.dumps(body).encode()) == said


def test_an_error_that_is_no_json_is_cut() -> None:
    assert read_error(b"x" * 10_000) == "x" * 2000
