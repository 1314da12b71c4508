"""The page: one file, complete, that no text in it can do anything to."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest
from hostile import BASELINE, SYSTEM, TEXTS, bare_report, hostile_report
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone import forms
from pytest_touchstone.report import Report, to_json, validate
from pytest_touchstone.report.page.data import packed
from pytest_touchstone.report.page.document import PLOT_STYLE
from pytest_touchstone.report.page.markup import Html, tag

_VOID = {"meta", "link", "input", "br"}
_HEADINGS = {"h1", "h2", "h3"}


class Page(HTMLParser):
    """A page taken apart: elements, text, scripts, tables.

    :ivar figures: of every table by its caption: row's name to the values of its figures.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self.captions: list[str] = []
        self.figures: dict[str, dict[str, list[float]]] = {}
        self.shown: list[tuple[float, str]] = []
        self._open: list[str] = []
        self._row = ""
        self._value: float | None = None
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, name: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        assert len(attributes) == len(attrs), "an attribute twice"
        self.elements.append((name, attributes))
        if name not in _VOID:
            self._open.append(name)
        if name in ("script", "style"):
            self.raw.append((attributes, ""))
        if name == "caption":
            self.captions.append("")
        if name == "tr":
            self._row = ""
        if name == "data":
            value = float(attributes["value"] or "")
            self._value = value
            if "table" in self._open:
                rows = self.figures.setdefault(self.captions[-1], {})
                rows.setdefault(self._row.strip(), []).append(value)

    def handle_endtag(self, name: str) -> None:
        assert self._open.pop() == name
        if name == "data":
            self._value = None

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("script", "style"):
            attributes, text = self.raw[-1]
            self.raw[-1] = (attributes, text + data)
            return
        self.words.append(data)
        if "caption" in self._open:
            self.captions[-1] += data
        if "th" in self._open:
            self._row += data
        if self._value is not None:
            self.shown.append((self._value, data))

    @property
    def text(self) -> str:
        return "".join(self.words)

    @property
    def data(self) -> Any:
        """What the scripts read."""
        (text,) = [text for attributes, text in self.raw if attributes.get("id") == "data"]
        return json.loads(zlib.decompress(base64.b64decode(text)))


@cache
def report() -> Report:
    return hostile_report()


@cache
def page() -> Page:
    return Page("".join(forms.page(report())))


def test_the_report_of_these_tests_has_the_format() -> None:
    validate(to_json(report()))


def test_the_page_has_every_part_in_the_order_of_reading() -> None:
    sections = [a["id"] for name, a in page().elements if name == "section"]
    assert sections == [
        "warnings", "scores", "ladder", "types", "gates", "cost", "judge", "reading", "cases",
        "snapshot",
    ]  # fmt: skip
    headings = [name for name, _ in page().elements if name in _HEADINGS]
    assert headings.count("h1") == 1
    assert headings[0] == "h1"


def test_links_lead_to_what_is_there() -> None:
    ids = {a["id"] for _, a in page().elements if a.get("id")}
    targets = {str(a["href"]) for name, a in page().elements if name == "a"}
    cases = {target for target in targets if target.startswith("#case-")}
    assert {target[1:] for target in targets - cases} <= ids
    numbers = {int(target.removeprefix("#case-")) for target in cases}
    assert numbers
    assert numbers <= set(range(len(page().data["cases"])))
    labels = {a[key] for _, a in page().elements for key in ("for", "aria-labelledby") if key in a}
    assert labels <= ids


def test_no_text_becomes_markup() -> None:
    names = {name for name, _ in page().elements}
    assert not names & {"img", "b ", "iframe", "object", "svg", "base", "embed"}
    for name, attributes in page().elements:
        assert not any(key.startswith("on") or key in ("src", "style") for key in attributes), name
        if "href" in attributes:
            assert re.fullmatch(r"#[a-z-]+\d*|data:,", str(attributes["href"]))


