"""The cases of a report are made when they are looked at, always the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hostile import hostile_report
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_touchstone.report import to_json, validate
from pytest_touchstone.report.cases import case_numbers
from pytest_touchstone.report.index import json_data
from pytest_touchstone.report.model import json_pieces
from pytest_touchstone.report.rows import JsonText

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
JSON = st.dictionaries(
    KEYS,
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | KEYS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


def test_cases_and_passages_are_a_list_and_a_mapping_like_any_other() -> None:
    report = hostile_report()
    cases, passages = list(report["cases"]), dict(report["passages"])
    assert report["cases"] == cases
    assert cases == report["cases"]
    assert report["cases"] != cases[1:]
    assert len(report["cases"]) == len(cases)
    assert report["cases"][-1] == cases[-1]
    assert report["cases"][2:7:2] == cases[2:7:2]
    assert report["passages"] == passages
    assert list(passages) == sorted(passages)
    with pytest.raises(IndexError):
        report["cases"][len(cases)]


def test_what_is_done_to_a_case_leaves_the_report_alone() -> None:
    report = hostile_report()
    report["cases"][0]["answer"] = "another"
    assert report["cases"][0]["answer"] != "another"


def test_cases_have_the_same_numbers_in_a_report_that_was_read_back() -> None:
    report = hostile_report()
    numbers = case_numbers(report)
    assert numbers == case_numbers(validate(to_json(report)))
    assert list(numbers.values()) == list(range(len(numbers)))


def test_the_text_of_a_report_comes_in_pieces_of_a_case_at_most() -> None:
    report = hostile_report()
    pieces = list(json_pieces(report))
    assert "".join(pieces) == to_json(report)
    longest = max(len(json.dumps(case)) for case in report["cases"])
    rest = max(len(json.dumps(report[key])) for key in ("snapshot", "findings"))
    assert max(map(len, pieces)) <= max(longest, rest) + len(", \n")


@settings(deadline=None)
@given(JSON, KEYS)
def test_json_that_stays_text_is_a_mapping_like_any_other(data: dict[str, Any], key: str) -> None:
    text = JsonText(json.dumps(data))
    assert text == data
    assert dict(text) == data
    assert list(text) == list(data)
    assert len(text) == len(data)
    assert list(text.items()) == list(data.items())
    assert list(text.values()) == list(data.values())
    assert text.get(key, "none") == data.get(key, "none")
    assert all(text[name] == value and name in text for name, value in data.items())
    assert json_data(text) == data


def test_what_is_no_finite_number_reads_as_none() -> None:
    text = JsonText('{"a": NaN, "b": [1e999, -Infinity, 2.5]}')
    assert json_data(text) == {"a": None, "b": [None, None, 2.5]}
