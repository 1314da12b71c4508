"""A history's page in a real browser."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browsing
import pytest
from hostile import hostile_report

from pytest_touchstone.forms import HISTORY_FORMS
from pytest_touchstone.history import RunFigures, Series, series_of

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytestmark = pytest.mark.skipif(browsing.CHROMIUM is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing.chromium() as started:
        yield started


@pytest.fixture(scope="module")
def series() -> list[Series]:
    """Three runs of a report full of hostile texts, one over a part of the questions."""
    runs = []
    for number in range(1, 4):
        report = copy.deepcopy(hostile_report())
        report["snapshot"]["run"] |= {"id": f"r{number}", "started_at": f"2026-11-0{number}T10:00"}
        report["snapshot"]["commit"] = str(number) * 40
        report["snapshot"]["selection"]["sample"] = 3 if number == 2 else None
        runs.append(RunFigures.of(report))
    return series_of(runs)


@pytest.mark.parametrize(
    ("width", "scheme"), [(1200, "light"), (1200, "dark"), (360, "light")], ids=str
)
def test_the_charts_are_drawn_and_nothing_is_asked_for(
    browser: Any, series: list[Series], tmp_path: Path, width: int, scheme: str
) -> None:
    file = tmp_path / "history.html"
    file.write_text(HISTORY_FORMS["html"](series, ["<script>window.hit = 1</script>"]), "utf-8")
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    seen = browsing.Seen(context.new_page())
    seen.page.goto(file.as_uri())
    scored = sum(any(p.estimate is not None for p in one.points) for one in series)
    seen.until(f"document.querySelectorAll('[data-series] figure svg').length === {scored}")
    assert seen.page.locator("[data-series]").count() == len(series)
    label = str(seen.page.locator("figure svg").first.get_attribute("aria-label"))
    assert "2026-11-01T10:00" in label
    assert "sample of 3" in label
    seen.assert_accessible(width)
    seen.assert_quiet(file.as_uri())
    context.close()
