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


def chosen(page):
    return page.locator(".st-key-head input")


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


def test_words_and_heads_are_chosen_by_the_keyboard_and_the_focus_stays(page, server):
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


@pytest.mark.parametrize("width", [1440, 800, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off_and_nothing_scrolls_sideways(page, server, width, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, server)
    charts = page.locator("[data-testid=stVegaLiteChart] svg")
    eventually(page, lambda: charts.count() == 4)
    main = page.get_by_test_id("stMain")
    eventually(page, lambda: main.evaluate("main => main.scrollWidth <= main.clientWidth"))
    for at in range(4):
        box = charts.nth(at).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width, at


def test_a_guess_stands_beside_the_answer(page, server):
    open_page(page, f"{server}/?guess=yes")
    expect(page.locator(".st-key-answer")).to_have_text('Which word would change "bank" most? Click one.')
    assert not reads(page, "44 %")
    page.locator('g[class*="chips_marks"] path[aria-label^="of"]').first.click()
    wait_until_idle(page)
    eventually(page, lambda: any('Your guess: "of" in A (16 %).' in text for text in readings(page)))
    expect(page.locator(".st-key-answer")).to_contain_text("mostly from")


@pytest.mark.long
def test_a_head_is_chosen_again_after_the_choice_was_moved_elsewhere(page, server):
    open_page(page, server)
    click_head(page, "L0 H1")
    wait_for_address(page, "head=L0+H1")
    page.locator("[data-testid=stVegaLiteChart] input[type=range]").nth(1).focus()
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
    assert {"sentence", "text", "share", "leads"} <= {*frame.columns} and frame["share"].max() == pytest.approx(
        0.44, abs=0.005
    )

    page.keyboard.press("Escape")
    page.get_by_role("button", name="Copy link", exact=True).click()
    expect(page.get_by_test_id("stToast")).to_contain_text("Link copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{server}/?head=L1+H4&hide=true&digest=53aa5117"  # defaults stay out, the encoder doesn't
    other = page.context.new_page()
    open_page(other, link)
    eventually(other, lambda: set(before) <= set(readings(other)))
    expect(chosen(other)).to_have_attribute("aria-valuetext", "L1 H4")


@pytest.mark.long
def test_the_steps_are_stepped_by_the_keyboard_without_a_rerun(page, server):
    open_page(page, server)
    steps = page.locator("[data-testid=stVegaLiteChart]", has=page.locator(".vega-bind input[type=radio]"))
    pale = steps.locator("path[opacity='0.3']")
    expect(pale).to_have_count(0)
    steps.locator("input[value='4']").focus()
    page.keyboard.press("ArrowLeft")
    eventually(page, lambda: pale.count() > 10)  # what is handed over is pale before its step
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


@pytest.mark.long
def test_back_to_the_first_view_finds_the_defaults(page, server):
    open_page(page, server)
    click_head(page, "L2 H2")
    page.go_back()
    wait_until_idle(page)
    assert re.search(r"head=", page.url) is None
    expect(page.get_by_text("How head 10 of layer 0 computes it")).to_be_visible()


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
