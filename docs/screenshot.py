"""Make the README's pictures: a screenshot and an animation."""

import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, expect, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.server import start_server  # noqa: E402
from tests.browser.conftest import ARGUMENTS, open_page, wait_until_idle  # noqa: E402
from tests.browser.find_chromium import find  # noqa: E402

CLICKED = (".word:has-text('river')", ".word:has-text('river')", ".word:has-text('of')", ".word:has-text('loan')")


def photograph(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 940}, color_scheme="light")
    open_page(page, address)
    expect(page.locator(".way .finding")).to_be_visible()
    wait_until_idle(page)
    page.screenshot(path=ROOT / "docs/main-view.png")


def film(browser: Browser) -> None:
    """Save docs/main-view.webp, an animation of clicks in docs/demo.html."""
    page = browser.new_page(viewport={"width": 1320, "height": 900}, color_scheme="light")
    page.goto((ROOT / "docs/demo.html").as_uri())
    frames, lasting = [page.screenshot()], [1500]
    for target in CLICKED:
        page.locator(target).first.click()
        for wait, shown in ((0, 80), (80, 80), (80, 80), (400, 1500)):
            page.wait_for_timeout(wait)
            frames.append(page.screenshot())
            lasting.append(shown)
    first, *others = (Image.open(BytesIO(frame)).convert("RGB") for frame in frames)
    first.save(ROOT / "docs/main-view.webp", save_all=True, append_images=others, duration=lasting, loop=0, quality=60)


if __name__ == "__main__":
    server, address = start_server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
            photograph(browser, address)
            film(browser)
            browser.close()
    finally:
        server.terminate()
