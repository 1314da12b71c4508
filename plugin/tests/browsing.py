"""Pages in a real browser: Debian's Chromium, driven by Playwright, where both are there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

_AXE = Path(__file__).with_name("vendor") / "axe.min.js"
_PATIENCE = 400


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Seen:
    """A page that is open, with everything that it said and asked for."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))

    def until(self, condition: str) -> None:
        """Wait until an expression is true in the page, whose policy forbids to do so there."""
        for _ in range(_PATIENCE):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"still not so: {condition}")

    def assert_quiet(self, address: str) -> None:
        """Nothing on the console, nothing asked for but the page, and no text that acted."""
        assert self.said == []
        assert [one.partition("#")[0] for one in self.asked] == [address]
        assert self.page.evaluate("typeof window.hit") == "undefined"

    def assert_accessible(self, width: int) -> None:
        """axe finds nothing serious, and the page is no wider than its window."""
        self.page.evaluate(_AXE.read_text("utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        grave = [
            (one["id"], [node["html"][:200] for node in one["nodes"][:3]])
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
        ]
        assert grave == []
        assert self.page.evaluate("document.documentElement.scrollWidth") <= width
