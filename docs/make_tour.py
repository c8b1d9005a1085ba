"""Make docs/tour.webp: the main flow as a short moving picture. `python docs/make_tour.py`"""

import io
import sys
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import Locator, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import ARGUMENTS, open_page, start_server, wait_until_idle  # noqa: E402
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

    def click(self, target: Locator) -> None:
        """Show where the click goes, click, and wait until the page rests."""
        self.page.mouse.move(0, 0)  # off the charts, whose toolbar covers what stands above them
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.shoot(700, (x, y))
        self.page.mouse.click(x, y)
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


def flow(film: Film, address: str) -> None:
    """Ask, swap, look, follow, compare, download."""
    page = film.page
    open_page(page, address)
    film.shoot(2500)
    for swap in ("Swap this head", "Swap all heads"):
        film.click(page.get_by_text(swap, exact=True))
        film.shoot(2500)
    slider = page.get_by_role("slider").first
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
        wait_until_idle(page)
        film.shoot(700)
    open_page(page, address)
    film.scroll_to("3 How head 7 of layer 5 computes it")
    page.locator(".vega-bind input").first.check()
    for _ in range(6):
        film.shoot(900)
        page.keyboard.press("ArrowRight")
    film.scroll_to("4 The whole head, side by side")
    film.shoot(2000)
    film.click(page.get_by_text("A against B", exact=True).last)
    film.shoot(2500)
    page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    film.click(page.get_by_role("button", name="Download", exact=True))
    film.shoot(2500)


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
