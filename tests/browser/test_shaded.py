"""The component `shaded` in a real Chromium, and the page Senses, whose rows open the main view."""

import pytest
from playwright.sync_api import expect

from selfattn.export.component_page import javascript, stylesheet
from tests.browser.conftest import open_page, wait_for_address, watch
from tests.browser.test_way import MOUNT

pytestmark = pytest.mark.browser

HOSTILE = "<b>bold</b>"
WORDS = [
    {"text": "Somebody", "gap": False, "kind": "word", "depth": 0, "number": "", "tip": "Somebody: 1 %"},
    {"text": "bank", "gap": True, "kind": "chosen", "depth": 0, "number": "", "tip": ""},
    {"text": HOSTILE, "gap": True, "kind": "word", "depth": 80, "number": "43 %", "tip": "ferry: 43 % of the way"},
    {"text": "late", "gap": True, "kind": "word", "depth": -50, "number": "−20 %", "tip": "late: −20 %"},
    {"text": ".", "gap": False, "kind": "punctuation", "depth": 0, "number": "", "tip": ""},
]


def data(n=10, open="Open it", direction="ltr"):
    rows = [{"said": f"river side {at}", "dir": direction, "words": WORDS} for at in range(n)]
    return {"version": 1, "key": "k", "open": open, "first": 8, "rows": rows}


@pytest.fixture
def shown(browser):
    """shown(data, width, scheme): a page with the component; the test fails on a console error or a request."""
    contexts, trouble = [], []

    def opened(given, width=1100, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        contexts.append(context)
        trouble.append(watch(page))
        page.set_content("<style>:root {color-scheme: light dark} body {margin: 0}</style><main></main>")
        page.evaluate(MOUNT, [javascript("shaded"), stylesheet("shaded")])
        page.evaluate("data => { show(data); }", given)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not any(trouble), trouble


def test_a_row_says_where_it_leads_and_a_click_or_enter_sends_its_number(shown):
    page = shown(data())
    rows = page.get_by_role("button", name="river side")
    expect(rows).to_have_count(8)
    assert rows.first.get_attribute("aria-label") == f"river side 0: Somebody bank {HOSTILE} 43 % late −20 % .. Open it"
    assert page.locator(".shaded b").count() == 0
    rows.nth(2).click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("sent") == [["open", 2], ["open", 3]]
    page.get_by_role("button", name="Show all 10").click()
    expect(rows).to_have_count(10)
    expect(rows.nth(8)).to_be_focused()
    page.get_by_text(HOSTILE).first.hover()
    expect(page.get_by_role("tooltip")).to_have_text("ferry: 43 % of the way")


def test_the_tint_is_as_deep_as_its_number_says(shown):
    page = shown(data(1))
    depths = page.locator(".word").evaluate_all(
        "all => all.map(e => [e.style.getPropertyValue('--depth'), e.className])"
    )
    assert depths[2] == ["80%", "word word"] and depths[3] == ["50%", "word away"]
    assert page.get_by_role("button", name="Show all").count() == 0


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (400, "light"), (1440, "light")])
def test_nothing_is_cut_off(shown, width, scheme, direction):
    page = shown(data(open="", direction=direction), width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.locator(".ink, .number:not(:empty)").evaluate_all(
        "all => all.filter(e => e.offsetWidth).map(e => [e.getBoundingClientRect().left, e.getBoundingClientRect().right])"
    )
    assert min(left for left, _ in boxes) >= 0 and max(right for _, right in boxes) <= width
    assert page.get_by_role("button", name="river side").count() == 0


def test_a_sentence_of_senses_opens_in_the_main_view_and_back_leads_to_senses(page, server):
    open_page(page, f"{server}/senses?sense_word=bat")
    page.get_by_role("button", name="Open it in the main view").nth(1).click()
    page.get_by_role("heading", name='Where does "bat" get its meaning?').wait_for()
    wait_for_address(page, "?a=")
    page.go_back()
    page.get_by_role("heading", name="Senses").wait_for()
