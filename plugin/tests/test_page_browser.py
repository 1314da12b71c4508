"""The page in a real browser: Debian's Chromium, driven by Playwright, where both are there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browsing
import pytest
from hostile import SYSTEM, TEXTS, bare_report, hostile_report

from pytest_touchstone import forms
from pytest_touchstone.report import Report

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytestmark = pytest.mark.skipif(browsing.CHROMIUM is None, reason="there is no Chromium")

READY = "document.getElementById('found').textContent !== ''"
SHOWN = "document.querySelectorAll('#list > details').length"


class Seen(browsing.Seen):
    """A report's page."""

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.until(READY)

    @property
    def found(self) -> str:
        return str(self.page.locator("#found").inner_text())


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing.chromium() as started:
        yield started


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _written(hostile_report(), tmp_path_factory.mktemp("page"))


def _written(report: Report, folder: Path) -> str:
    file = folder / "report.html"
    file.write_text("".join(forms.page(report)), "utf-8")
    return file.as_uri()


@pytest.fixture
def seen(browser: Any) -> Iterator[Seen]:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    yield Seen(context.new_page())
    context.close()


def test_no_text_does_anything(seen: Seen, address: str) -> None:
    seen.open(address)
    page = seen.page
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    seen.until("document.querySelectorAll('.play').length >= 40")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.wait_for_timeout(300)
    page.mouse.move(300, 300)
    seen.assert_quiet(address)
    inside = page.locator("#list")
    assert inside.locator("script, img, iframe, a").count() == 0
    text = inside.inner_text()
    assert "<script>window.hit = 1</script>" in text
    assert "\\u202egnp.exe" in text
    assert "\\x1b[31mred" in text


def test_charts_are_drawn_and_say_what_they_show(seen: Seen, address: str) -> None:
    seen.open(address)
    charts = seen.page.locator("svg[role=img]")
    seen.until("document.querySelectorAll('svg').length > 3")
    assert charts.count() == seen.page.locator("svg").count()
    for chart in charts.all():
        label = chart.get_attribute("aria-label")
        assert label
        assert "NaN" not in label
    seen.assert_quiet(address)


def test_search_and_filters_by_keyboard(seen: Seen, address: str) -> None:
    seen.open(address)
    page, total = seen.page, len(TEXTS)
    assert seen.found == f"{total} of {total} cases"
    page.locator("#search").focus()
    page.keyboard.type("CALC")
    seen.until(f"{SHOWN} < {total}")
    few = int(seen.found.split()[0])
    assert 0 < few < total
    assert few == page.evaluate(SHOWN)
    page.keyboard.press("Enter")  # no form is sent
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "type"
    page.keyboard.press("ArrowDown")
    seen.until(f"{SHOWN} <= {few}")
    for _ in range(4):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "reset"
    page.keyboard.press("Enter")
    seen.until(f"{SHOWN} === {total}")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    page.wait_for_selector("#case-0[open] .play")
    seen.assert_quiet(address)


def test_filters_by_mouse(seen: Seen, address: str) -> None:
    seen.open(address)
    page = seen.page
    page.select_option("#outcome", "error")
    seen.until(f"{SHOWN} === 3")
    assert page.locator("#list .badge", has_text="System error").count() == 3
    page.select_option("#outcome", "")
    page.select_option("#measure", label="Recall@5")
    page.select_option("#order", "worst")
    seen.until(f"{SHOWN} === {len(TEXTS)}")
    scores = [float(one.split()[0]) for one in page.locator("#list .score").all_text_contents()]
    assert scores == sorted(scores)
    page.select_option("#type", "summary")
    seen.until(f"{SHOWN} === 4")
    page.locator("#list summary").first.click()
    page.wait_for_selector(".case[open] .play.own")
    seen.assert_quiet(address)


def test_a_case_shows_evidence_gold_and_the_baseline(seen: Seen, address: str) -> None:
    seen.open(f"{address}#case-1")
    page = seen.page
    case = page.locator("#case-1[open]")
    case.locator(".play").nth(1).wait_for()
    assert case.locator(".play").count() == 2
    assert SYSTEM in case.locator(".play.own h4").inner_text()
    assert case.locator(".play.own mark").first.inner_text().startswith("</script>")
    assert "★ gold" in case.locator(".play.own .passages").inner_text()
    assert "Expected" in case.locator(".play.own table").first.inner_text()
    button = case.get_by_role("button", name="Passage [1]").first
    button.click()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    seen.assert_quiet(address)


def test_a_link_in_a_list_opens_its_case_whatever_is_filtered(seen: Seen, address: str) -> None:
    seen.open(address)
    page = seen.page
    page.locator("#search").fill("no case has this")
    seen.until(f"{SHOWN} === 0")
    page.locator("#reading a", has_text="case-2").first.click()
    page.wait_for_selector("#case-2[open] .play")
    assert page.evaluate("document.activeElement.closest('details').id") == "case-2"
    assert page.locator("#search").input_value() == ""


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 360)])
def test_axe_finds_nothing_serious(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    address = _written(hostile_report(cases=9), tmp_path)
    context = browser.new_context(
        color_scheme=scheme, bypass_csp=True, viewport={"width": width, "height": 800}
    )
    seen = Seen(context.new_page())
    seen.open(f"{address}#case-1")
    page = seen.page
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.wait_for_selector("#case-1[open] .play")
    seen.assert_accessible(width)
    context.close()


def test_a_million_characters_stay_usable(seen: Seen, tmp_path: Path) -> None:
    address = _written(hostile_report(cases=4, longest=1_000_000), tmp_path)
    seen.open(f"{address}#case-1")
    page = seen.page
    answer = page.locator("#case-1 .play.own .answer")
    answer.wait_for()
    assert len(answer.inner_text()) < 10_000
    answer.get_by_role("button").click()
    page.wait_for_selector("#case-1 .play.own .answer .box")
    assert len(answer.locator(".box").text_content()) > 1_000_000
    page.locator("#search").fill("ett ord")
    seen.until(f"{SHOWN} === 1")
    seen.assert_quiet(address)


def test_a_thousand_cases_stay_usable(seen: Seen, tmp_path: Path) -> None:
    address = _written(hostile_report(cases=1000), tmp_path)
    seen.open(address)
    page = seen.page
    paint = page.evaluate("performance.getEntriesByType('paint').map(one => one.startTime)")
    print(f"first paint of 1,000 cases after {paint[0]:.0f} ms")  # noqa: T201
    seen.until(f"{SHOWN} === 1000")
    page.locator("#search").fill("case-777")
    seen.until(f"{SHOWN} === 1")
    page.locator("#list summary").first.click()
    page.wait_for_selector("#case-777[open] .play")
    seen.assert_quiet(address)


def test_paper_has_the_summary_and_every_case(seen: Seen, address: str) -> None:
    seen.open(address)
    page = seen.page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    hidden = page.evaluate(
        "[...document.querySelectorAll('section details')]"
        ".filter(one => !one.open && !one.closest('.case, #snapshot')).length"
    )
    assert hidden == 0
    assert page.locator("nav").is_hidden()
    assert page.locator("#list .question").count() == len(TEXTS)
    assert page.pdf()[:5] == b"%PDF-"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.querySelectorAll('#judge details[open]').length") == 0


def test_a_bare_report_is_quiet_too(seen: Seen, tmp_path: Path) -> None:
    address = _written(bare_report(), tmp_path)
    seen.open(address)
    seen.page.locator("#list summary").first.click()
    seen.page.wait_for_selector("#case-0[open] .play")
    seen.assert_quiet(address)
