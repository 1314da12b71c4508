"""The forms of a comparison: they say the same, and no text in it does anything."""

from __future__ import annotations

import html.parser
import json
import re
from typing import Any

import pytest
from comparisons import answers, hostile_pair, report
from hostile import TEXTS

from pytest_touchstone.comparing import compare, markdown, text_lines
from pytest_touchstone.comparing.case_words import NO_ANSWER, excerpts
from pytest_touchstone.comparing.model import Comparison
from pytest_touchstone.forms import COMPARISON_FORMS
from pytest_touchstone.report.figures import number

EIGHT = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def moved() -> Comparison:
    """Three reports: a second better and worse, and a third read by another judge."""
    one = {"Recall@5": EIGHT, "MRR": EIGHT, "Faithfulness": EIGHT, "Contradictions": EIGHT}
    two = {
        "Recall@5": [value + 0.3 for value in EIGHT],
        "MRR": EIGHT,
        "Faithfulness": [0.9, *EIGHT[1:-1], 0.123456],
        "Contradictions": [0.0, 1.0, *EIGHT[2:]],
    }
    known: dict[str, Any] = {"origin": "judge", "judge": "one", "prompts": {"judge_claims": "a"}}
    first, second = report(one, **known), answers(report(two, **known), q0="Another answer.")
    third = report(two, **(known | {"judge": "two", "prompts": {"judge_claims": "b"}}))
    for place, made in enumerate((second, third)):
        made["snapshot"]["results_sha256"] = f"{place}" * 64
    return compare(first, [second, third])


