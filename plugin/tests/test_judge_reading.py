"""Reading replies: one object, and quotations that occur."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.judge.reading import (
    Unreadable,
    numbered,
    occurs,
    parse_reply,
    quoted,
    said,
    unfound,
    whole,
)
from pytest_touchstone.verdicts import Claims, ClaimVerdict, Quotation

SCALARS = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text()
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=15
)
OBJECTS = st.dictionaries(st.text(), JSON)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "{}"}',
        '```json\n{"a": "{}"}\n```',
        'Here you are: {"a": "{}"} Anything else?',
        'As {asked}:\n```\n{"a": "{}"}\n```\n{ no more }',
        '<think>{"a": 1} or so?</think>{"a": "{}"}',
        '{"a": "{}"}\n{"a": "{}"}',
        '\ufeff{"a": "{}"}',
    ],
)
def test_one_object_is_found_with_whatever_stands_around_it(text: str) -> None:
    assert parse_reply(text) == {"a": "{}"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no complete JSON object"),
        ("I cannot judge that.", "no complete JSON object"),
        ('{"a": [1, 2', "no complete JSON object"),
        ("{'a': 1}", "no complete JSON object"),
        ('{"a": 1,}', "no complete JSON object"),
        ("[1, 2]", "no complete JSON object"),
        ('{"a": 1} {"a": true}', "several JSON objects"),
        ('{"a": 1, "a": 2}', "a key twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": ' + "[" * 30 + "]" * 30 + "}", "too deeply"),
        ('{"a": ' + "[" * 100_000, "no complete JSON object"),
        ('{"a":' * 50_000, "no complete JSON object"),
        ("{" * 100_000, "no complete JSON object"),
        ('{"a": ' + "9" * 5000 + "}", "no complete JSON object"),
    ],
)
def test_a_reply_without_exactly_one_object_is_refused(text: str, says: str) -> None:
    with pytest.raises(Unreadable, match=says) as caught:
        parse_reply(text)
    assert len(caught.value.why.splitlines()) == 1


@given(st.text() | st.text(alphabet='{}[]",:\\ a1e-\n`'))
def test_any_text_is_an_object_or_unreadable(text: str) -> None:
    try:
        found = parse_reply(text)
    except Unreadable:
        return
    assert isinstance(found, dict)


@given(OBJECTS, st.text().filter(lambda t: "{" not in t), st.text().filter(lambda t: "{" not in t))
def test_an_object_comes_back_as_it_is(data: dict[str, Any], before: str, after: str) -> None:
    if before.lstrip().startswith("<think>"):
        before = ""
    text = json.dumps(data, ensure_ascii=False)
    assert parse_reply(f"{before}{text}{after}") == data


@given(JSON)
def test_any_data_that_answers_no_number_is_unreadable_in_one_line(value: Any) -> None:
    with pytest.raises(Unreadable) as caught:
        numbered(value, "items", (1, 2))
    assert len(caught.value.why.splitlines()) == 1


def test_missing_repeated_and_surplus_numbers_are_all_named() -> None:
    with pytest.raises(Unreadable) as caught:
        numbered([{"number": 1}, {"number": 1}, {"number": 7}], "items", (1, 2, 3))
    assert caught.value.why == (
        "`items` must hold each number asked exactly once;"
        " missing: 2, 3; more than once: 1; not asked: 7"
    )


@pytest.mark.parametrize("value", [True, 4.0, "4", None, [4], 2**70, float("inf")])
def test_what_is_no_integer_is_no_number(value: object) -> None:
    with pytest.raises(Unreadable, match="not an integer"):
        whole(value, "`score`")


@pytest.mark.parametrize("value", ["", " \n", None, 3, ["x"]])
def test_a_rationale_says_something(value: object) -> None:
    with pytest.raises(Unreadable, match="not a text"):
        said(value, "`rationale`")


SOURCE = "Rådet fann – ”i stort sett” – tre\u00ad\nfel;\u00a0se <b>sidan</b> 4. می\u200cخواهم"


@pytest.mark.parametrize(
    ("quotation", "found"),
    [
        ("Rådet fann", True),
        ("Ra\u030adet fann", True),
        ('– "i stort sett" –', True),
        ("«i stort sett»", True),
        ("'i stort sett' – tre fel", True),
        ('"tre fel; se <b>sidan</b> 4."', True),
        ("می‌خواهم", True),
        ("میخواهم", True),
        ("rådet fann", False),
        ("Rådet fann fem", False),
        ("Rådet … fel", False),
        ("Radet", False),
    ],
)
def test_a_quotation_occurs_but_for_signs_spaces_and_composition(
    quotation: str, found: bool
) -> None:
    assert occurs(quotation, SOURCE) is found


@given(st.text(), st.text(), st.text())
def test_what_was_cut_out_of_a_text_occurs_in_it(before: str, middle: str, after: str) -> None:
    # A combining sign that follows belongs to the character before it: cut at spaces.
    assert occurs(middle, f"{before} {middle} {after}")


@pytest.mark.parametrize("value", ["", "…", '""', " - ", None])
def test_a_quotation_of_nothing_is_none(value: object) -> None:
    with pytest.raises(Unreadable):
        quoted(value, "`quotation`", '… - ""')


def test_unfound_quotations_are_found_anywhere_in_a_verdict() -> None:
    bad = Quotation("x", False)
    claims = Claims(
        (
            ClaimVerdict("a", "supported", "r", 1, Quotation("y", True)),
            ClaimVerdict("b", "supported", "r", 1, bad),
            ClaimVerdict("c", "not_found", "r"),
        )
    )
    assert unfound(claims) == (bad,)
    assert unfound(("claim",)) == ()
