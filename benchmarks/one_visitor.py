"""One visitor at a warm server, in Chromium: from the key or the click to the painted picture, by the browser's own clock."""

import statistics
from collections.abc import Callable, Iterator

from playwright.sync_api import Page

from benchmarks.chromium import PICTURE, at_rest, chromium
from benchmarks.models import text
from benchmarks.table import Row, duration
from tests.browser.conftest import open_page, start_server, wait_until_idle

TITLE = "One visitor, from the event to the painted picture"
COLUMNS = ("median", "at most")
ROUNDS = 12
DRAWN = "[data-testid=stVegaLiteChart] :is(canvas, svg.marks)"
FIRST, WORDS, MAP = DRAWN, f"[class*=st-key-strip] {DRAWN}", f".st-key-maps {DRAWN}"

# Notes when the visitor acts.
CLOCK = """
  for (const kind of ['keydown', 'pointerdown'])
    addEventListener(kind, () => { window.acted ??= performance.now(); }, true);
"""

# Resolves with the seconds since then, when the picture is there and other than `before`.
PAINTED = (
    "([selector, before]) => new Promise((resolve, reject) => { const picture = "
    + PICTURE
    + """;
  setTimeout(() => reject(new Error('nothing new was painted within 30 s')), 30_000);
  const look = () => {
    const seen = picture(selector);
    if (seen && seen !== before)
      requestAnimationFrame(() => resolve((performance.now() - window.acted) / 1000));
    else requestAnimationFrame(look);
  };
  look();
})"""
)


def main() -> Iterator[Row]:
    """Median and 95th percentile of each action, beside its target."""
    process, address = start_server()
    try:
        with chromium() as browser:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(60_000)
            page.add_init_script(CLOCK)
            yield from _choose(page, address)
            yield from _type(page, address)
            yield from _turn_pages(page, address)
            yield from _long_text(page, address)
    finally:
        process.terminate()
        process.wait(10)


def _choose(page: Page, address: str) -> Iterator[Row]:
    open_page(page, f"{address}/?head=L0+H0")
    page.get_by_role("slider", name="Head").focus()
    arrow = [_timed(page, lambda: page.keyboard.press("ArrowRight"), WORDS) for _ in range(ROUNDS)]
    yield _row("another head by the arrow key: the words it attends to", arrow, 0.15)
    cells = [page.locator(f'path[aria-label="L{n % 6} H{n % 12}"]').first for n in range(1, ROUNDS + 1)]
    click = [_timed(page, cell.click, WORDS) for cell in cells]
    yield _row("another head by a click in the map: the words it attends to", click, 0.15)


def _type(page: Page, address: str) -> Iterator[Row]:
    open_page(page, address)
    field = page.get_by_role("textbox", name="Sentence A", exact=True)
    for what, chart in (("its first picture", FIRST), ("the head's map", MAP)):
        times = []
        for number in range(ROUNDS):
            field.fill(f"The bank of the {'wide ' * (number % 5)}river had flooded {chart[1]} {number} times.")
            times.append(_timed(page, lambda: field.press("Enter"), chart))
        yield _row(f"a typed sentence: {what}", times, 0.4)


def _turn_pages(page: Page, address: str) -> Iterator[Row]:
    for name in ("All heads", "Inside a head", "A word in two sentences", "Before attention · 10 min"):
        times = []
        for _ in range(ROUNDS // 4 + 1):  # the first time nothing of it is warm
            open_page(page, f"{address}/models-and-proof")
            link = page.get_by_test_id("stSidebarNav").get_by_role("link", name=name)
            times.append(_timed(page, link.click, FIRST, before=0))
        yield _row(f"a warm page, {name.partition(' ·')[0]}: its first picture", times[1:], 0.6)


def _long_text(page: Page, address: str) -> Iterator[Row]:
    open_page(page, f"{address}/?head=L3+H0")
    field = page.get_by_role("textbox", name="Sentence A", exact=True)
    times = []
    for number in range(ROUNDS):
        field.fill(f"{text(125)} {number}")
        times.append(_timed(page, lambda: field.press("Enter"), MAP))
    yield _row("a text of 128 tokens, typed: the head's map", times, 0.3, at_95=True)
    page.get_by_role("slider", name="Head").focus()
    times = [_timed(page, lambda: page.keyboard.press("ArrowRight"), MAP) for _ in range(ROUNDS)]
    yield _row("a text of 128 tokens, another head by the arrow key: its map", times, 0.3, at_95=True)


def _timed(page: Page, act: Callable[[], object], chart: str, before: int | None = None) -> float:
    """Seconds from the event until this chart is painted anew."""
    wait_until_idle(page)
    picture = at_rest(page, chart) if before is None else before
    page.evaluate("() => { window.acted = undefined; }")
    act()
    return page.evaluate(PAINTED, [chart, picture])


def _row(what: str, times: list[float], most: float, at_95: bool = False) -> Row:
    median, last = statistics.median(times), sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]
    aim = f"{duration(most)} at 95 %" if at_95 else duration(most)
    return Row(
        what, f"{duration(median)} (95 %: {duration(last)})", aim, (last if at_95 else median) / most, len(times), 1
    )
