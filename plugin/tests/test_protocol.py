"""What is made of whatever a system returns."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import date
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.systems.protocol import InvalidAnswer, as_answer, as_retrieval
from pytest_touchstone.trace import Answer, Passage, Retrieval, Usage


class Color(enum.StrEnum):
    RED = "red"


def nested(depth: int) -> Any:
    value: Any = "end"
    for _ in range(depth):
        value = [value]
    return value


def test_an_answer_stays_what_it_is() -> None:
    answer = Answer(
        "Så här [1].",
        (Passage("c1", "text", 0.5, {"a": {"b": [1, 2.5, None, True, "å"]}}), Passage("c2", "")),
        {"year": ["2022", 2022], "district": "Gulu"},
        "relaxed",
        (Usage("m", 10, 5, 2),),
        ("c1",),
    )
    assert as_answer(answer) == answer
    assert as_answer(asdict(answer)) == answer
    assert as_answer(json.loads(json.dumps(asdict(answer)))) == answer


def test_retrieval_may_be_just_passages() -> None:
    passage = Passage("c1", "text")
    expected = Retrieval((passage,))
    assert as_retrieval([passage]) == as_retrieval((asdict(passage),)) == expected
    assert as_retrieval(expected) == as_retrieval({"passages": [passage]}) == expected
    assert as_retrieval([]) == Retrieval(())
    assert as_retrieval(Retrieval((), {"a": ("b",)})).filters == {"a": ["b"]}


def test_scalars_of_other_kinds_become_plain_ones() -> None:
    metadata = {
        "color": Color.RED,
        "half": np.float64(0.5),
        "tuple": (1, 2),
        "proxy": MappingProxyType({"a": 1}),
    }
    answer = as_answer(
        Answer("x", (Passage("c", "t", np.float32(0.5), metadata),), {"c": Color.RED})  # type: ignore[arg-type]
    )
    found = answer.passages[0].metadata
    assert found == {"color": "red", "half": 0.5, "tuple": [1, 2], "proxy": {"a": 1}}
    assert [type(value) for value in found.values()] == [str, float, list, dict]
    assert type(answer.passages[0].score) is float
    assert answer.filters is not None
    assert type(answer.filters["c"]) is str


def test_metadata_is_a_copy() -> None:
    """A system that goes on changing its own objects changes nothing that was measured."""
    metadata: dict[str, Any] = {"tags": ["a"]}
    answer = as_answer(Answer("x", (Passage("c", "t", None, metadata),), metadata))
    metadata["tags"].append("b")
    assert answer.passages[0].metadata == answer.filters == {"tags": ["a"]}


def test_text_that_nothing_can_hold_is_replaced() -> None:
    odd = "a\ud800b\0c\ud83d\ude00"
    usage = Usage(odd, 1)
    answer = as_answer(
        Answer(
            odd,
            (Passage(odd, odd, None, {odd: [odd]}),),
            {odd: odd},
            usage=(usage,),
            citations=(odd,),
        )
    )
    plain = "a\ufffdb\ufffdc😀"
    assert answer == Answer(
        plain,
        (Passage(plain, plain, None, {plain: [plain]}),),
        {plain: plain},
        usage=(Usage(plain, 1),),
        citations=(plain,),
    )


def broken() -> Iterator[Passage]:
    yield Passage("c1", "text")
    raise KeyError("next page")


class Lazy(Mapping[str, Any]):
    """Metadata that is fetched when somebody looks, and cannot be fetched any more."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError("connection closed")

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


