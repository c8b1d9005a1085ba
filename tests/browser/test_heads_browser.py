"""Test the pages "Inside a head" and "All heads" in Chromium."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import eventually, open_page, wait_for_address, wait_until_idle

pytestmark = pytest.mark.browser

CHARTS = "[data-testid=stVegaLiteChart] :is(svg, canvas)"


def test_address_contains_clicked_token(page, server):
    page.set_viewport_size({"width": 1440, "height": 900})
    open_page(page, f"{server}/inside-a-head?head=L0+H10&step=powers")  # an older link
    expect(page.get_by_text("This link is from an older version")).to_be_visible()
    expect(page.get_by_text('"bank" gives "river" most of its weight: 0.63.', exact=True)).to_be_visible()
    page.get_by_role("button", name=re.compile("^sat")).first.click()
    wait_for_address(page, "piece_a=2")
    wait_until_idle(page)
    expect(page.get_by_text('input for "sat" and "bank" has', exact=False)).to_be_visible()
    page.reload()
    wait_until_idle(page)
    expect(page.get_by_text('input for "sat" and "bank" has', exact=False)).to_be_visible()


@pytest.mark.parametrize("path", ["inside-a-head", "two-encoders"])
def test_pages_fit_width_of_phone(page, server, path):
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


def cell(page, layer, head):
    return page.get_by_role("gridcell", name=re.compile(rf"^head {head} of layer {layer}\b"))


def test_click_on_map_opens_head(page, server):
    open_page(page, f"{server}/all-heads")
    cell(page, 2, 5).first.click()
    wait_for_address(page, "head=L2+H5")
    expect(page.get_by_role("heading", name="See how L2 H5 computes the outlined row")).to_be_visible()
    wait_until_idle(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_address(page, "head=L3+H5")
    expect(page.get_by_role("heading", name="See what L3 H5 does over many sentences")).to_be_visible()
    cell(page, 0, 1).last.click()  # in the map of many sentences
    wait_for_address(page, "head=L0+H1")
    expect(page.locator(".heads.pictured .chip")).to_have_text("L0 H1")


def test_click_on_example_sentence_shows_its_maps(page, server):
    open_page(page, f"{server}/all-heads?head=L0+H11")
    row = page.locator(".shaded .row").first
    word = row.locator(".chosen .ink").inner_text()
    row.click()
    expect(page.locator(".st-key-both_sentences")).to_contain_text(word)
    wait_until_idle(page)
    expect(cell(page, 0, 11).first).to_have_attribute("aria-selected", "true")
    assert "head=L0+H11" in page.url


def test_head_can_be_chosen_again(page, server):
    """Streamlit reports a component's state only if the state changes: a second click on the same head would be lost."""
    open_page(page, f"{server}/predictions?asked=Two+sentences")
    for side, head in ((0, 3), (1, 7), (0, 3)):
        cell(page, 1, head).nth(side).click()
        wait_for_address(page, f"head=L1+H{head}")
        wait_until_idle(page)
