"""Inside a head and All heads in a real Chromium: the controls, the links between views, and 512 tokens under 1 MB."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import eventually, open_page, wait_for_address, wait_until_idle

pytestmark = pytest.mark.browser

CHARTS = "[data-testid=stVegaLiteChart] :is(svg, canvas)"


def readings(page):
    return page.locator("[data-testid=stText]").all_inner_texts()


def tab(page, name):
    page.get_by_role("tab", name=name).click()
    wait_until_idle(page)


def long_sentence():
    """As many words as the bundled encoder reads, one token each: 510 and two special tokens."""
    sentence = "the bank of the river was muddy after the rain and we sat there for a long while in the warm sun"
    return " ".join((sentence.split() * 30)[:510])


def type_sentence(page, label, text):
    box = page.get_by_label(label, exact=True)
    box.fill(text)
    box.press("Enter")
    wait_until_idle(page)


def painted_images(page):
    """The composed pictures that the browser has decoded: their natural sizes, or the canvases that are not empty."""
    return page.evaluate(
        """() => [...document.querySelectorAll('[data-testid=stVegaLiteChart] svg image, [data-testid=stVegaLiteChart] canvas')]
            .filter(e => e.tagName === 'image' ? (e.getAttribute('href') || e.getAttribute('xlink:href') || '').length > 500
                : e.getContext('2d').getImageData(0, 0, e.width, e.height).data.some((v, i) => i % 4 < 3 && v > 0 && v < 250))
            .length"""
    )


def test_the_rail_steps_within_one_screen(page, server):
    page.set_viewport_size({"width": 1440, "height": 900})
    open_page(page, f"{server}/inside-a-head?head=L3+H7&step=powers")  # as an older link has it
    expect(page.get_by_text("def exponentials(")).to_be_visible()
    wait_for_address(page, "step=exponentials")
    for step in ("input", "query", "scores", "maximum", "output"):
        expect(page.get_by_role("radio", name=step, exact=True)).to_be_in_viewport()
    for step in ("shifted", "weights"):
        page.get_by_role("radio", name=step, exact=True).click()
        wait_for_address(page, f"step={step}")
        expect(page.get_by_text(f"def {step}(")).to_be_visible()
        expect(page.locator(CHARTS)).to_have_count(1)
        expect(page.get_by_role("radio", name="output", exact=True)).to_be_in_viewport()
        wait_until_idle(page)
    eventually(page, lambda: page.locator("[data-testid=stMainBlockContainer]").bounding_box()["height"] <= 900)
    page.locator(".st-key-arrow_forward button").first.click()
    wait_for_address(page, "step=context")
    expect(page.locator(CHARTS)).to_have_count(2)


@pytest.mark.long
def test_the_head_and_the_step_are_carried_over(page, server):
    open_page(page, f"{server}/?head=L3+H7")
    page.get_by_role("link", name="Inside a head").first.click()
    wait_until_idle(page)
    expect(page.get_by_role("slider").first).to_have_attribute("aria-valuetext", "L3 H7")
    page.get_by_role("radio", name="context", exact=True).click()
    wait_for_address(page, "step=context")
    page.get_by_role("link", name="All heads").first.click()
    wait_until_idle(page)
    eventually(page, lambda: any("L3 H7 has" in text for text in readings(page)))
    page.go_back()
    wait_until_idle(page)
    wait_for_address(page, "head=L3+H7")
    expect(page.get_by_role("slider").first).to_have_attribute("aria-valuetext", "L3 H7")
    expect(page.get_by_role("radio", name="context", exact=True)).to_have_attribute("aria-checked", "true")


@pytest.mark.long
def test_a_link_opens_the_very_view(page, server):
    open_page(page, f"{server}/inside-a-head?head=L4+H2&follow=A&part=What+if&causal=true&temperature=2.0")
    expect(page.locator(CHARTS)).to_have_count(1)
    eventually(page, lambda: any(text.startswith("A: entropy") and "1.000" not in text for text in readings(page)))
    first = readings(page)
    page.reload()
    eventually(page, lambda: readings(page) == first)


@pytest.mark.long
def test_switches_change_the_bars(page, server):
    open_page(page, f"{server}/inside-a-head?head=L1+H3")
    tab(page, "What if")
    wait_for_address(page, "part=What+if")
    for name in ("Causal mask", "No scaling", "No other heads", "Even weights"):
        before = readings(page)
        page.get_by_text(name, exact=True).click()
        eventually(page, lambda before=before: readings(page) != before)
        wait_until_idle(page)
    eventually(page, lambda: any("as the only attention" in text for text in readings(page)))


@pytest.mark.long
def test_numbers_open_on_demand(page, server):
    open_page(page, f"{server}/inside-a-head?follow=A&step=scores")
    assert page.locator("[data-testid=stDataFrame]").count() == 0
    page.get_by_role("button", name="Download").click()
    page.get_by_text("Its numbers as a table").click()
    expect(page.locator("[data-testid=stDataFrame]")).to_have_count(1)


@pytest.mark.long
def test_the_passport_links_to_the_sentence_and_head(page, server):
    open_page(page, f"{server}/all-heads?head=L5+H7")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name=re.compile("The zip file contains")).click()
    main = opened.value
    wait_until_idle(main)
    expect(main.get_by_role("textbox", name="Sentence A")).to_have_value(
        "The zip file contains all the songs from the album."
    )
    expect(main.locator(".st-key-head input")).to_have_attribute("aria-valuetext", "L5 H7")


def test_a_click_in_the_grid_opens_the_head(page, server):
    open_page(page, f"{server}/all-heads")
    expect(page.locator(CHARTS)).to_have_count(2)
    eventually(page, lambda: painted_images(page) >= 1)
    click_head(page, "L2 H5")
    wait_for_address(page, "head=L2+H5")
    eventually(page, lambda: any(text.startswith("L2 H5") for text in readings(page)))
    click_head(page, "L5 H0")
    eventually(page, lambda: any(text.startswith("L5 H0") for text in readings(page)))
    page.go_back()
    wait_until_idle(page)
    wait_for_address(page, "head=L2+H5")
    page.get_by_role("link", name="Inside L2 H5").click()
    wait_until_idle(page)
    wait_for_address(page, "inside-a-head")
    expect(page.get_by_role("slider").first).to_have_attribute("aria-valuetext", "L2 H5")


def click_head(page, name):
    page.locator(f'path[aria-label*="head: {name}"]').first.click()
    wait_until_idle(page)


@pytest.mark.long
def test_sorting_average_and_rollout(page, server):
    open_page(page, f"{server}/all-heads")
    page.get_by_text("Sort the heads by it").click()
    wait_until_idle(page)
    wait_for_address(page, "sorted=true")
    for name, formula in (("average", "the mean of the layer"), ("rollout", "multiplied up through the layers")):
        page.get_by_role("radio", name=name).click()
        wait_until_idle(page)
        expect(page.get_by_text(formula)).to_be_visible()
        wait_for_address(page, f"map_of={name}")


@pytest.mark.long
def test_words_that_vega_takes_for_names_are_painted(page, server):
    open_page(page, f"{server}/inside-a-head?step=weights&a=Ask+if+the+bank+constructor+came.&b=The+bank+paid.")
    for word in ("if", "construct"):
        drawn = page.locator("[data-testid=stVegaLiteChart] svg text", has_text=re.compile(f"^{word}$"))
        expect(drawn.first).to_be_visible()


@pytest.mark.parametrize("view", [pytest.param("inside-a-head", marks=pytest.mark.long), "all-heads"])
def test_512_tokens_paint_and_stay_under_a_megabyte(page, server, view):
    received = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    open_page(page, f"{server}/{view}?word=bank&step=weights")
    received.clear()
    type_sentence(page, "Sentence A", long_sentence())
    wait_until_idle(page, 120)
    assert not page.get_by_text("reads at most").count()  # no message that it is too long
    expect(page.locator(CHARTS).first).to_be_visible(timeout=30_000)
    if view == "all-heads":
        eventually(page, lambda: painted_images(page) >= 2)  # the grid and the chosen head's map
    else:
        eventually(page, lambda: page.get_by_text("512 × 512").count() >= 1)
    assert 20_000 < sum(received) < 1_000_000, sum(received)


@pytest.mark.long
@pytest.mark.parametrize(
    "address",
    [
        "inside-a-head?step=weights",
        "all-heads",
        "all-heads?tab=Lines+from+the+word",
        "?view=A+against+B",
    ],
)
def test_a_narrow_window_holds_the_pictures(page, server, address):
    page.set_viewport_size({"width": 800, "height": 900})
    open_page(page, f"{server}/{address}")
    right = page.evaluate(
        "() => document.querySelector('[data-testid=stMainBlockContainer]').getBoundingClientRect().right"
    )
    expect(page.locator(CHARTS).first).to_be_visible()
    for chart in page.locator(CHARTS).all():
        box = chart.bounding_box()
        if chart.evaluate("chart => chart.closest('.st-key-steps')"):  # scrolls sideways by itself
            box = page.locator(".st-key-steps").bounding_box()
        assert box["x"] + box["width"] <= right + 1
