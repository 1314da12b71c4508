"""The page of a comparison in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browsing
import pytest
from comparisons import hostile_pair

from pytest_touchstone.comparing import compare
from pytest_touchstone.forms import COMPARISON_FORMS

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytestmark = pytest.mark.skipif(browsing.CHROMIUM is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing.chromium() as started:
        yield started


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("page") / "comparison.html"
    one, two = hostile_pair()
    file.write_text(COMPARISON_FORMS["html"](compare(one, [two, one])), "utf-8")
    return file.as_uri()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("dark", 360)])
def test_it_is_quiet_and_accessible(browser: Any, address: str, scheme: str, width: int) -> None:
    context = browser.new_context(
        color_scheme=scheme, bypass_csp=True, viewport={"width": width, "height": 800}
    )
    seen = browsing.Seen(context.new_page())
    seen.page.goto(address)
    seen.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    seen.assert_accessible(width)
    seen.assert_quiet(address)
    context.close()


def test_nothing_but_its_own_style_is_let_in(browser: Any, address: str) -> None:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    seen = browsing.Seen(context.new_page())
    page = seen.page
    page.goto(address)
    seen.assert_quiet(address)
    assert page.locator("script, img, iframe").count() == 0
    assert "<script>window.hit = 1</script>" in page.locator("body").inner_text()
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'),"
        " {textContent: 'window.hit = 99'}))"
    )
    assert page.evaluate("typeof window.hit") == "undefined"
    context.close()


def test_everything_is_reached_by_keyboard(browser: Any, address: str) -> None:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    page = context.new_page()
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#made-b"
    case = page.locator("details.case").first
    assert case.get_attribute("open") is not None
    case.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert case.get_attribute("open") is None
    links = page.locator("nav a")
    assert links.count() >= 6
    for link in links.all():
        target = link.get_attribute("href")
        assert page.locator(f"section{target} h2").count() == 1
    page.emulate_media(media="print")
    assert page.pdf()[:5] == b"%PDF-"
    context.close()


def test_a_million_characters_open_at_once(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "comparison.html"
    one, two = hostile_pair(cases=4, longest=1_000_000)
    file.write_text(COMPARISON_FORMS["html"](compare(one, [two])), "utf-8")
    context = browser.new_context(viewport={"width": 360, "height": 800})
    seen = browsing.Seen(context.new_page())
    seen.page.goto(file.as_uri())
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
    seen.assert_quiet(file.as_uri())
    context.close()
