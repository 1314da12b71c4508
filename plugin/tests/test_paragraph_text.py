"""Paragraphs of a Markdown text, its sentences, and what both cost."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_touchstone.paragraphs import Paragraph, paragraphs, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A [1]. B [2, 3]! C?", ["A [1].", "B [2, 3]!", "C?"]),
        ("Ja, t.ex. vid ån. [1] Nej.[2] Ja.", ["Ja, t.ex. vid ån. [1]", "Nej. [2]", "Ja."]),
        ("Slut. [Doc 1, Doc 2]. Nytt.", ["Slut. [Doc 1, Doc 2].", "Nytt."]),
        ("1. Apa.\n2. Bepa [1]\n- Cepa", ["1. Apa.", "2. Bepa [1]", "- Cepa"]),
        ("Det var 3.5 %. ”Ja.” Sade han.", ["Det var 3.5 %.", "”Ja.”", "Sade han."]),
        ("Ett. [1-3] Två.[4–6]", ["Ett. [1-3]", "Två. [4–6]"]),
        ("だめ。はい[3]。そう", ["だめ。", "はい[3]。", "そう"]),
        ("هل نعم؟ نعم۔ لا", ["هل نعم؟", "نعم۔", "لا"]),
        ("— \n ...", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


@given(st.text(alphabet="aB .!?\n[1],-") | st.text())
def test_sentences_lose_no_letter_and_no_digit(text: str) -> None:
    kept = "".join(c for sentence in sentences(text) for c in sentence if c.isalnum())
    assert kept == "".join(c for c in text if c.isalnum())


def parted(text: str) -> list[tuple[str, str, tuple[int, ...]]]:
    """Kind, text and citations of each paragraph."""
    found = paragraphs(text)
    assert [each.index for each in found] == list(range(len(found)))
    return [(each.kind, each.text, each.cited) for each in found]


def test_paragraphs_are_parted_by_blank_lines_and_know_what_they_cite() -> None:
    text = "A [1].\nStill A [Doc 3, Doc 1].\r\n \r\n\r\nB\n\n\nC [2][20]"
    assert paragraphs(text) == (
        Paragraph(0, "A [1].\nStill A [Doc 3, Doc 1].", (1, 3)),
        Paragraph(1, "B"),
        Paragraph(2, "C [2][20]", (2, 20)),
    )
    assert paragraphs(" \n\n ") == ()
    assert [each.text for each in paragraphs("a\u2029b\u2028\u2028c\r\rd\u2028e")] == [
        "a", "b", "c", "d\u2028e",
    ]  # fmt: skip


def test_each_item_is_a_paragraph_where_one_cites() -> None:
    text = (
        "The causes were:\n\n- Rain [1]\n  and wind\n\n  - nested [2]\n- No money\n* Haste [3].\n"
    )
    assert parted(text) == [
        ("text", "The causes were:", ()),
        ("item", "- Rain [1]\n  and wind\n\n  - nested [2]", (1, 2)),
        ("item", "- No money", ()),
        ("item", "* Haste [3].", (3,)),
    ]
    assert [each.claims for each in paragraphs(text)] == [False, True, True, True]


def test_a_list_that_cites_nothing_belongs_to_what_leads_into_it() -> None:
    assert parted("Two causes [1]:\n1. Rain\n2. Wind\n\nAfter.") == [
        ("list", "Two causes [1]:\n1. Rain\n2. Wind", (1,)),
        ("text", "After.", ()),
    ]
    assert parted("It rained.\n\n- Rain\n- Wind\n\n[4]") == [
        ("text", "It rained.", ()),
        ("list", "- Rain\n- Wind\n\n[4]", (4,)),
    ]


def test_a_row_is_read_below_its_header() -> None:
    text = "Figures:\n| Place | Sum |\n|---|--:|\n| Gulu | 7 [1] |\n| Lira | 9 |\nAfter it"
    assert parted(text) == [
        ("text", "Figures:", ()),
        ("row", "| Place | Sum |\n| Gulu | 7 [1] |", (1,)),
        ("row", "| Place | Sum |\n| Lira | 9 |", ()),
        ("text", "After it", ()),
    ]
    whole = "| a | b |\n|---|---|\n| 1 | 2 |"
    assert parted(f"As [2] has it:\n\n{whole}") == [("table", f"As [2] has it:\n\n{whole}", (2,))]
    assert parted("a | b\nno table") == [("text", "a | b\nno table", ())]


@pytest.mark.parametrize(
    "title",
    [
        "# Budget",
        "### Budget ###",
        "**Budget**",
        "**Budget:**",
        "__Budget__",
        "Budget\n===",
        "B\n--",
    ],
)
def test_headings_claim_nothing(title: str) -> None:
    found = paragraphs(f"{title}\nIt was 7 [1].")
    assert [(each.kind, each.claims) for each in found] == [("heading", False), ("text", True)]


def test_a_heading_that_cites_claims_something() -> None:
    (found,) = paragraphs("## Gulu lost 7 million [1]")
    assert (found.kind, found.cited, found.claims) == ("heading", (1,), True)


def test_a_sentence_in_bold_type_is_no_heading() -> None:
    (found,) = paragraphs("**Gulu lost 7 million.**")
    assert (found.kind, found.claims) == ("text", True)


def test_rules_part_and_are_nothing() -> None:
    assert parted("One.\n\n---\n\nTwo.\n***\nThree.\n- - -\nFour. Five.\n---") == [
        ("text", "One.", ()),
        ("text", "Two.", ()),
        ("text", "Three.", ()),
        ("text", "Four. Five.", ()),
    ]


def test_code_claims_nothing_and_cites_nothing() -> None:
    text = "Run:\n```python\nx = a[1]\n\n# [2]\n```\nDone [3].\n\n~~~~\n[4]\n~~~\n~~~~"
    assert parted(text) == [
        ("text", "Run:", ()),
        ("code", "```python\nx = a[1]\n\n# [2]\n```", ()),
        ("text", "Done [3].", (3,)),
        ("code", "~~~~\n[4]\n~~~\n~~~~", ()),
    ]


def test_a_fence_hides_no_claim() -> None:
    assert parted("```\nGulu lost 7 [1].") == [("text", "Gulu lost 7 [1].", (1,))]
    assert parted("```markdown\n# Gulu\nIt lost 7 [1].\n```\nMore.") == [
        ("heading", "# Gulu", ()),
        ("text", "It lost 7 [1].", (1,)),
        ("text", "More.", ()),
    ]


def test_markers_alone_belong_to_the_paragraph_before() -> None:
    assert parted("It rained.\n\n[1][2]\n\nSo it was.\n\n**Källor:** [3], [4-5]") == [
        ("text", "It rained.\n\n[1][2]", (1, 2)),
        ("text", "So it was.\n\n**Källor:** [3], [4-5]", (3, 4, 5)),
    ]
    assert parted("# Head\n\n[1]") == [("heading", "# Head", ()), ("text", "[1]", (1,))]


@pytest.mark.parametrize(
    "listed",
    [
        "Sources:\n[1] Annual report\n[2] The other one",
        "## References\n\n[1] Annual report\n\n[2] The other one",
        "**Källor**\n\n- [1] Årsrapport\n- [2] En till",
        "Referenser:\n\n1. Årsrapport [1]\n2. En till [2]",
        "[1]: https://example.org/a\n[2]: https://example.org/b",
        "[^1]: See page 7.\n[^2]: Not there.",
    ],
)
def test_a_list_of_sources_is_no_paragraph_that_cites(listed: str) -> None:
    found = paragraphs(f"It rained [1].\n\n{listed}")
    assert found[0].cited == (1,)
    assert not any(each.claims or each.cited for each in found[1:])


def test_after_the_sources_a_heading_begins_anew() -> None:
    text = "# Sources\n[1] Report\n\nMore of it [2]\n# Outlook\nIt will rain [3]."
    assert [each.cited for each in paragraphs(text)] == [(), (), (), (), (3,)]


MARKDOWN = st.lists(
    st.sampled_from(
        ["# T", "- a [1]", "  - b", "1. c", "d [2, 3]", "e:", "```", "~~~~", "| x | y |", "|--|--|",
         "| z [4] |", "", "", "---", "**f**", "[5]", "\tg", "> h", "Sources:", "`",
         "`[6]`", "å\u2029ö"]
    ),
    max_size=25,
)  # fmt: skip


@given(MARKDOWN)
@example(["| x | y |", "|--|--|", "| z [4] |", "", "[5]"])
@example(["- a [1]", "```", "", "```"])
def test_no_word_of_a_text_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    kept = "".join(each.text for each in paragraphs(text) if each.kind != "row")
    rows = [each.text for each in paragraphs(text) if each.kind == "row"]
    found = kept + "".join(rows)
    for letter in "Tabcdefghåö":
        # The head of a table is repeated, but only `x` and `y` stand in one here.
        assert found.count(letter) >= text.count(letter)
    assert all(each.text == each.text.strip() != "" for each in paragraphs(text))


@given(st.text() | st.text(alphabet="ab1[]- \n`~|#*:_\t"))
def test_any_text_has_paragraphs(text: str) -> None:
    found = paragraphs(text)
    assert all(each.kind == "row" or each.text in text for each in found)
    assert all(each.claims for each in found if each.cited)


@pytest.mark.parametrize(
    "unit",
    [" ", "\n", "[1", "[1,", "[1] ", "`", "``` ", "```\n", "~~~a\n", "- ", "- a\n", "|", "|-|\n",
     "a. ", "a. b ", "\n\n[1]", "[[", "**", "**a**\n", "1.\t", "#", "\u2028", "\u2029",
     "a:\n- b\n\n",
     "- - ", "[1-9999]", "[1](", ": ", "``a`\n", ">", "--\n", "Sources:\n"],
)  # fmt: skip
def test_long_texts_of_anything_are_read(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    for each in paragraphs(text):
        assert each.claims in (True, False)
    sentences(text)
