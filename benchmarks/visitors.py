"""Measure the time from a visitor's action to the repainted picture, in Chromium.

python -m benchmarks visitors [--against OTHER_CHECKOUT]
"""

import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks.models import text
from benchmarks.server import ROOT, trouble_in, warm_server
from benchmarks.table import Row, beside, held, spread
from tests.browser.conftest import ARGUMENTS, wait_until_idle
from tests.browser.find_chromium import find

TITLE = "From a visitor's action to the repainted picture: median (95th percentile)"
COLUMNS = ("this checkout", "other checkout")
ROUNDS = 12  # of opening and typing
LOOKING = 40  # rounds of hovering and clicking
CELL = '[role=gridcell][aria-label^="head {head} of layer {layer}"]'
PAIRS = {
    12: ("We sat on the bank of the wide green river at noon.", "We went to the bank in town for a small new loan."),
    64: (text(66), " ".join(text(77).split()[11:])),
}
# (tokens in the typed sentence, limit in seconds until the first new picture, limit in seconds until the last one)
TYPED = ((12, 0.25, 0.6), (128, 0.5, 1.5))
MESSAGES = 12  # at most, after one click
SHOWN = 0.05  # seconds at most until the first change, in 95 % of the rounds
LOOKS = {"hover": "hover over a head", "head": "click a head", "word": "click a word"}

# JavaScript that measures when the first and the last new picture appear after an action
WATCH = """(() => {
  const marks = '[data-testid=stVegaLiteChart] :is(canvas, svg.marks)', drawn = new Set(), roots = new Set();
  const chart = drawing => {  // a hash of the drawn picture; 0 if nothing is drawn
    if (drawing.closest('[data-stale=true]')) return 0;
    const hash = (length, at) => {
      let sum = 7;
      for (let i = 0; i < length; i++) sum = (sum * 31 + at(i)) % 1000000007;
      return sum;
    };
    if (drawing.tagName !== 'CANVAS') {
      const markup = drawing.outerHTML.replace(/(gradient_|clip)\\d+/g, '');  // these numbers change with each drawing
      return hash(markup.length, i => markup.charCodeAt(i));
    }
    if (!drawing.width) return 0;
    const data = new Uint32Array(drawing.getContext('2d').getImageData(0, 0, drawing.width, drawing.height).data.buffer);
    return new Set(data).size > 3 ? hash(data.length, i => data[i]) : 0;
  };
  const picture = each => each.matches('.selfattn') ? each.outerHTML : each.matches(marks) && chart(each);
  const components = () => [...roots].map(root => root.querySelector('.selfattn')).filter(each => each);
  const attach = Element.prototype.attachShadow;  // each component draws in its own shadow root
  Element.prototype.attachShadow = function (...how) {
    const root = attach.apply(this, how);
    roots.add(root);
    new MutationObserver(() => components().forEach(each => drawn.add(each)))
      .observe(root, {subtree: true, childList: true, attributes: true, characterData: true});
    return root;
  };
  let acted = 0, known = new Set();
  const clear = CanvasRenderingContext2D.prototype.clearRect;  // Vega calls clearRect first when it draws a canvas
  CanvasRenderingContext2D.prototype.clearRect = function (...at) {
    drawn.add(this.canvas);
    return clear.apply(this, at);
  };
  new MutationObserver(records => records.forEach(({target, type}) => {
    const element = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
    const within = element?.closest('svg.marks');
    if (within) drawn.add(within);
    else if (type !== 'characterData') element?.querySelectorAll(marks).forEach(each => drawn.add(each));
  })).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (...what) {
    window.asked ??= performance.now();
    return send.apply(this, what);
  };
  window.begin = kind => {
    known = new Set([...document.querySelectorAll(marks), ...components()].map(picture));
    acted = window.first = window.last = null;
    addEventListener(kind, event => { acted = event.timeStamp; }, {capture: true, once: true});
  };
  const look = () => {
    const painted = performance.now();
    for (const each of [...drawn]) {
      if (!each.isConnected) drawn.delete(each);
      if (!each.isConnected || (each.getRootNode().host ?? each).closest('[data-stale=true]')) continue;
      drawn.delete(each);
      const seen = picture(each);
      if (!seen || known.has(seen)) continue;
      known.add(seen);
      if (acted === null) continue;  // the mouse moves before the click
      window.last = painted - acted;
      window.first ??= window.last;
    }
    requestAnimationFrame(() => setTimeout(look));  // run after this frame is painted
  };
  look();
})();"""


@dataclass
class Side:
    """The server of one checkout, and how long each action took there."""

    address: str
    context: BrowserContext
    seconds: dict[str, list[float]] = field(default_factory=dict)  # action -> seconds in each round
    messages: dict[str, list[int]] = field(default_factory=dict)  # action -> messages to the browser in each round
    received: int = 0  # messages to the browser since the action began

    def note(self, **seconds: float | None) -> None:
        for job, each in seconds.items():
            if each is not None:
                self.seconds.setdefault(job, []).append(each)

    def _count(self, message: object) -> None:
        self.received += 1

    def page(self, **query: str) -> Page:
        """Open the main view in a new page."""
        page = self.context.new_page()
        page.set_default_timeout(60_000)
        page.on("websocket", lambda socket: socket.on("framereceived", self._count))
        page.goto(f"{self.address}/?{urlencode(query)}")
        page.wait_for_function("window.last")  # Streamlit's page also looks idle before it is connected
        wait_until_idle(page)
        page.wait_for_timeout(500)  # time to decode images
        return page


