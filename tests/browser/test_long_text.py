"""Test the figure of a long text in Chromium."""

from functools import partial
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from selfattn.panel import Live
from tests.browser.component import cut_or_overlapping, focused, settle
from tests.browser.conftest import wait_for_address

pytestmark = pytest.mark.browser
HOSTILE = "<b>bold</b> claims."


@pytest.fixture
def shown(open_component):
    return partial(open_component, "shaded")


def word(text, at, depth=-80, number="−0.30"):
    return {"text": text, "gap": at > 0, "kind": "word", "depth": depth, "number": number, "tip": f"{text}: change"}


def sentence(text, start, stop, depth=0, level=50, kind="sentence", words=()):
    look = {"kind": kind, "number": f"{depth / 100:+.2f}", "tip": f"Sentence from {start}: change {depth / 100:+.2f}."}
    own = {"start": start, "stop": stop, "level": level, "words": [word(each, at) for at, each in enumerate(words)]}
    return word(text, 1, depth) | look | own


def data(key="k", direction="ltr", times=1):
    end = 20 + 5 * times
    long = [
        sentence("We sat by the water and waited for the boat.", 0, 10, -25),
        sentence(HOSTILE, 10, 15, 75, kind="named", words=("bold", "claims")),
        sentence("It rained.", 15, 20, -100, kind="named", words=("It", "rained", "incomprehensibilities" * times)),
        *(sentence("Nobody came. " * times, at, at + 5, 10) for at in range(20, end, 5)),
        word("Then all of this is cut off.", 1, 0, "") | {"kind": "lost", "tip": "never read"},
    ]
    rows = [
        {"said": "in A", "dir": direction, "words": [word("Who", 0), word("sat", 1)]},
        {"said": "in B", "dir": direction, "tokens": end + 8, "read": end, "words": long},
    ]
    return {
        "version": 1, "key": key, "open": "", "first": 8, "rows": rows, "opened": [1, 2], "legend": "Grey: noise.",
        "finding": 'Hide "It rained." in B, and the cosine changes by −1.00.',
    }  # fmt: skip


def boxes(page, kind):
    parts = (
        "[...['x', 'width'].map(k => parseFloat(e.getAttribute(k))), ...['y', 'height'].map(k => +e.getAttribute(k))]"
    )
    return page.locator(f"rect.{kind}").evaluate_all(f"all => all.map(e => {parts})")


def test_bar_width_follows_sentence_length(shown):
    page = shown(Live("shaded", data()).data)
    first, second, third, _ = boxes(page, "bar")
    assert first == pytest.approx([0, 1000 / 33, 36, 9], abs=0.01)
    assert second == pytest.approx([1000 / 33, 500 / 33, 9, 27], abs=0.01)
    assert third == pytest.approx([1500 / 33, 500 / 33, 36, 36], abs=0.01)
    assert boxes(page, "band")[0] == pytest.approx([0, 1000 / 33, 18, 36], abs=0.01)
    assert boxes(page, "cut") == [pytest.approx([2500 / 33, 800 / 33, 0, 72], abs=0.01)]
    expect(page.get_by_text("the last 8 tokens are never read")).to_be_visible()
    assert page.locator("section").count() == 1  # only the long text has a section
    assert page.locator(".shaded b").count() == 0  # a text is never HTML


def test_click_opens_sentence(shown):
    page = shown(data())
    opened = page.get_by_role("status")
    expect(opened).to_contain_text("Sentence from 15: change -1.00.")
    assert opened.locator(".word").all_inner_texts()[1].split() == ["rained", "−0.30"]
    page.get_by_role("button", name=HOSTILE).click()
    expect(opened).to_contain_text("bold")
    assert page.locator("rect.opened").count() == 1
    page.get_by_role("button", name="We sat by").click()
    expect(opened).to_have_text("Sentence from 0: change -0.25.")
    page.locator("rect.bar").nth(2).click()
    expect(opened).to_contain_text("rained")
    assert page.evaluate("sent") == [["opened", [1, at]] for at in (1, 0, 2)]
    page.locator("rect.bar").nth(1).hover()
    assert page.locator(".sentence.lit").inner_text() == HOSTILE
    page.get_by_role("button", name=HOSTILE).click()
    page.evaluate("data => { show(data); }", data())
    expect(opened).to_contain_text("bold")  # the key is the same, so the choice stays
    page.evaluate("data => { show(data); }", data(key="other"))
    expect(page.get_by_role("status")).to_contain_text("rained")


def test_enter_and_space_keys_open_sentence(shown):
    page = shown(data())
    page.keyboard.press("Tab")
    assert focused(page) == "sentence 1 2"
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tooltip")).to_have_text("Sentence from 10: change +0.75.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("claims")
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    expect(page.get_by_role("status")).to_contain_text("Sentence from 0")


@pytest.mark.parametrize(("direction", "times"), [("ltr", 1), ("rtl", 9)])
def test_texts_are_neither_cut_nor_overlapping(shown, direction, times):
    page = shown(data(direction=direction, times=times))
    settle(page)
    assert not cut_or_overlapping(page, ".finding, .small, .said, .ink, .number", [360, 400, 800, 1440])


def test_address_says_which_sentence_is_open(page, server):
    link = urlencode({"asked": "Two sentences", "a": "Was the breakfast good?", "b": "We sat by the water. " * 13})
    page.goto(f"{server}/predictions?{link}")
    (second := page.locator(".sentence").nth(1)).click(timeout=180_000)
    wait_for_address(page, "passage=2.2")
    expect(second).to_have_attribute("aria-expanded", "true")
    page.reload()
    expect(second).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("status")).to_contain_text("Sentence 2 of 13")
