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


def test_a_page_link_is_one_entry_and_carries_the_choice_both_ways(page, server):
    open_page(page, f"{server}/?head=L3+H7")
    follow(page, "From scratch")
    expect(page).to_have_url(f"{server}/from-scratch")
    follow(page, "Inside a head")
    expect(page).to_have_url(f"{server}/inside-a-head?head=L3+H7&digest=53aa5117")
    back(page)
    expect(page).to_have_url(f"{server}/from-scratch")
    back(page)
    expect(page).to_have_url(f"{server}/?head=L3+H7&digest=53aa5117")
    expect(slider(page)).to_have_attribute("aria-valuetext", "L3 H7")
    for _ in range(2):
        page.go_forward()
        wait_until_idle(page)
    expect(page).to_have_url(f"{server}/inside-a-head?head=L3+H7&digest=53aa5117")
    expect(slider(page)).to_have_attribute("aria-valuetext", "L3 H7")


def test_each_choice_is_an_entry_and_back_undoes_it(page, server):
    open_page(page, server)
    page.locator("[data-testid=stVegaLiteChart] input[type=range]").nth(1).focus()  # of the heads of a layer
    page.keyboard.press("ArrowRight")
    wait_until_idle(page)
    wait_for_address(page, "head=L0+H11")
    choose_example(page, "bat")
    expect(page.get_by_role("textbox", name="Sentence B")).to_have_value("The bat hit the ball hard.")
    expect(page).to_have_url(re.compile(r"example=bat"))
    back(page)
    assert "example" not in page.url
    expect(page.get_by_role("textbox", name="Sentence B")).to_have_value("We went to the bank for a loan.")
    expect(slider(page)).to_have_attribute("aria-valuetext", "L0 H11")
    back(page)
    expect(slider(page)).to_have_attribute("aria-valuetext", "L0 H10")


@pytest.mark.long
def test_a_sentence_of_ones_own_goes_along_and_stays_in_the_link(page, server):
    open_page(page, f"{server}/?example=bat")  # a link that names only the example opens its sentences
    expect(page.get_by_role("textbox", name="Sentence A")).to_have_value("The bat slept in the cave.")
    page.get_by_role("textbox", name="Sentence A").fill("A bat hung there.")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    wait_until_idle(page)
    for part in ("a=A+bat+hung+there.", "b=The+bat+hit+the+ball+hard."):
        wait_for_address(page, part)
    follow(page, "Two encoders")
    expect(page.get_by_role("textbox", name="Sentence")).to_have_value("A bat hung there.")
    back(page)
    expect(page.get_by_role("textbox", name="Sentence A")).to_have_value("A bat hung there.")
    expect(page.get_by_role("textbox", name="Sentence B")).to_have_value("The bat hit the ball hard.")
    address = page.url
    open_page(page, address)
    expect(page.get_by_role("textbox", name="Sentence A")).to_have_value("A bat hung there.")
    expect(page.get_by_role("textbox", name="Sentence B")).to_have_value("The bat hit the ball hard.")
