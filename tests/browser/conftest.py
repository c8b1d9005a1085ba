"""Open pages in Chromium, and record their errors and requests to other machines."""

import re
import time
from collections.abc import Callable
from urllib.parse import urlparse

from playwright.sync_api import Page, expect

from tests.browser.component import component_page as component_page
from tests.browser.component import open_component as open_component

CALM = """() => {
    const idle = document.querySelector('[data-testid=stApp]')?.getAttribute('data-test-script-state') === 'notRunning'
        && !document.querySelector('[data-stale=true], [data-testid=stSkeleton]');
    window.calmSince = idle ? window.calmSince ?? performance.now() : null;
    return idle && performance.now() - window.calmSince >= 300;
}"""
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"]

expect.set_options(timeout=30_000)  # Playwright's five seconds are too few on a slow machine


def watch(page: Page) -> list[str]:
    """Return a list that collects the page's errors and its requests to other machines."""
    trouble: list[str] = []

    def on_console(message):
        # Ignore failed requests: Streamlit itself causes some 404s.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            trouble.append(message.text)

    page.on("console", on_console)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on(
        "request",
        lambda request: (
            trouble.append(request.url)
            if urlparse(request.url).hostname not in ("localhost", "127.0.0.1", None)
            else None
        ),
    )
    return trouble


def wait_until_idle(page: Page, timeout: float = 60) -> None:
    """Wait until Streamlit's script has been idle for 0.3 s.

    A shorter wait isn't enough: sliders and charts can report a choice up to 0.2 s late.
    """
    page.evaluate("window.calmSince = null")
    page.wait_for_function(CALM, polling=50, timeout=1000 * timeout)


def open_page(page: Page, address: str) -> None:
    page.goto(address)
    wait_until_idle(page)


def wait_for_address(page: Page, part: str) -> None:
    expect(page).to_have_url(re.compile(re.escape(part)))


def eventually(page: Page, holds: Callable[[], bool], timeout: float = 30) -> None:
    deadline = time.time() + timeout
    while not holds():
        assert time.time() < deadline, f"does not hold after {timeout} s"
        page.wait_for_timeout(100)