def main(small: bool = False, against: Path | None = None) -> Iterator[Row]:
    """Run the benchmark, and yield the rows of its table."""
    rounds, looking, typed, pairs = (1, 1, TYPED[:1], [*PAIRS][:1]) if small else (ROUNDS, LOOKING, TYPED, [*PAIRS])
    with ExitStack() as stack:
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        stack.callback(browser.close)
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sides = [_side(stack, browser, folder, logs / str(n)) for n, folder in enumerate((ROOT, against)) if folder]

        def row(what: str, job: str, *aims: float | None) -> Row:
            return spread(what, [side.seconds.get(job, []) for side in sides], *aims)

        _in_turn(sides, rounds + 1, _open)
        yield row("open the main view: from the request to the first picture", "opened")
        yield row("open the main view: from the first websocket message to the first picture", "asked", 0.5)
        yield row("open the main view: from the first websocket message to the last picture", "asked, whole")
        for n, first, last in typed:
            _type(sides, rounds, n)
            yield row(f"type a sentence of {n} tokens, until the first picture", f"typed {n}", first)
            yield row(f"type a sentence of {n} tokens, until the last picture", f"typed {n}, whole", last)
        for n in pairs:
            for job, action in LOOKS.items():
                _look(sides, looking, n, job)
                yield row(f"{action} (sentences of {n} words), until the first change", f"{job} {n}", None, SHOWN)
            yield row(f"click a head (sentences of {n} words), until the last change", f"head {n}, whole")
        for job in ("head", "word"):
            rounds_of = [side.messages[f"{job} 12"] for side in sides]
            counts = [statistics.median(each) for each in rounds_of]
            kept = f"at most {MESSAGES}: {held(counts[0], MESSAGES)}"
            shown = [f"{each:.0f}" for each in counts]
            yield beside(f"{LOOKS[job]}: number of messages to the browser", counts, shown, len(rounds_of[0]), kept)
        for n in range(len(sides)):
            for line in trouble_in(logs / str(n)):
                print(line, file=sys.stderr)


def _side(stack: ExitStack, browser: Browser, folder: Path, log: Path) -> Side:
    address, _ = stack.enter_context(warm_server(log, folder))
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(WATCH)
    return Side(address, context)


def _in_turn(sides: Sequence[Side], rounds: int, job: Callable[[Side, int], None], start: int = 0) -> None:
    """In each round, call job(side, round number) for each checkout. Every second round takes the checkouts in reverse order."""
    for number in range(start, start + rounds):
        for side in sides if number % 2 else sides[::-1]:
            job(side, number)


def _open(side: Side, number: int) -> None:
    page = side.page()
    if number:  # the first round only fills the browser's cache
        first, last, asked = page.evaluate("[window.first, window.last, window.asked].map(each => each / 1000)")
        side.note(opened=first, asked=first - asked, **{"asked, whole": last - asked})
    page.close()


def _type(sides: Sequence[Side], rounds: int, n: int) -> None:
    pages = {side.address: side.page() for side in sides}

    def job(side: Side, number: int) -> None:
        page = pages[side.address]
        page.bring_to_front()
        field = page.get_by_role("textbox", name="Sentence A", exact=True)
        if not field.is_visible():
            page.get_by_role("button", name="Your own ...").click()
        end = f"on {('Monday', 'Tuesday', 'Sunday')[number % 3]} {number}."
        field.fill(f"The bank of the river flooded {end}" if n == 12 else f"{text(n - 4)} {end}")
        first, last = _painted(page, lambda: field.press("Enter"), "keydown")
        if number:
            side.note(**{f"typed {n}": first, f"typed {n}, whole": last})

    _in_turn(sides, rounds + 1, job)
    for page in pages.values():
        page.close()


def _look(sides: Sequence[Side], rounds: int, n: int, what: str) -> None:
    a, b = PAIRS[n]
    opened = {} if what == "word" else {"head": "L0 H0"}  # a link to a head opens the map of heads
    pages = {side.address: side.page(a=a, b=b, word="bank", **opened) for side in sides}

    def job(side: Side, number: int) -> None:
        page = pages[side.address]
        page.bring_to_front()
        words, cell = page.locator(".sentence button"), CELL.format(layer=number % 6, head=number * 5 % 12)
        target = words.nth(number % words.count()) if what == "word" else page.locator(cell).first
        page.mouse.move(2, 2)
        page.wait_for_timeout(200)
        side.received = 0
        target.scroll_into_view_if_needed()
        act, kind = (target.hover, "pointermove") if what == "hover" else (target.click, "pointerdown")
        first, last = _painted(page, lambda: act(force=True), kind)
        side.note(**{f"{what} {n}": first, f"{what} {n}, whole": last})
        side.messages.setdefault(f"{what} {n}", []).append(side.received)

    _in_turn(sides, rounds, job, start=1)
    for page in pages.values():
        page.close()


def _painted(page: Page, act: Callable[[], object], kind: str) -> tuple[float | None, float | None]:
    """Return the seconds from the browser event `kind`, which `act` causes, to the page's first and last redrawn picture."""
    wait_until_idle(page)
    page.evaluate("kind => window.begin(kind)", kind)
    act()
    page.wait_for_timeout(300)
    wait_until_idle(page)
    seen = None
    while seen != (seen := page.evaluate("[window.first, window.last]")):
        page.wait_for_timeout(300)
    return tuple(each and each / 1000 for each in seen)
