"""A real browser for the tests: Debian's Chromium, without a window, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


def open_browser() -> Iterator[Any]:
    """The browser, closed at the end; skips where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium (Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


class Page:
    """A report in a tab: what it asked for and complained about is kept."""

    def __init__(
        self, browser: Any, file: Path, width: int = 1280, scheme: str = "light", folded: bool = False
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        self.tab = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.goto(file.as_uri())
        self.tab.wait_for_selector("html[data-ready=yes]")
        if not folded:  # everything is to be seen
            self.tab.evaluate("() => document.querySelectorAll('details.fold').forEach(one => { one.open = true; })")
        self.settle()

    def settle(self) -> None:
        """Wait until what was asked for is drawn."""
        self.tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def ask(self, script: str, argument: Any = None) -> Any:
        """The value of an expression or function in the page."""
        return self.tab.evaluate(script, argument)

    def close(self) -> None:
        self.context.close()
