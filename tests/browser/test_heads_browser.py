"""Inside a head and All heads in a real Chromium: clicks on a token and on a head, a phone's width, and 512 tokens under 1 MB."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import eventually, open_page, wait_for_address, wait_until_idle

pytestmark = pytest.mark.browser

CHARTS = "[data-testid=stVegaLiteChart] :is(svg, canvas)"


def readings(page):
    return page.locator("[data-testid=stText]").all_inner_texts()


def long_sentence():
    """As many words as the bundled encoder reads, one token each: 510 and two special tokens."""
    sentence = "the bank of the river was muddy after the rain and we sat there for a long while in the warm sun"
    return " ".join((sentence.split() * 30)[:510])


def painted_images(page):
    """The composed pictures that the browser has decoded: their natural sizes, or the canvases that are not empty."""
    return page.evaluate(
        """() => [...document.querySelectorAll('[data-testid=stVegaLiteChart] svg image, [data-testid=stVegaLiteChart] canvas')]
            .filter(e => e.tagName === 'image' ? (e.getAttribute('href') || e.getAttribute('xlink:href') || '').length > 500
                : e.getContext('2d').getImageData(0, 0, e.width, e.height).data.some((v, i) => i % 4 < 3 && v > 0 && v < 250))
            .length"""
    )


def test_a_click_on_a_token_shows_its_row_and_the_address_holds_it(page, server):
    page.set_viewport_size({"width": 1440, "height": 900})
    open_page(page, f"{server}/inside-a-head?head=L0+H10&step=powers")  # as an older link has it
    expect(page.get_by_text("The link is an older one")).to_be_visible()
    expect(page.get_by_text('"bank" gives "river" most of its weight: 0.63.', exact=True)).to_be_visible()
    page.get_by_role("button", name=re.compile("^sat")).first.click()
    wait_for_address(page, "piece_a=2")
    wait_until_idle(page)
    expect(page.get_by_text('"sat" and "bank" come in', exact=False)).to_be_visible()
    page.reload()
    wait_until_idle(page)
    expect(page.get_by_text('"sat" and "bank" come in', exact=False)).to_be_visible()


@pytest.mark.parametrize("path", ["inside-a-head", "all-heads", "all-heads?tab=Lines+from+the+word"])
def test_no_page_of_a_head_is_wider_than_a_phone(page, server, path):
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, f"{server}/{path}")
    expect(page.locator(CHARTS).first).to_be_visible()
    wait_until_idle(page)
    eventually(page, lambda: not page.evaluate("document.documentElement.scrollWidth > innerWidth"))
    assert (
        page.locator("[data-testid=stVegaLiteChart] svg.marks").evaluate_all(
            "all => Math.max(...all.map((e) => e.getBoundingClientRect().right))"
        )
        <= 390
    )


def test_a_click_in_the_grid_opens_the_head(page, server):
    open_page(page, f"{server}/all-heads")
    expect(page.locator(CHARTS)).to_have_count(2)
    eventually(page, lambda: painted_images(page) >= 1)
    click_head(page, "L2 H5")
    wait_for_address(page, "head=L2+H5")
    eventually(page, lambda: any(text.startswith("L2 H5") for text in readings(page)))
    click_head(page, "L5 H0")
    eventually(page, lambda: any(text.startswith("L5 H0") for text in readings(page)))
    wait_for_address(page, "head=L5+H0")


def click_head(page, name):
    page.locator(f'path[aria-label*="head: {name}"]').first.click()
    wait_until_idle(page)


@pytest.mark.long
def test_512_tokens_paint_and_stay_under_a_megabyte(page, server):
    received = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    open_page(page, f"{server}/all-heads?word=bank")
    received.clear()
    page.get_by_role("button", name="Your own ...").click()
    page.get_by_label("Sentence A", exact=True).fill(long_sentence())
    page.keyboard.press("Enter")
    wait_until_idle(page, 120)
    assert not page.get_by_text("reads at most").count()  # no message that it is too long
    expect(page.locator(CHARTS).first).to_be_visible(timeout=30_000)
    eventually(page, lambda: painted_images(page) >= 2)  # the grid and the chosen head's map
    assert 20_000 < sum(received) < 1_000_000, sum(received)
