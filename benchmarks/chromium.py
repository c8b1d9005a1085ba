"""Pages opened in Chromium, timed from the address to the painted picture, with every byte counted."""

import io
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, Route, sync_playwright

from tests.browser.conftest import ARGUMENTS, wait_until_idle
from tests.browser.find_chromium import find

# BertViz asks a CDN for these. Here they come from their npm packages, so that nothing leaves the machine meanwhile.
SCRIPTS = {
    "require": ("requirejs@2.3.6", "require.js"),
    "d3": ("d3@5.7.0", "dist/d3.min.js"),
    "jquery": ("jquery@2.2.4", "dist/jquery.min.js"),
}

# A number that stands for what is to be seen in a drawing of ours: its canvas' pixels, or its SVG. 0 where nothing is.
DRAWING = """drawing => {
  if (!drawing || drawing.closest('[data-stale=true]')) return 0;
  const hash = (length, at) => {
    let sum = 7;
    for (let i = 0; i < length; i++) sum = (sum * 31 + at(i)) % 1000000007;
    return sum;
  };
  if (drawing.tagName !== 'CANVAS') {
    const markup = drawing.outerHTML.replace(/(gradient_|clip)\\d+/g, '');  // numbered anew at each drawing
    return hash(markup.length, i => markup.charCodeAt(i));
  }
  if (!drawing.width) return 0;
  const data = new Uint32Array(drawing.getContext('2d').getImageData(0, 0, drawing.width, drawing.height).data.buffer);
  return new Set(data).size > 3 ? hash(data.length, i => data[i]) : 0;
}"""

# The same for the first drawing that a selector finds.
PICTURE = f"selector => ({DRAWING})(document.querySelector(selector))"

# Resolves when the chart's picture is there and other than `before`.
OURS_PAINTED = (
    """([selector, before]) => new Promise(resolve => {
  const picture = """
    + PICTURE
    + """;
  const look = () => {
    const seen = picture(selector);
    if (seen && seen !== before) requestAnimationFrame(resolve); else setTimeout(look, 20);
  };
  look();
})"""
)

# Resolves when the number of marks has stayed the same for some frames.
BERTVIZ_PAINTED = """() => new Promise(resolve => {
  let held = -1, calm = 0;
  const look = () => {
    const count = document.querySelectorAll('svg line, svg rect, svg path').length;
    calm = count > 20 && count === held ? calm + 1 : 0;
    held = count;
    if (calm >= 3) resolve(count); else requestAnimationFrame(look);
  };
  look();
})"""


@dataclass(frozen=True)
class Painted:
    """What opening one page took."""

    seconds: float
    bytes: int


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        yield browser
        browser.close()


def opened(browser: Browser, address: str, painted: str, timeout: float, chart: str = "") -> Painted:
    """Open an address in a window of its own, nothing cached, and wait until it is painted (ours: this chart of it)."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        page, received = _page(context, timeout)
        started = time.perf_counter()
        page.goto(address)
        page.evaluate(painted, [chart, 0])
        seconds = time.perf_counter() - started
        if painted == OURS_PAINTED:
            wait_until_idle(page)  # the bytes are the whole page's
    finally:
        context.close()
    own = Path(address.removeprefix("file://")).stat().st_size if address.startswith("file://") else 0
    return Painted(seconds, sum(received) + own)


def retyped(browser: Browser, address: str, text: str, timeout: float, chart: str) -> Painted:
    """On an open page of ours, type another sentence A and wait until this chart is painted anew."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        page, received = _page(context, timeout)
        page.goto(address)
        wait_until_idle(page)
        before = at_rest(page, chart)
        page.get_by_role("textbox", name="Sentence A", exact=True).fill(text)
        received.clear()
        started = time.perf_counter()
        page.keyboard.press("Enter")
        page.evaluate(OURS_PAINTED, [chart, before])
        seconds = time.perf_counter() - started
        wait_until_idle(page)  # the bytes are the whole page's
        return Painted(seconds, sum(received))
    finally:
        context.close()


def at_rest(page: Page, chart: str) -> int:
    """The picture that stands there once it stays the same: an image in it is decoded after the page is idle."""
    seen = [page.evaluate(PICTURE, chart)]
    while len(seen) < 4 or len(set(seen[-4:])) > 1:
        page.wait_for_timeout(250)
        seen.append(page.evaluate(PICTURE, chart))
    return seen[-1]


def _page(context: BrowserContext, timeout: float) -> tuple[Page, list[int]]:
    page = context.new_page()
    page.set_default_timeout(timeout * 1000)
    page.route("**/*", _serve)
    return page, _count_bytes(context, page)


def _count_bytes(context: BrowserContext, page: Page) -> list[int]:
    """A list that fills with the sizes of what arrives by HTTP and by websocket."""
    received: list[int] = []
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.dataReceived", lambda event: received.append(event["dataLength"]))
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    return received


def _serve(route: Route) -> None:
    address = route.request.url
    if address.startswith(("http://localhost", "http://127.0.0.1", "file:", "data:", "blob:")):
        route.continue_()
        return
    for name, source in SCRIPTS.items():
        if name in address.rsplit("/", 1)[-1]:
            route.fulfill(body=_script(*source), content_type="text/javascript")
            return
    route.abort()


@cache
def _script(package: str, path: str) -> bytes:
    """A file of an npm package."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", package]
        packed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.split()[-1]
        with tarfile.open(fileobj=io.BytesIO(Path(folder, packed).read_bytes())) as archive:
            return archive.extractfile(f"package/{path}").read()
