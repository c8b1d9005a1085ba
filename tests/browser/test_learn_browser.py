"""Test the lessons in Chromium."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages.learn.from_scratch import worksheet
from pages.learn.from_scratch.lesson_pages import CORE, STOPS
from tests.browser.conftest import eventually, open_page, wait_for_address, wait_until_idle

pytestmark = pytest.mark.browser
SLUGS = list(STOPS)


def painted(page: Page) -> int:
    """Return how many charts the browser has drawn."""
    return page.evaluate(
        """() => [...document.querySelectorAll('[data-testid=stVegaLiteChart]')].filter(chart =>
            chart.querySelector('svg path, svg rect, svg text')
            || [...chart.querySelectorAll('canvas')].some(c => c.width > 0 && c.getContext('2d')
                .getImageData(0, 0, c.width, c.height).data.some((v, i) => i % 4 === 3 && v > 0))
        ).length"""
    )


def heading(page: Page, slug: str) -> None:
    expect(page.get_by_role("heading", name=STOPS[slug].title, exact=True)).to_be_visible()


def press(page: Page, name: str) -> None:
    named = "() => (document.activeElement.innerText || '').trim().split('\\n').pop()"
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate(named) == name:
            page.keyboard.press("Enter")
            wait_until_idle(page)
            return
    raise AssertionError(f"Tab never reaches {name!r}")


def test_lesson_works_by_keyboard(server, page):
    open_page(page, f"{server}/from-scratch")
    heading(page, CORE[0])
    stage = page.locator(".stage")
    expect(stage.get_by_role("button", name=STOPS[CORE[0]].part, exact=True)).to_be_in_viewport()
    assert stage.bounding_box()["y"] < 200  # the picture is visible before the answer
    expect(stage.locator(".plane")).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("Take with you.")).to_have_count(0)
    expect(page.get_by_label("After", exact=True)).to_be_hidden()
    stage.evaluate("node => { node.marked = true; }")
    press(page, "Just show me")
    expect(stage.locator(".finding")).to_have_text('After layer 5, the last, "bank" has 6 vectors.')
    expect(page.get_by_text("Take with you.")).to_be_visible()
    expect(page.get_by_label("After", exact=True)).to_be_visible()
    page.get_by_text("For class:").scroll_into_view_if_needed()
    for button in ("previous", "next"):  # the buttons stay visible
        expect(page.locator(f".st-key-{button}")).to_be_in_viewport()
    for name, slug in (("Next", CORE[1]), ("Previous", CORE[0])):
        press(page, name)
        wait_for_address(page, f"stop={slug}")
        heading(page, slug)
        assert stage.evaluate("node => node.marked")  # all lesson pages share one component
    page.go_back()
    wait_until_idle(page)
    heading(page, CORE[1])
    stage.get_by_role("button", name="softmax").click()
    wait_for_address(page, "stop=three-words")
    open_page(page, f"{server}/from-scratch?stop={CORE[-1]}&reveal=yes")
    expect(page.locator(".st-key-next button")).to_be_disabled()
    page.get_by_role("link", name="Next: guess which word").click()
    expect(page.get_by_role("heading", name='Where does "bank" get its meaning?')).to_be_visible()
    expect(page.get_by_text('Which word, if hidden, would change "bank" most? Click one.')).to_be_visible()
    sentence = page.locator(".selfattn .sentence").first
    assert re.sub(r"\W+", "", sentence.inner_text()) == "AThebankoftheriver"  # the link opens in the same tab


@pytest.mark.parametrize(
    ("stops", "width", "scheme"),
    [
        (["dot-product"], 400, "light"),
        *(
            pytest.param(SLUGS, width, scheme, marks=pytest.mark.long)
            for width in (400, 800, 1440)
            for scheme in ("light", "dark")
        ),
    ],
)
def test_pictures_fit_window(server, page, stops, width, scheme):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    right = "svgs => Math.max(...svgs.map(svg => svg.getBoundingClientRect().right))"
    beyond = (
        "([main]) => Math.max(main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - innerWidth)"
    )
    for slug in stops:
        open_page(page, f"{server}/from-scratch?stop={slug}&reveal=yes")
        eventually(page, lambda: painted(page) or page.locator(".selfattn").count())
        assert page.locator("svg.marks").evaluate_all(right) <= width, slug
        assert page.locator("[data-testid=stMain]").evaluate_all(beyond) <= 0, slug


def test_keys_of_presenter_remote_turn_lesson_pages(server, page):
    zoom = "() => getComputedStyle(document.querySelector('[data-testid=stMainBlockContainer]')).zoom"
    open_page(page, f"{server}/from-scratch?stop={CORE[4]}&reveal=yes&projector=true")
    assert page.evaluate(zoom) == "1.35"
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    main, below = page.get_by_test_id("stMain"), "e => e.scrollHeight - e.clientHeight - e.scrollTop"
    for key, slug in (("PageDown", CORE[5]), ("ArrowRight", CORE[6]), ("PageUp", CORE[5]), ("ArrowLeft", CORE[4])):
        while key == "PageDown" and (left := main.evaluate(below)) > 40:  # first scroll to the end of the lesson page
            page.keyboard.press(key)
            eventually(page, lambda before=left: main.evaluate(below) < before)
        page.keyboard.press(key)
        heading(page, slug)
        wait_for_address(page, f"stop={slug}")
        wait_until_idle(page)
    page.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowRight")
    wait_until_idle(page)
    heading(page, CORE[4])
    page.go_back()
    wait_for_address(page, f"stop={CORE[5]}")  # each lesson page has one history entry
    wait_until_idle(page)
    assert "projector=true" in page.url
    page.get_by_text("Projector", exact=True).click()
    wait_until_idle(page)
    assert page.evaluate(zoom) == "1" and "projector" not in page.url


def test_arrow_keys_in_figure_do_not_turn_lesson_page(server, page):
    open_page(page, f"{server}/from-scratch?stop=geometry&reveal=yes&projector=true")
    query = page.get_by_role("slider", name='The query of "it"')
    query.press("ArrowRight")
    expect(query).to_have_attribute("aria-valuenow", "3.1")
    query.hover()
    page.mouse.down()
    box = page.locator(".plane").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.up()
    expect(query).to_have_attribute("aria-valuetext", re.compile(r"^\[2\.0, 2\.0\]"))
    heading(page, "geometry")


@pytest.mark.parametrize("answers", [False, True])
def test_worksheet_is_one_a4_page(page, answers):
    page.set_content(worksheet.page(answers))
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    width, height = map(float, re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", printed).groups())
    assert (width, height) == pytest.approx((595.3, 841.9), abs=1)


def test_training_can_be_stopped(server, page):
    open_page(page, f"{server}/train-a-tiny-one")
    epochs = page.get_by_label("Epochs", exact=True)
    epochs.fill("30")
    epochs.press("Enter")
    page.wait_for_timeout(1000)  # a rerun replaces the button: an earlier click would be lost
    wait_until_idle(page)
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_text(re.compile(r"Epoch [2-9] of 30"))).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Stop", exact=True).last.click()
    expect(page.get_by_text("Sentences not used in training")).to_be_visible(timeout=30_000)
    wait_until_idle(page)
    expect(page.get_by_text("Epoch 30 of 30")).to_have_count(0)
    eventually(page, lambda: painted(page) == 4)
