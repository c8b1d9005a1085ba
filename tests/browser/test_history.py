"""Test the browser's Back and Forward buttons, and the button "Copy link"."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import eventually, open_page, wait_for_address, wait_until_idle

pytestmark = pytest.mark.browser


def expect_head(page, layer, head):
    chosen = page.get_by_role("gridcell", selected=True, include_hidden=True).first
    expect(chosen).to_have_attribute("aria-label", re.compile(rf"^head {head} of layer {layer}\b"))


def follow(page, name):
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()
    wait_until_idle(page)


def back(page):
    page.go_back()
    wait_until_idle(page)


def forward(page):
    page.go_forward()
    wait_until_idle(page)


def choose_example(page, word):
    page.get_by_test_id("stMain").get_by_text(word, exact=True).first.click()  # a pill
    wait_until_idle(page)


def choose_head(page, key):
    if page.locator(".heads:not([open]) summary").count():
        page.locator(".heads summary").click()
    page.get_by_role("gridcell", selected=True).focus()
    page.keyboard.press(key)
    page.keyboard.press("Enter")
    wait_until_idle(page)


def test_choices_add_no_history_entry(page, server):
    open_page(page, f"{server}/from-scratch")
    before = page.evaluate("history.length")
    follow(page, "A word in two sentences")
    assert page.evaluate("history.length") == before + 1
    page.get_by_role("button", name=re.compile("^of:")).first.click()
    wait_until_idle(page)
    for key in ("ArrowLeft", "ArrowRight"):
        choose_head(page, key)
    for word in ("seal", "bank"):
        choose_example(page, word)
    choose_head(page, "ArrowLeft")
    page.get_by_role("button", name="Your own ...").click()
    page.get_by_text("between the sentences", exact=True).click()
    wait_until_idle(page)
    address = f"{server}/?content=8fb149a5&head=L0+H9&way=between+the+sentences"
    expect(page).to_have_url(address)
    assert page.evaluate("history.length") == before + 1
    back(page)
    expect(page).to_have_url(f"{server}/from-scratch?content=8fb149a5")
    forward(page)
    expect(page).to_have_url(address)
    expect_head(page, 0, 9)


def test_back_button_restores_choices(page, server):
    open_page(page, f"{server}/all-heads?head=L0+H11")
    page.get_by_text("A and B as one text", exact=True).click()
    wait_for_address(page, "sentence=A+and+B+as+one+text")
    wait_until_idle(page)
    follow(page, "From scratch")
    expect(page).to_have_url(f"{server}/from-scratch?content=8fb149a5")
    follow(page, "A word in two sentences")
    expect_head(page, 0, 11)
    choose_head(page, "ArrowLeft")
    choose_head(page, "ArrowLeft")
    wait_for_address(page, "head=L0+H9")
    follow(page, "Inside a head")
    expect_head(page, 0, 9)
    back(page)
    expect_head(page, 0, 9)
    back(page)
    back(page)
    expect(page).to_have_url(re.compile("/all-heads"))
    expect_head(page, 0, 11)
    assert "head=L0+H11" in page.url and "sentence=A+and+B+as+one+text" in page.url


def test_back_button_restores_chosen_head(page, server):
    open_page(page, f"{server}/senses?head=L0+H9")
    assert "head=L0+H9" in page.url
    follow(page, "All heads")
    page.get_by_role("gridcell", name=re.compile("^head 5 of layer 2")).first.click()
    wait_for_address(page, "head=L2+H5")
    wait_until_idle(page)
    follow(page, "Inside a head")
    expect_head(page, 2, 5)
    back(page)
    expect_head(page, 2, 5)
    back(page)
    expect_head(page, 0, 9)
    assert "head=L0+H9" in page.url


def test_back_button_returns_to_previous_site(page, server):
    open_page(page, f"{server}/all-heads?head=L0+H11")
    page.go_back()
    expect(page).to_have_url("about:blank")


def test_copy_link_button_copies_or_shows_address(page, server):
    """A page without https has no navigator.clipboard."""
    open_page(page, f"{server}/all-heads")
    button = page.locator(".st-key-copy_link button")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
    copied, shown = [], []
    page.expose_function("copied", lambda text: copied.append(text))
    page.evaluate("addEventListener('copy', () => copied(getSelection().toString() || document.activeElement.value))")
    button.click()
    expect(button).to_have_text(re.compile("Link copied"))
    eventually(page, lambda: copied == [page.url])
    expect(button).to_have_text(re.compile("Copy link"))
    page.on("dialog", lambda dialog: (shown.append(dialog.default_value), dialog.dismiss()))
    page.evaluate("document.execCommand = () => false")
    button.click()
    eventually(page, lambda: shown == [page.url])
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject() } })")
    button.click()
    eventually(page, lambda: shown == [page.url] * 2)
    expect(button).to_have_text(re.compile("Copy link"))
