"""A Chromium to measure in, and a number for what is to be seen in a drawing."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.browser.conftest import ARGUMENTS
from tests.browser.find_chromium import find

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


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        yield browser
        browser.close()
