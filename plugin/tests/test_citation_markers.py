"""Citation markers: what they name, what merely looks like one, and patterns of one's own."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pytest_touchstone.paragraphs import CITATION, checked_pattern, citations, plain
from pytest_touchstone.settings import Settings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A [1].", (1,)),
        ("A [1, 2], B [2 ,3] C [4;5]", (1, 2, 3, 4, 5)),
        ("A [2][1]", (2, 1)),
        ("A [1-3] B [5–6] C [9−8]", (1, 2, 3, 5, 6, 8, 9)),
        ("A [Doc 1, Doc 2] B [doc 3-Doc 4] C [DOC. 5] D [Doc6]", (1, 2, 3, 4, 5, 6)),
        ("A [1, 3-4, 9]", (1, 3, 4, 9)),
        ("Kampala[1] はい[2]。 C[3] (see [4]) **[5]** \\[6]", (1, 2, 3, 4, 5, 6)),
        ("A [0] B [12]", (0, 12)),
        ("A [1] (page 3)", (1,)),
        ("as [1]: the rest", (1,)),
    ],
)
def test_markers_name_sources(text: str, expected: tuple[int, ...]) -> None:
    assert citations(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[a], [1.5], [year 2020], (3), [^1], [x], [1/2], [], [1,], [,1], [01], [1,000], [-1]",
        "In [2022] and [1998, 2021] and [2019-2022]",
        "A [1](https://example.org/a) B [2](#note) C ![3](/a.png) D [4](<b c>)",
        "[1]: https://example.org\n  [2]: /page",
        "Set `a[1]` and ``b ` [2]`` first",
        "x[1] = a[2][3], my_list[4]",
        "[12345]",
        "[1\n\n",
    ],
)
def test_what_looks_like_a_marker(text: str) -> None:
    assert citations(text) == ()


def test_a_backtick_alone_hides_nothing() -> None:
    assert citations("the ` sign [1] and ``two [2]") == (1, 2)


def test_a_wide_range_is_its_ends() -> None:
    assert citations("[1-50]") == tuple(range(1, 51))
    assert citations("[1-51] [1-9999]") == (1, 51, 9999)


def test_without_its_markers_a_text_reads_on() -> None:
    assert plain("Gulu spent 7 [1], Lira\n 9 [2][3]. See [4](https://example.org) .") == (
        "Gulu spent 7, Lira 9. See [4](https://example.org)."
    )
    assert plain("Ett (källa 3) två.", r"\(källa \d{1,3}\)") == "Ett två."


@given(st.lists(st.integers(1, 400), min_size=1, max_size=6), st.sampled_from([", ", ",", "; "]))
def test_every_number_of_a_marker_is_read(numbers: list[int], comma: str) -> None:
    marker = f"[{comma.join(map(str, numbers))}]"
    assert re.fullmatch(CITATION, marker)
    assert citations(f"Så är det {marker}.") == tuple(dict.fromkeys(numbers))
    assert plain(f"Så är det {marker}.") == "Så är det."


@given(st.text() | st.text(alphabet="[]1,-–Doc `:(\n"))
def test_any_text_can_be_read(text: str) -> None:
    found = citations(text)
    assert len(set(found)) == len(found)
    assert citations(plain(text)) == () or "`" in text or "[" in plain(text)


# Patterns of one's own.


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"\(källa \d{1,3}\)", "A (källa 4) [1]", (4,)),
        (r"【\d{1,3}(?:†source)?】", "A 【2†source】 B 【3】", (2, 3)),
        (r"\(s(?:ources?)? [\d, –-]{1,20}\)", "A (sources 1–3, 7)", (1, 2, 3, 7)),
        (r"\^[0-9]{1,2}", "A^1 `^2`", (1,)),
        (r"<sup>\d{1,2}?</sup>", "A<sup>12</sup>", (12,)),
        (r"\[\d{1,3}\](?:\(\S{1,40}\))?", "A [1](https://example.org/a)", (1,)),
        (r"[\[\]]\d{1,3}\]", "[5]", (5,)),
    ],
)
def test_a_pattern_of_one_s_own(pattern: str, text: str, expected: tuple[int, ...]) -> None:
    assert checked_pattern(pattern) == pattern
    assert citations(text, pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (r"\(källa \d+\)", "repeats without an upper end; write e.g. `{1,3}` for the `+`"),
        (r"(?:\d*)", "without an upper end"),
        (r"\d{1,}", "repeats more than 50 times in `{1,}`"),
        (r"\d{51}", "repeats more than 50 times"),
        (r"(\d{1,3}){1,9}", "repeats a group in `){1,9}`"),
        (r"(\d)\1", "must not refer back"),
        (r"\d{1,30}\s{1,30}\d{1,30}", "repeats too much"),
        (r"(?x) \d", "verbose"),
        (r"(", "is no regular expression: "),
        (r"\d?", "must match the number of a source"),
        (r"\[[a-z]\]", "must match the number of a source"),
        ("[0-9]" * 50, "longer than 200"),
    ],
)
def test_a_pattern_that_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        checked_pattern(pattern)
    assert "\n" not in str(raised.value)


def test_the_setting_is_checked() -> None:
    given = Settings.model_validate({"dataset": "g.jsonl", "citation_pattern": r"\(\d{1,3}\)"})
    assert given.citation_pattern == r"\(\d{1,3}\)"
    assert Settings.model_validate({"dataset": "g.jsonl"}).citation_pattern == CITATION
    assert Settings.model_validate({"dataset": "g", "citation_pattern": CITATION})
    with pytest.raises(ValidationError, match="repeats without an upper end"):
        Settings.model_validate({"dataset": "g.jsonl", "citation_pattern": r"\(\d+\)"})


@given(st.text(alphabet=r"\d()[]{}?+*,13a|.^-", max_size=14), st.sampled_from("1a,[ "))
def test_an_accepted_pattern_is_quick(pattern: str, letter: str) -> None:
    try:
        checked_pattern(pattern)
    except ValueError:
        return
    citations(letter * 20_000, pattern)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("It weighs 5 kg[1], spans 3 m[2] and holds 2 t[3].", (1, 2, 3)),
        ("USD 4 m[1] were spent on hepatitis b[2].", (1, 2)),
        ("- type b\n[1]", (1,)),
        ("Read x = a[1] first.", ()),
    ],
)
def test_a_unit_before_a_marker_makes_no_index(text: str, cited: tuple[int, ...]) -> None:
    assert citations(text) == cited