def test_scripts_and_styles_are_only_those_that_the_policy_names() -> None:
    (policy,) = [
        str(a["content"])
        for name, a in page().elements
        if name == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    directives = {part.split()[0]: part.split()[1:] for part in policy.split(";")}
    assert directives["default-src"] == ["'none'"]
    assert "unsafe" not in policy
    scripts = [text for attributes, text in page().raw if attributes == {}]
    style, *scripts = scripts
    assert directives["script-src"] == [_hash(script) for script in scripts]
    assert directives["style-src"] == [_hash(style), _hash(PLOT_STYLE)]
    (data,) = [attributes for attributes, _ in page().raw if attributes]
    assert data == {"type": "application/octet-stream", "id": "data"}


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_style_of_the_charts_is_the_one_that_the_library_makes() -> None:
    library = next(text for _, text in page().raw if "@observablehq/plot" in text[:100])
    made = PLOT_STYLE.replace("plot-d6a7b5", "${CLASS}").replace("\n", "\\n")
    templates = {
        re.sub(r"\$\{\w+\}", "${CLASS}", t) for t in re.findall(r"`(:where[^`]*)`", library)
    }
    assert made in {template.replace("\n", "\\n") for template in templates}
    assert "plot-d6a7b5" in library


def test_the_scripts_never_make_markup_out_of_text() -> None:
    own = page().raw[-1][1]
    assert '"use strict"' in own
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "fetch(",
    ):
        assert word not in own


@pytest.mark.parametrize("text", TEXTS)
def test_what_reorders_or_cannot_be_seen_is_shown(text: str) -> None:
    shown = tag("p", text)
    assert not re.search(
        "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", shown
    )
    assert shown.startswith("<p>")
    assert Page(shown).elements == [("p", {})]


@given(st.text(), st.text())
def test_any_text_stays_text(text: str, other: str) -> None:
    parsed = Page(tag("p", text, title=other))
    assert [name for name, _ in parsed.elements] == ["p"]
    assert list(parsed.elements[0][1]) == ["title"]


def test_html_is_not_escaped_twice() -> None:
    assert tag("p", tag("b", "&"), [None, "<"]) == Html("<p><b>&amp;</b>&lt;</p>")


@given(st.dictionaries(st.text(), st.text()))
def test_packed_data_come_back_and_hold_no_markup(data: dict[str, str]) -> None:
    text = packed(data)
    assert re.fullmatch("[A-Za-z0-9+/=]*", text)
    read = json.loads(zlib.decompress(base64.b64decode(text)))
    assert read == data


def test_every_text_of_the_cases_is_there_to_be_searched() -> None:
    cases = page().data["cases"]
    for n, text in enumerate(TEXTS):
        sound = text.replace("\ud800", "\ufffd")
        assert sound in cases[n]["gold"]["question"]
        assert sound in cases[n]["plays"][0].get("answer", sound)


# The numbers


def test_the_table_has_the_numbers_of_the_report() -> None:
    rows = page().figures["Scores of the system under test"]
    for entry in report()["measures"]:
        expected: list[float] = []
        for result in (entry["system"], entry["baseline"]):
            assert result is not None
            assert result["estimate"] is not None
            expected += [result["estimate"], *(result["ci"] or ())]
        delta = entry["delta"]
        assert delta is not None
        expected += [delta["estimate"], *(delta["ci"] or ())]
        expected += [p for p in (delta["p_adjusted"], delta["detectable"]) if p is not None]
        assert entry["system"] is not None
        expected.append(entry["system"]["n"])
        if delta["pairs"] != entry["system"]["n"]:
            expected.append(delta["pairs"])
        expected += [n for r, n in entry["system"]["unscored"].items() if r != "not_applicable"]
        (name,) = [row for row in rows if row.removesuffix(" ↓") == entry["title"]]
        assert rows[name] == expected


