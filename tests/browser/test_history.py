"""Back and Forward: one entry for one thing done, and the choice as it was."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import open_page, wait_for_address, wait_until_idle

pytestmark = pytest.mark.browser


def slider(page):
    return page.locator(".st-key-head input")


def follow(page, name):
    page.get_by_role("link", name=name).first.click()
    wait_until_idle(page)


def back(page):
    page.go_back()
    wait_until_idle(page)


def choose_example(page, word):
    box = page.get_by_role("combobox", name="Example")
    box.click()
    box.fill(word)
    page.keyboard.press("Enter")
    wait_until_idle(page)


def test_each_page_link_and_each_choice_is_one_entry_and_back_undoes_it(page, server):
    open_page(page, f"{server}/?head=L0+H11")
    follow(page, "From scratch")
    expect(page).to_have_url(f"{server}/from-scratch")
    follow(page, "A word in two sentences")
    expect(page).to_have_url(f"{server}/?head=L0+H11&digest=53aa5117")
    choose_example(page, "bat")
    expect(page.get_by_role("textbox", name="Sentence B")).to_have_value("The bat hit the ball hard.")
    page.locator("[data-testid=stVegaLiteChart] input[type=range]").nth(1).focus()  # of the heads of a layer
    page.keyboard.press("ArrowLeft")
    wait_until_idle(page)
    wait_for_address(page, "head=L0+H10")
    back(page)
    expect(slider(page)).to_have_attribute("aria-valuetext", "L0 H11")
    expect(page).to_have_url(re.compile(r"example=bat"))
    back(page)
    assert "example" not in page.url
    expect(page.get_by_role("textbox", name="Sentence B")).to_have_value("We went to the bank for a loan.")
    expect(slider(page)).to_have_attribute("aria-valuetext", "L0 H11")
    back(page)
    expect(page).to_have_url(f"{server}/from-scratch")
    back(page)
    expect(page).to_have_url(f"{server}/?head=L0+H11&digest=53aa5117")
    for _ in range(2):
        page.go_forward()
        wait_until_idle(page)
    expect(slider(page)).to_have_attribute("aria-valuetext", "L0 H11")
