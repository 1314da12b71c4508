"""The offline judge's coverage: key points against the sentences of an answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytest_touchstone.judge.offline.points import completeness, coverage
from pytest_touchstone.paragraphs import sentences


def unlike(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of texts that have nothing to do with each other."""
    return np.eye(len(texts), max(len(texts), 1), dtype=np.float32)


def alike(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of texts that all mean the same."""
    return np.ones((len(texts), 1), np.float32)


def never(texts: Sequence[str]) -> NDArray[np.float32]:
    raise AssertionError(f"asked for {texts}")


def labels(points: Sequence[str], answer: str, embed: object = unlike) -> list[str]:
    assert callable(embed)
    return [point.label for point in coverage(points, sentences(answer), embed).points]


def test_words_that_decide_ask_for_no_vector() -> None:
    found = coverage(
        ["The bridge cost 4 million.", "Bron betalades av länet."],
        ("The bridge cost about 4 million [1].", "Bron betalades av länet."),
        never,
    )
    assert [point.label for point in found.points] == ["present", "present"]
    assert found.padding == ()


@pytest.mark.parametrize(
    ("point", "answer", "label"),
    [
        ("The bridge cost 4 million.", "The bridge cost 4,000,000.", "present"),
        ("The bridge cost 4 million.", "The bridge cost 9 million.", "absent"),
        ("Bron kostade 4 miljoner kronor.", "Bron kostade 4 000 000 kronor.", "present"),
        ("Bron kostade 4 miljoner kronor.", "Bron kostade 7 miljoner kronor.", "absent"),
        ("The bridge in Mora was repaired.", "The bridge was repaired.", "partly"),
        ("The bridge was repaired in 2019.", "The bridge was repaired.", "partly"),
        ("The bridge was repaired.", "Nobody bought any fish.", "absent"),
    ],
)
def test_a_wrong_figure_makes_a_point_absent_and_a_lost_one_partly_said(
    point: str, answer: str, label: str
) -> None:
    assert labels([point], answer) == [label]


def test_meaning_decides_where_words_are_too_few() -> None:
    point, answer = "Trafiken släpptes på under hösten.", "Vehicles crossed it before winter."
    assert labels([point], answer, unlike) == ["absent"]
    assert labels([point], answer, alike) == ["partly"]


def test_no_meaning_outweighs_a_wrong_figure() -> None:
    point, answer = "There are 120 vacant posts.", "There are 140 vacant posts."
    assert labels([point], answer, alike) == ["absent"]


def test_quotations_are_sentences_of_the_answer_and_the_rest_is_padding() -> None:
    answer = sentences(
        "Thank you for asking! The bridge cost 4 million [1]. The weather was fine that day."
    )
    found = coverage(["The bridge cost 4 million."], answer, unlike)
    quotation = found.points[0].quotation
    assert quotation is not None
    assert quotation.text == "The bridge cost 4 million [1]."
    assert quotation.found
    assert found.sentences == answer
    assert found.padding == (0, 2)


def test_an_empty_answer_makes_no_point() -> None:
    found = coverage(["The bridge cost 4 million."], (), never)
    assert [(p.label, p.support) for p in found.points] == [("absent", 0.0)]


def test_support_grows_with_what_is_said() -> None:
    point = ["The council repaired the bridge, the school roof and the harbour wall."]
    supports = [
        coverage(point, (answer,), unlike).points[0].support
        for answer in (
            "Fish is sold on Mondays.",
            "The council repaired the bridge.",
            "The council repaired the bridge and the school roof.",
            "The council repaired the bridge, the school roof and the harbour wall.",
        )
    ]
    assert all(support is not None for support in supports)
    assert supports == sorted(supports, key=float)  # type: ignore[arg-type]
    assert len(set(supports)) == 4


def test_completeness_falls_with_what_is_lost_and_with_what_is_added() -> None:
    gold = ["The bridge cost 4 million.", "It was opened in 1998."]
    whole = completeness(gold, gold)
    assert whole == pytest.approx(1.0)
    assert completeness(gold, gold[:1]) < whole
    assert completeness(gold, [*gold, "The mayor likes fish."]) < whole
    assert completeness(gold, []) == completeness([], gold) == 0.0


@given(
    st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=4),
    st.text(max_size=200),
)
def test_any_texts_have_a_verdict_for_each_point(points: list[str], answer: str) -> None:
    said = sentences(answer)
    found = coverage(points, said, alike)
    assert [point.point for point in found.points] == points
    assert all(0.0 <= (point.support or 0.0) <= 1.0 for point in found.points)
    assert set(found.padding) <= set(range(len(said)))
    assert coverage(points, said, alike) == found
    for point in found.points:
        assert (point.quotation is None) == (point.label == "absent")
        assert point.quotation is None or point.quotation.text in " ".join(said)


@pytest.mark.parametrize("unit", ["a", "a b. ", "1,", "Ab ", "港。"])
def test_a_megabyte_is_read(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    found = coverage([text, "The bridge cost 4 million."], (text,), unlike)
    assert found.points[1].label == "absent"
    assert 0.0 <= completeness([text], [text]) <= 1.0