def test_types_and_steps_have_the_numbers_of_the_report() -> None:
    types = page().figures["Mean and number of questions by type"]
    for entry in report()["measures"]:
        expected = []
        for result in entry["by_type"].values():
            if result["estimate"] is not None:
                expected += [result["estimate"], *(result["ci"] or ())]
            expected.append(result["n"])
        assert types[entry["title"]] == expected
    caption = "Scores from the baseline to the system, one ingredient more at each step"
    for entry in report()["measures"]:
        found = page().figures[caption][entry["title"]]
        (variant,) = entry["variants"].values()
        for step in (entry["baseline"], variant, entry["system"]):
            assert step is not None
            assert {step["estimate"], *(step["ci"] or ())} <= set(found)
        delta = variant["delta"]
        assert delta is not None
        against = page().figures["Steps against the baseline"][entry["title"]]
        ps = [p for p in [delta["p_adjusted"]] if p is not None]
        assert against[: 1 + 2 * bool(delta["ci"]) + len(ps)] == [
            delta["estimate"],
            *(delta["ci"] or ()),
            *ps,
        ]


def test_costs_judge_and_lists_have_the_numbers_of_the_report() -> None:
    figures = page().figures
    cost = report()["cost"]["systems"][0]
    assert figures["What each system cost over all turns that it was asked"]["mine <b>"][:4] == [
        cost["usd"], cost["turns"], cost["reused"], cost["calls"],
    ]  # fmt: skip
    assert {0.3125, 0.25, 0.0625} <= {value for value, _ in page().shown}  # the budget
    assert figures["The judge's means, corrected by what people said"]["Faithfulness"] == [
        0.6875, 0.625, 0.75, 0.8125, 0.75, 0.875, 0.46875, 13, 19, 0.4375, 3,
    ]  # fmt: skip
    assert figures["Agreement of judge and people"]["Faithfulness"] == [
        11, 9, 8, 0.71875, -0.15625, 0.65625, 0.5, 0.8125, 0.59375, 0.84375, 4,
    ]  # fmt: skip
    assert figures["The judge beside another engine"]["Faithfulness"] == [
        17, 0.78125, 0.90625, 0.109375, 0.921875, 0.5, 0.53125, 4, 0.25, 2,
    ]  # fmt: skip
    assert figures["Gates"]["Recall@5 >= 0.7"] == [0.5, 0.25, 0.75] * 4


def test_the_cases_have_the_scores_of_the_report() -> None:
    data = page().data
    names = [measure["name"] for measure in data["measures"]]
    found = {
        (case["id"], data["systems"][play["system"]], play["mode"], play["repeat"]): {
            names[number]: value for number, value, *_ in play["scores"]
        }
        for case in data["cases"]
        for play in case["plays"]
    }
    assert found == {
        (case["case"], case["system"], case["mode"], case["repeat"]): case["scores"]
        for case in report()["cases"]
    }
    for measure, entry in zip(data["measures"], report()["measures"], strict=True):
        assert entry["system"] is not None
        assert measure["results"][SYSTEM] == [entry["system"]["estimate"], entry["system"]["ci"]]
        assert entry["baseline"] is not None
        assert measure["results"][BASELINE][0] == entry["baseline"]["estimate"]


def test_a_rounded_number_is_that_of_its_value() -> None:
    assert len(page().shown) > 200
    for value, text in page().shown:
        shown = float(text.replace(",", ""))
        places = len(text.partition(".")[2])
        assert abs(shown - value) <= 0.5 * 10**-places + 1e-12


def test_a_passage_stands_once() -> None:
    passages = page().data["passages"]
    assert len({(name, text) for name, text, _ in passages}) == len(passages)


def test_outcomes_tell_what_there_is_to_note() -> None:
    outcomes = {case["id"]: case["outcomes"] for case in page().data["cases"]}
    assert "error" in outcomes["case-3"]
    assert "unscored" in outcomes["case-0"]
    assert {"silent", "flaky", "unresolved"} <= set(outcomes["case-0"])
    assert all(outcomes.values())


def test_a_report_of_nothing_but_a_system_is_a_page_too() -> None:
    parsed = Page("".join(forms.page(bare_report())))
    sections = [a["id"] for name, a in parsed.elements if name == "section"]
    assert sections == ["scores", "cost", "cases", "snapshot"]
    assert "no baseline" in parsed.text


def test_the_page_is_the_same_from_the_json() -> None:
    read = validate(to_json(report()))
    again = validate(to_json(read))
    assert list(forms.page(read)) == list(forms.page(again))