INVALID: list[tuple[Callable[[], object], str]] = [
    (lambda: None, "Answer: "),
    (lambda: "just text", "Answer: "),
    (dict, "text: Field required"),
    (lambda: {"text": None}, "text: Input should be a valid string"),
    (lambda: {"text": "x", "pasages": []}, "pasages: "),
    (lambda: {"text": "x", "passages": [{"text": "no id"}]}, "passages.0.id: Field required"),
    (lambda: Answer("x", (Passage("c1", "t"), Passage(" ", "t"))), "passages.1.id: is empty"),
    (lambda: Answer("x", (Passage(5, "t"),)), "passages.0.id: Input should be a valid string"),  # type: ignore[arg-type]
    (lambda: Answer("x", (Passage("c", "t", math.nan),)), "passages.0.score: "),
    (lambda: Answer("x", broken()), "passages: is a generator, not a list or tuple"),  # type: ignore[arg-type]
    (
        lambda: Answer("x", (Passage("c", "t", None, {"more": Lazy()}),)),
        "passages.0.metadata cannot be read: KeyError: 'connection closed'",
    ),
    (
        lambda: Answer("x", (Passage("c", "t", None, {"a": {"b": {1, 2}}}),)),
        "passages.0.metadata.a.b is a builtins.set, which is no JSON data",
    ),
    (
        lambda: Answer("x", (Passage("c", "t", None, {"n": np.int64(5)}),)),
        "passages.0.metadata.n is a numpy.int64, which is no JSON data",
    ),
    (lambda: Answer("x", (), {"day": date(2022, 1, 1)}), "filters.day is a datetime.date, which"),
    (lambda: Answer("x", (), {"a": [1, math.inf]}), "filters.a.1 is inf, not a finite number"),
    (lambda: Answer("x", (), {"a": {5: "b"}}), "filters.a has a key that is no string but a int"),
    (lambda: Answer("x", (), {"a": 10**5000}), "filters.a is too large a number"),
    (lambda: Answer("x", (), {"a": nested(100)}), "filters is nested too deeply"),
    (lambda: Answer("x", (), {"a": nested(10**5)}), "filters is nested too deeply"),
    (lambda: Answer("x", behavior="gave up"), "behavior: Input should be 'relaxed', "),  # type: ignore[arg-type]
    (lambda: Answer("x", usage=(Usage("m", -1),)), "usage.0: a number of tokens is negative"),
    (lambda: Answer("x", usage=(Usage("m", 1, 2),)), "usage.0: more cached input tokens than"),
    (lambda: {"text": "x", "\ud800": 1}, "Answer: Input should be"),
]


@pytest.mark.parametrize(("returned", "says"), INVALID)
def test_what_is_no_answer_is_one_line_that_names_the_field(
    returned: Callable[[], object], says: str
) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        as_answer(returned())
    message = str(caught.value)
    assert message.startswith(says)
    assert "\n" not in message
    message.encode()


def test_usage_of_a_retrieval_is_checked_too() -> None:
    with pytest.raises(InvalidAnswer, match=r"^usage\.1: a number of tokens is negative"):
        as_retrieval(Retrieval((), usage=(Usage("m", 1), Usage("m", -1))))
    assert as_retrieval(Retrieval((), usage=(Usage("\0", 1),))).usage == (Usage("\ufffd", 1),)


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.binary(max_size=4)
)
things = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(scalars.filter(lambda key: key == key), inner, max_size=3)
        | st.frozensets(scalars, max_size=2)
    ),
    max_leaves=8,
)
mappings = st.dictionaries(st.text(st.characters(), max_size=5), things, max_size=3)
passages = st.fixed_dictionaries(
    {"id": st.text(st.characters(), max_size=5), "text": st.text(st.characters())},
    optional={"score": st.floats() | things, "metadata": mappings | things},
)
usages = st.fixed_dictionaries(
    {"model": st.text(st.characters(), max_size=3), "input_tokens": st.integers()},
    optional={"cached_input_tokens": st.integers(), "output_tokens": things},
)
answers = st.fixed_dictionaries(
    {"text": st.text(st.characters())},
    optional={
        "passages": st.lists(passages, max_size=3) | things,
        "filters": mappings | things,
        "behavior": st.sampled_from(["relaxed", "admitted"]) | things,
        "usage": st.lists(usages, max_size=2) | things,
        "citations": st.lists(st.text(st.characters(), max_size=3)) | things,
    },
)


@given(answers | things)
def test_anything_is_an_answer_that_can_be_stored_or_invalid(returned: Any) -> None:
    for check in (as_answer, as_retrieval):
        try:
            value = check(returned)
        except InvalidAnswer as error:
            str(error).encode()
            continue
        text = json.dumps(asdict(value), allow_nan=False, ensure_ascii=False)
        assert "\0" not in text.encode().decode()
        assert check(value) == value
        assert check(json.loads(text)) == value
