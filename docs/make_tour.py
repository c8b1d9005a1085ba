"""Make docs/tour.webp: the main flow as a short moving picture. `python docs/make_tour.py`"""

import io
import re
import sys
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import Locator, Page, expect, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.server import start_server  # noqa: E402
from tests.browser.conftest import ARGUMENTS, open_page, wait_until_idle  # noqa: E402
from tests.browser.find_chromium import find  # noqa: E402

SIZE = (1440, 900)
SHOWN = (1008, 630)
LIMIT = 2_000_000  # bytes
FILE = ROOT / "docs" / "tour.webp"


class Film:
    """Frames and how long each stands, in milliseconds."""

    def __init__(self, page: Page):
        self.page = page
        self.frames: list[Image.Image] = []
        self.standing: list[int] = []

    def shoot(self, standing: int, at: tuple[float, float] | None = None) -> None:
        """Take the page as it is; `at` marks where the mouse is about to click."""
        self.page.wait_for_timeout(250)
        frame = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        if at is not None:
            x, y = at
            ring = ImageDraw.Draw(frame, "RGBA")
            ring.ellipse((x - 18, y - 18, x + 18, y + 18), outline=(199, 95, 0, 255), fill=(199, 95, 0, 70), width=4)
        self.frames.append(frame.resize(SHOWN, Image.Resampling.LANCZOS))
        self.standing.append(standing)

    def hover(self, target: Locator, standing: int) -> None:
        """Point at it, and show what that shows."""
        at = _middle(target)
        self.page.mouse.move(*at)
        self.shoot(standing, at)

    def click(self, target: Locator) -> None:
        """Show where the click goes, click, and wait until the page rests."""
        self.page.mouse.move(0, 0)  # off the charts, whose toolbar covers what stands above them
        target.scroll_into_view_if_needed()
        at = _middle(target)
        self.shoot(700, at)
        self.page.mouse.click(*at)
        wait_until_idle(self.page)

    def scroll_to(self, text: str) -> None:
        """Scroll until this heading is near the top."""
        self.page.get_by_text(text, exact=True).first.evaluate("element => element.scrollIntoView({block: 'start'})")

    def save(self, file: Path) -> None:
        """Write the frames as an endless WebP, as finely as the limit allows."""
        for quality in (80, 65, 50, 35):
            first, *others = self.frames
            first.save(
                file, save_all=True, append_images=others, duration=self.standing, loop=0, quality=quality, method=6
            )
            if file.stat().st_size < LIMIT:
                return
        raise SystemExit(f"{file} has {file.stat().st_size:,} bytes even at the lowest quality; at most {LIMIT:,}.")


def _middle(target: Locator) -> tuple[float, float]:
    box = target.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def flow(film: Film, address: str) -> None:
    """Read the answer, point at heads, hide another word, open a head, hide in it, go through its steps, download."""
    page = film.page
    words, heads = (page.locator(f"g.{name} > path") for name in ("chips_a_marks", "cells_marks"))
    open_page(page, address)
    expect(heads).to_have_count(72)
    film.shoot(3500)
    for name in ("L0 H4", "L3 H1", "L5 H6", "L5 H7"):
        film.hover(_named(heads, name), 1000)
    film.click(_named(words, "of"))
    film.shoot(2500)
    film.click(_named(words, "river"))
    film.click(_named(heads, "L5 H6"))
    film.shoot(2000)
    film.scroll_to("3 The chosen head, open: A beside B")
    film.shoot(2000)
    film.click(page.get_by_role("radio", name=re.compile("hidden$")))
    film.shoot(2500)
    film.scroll_to("4 How head 6 of layer 5 computes it")
    steps = page.locator(".vega-bind input[type=radio]")
    steps.first.check()
    for _ in range(steps.count()):
        film.shoot(1100)
        page.keyboard.press("ArrowRight")
    page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    film.click(page.get_by_role("button", name="Download", exact=True))
    film.shoot(2500)


def _named(marks: Locator, name: str) -> Locator:
    """The word or the head of this name: behind it stands its share."""
    return marks.and_(marks.page.locator(f'[aria-label="{name}"], [aria-label^="{name}: "]')).first


def main() -> None:
    """Film the flow on a server of its own."""
    process, address = start_server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
            film = Film(browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}))
            flow(film, address)
            browser.close()
    finally:
        process.terminate()
        process.wait(10)
    film.save(FILE)
    print(f"{FILE}: {len(film.frames)} pictures, {sum(film.standing) / 1000:.0f} s, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
