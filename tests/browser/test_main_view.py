"""The main flow in a real Chromium: paint, hide a word, click a head, pick an example, guess."""

import json

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import eventually, open_page, wait_for_address, wait_until_idle

pytestmark = pytest.mark.browser


def cell(page, name):
    return page.locator(f'g[class*="cells_marks"] path[aria-label^="{name}:"]').first


def word(page, side, name):
    return page.locator(f'g[class*="chips_{side}_marks"] path[aria-label^="{name}:"]').first


def click_head(page, name):
    cell(page, name).click()
    wait_until_idle(page)


def reads(page, text):
    """Whether the live figure says this, as it is painted; lines break anywhere."""
    texts = page.locator("[data-testid=stVegaLiteChart] svg").first.locator("text").all_text_contents()
    return "".join(text.split()) in "|".join("".join(each.split()) for each in texts)


def readings(page):
    return page.locator("[data-testid=stText]").all_inner_texts()


def test_the_main_flow(page, server):
    """The answer, its limit and the live figure above the fold; hover, a word and a head answer; an example opens."""
    open_page(page, server)
    charts = page.locator("[data-testid=stVegaLiteChart] svg")
    eventually(page, lambda: charts.count() == 4)
    expect(page.locator(".st-key-answer")).to_contain_text('In A it comes mostly from "river"')
    assert any("768 sentences" in text for text in readings(page))
    box = charts.first.bounding_box()
    assert box["y"] < 440 and box["y"] + box["height"] < 900
    assert reads(page, "0.93 “river” and “loan” hidden") and reads(page, "44 %")

    cell(page, "L3 H7").hover()
    eventually(page, lambda: reads(page, "Head 7 of layer 3 gives “river” 0."))
    word(page, "a", "of").click()  # hidden in place of "river"
    eventually(page, lambda: reads(page, "“of” and “loan” hidden"))
    eventually(page, lambda: reads(page, "Through which heads “bank” reads “of” | each head alone, measured"))
    word(page, "a", "of").click()  # shown again
    eventually(page, lambda: not reads(page, "0.93") and reads(page, " “loan” hidden"))

    click_head(page, "L3 H7")
    wait_for_address(page, "head=L3+H7")
    expect(page.get_by_text("How head 7 of layer 3 computes it")).to_be_visible()
    eventually(page, lambda: "L3 H7" in " ".join(page.locator(".st-key-maps svg text").all_text_contents()))
    expect(page.get_by_role("radio", name='"loan" hidden', exact=True)).to_be_visible()

    page.get_by_role("combobox", name="Example").click()
    page.get_by_role("option", name="crane", exact=True).click()
    wait_until_idle(page)
    expect(page.locator(".st-key-answer")).to_contain_text('more from "wings" than from any other word')


def test_words_heads_and_steps_are_chosen_by_the_keyboard_and_the_focus_stays(page, server):
    open_page(page, server)
    expect(page.locator("[data-testid=stVegaLiteChart] select")).to_have_count(2)
    layer = page.locator("[data-testid=stVegaLiteChart] input[type=range]").first
    layer.focus()
    page.keyboard.press("ArrowRight")
    wait_until_idle(page)
    wait_for_address(page, "head=L1+H10")
    assert layer.evaluate("input => input === document.activeElement")
    page.locator("[data-testid=stVegaLiteChart] select").first.select_option(label="sat")
    eventually(page, lambda: reads(page, "“sat” and “loan” hidden"))
    chart = page.locator("[data-testid=stVegaLiteChart]", has=page.locator(".vega-bind input[type=radio]"))
    chart.locator("input[value='1']").check()
    pale = chart.locator("path[opacity='0.3']")
    eventually(page, lambda: pale.count() > 40)
    expect(chart.locator("text[font-family='monospace']").filter(has_text="scores = query")).to_be_visible()
    before = pale.count()
    page.keyboard.press("ArrowRight")
    eventually(page, lambda: 0 < pale.count() < before)


@pytest.mark.parametrize("width", [1440, 800, 400])
def test_nothing_is_cut_off_and_nothing_scrolls_sideways(page, server, width):
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, server)
    charts = page.locator("[data-testid=stVegaLiteChart] svg")
    eventually(page, lambda: charts.count() == 4)
    main = page.get_by_test_id("stMain")
    eventually(page, lambda: main.evaluate("main => main.scrollWidth <= main.clientWidth"))
    for at in range(4):
        box = charts.nth(at).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width, at
    if width == 800:
        expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
        a, b = (each.bounding_box() for each in page.locator(".st-key-maps [data-testid=stVegaLiteChart] svg").all())
        assert abs(a["y"] - b["y"]) < 5 and a["x"] + a["width"] <= b["x"] + 1


def test_a_guess_stands_beside_the_answer(page, server):
    open_page(page, f"{server}/?guess=yes")
    expect(page.locator(".st-key-answer")).to_have_text('Which word would change "bank" most? Click one.')
    assert not reads(page, "44 %")
    page.locator('g[class*="chips_marks"] path[aria-label^="of"]').first.click()
    wait_until_idle(page)
    eventually(page, lambda: any('Your guess: "of" in A (16 %).' in text for text in readings(page)))
    expect(page.locator(".st-key-answer")).to_contain_text("mostly from")


def test_a_picture_is_downloaded_with_where_it_comes_from(page, server):
    open_page(page, server)
    with page.expect_download() as got:
        page.get_by_role("button", name="PNG of A", exact=True).click()
    picture = Image.open(got.value.path())
    assert picture.format == "PNG" and picture.width > 600
    assert picture.text["Title"] == "What each word attends to in A, L0 H10"
    provenance = json.loads(picture.text["provenance"])
    assert (provenance["layer"], provenance["head"], list(provenance["sentences"])) == (0, 10, ["A"])
    toolbars = page.locator("[data-testid=stElementToolbar]")  # Streamlit's own: "Download" is the one route
    assert {bar.evaluate("bar => getComputedStyle(bar).display") for bar in toolbars.all()} == {"none"}


def test_a_copied_link_opens_the_same_in_a_browser_that_was_never_here(page, server, encoder):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(page, server)
    page.get_by_role("combobox", name="Example").click()
    page.get_by_role("option", name="crane", exact=True).click()
    wait_until_idle(page)
    page.get_by_role("button", name="Copy link", exact=True).click()
    expect(page.get_by_role("button", name="Link copied", exact=True)).to_be_visible()
    link, expected = page.evaluate("navigator.clipboard.readText()"), readings(page)
    assert link == f"{server}/?content={encoder.content[:8]}&example=crane"
    page.evaluate("localStorage.clear()")
    page.context.clear_cookies()
    fresh = page.context.new_page()
    open_page(fresh, link)
    eventually(fresh, lambda: readings(fresh) == expected)
