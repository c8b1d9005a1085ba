"""The main flow in a real Chromium: paint, pick an example, click a head, download, reopen by link."""

import io
import json
import re
from urllib.parse import urlencode

import pandas as pd
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import eventually, open_page, wait_for_address, wait_until_idle

pytestmark = pytest.mark.browser


def click_head(page, name):
    page.locator(f'path[aria-label="{name}"]').first.click()
    wait_until_idle(page)


def cell_colors(page):
    """The fills of the strips' words, the steps' bars and the maps' cells: what is painted, not what was sent."""
    return page.eval_on_selector_all(
        "[data-testid=stVegaLiteChart] path[aria-label^='x: ']", "cells => cells.map(c => c.getAttribute('fill'))"
    )


def readings(page):
    return page.locator("[data-testid=stText]").all_inner_texts()


def test_the_main_flow(page, server):
    open_page(page, server)
    charts = page.locator("[data-testid=stVegaLiteChart] svg")
    eventually(page, lambda: charts.count() == 7)
    expect(page.get_by_text("river", exact=True).first).to_be_visible()
    eventually(page, lambda: len(cell_colors(page)) >= 16 + 128)
    first = cell_colors(page)
    assert len(set(first)) > 20

    # the curve, the words and the swap stand above the fold at 1440 x 900
    for chart in range(3):
        box = charts.nth(chart).bounding_box()
        assert box["y"] + box["height"] < 900, chart

    click_head(page, "L3 H7")
    wait_for_address(page, "head=L3+H7")
    eventually(page, lambda: any(text.startswith("Head 7 of layer 3 is shown.") for text in readings(page)))
    eventually(page, lambda: cell_colors(page) != first)

    page.get_by_role("radio", name="crane", exact=True).click()
    wait_until_idle(page)
    eventually(page, lambda: any('"crane"' in text for text in readings(page)))
    eventually(page, lambda: cell_colors(page) != first)


@pytest.mark.long
def test_a_head_is_chosen_again_after_the_choice_was_moved_elsewhere(page, server):
    open_page(page, server)
    click_head(page, "L0 H1")
    page.get_by_role("slider").first.focus()
    page.keyboard.press("ArrowRight")
    wait_until_idle(page)
    wait_for_address(page, "head=L0+H2")
    click_head(page, "L0 H1")
    wait_for_address(page, "head=L0+H1")
    page.go_back()
    wait_until_idle(page)
    wait_for_address(page, "head=L0+H2")


@pytest.mark.long
def test_downloads_and_the_link(page, server):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(page, f"{server}/?head=L1+H4&hide=true")
    before = readings(page)
    page.get_by_role("button", name="Download", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG", exact=True).click()
    picture = Image.open(io.BytesIO(download.value.path().read_bytes()))
    assert picture.format == "PNG" and picture.width > 1500 and picture.height > 1000
    provenance = json.loads(picture.text["provenance"])
    assert (provenance["layer"], provenance["head"], provenance["model"].split("/")[-1]) == (1, 4, "all-MiniLM-L6-v2")
    assert 0 < provenance["error"] < 1e-6
    assert len(picture.convert("RGB").getcolors(1 << 24)) > 100
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    drawn = download.value.path().read_text("utf-8")
    assert drawn.startswith("<svg") and "layer 1, head 4" in drawn and "provenance" not in drawn[:5]
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    frame = pd.read_csv(io.BytesIO(download.value.path().read_bytes()))
    assert len(frame) == 128 and frame.groupby(["sentence", "query_pos"])["weight"].sum().round(4).eq(1).all()

    page.keyboard.press("Escape")
    page.get_by_role("button", name="Copy link", exact=True).click()
    expect(page.get_by_test_id("stToast")).to_contain_text("Link copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{server}/?head=L1+H4&hide=true&digest=53aa5117"  # defaults stay out, the encoder doesn't
    other = page.context.new_page()
    open_page(other, link)
    eventually(other, lambda: set(before) <= set(readings(other)))
    expect(other.get_by_role("slider").first).to_have_attribute("aria-valuetext", "L1 H4")


@pytest.mark.long
def test_the_steps_are_stepped_by_the_keyboard_without_a_rerun(page, server):
    open_page(page, server)
    steps = page.locator("[data-testid=stVegaLiteChart]", has=page.locator(".vega-bind input"))
    pale = steps.locator("path[opacity='0.3']")
    expect(pale).to_have_count(0)
    steps.locator("input[value='6']").focus()
    page.keyboard.press("ArrowLeft")
    eventually(page, lambda: pale.count() > 30)  # the context is pale before its step
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


@pytest.mark.long
def test_back_to_the_first_view_finds_the_defaults(page, server):
    open_page(page, server)
    click_head(page, "L2 H2")
    page.go_back()
    wait_until_idle(page)
    assert re.search(r"head=", page.url) is None
    eventually(page, lambda: any(text.startswith("Head 7 of layer 5 matters most here.") for text in readings(page)))


@pytest.mark.long
@pytest.mark.parametrize(
    "query", ["head=L99+H0", "head=%3Cscript%3E", "map=nonsense&view=42", "word=zzz", "model=../../etc"]
)
def test_wrong_links_open_a_sound_page(page, server, query):
    open_page(page, f"{server}/?{query}")
    assert page.locator("[data-testid=stException]").count() == 0
    eventually(page, lambda: any("bank" in text for text in readings(page)))


@pytest.mark.long
def test_a_name_with_markup_is_shown_as_it_was_typed(page, server):
    name = ":red[x] **b** $$y$$ `c` <b>d</b> [e](http://f) :smile:"
    open_page(page, f"{server}/?" + urlencode({"model": "another ...", "other": name}))
    alert = page.locator("[data-testid=stAlert]").first
    assert name in alert.inner_text()
    assert alert.locator("strong, code, a, b, .katex").count() == 0
    eventually(page, lambda: any("bank" in text for text in readings(page)))


@pytest.mark.long
def test_five_hundred_words_paint(page, server):
    open_page(page, server)
    page.get_by_role("textbox", name="Sentence A").fill(
        "The bank of the river. " + "It was a long and quiet day. " * 56
    )
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    wait_until_idle(page)
    assert page.locator("[data-testid=stException]").count() == 0
    eventually(page, lambda: page.locator("[data-testid=stVegaLiteChart] image").count() >= 1)


def test_in_a_narrow_window_the_sidebar_is_closed_and_b_stands_beside_a(page, server):
    page.set_viewport_size({"width": 800, "height": 900})
    open_page(page, server)
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
    maps = page.locator(".st-key-maps [data-testid=stVegaLiteChart] svg")
    expect(maps).to_have_count(2)
    a, b = (maps.nth(at).bounding_box() for at in (0, 1))
    assert abs(a["y"] - b["y"]) < 5 and a["x"] + a["width"] <= b["x"] + 1 and b["x"] + b["width"] <= 800
