"""Test the start page in Chromium."""

import json
import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import eventually, open_page, wait_for_address, wait_until_idle

pytestmark = pytest.mark.browser


def word(page, name):
    return page.get_by_role("button", name=re.compile(f"^{name}:"))


def cell(page, layer, head):
    if not page.locator(".heads[open]").count():
        page.locator(".heads summary").click()
    return page.get_by_role("gridcell", name=re.compile(f"^head {head} of layer {layer}\\b"))


def finding(page):
    return page.locator(".way .finding")


def test_visitor_hides_word_and_chooses_head(page, server):
    page.set_viewport_size({"width": 1440, "height": 900})
    open_page(page, server)
    expect(finding(page)).to_have_text(
        'Hide "river", and "bank" moves toward finance, 44\u00a0% of the distance between the senses.'
    )
    for part in (page.locator(".beyond"), page.locator(".heads > summary > h2")):
        box = part.bounding_box()
        assert box["y"] + box["height"] <= 900
    word(page, "of").click()  # hide the word
    wait_for_address(page, "hide_a=of")
    wait_until_idle(page)
    expect(word(page, "of")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text('Hide "of" in one of the 72 heads at a time')).to_be_visible()
    expect(page.get_by_text('Head 10 of layer 0, "of" hidden in A')).to_be_visible()
    word(page, "of").click()  # show the word again
    eventually(page, lambda: "hide_a" not in page.url)
    wait_until_idle(page)

    cell(page, 3, 7).click()
    wait_for_address(page, "head=L3+H7")
    wait_until_idle(page)
    expect(page.get_by_text("Head 7 of layer 3.")).to_be_visible()
    eventually(
        page, lambda: "L3 H7" in " ".join(page.locator("[data-testid=stVegaLiteChart] svg text").all_text_contents())
    )

    page.get_by_role("radio", name="trunk").or_(page.get_by_role("button", name="trunk", exact=True)).first.click()
    wait_until_idle(page)
    expect(finding(page)).to_contain_text(
        'Hide "elephant", and "trunk" moves toward car compartment, 49\u00a0% of the distance between the senses'
    )


def test_focus_stays_on_item_chosen_by_keyboard(page, server):
    open_page(page, server)
    word(page, "sat").focus()
    page.keyboard.press("Enter")
    wait_for_address(page, "hide_a=sat")
    wait_until_idle(page)
    expect(word(page, "sat")).to_be_focused()
    cell(page, 0, 10).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_address(page, "head=L1+H10")
    wait_until_idle(page)
    expect(cell(page, 1, 10)).to_be_focused()


def word_with_open_map(page, text):
    page.locator(".heads summary").click()
    expect(page.locator(".effects .small")).to_have_text(re.compile("^A cell:"))
    return word(page, text)


@pytest.mark.parametrize(
    ("choose", "said", "query"),
    [
        (lambda page: cell(page, 2, 3), "Head 3 of layer 2", "head=L2+H3"),
        (lambda page: word(page, "river"), 'Head 10 of layer 0, "river" hidden in A', "hide_a=river"),
        (lambda page: word(page, "sat"), 'Head 10 of layer 0, "sat" hidden in A', "hide_a=sat"),
        (lambda page: word_with_open_map(page, "sat"), 'Head 10 of layer 0, "sat" hidden in A', "hide_a=sat"),
    ],
)
def test_choice_reruns_page_once(page, server, choose, said, query):
    received = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda each: received.append(each)))
    open_page(page, server)
    chosen = choose(page)
    wait_until_idle(page)  # opening the map of heads computes exact effects
    received.clear()
    chosen.click()
    expect(page.get_by_text(f"{said}.")).to_be_visible()
    wait_for_address(page, query)
    wait_until_idle(page)
    assert 8 <= len(received) <= 12


def test_opening_map_of_heads_computes_exact_effects(page, server):
    open_page(page, server)
    word(page, "sat").click()
    wait_until_idle(page)
    said = page.locator(".effects .small")
    expect(said).to_have_text("Running the heads ...")
    page.locator(".heads summary").click()
    expect(said).to_have_text(
        re.compile('^A cell: how much of the way "bank" then moves\\.')
    )  # otherwise "by gradient"
    word(page, "on").click()
    expect(page.get_by_text('Hide "on" in one head alone')).to_be_visible()
    expect(said).to_have_text(re.compile('^A cell: how much of the way "bank" then moves\\.'))


@pytest.mark.parametrize("width", [1440, 800, 390])
def test_charts_fit_window(page, server, width):
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, server)
    page.get_by_text("Layer by layer").click()
    charts = page.locator("[data-testid=stVegaLiteChart] svg")
    eventually(page, lambda: charts.count() >= 2)
    main = page.get_by_test_id("stMain")
    eventually(page, lambda: main.evaluate("main => main.scrollWidth <= main.clientWidth"))
    for at in range(2):
        box = charts.nth(at).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width, at
    if width == 800:
        expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")


def test_downloaded_picture_has_provenance(page, server):
    open_page(page, server)
    page.get_by_role("button", name="Download").click()
    page.get_by_role("combobox", name="Figure").fill("maps")
    page.keyboard.press("Enter")
    wait_until_idle(page)
    with page.expect_download() as got:
        page.get_by_role("button", name="PNG", exact=True).click()
    picture = Image.open(got.value.path())
    assert picture.format == "PNG" and picture.width > 600
    assert picture.text["Title"] == "Maps, L0 H10"
    provenance = json.loads(picture.text["provenance"])
    assert (provenance["layer"], provenance["head"], [*provenance["sentences"]][:2]) == (0, 10, ["A", "B"])
    toolbars = page.locator("[data-testid=stElementToolbar]")  # Streamlit's own toolbars are hidden
    assert {bar.evaluate("bar => getComputedStyle(bar).display") for bar in toolbars.all()} == {"none"}