class Page(html.parser.HTMLParser):
    """The elements of a page, and what its tables' cells hold: numbers as they are meant."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.tables: list[list[list[str]]] = []
        self.numbers: list[list[list[float]]] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._inside = tag == "table" or self._inside
        if tag == "table":
            self.tables.append([])
            self.numbers.append([])
        elif tag == "tr":
            self.tables[-1].append([])
            self.numbers[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "data" and self._inside:
            self.numbers[-1][-1].append(float(dict(attrs)["value"] or "nan"))

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "table"

    def handle_data(self, data: str) -> None:
        if self._inside and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data


def cells(line: str) -> list[str]:
    """The cells of a row in Markdown, as a reader sees them."""
    inner = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    return [re.sub(r"\\(.)", r"\1", cell).replace("<!-- -->", "") for cell in inner]


def test_every_form_shows_the_same_figures() -> None:
    found = moved()
    told = json.loads(COMPARISON_FORMS["json"](found))
    page = Page(COMPARISON_FORMS["html"](found))
    shown = "\n".join(text_lines(found, width=200))
    table = [cells(line) for line in markdown(found).splitlines() if line.startswith("|")]
    checked = 0
    for other in told["others"]:
        for entry in other["measures"]:
            delta, digits = entry["delta"], entry["digits"]
            low, high = (number(end, digits, signed=True) for end in delta["ci"])
            sides = [number(entry[side], digits) for side in ("yardstick", "other")]
            difference = f"{number(delta['estimate'], digits, signed=True)} [{low}, {high}]"
            ps = [f"{delta[name]:.4f}" for name in ("p_value", "p_adjusted")]
            moves = f"{entry['better']} ▲ {entry['worse']} ▼"
            row = [entry["title"], *sides, difference, *ps, str(delta["pairs"]), moves]
            seen = [[*line[:3], line[3][2:], *line[4:]] for line in table if len(line) == 8]
            assert row in seen
            numbers = [entry["yardstick"], entry["other"], delta["estimate"], *delta["ci"]]
            numbers += [delta["p_value"], delta["p_adjusted"], delta["detectable"], delta["pairs"]]
            numbers += [entry["better"], entry["worse"], entry["same_output"]]
            wanted = [value for value in numbers if value is not None]
            assert wanted in [line for rows in page.numbers for line in rows]
            if entry["better"] or entry["worse"]:
                parts = map(re.escape, [*row[:3], difference, *row[4:]])
                assert re.search("  +".join(parts).replace(r"\+", r"(?:. )?\+", 1), shown)
            else:
                assert f"{entry['title']} ({delta['pairs']})" in shown
            checked += 1
    assert checked == 8


def test_every_form_names_the_cases_and_both_answers() -> None:
    found = moved()
    (move, *_) = found.others[0].moves.better
    assert move.case == "q0"
    for text in (
        "\n".join(text_lines(found, width=80)),
        *(make(found) for make in COMPARISON_FORMS.values()),
    ):
        assert "The answer to q0." in text
        assert "Another answer." in text
        assert number(move.move, 2, signed=True) in text or f'"move": {move.move!r}' in text


def test_every_form_marks_what_other_instruments_read() -> None:
    found = moved()
    why = "the judge was one and is two"
    assert f"≠ {why}: Recall@5, MRR" in "\n".join(text_lines(found, width=80))
    assert f"* ≠ {why}: Recall@5, MRR" in markdown(found)
    page = COMPARISON_FORMS["html"](found)
    assert f"≠ {why}: Recall@5, MRR" in page
    assert page.count("read by different instruments</span>") == 4
    assert "≠ +" in markdown(found)


def test_every_form_tells_what_was_lost() -> None:
    lost: list[Any] = [*EIGHT[:3], "judge_unreadable", *EIGHT[4:]]
    one, two = report({"Faithfulness": EIGHT}), report({"Faithfulness": lost})
    two["cases"][3]["why"]["Faithfulness"] = f"no JSON {TEXTS[0]}"
    found = compare(one, [two])
    text, page = "\n".join(text_lines(found, width=80)), COMPARISON_FORMS["html"](found)
    for form in (text, markdown(found).replace("\\", ""), page):
        assert "B lost 1 score (judge_unreadable in B)." in form
        assert "Lost or gained: 1 score on 1 case" in form
        assert "q3 Faithfulness: scored in A, judge_unreadable in B" in form
        assert "no JSON" in form
    assert "Faithfulness (7, A +1)" in text
    assert TEXTS[0] not in page
    (told,) = json.loads(COMPARISON_FORMS["json"](found))["others"]
    assert told["one_sided"] == [
        {
            "case": "q3",
            "titles": ["Faithfulness"],
            "scored": "yardstick",
            "reason": "judge_unreadable",
            "why": f"no JSON {TEXTS[0]}",
        }
    ]


def test_of_many_that_were_lost_the_page_has_them_all() -> None:
    one, two = report({"MRR": [0.5] * 30}), report({"MRR": [None] * 30})
    found = compare(one, [two])
    text, page = "\n".join(text_lines(found, width=80)), COMPARISON_FORMS["html"](found)
    assert text.count("MRR: scored in A, not_run in B") == 20
    assert "  and 10 more" in text
    assert "* and 10 more" in markdown(found)
    assert page.count("MRR: scored in A, not_run in B") == 30


def test_what_a_page_cuts_it_says() -> None:
    long = "x" * 7000
    one, two = report({"MRR": EIGHT}), report({"MRR": [1.0, *EIGHT[1:]]})
    two = answers(two, q0=long)
    two["cases"][0]["why"]["MRR"] = "y" * 700
    page = COMPARISON_FORMS["html"](compare(one, [two]))
    assert "… 1,000 more characters in the report" in page
    assert "y" * 600 + "…" in page
    assert "y" * 601 not in page


@pytest.mark.parametrize(
    ("one", "two", "shown"),
    [
        ("Yes.", "No.", ("Yes.", "No.")),
        (
            "a" * 400 + " red",
            "a" * 400 + " blue",
            ("… " + "a" * 59 + " red", "… " + "a" * 59 + " blue"),
        ),
        ("a" * 400, "a" * 401, ("… " + "a" * 60, "… " + "a" * 61)),
        ("a" * 400, "a" * 400, ("a" * 400, "a" * 400)),
        (None, "No.", (NO_ANSWER, "No.")),
    ],
)
def test_answers_are_shown_from_where_they_part(
    one: str | None, two: str, shown: tuple[str, str]
) -> None:
    before = answers(report({"MRR": EIGHT}), q0=one)
    after = answers(report({"MRR": [1.0, *EIGHT[1:]]}), q0=two)
    found = compare(before, [after])
    assert excerpts(found.others[0].moves.better[0]) == shown
    page = COMPARISON_FORMS["html"](found)
    assert (one or NO_ANSWER) in page
    assert two in page


def test_measures_that_look_the_same_are_counted_not_shown() -> None:
    one = report({"MRR": EIGHT, "Recall@5": EIGHT})
    two = report({"MRR": [1.0, *EIGHT[1:]], "Recall@5": [0.001, *EIGHT[1:]]})
    found = compare(one, [two])
    text = "\n".join(text_lines(found, width=80))
    assert "    MRR 0.00 → 1.00\n" in text
    assert "    and 1 more measure" in text
    assert "Recall@5 0.00 → 0.00" not in text
    assert "* and 1 more measure" in markdown(found)


def test_markdown_is_compact() -> None:
    text = markdown(compare(report({"MRR": EIGHT}), [report({"MRR": EIGHT})]))
    assert len(text.splitlines()) < 30
    assert "<details><summary>No question moved on 1 measure</summary>" in text


def test_many_differences_are_read_on_demand() -> None:
    one, two = report({"MRR": EIGHT}), report({"MRR": EIGHT})
    two["snapshot"]["packages"] = {f"p{n}": "1" for n in range(20)}
    text = markdown(compare(one, [two]))
    assert "They differ in packages (20)." in text
    assert text.index("<summary>What differs</summary>") < text.index("| packages p0 |")


# Untrusted text


def test_a_terminal_gets_nothing_that_it_obeys() -> None:
    lines = text_lines(compare(*_hostile()), width=100)
    assert len(lines) > 100
    for line in lines:
        assert not UNSEEN.search(line)
        assert "\n" not in line
        assert len(line) < 1500
    assert any("\\x1b[31mred" in line for line in lines)


def test_json_gives_a_terminal_nothing_that_it_obeys() -> None:
    text = COMPARISON_FORMS["json"](compare(*_hostile()))
    assert not UNSEEN.search(text)
    assert json.loads(text)["version"] == 1


def test_markdown_has_only_its_own_markup() -> None:
    text = markdown(compare(*_hostile()))
    assert not UNSEEN.search(text)
    assert set(re.findall(r"<(/?\w+)", text)) == {
        "details", "/details", "summary", "/summary", "sub", "/sub",
    }  # fmt: skip
    assert set(re.findall(r"(?<!\\)\[[^\]]*\]\(", text)) == set()
    assert not re.search(r"(?<!\\)`|@SUM|@someone|<!--(?! -->)", text)
    widths: dict[int, str] = {}
    for line in text.splitlines():
        if line.startswith("|"):
            widths.setdefault(len(cells(line)), line)
    assert set(widths) == {3, 8}


def test_the_page_has_only_its_own_elements() -> None:
    text = COMPARISON_FORMS["html"](compare(*_hostile()))
    assert not UNSEEN.search(text)
    page = Page(text)
    assert not {"script", "img", "iframe", "object", "form", "base"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]
    links = [value for name, value in page.attributes if name in ("href", "src")]
    assert links
    assert all(link is not None and link.startswith(("#", "data:,")) for link in links)
    assert "default-src &#x27;none&#x27;" in text


@pytest.mark.parametrize("form", ["text", "md", "html"])
def test_a_million_characters_are_cut(form: str) -> None:
    found = compare(*_hostile(cases=4, longest=1_000_000))
    text = (
        "\n".join(text_lines(found, width=80)) if form == "text" else COMPARISON_FORMS[form](found)
    )
    assert len(text) < 120_000
    if form == "html":
        assert "more characters in the report" in text


def _hostile(**given: int) -> Any:
    one, two = hostile_pair(**given)
    return one, [two, one]


def test_hostile_texts_are_all_there() -> None:
    found = compare(*_hostile(), shown=len(TEXTS))
    page = COMPARISON_FORMS["html"](found)
    assert "&lt;script&gt;window.hit = 1&lt;/script&gt;" in page
    assert "\\u202egnp.exe" in page
    moves = found.others[0].moves
    assert len(moves.better) + len(moves.worse) >= 10
