"""The README's picture of the main view: `python docs/screenshot.py` starts the dashboard and photographs it."""

import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.server import start_server  # noqa: E402
from tests.browser.conftest import ARGUMENTS, open_page, wait_until_idle  # noqa: E402
from tests.browser.find_chromium import find  # noqa: E402

if __name__ == "__main__":
    server, address = start_server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1440, "height": 940}, color_scheme="light")
            open_page(page, address)
            expect(page.locator(".way").get_by_role("gridcell")).to_have_count(72)
            wait_until_idle(page)  # the heads of the leading words are run after the first picture
            page.wait_for_timeout(500)  # painted in the next frames
            page.screenshot(path=ROOT / "docs/main-view.png")
            browser.close()
    finally:
        server.terminate()
