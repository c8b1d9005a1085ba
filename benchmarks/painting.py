"""Text to painted picture in Chromium: this dashboard beside BertViz 1.4.1, on the same attentions.

Ours in two ways: typed into an open page; and opened by its address in a fresh window with nothing cached, Streamlit's
own scripts included. The server is warm but hasn't seen the text. Theirs: the same model's eager attentions, the HTML that
BertViz makes of them, opened in the same browser. All include the forward pass. The two don't show the same: our page of
one head has the words, the steps and the whole maps of two sentences (measured until the first map is painted); BertViz'
head view holds all heads, of which it draws one layer.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Error

from benchmarks.chromium import BERTVIZ_PAINTED, OURS_PAINTED, Painted, chromium, opened, retyped
from benchmarks.models import bundled, text
from benchmarks.table import Row, duration, paired, size
from tests.browser.conftest import start_server

TITLE = "From text to picture, 6 x 12 heads"
COLUMNS = ("selfattn", "BertViz 1.4.1")
LENGTHS = {16: 3, 64: 3, 128: 1, 256: 1}  # tokens: rounds
TIMEOUT = 240  # seconds until we stop waiting for a picture
CHART = "[data-testid=stVegaLiteChart]{} :is(canvas, svg.marks)"
VIEWS = {  # ours: the page, and the chart on it that must be painted; theirs
    "all heads, model view": ("all-heads", CHART.format(""), "model_view"),
    "one head's map, head view": ("", CHART.format("[aria-label^='what each word attends to in A']"), "head_view"),
}


def main() -> Iterator[Row]:
    """Seconds and bytes for each view and length."""
    process, address = start_server()
    try:
        with chromium() as browser:
            opened(browser, f"{address}/", OURS_PAINTED, TIMEOUT, CHART.format(""))  # loads the encoder
            for what, (page, chart, view) in VIEWS.items():
                for n, rounds in LENGTHS.items():
                    yield from _rows(browser, f"{address}/{page}", chart, view, f"{what}, {n} tokens", n, rounds)
    finally:
        process.terminate()
        process.wait(10)


def _rows(browser: Browser, page: str, chart: str, view: str, what: str, n: int, rounds: int) -> Iterator[Row]:
    trios = []
    for number in range(rounds):
        sentences = [f"{text(n - 2)} {way} {number}" for way in ("typed", "opened")]  # texts that no cache has
        typed = retyped(browser, page, sentences[0], TIMEOUT, chart)
        query = urlencode({"a": sentences[1], "b": "The bank approved the loan.", "word": "bank"})
        fresh = opened(browser, f"{page}?{query}", OURS_PAINTED, TIMEOUT, chart)
        trios.append((typed, fresh, _theirs(browser, view, n)))
    for way, place in (("typed into an open page", 0), ("opened, nothing cached", 1)):
        yield _row(f"{what}, {way}", [(trio[place], trio[2]) for trio in trios], "seconds", duration)
        yield _row(f"{what}, {way}, bytes", [(trio[place], trio[2]) for trio in trios], "bytes", size)


def _row(what: str, pairs: list[tuple[Painted, Painted | None]], measure: str, shown) -> Row:
    if any(theirs is None for _, theirs in pairs):
        ours = max(getattr(ours, measure) for ours, _ in pairs)
        return Row(what, shown(ours), f"no picture within {TIMEOUT} s", None, len(pairs))
    return paired(what, [(getattr(ours, measure), getattr(theirs, measure)) for ours, theirs in pairs], shown)


def _theirs(browser: Browser, view: str, n: int) -> Painted | None:
    """What BertViz takes; None where the browser gives up or shows nothing in time."""
    import bertviz

    encoder, sentence = bundled(), text(n)
    started = time.perf_counter()
    attention = [layer[None] for layer in encoder.reference_weights(sentence)]
    page = getattr(bertviz, view)(attention, list(encoder.tokenize(sentence).tokens), html_action="return").data
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "view.html")
        file.write_text(f"<!doctype html><html><body>{page}</body></html>", "utf-8")
        building = time.perf_counter() - started
        try:
            painted = opened(browser, file.as_uri(), BERTVIZ_PAINTED, TIMEOUT)
        except Error:
            return None
    return Painted(building + painted.seconds, painted.bytes)
