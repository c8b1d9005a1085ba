"""What a link names goes along from page to page, and stays in the address that the browser shows."""

import re
from urllib.parse import parse_qs, urlencode, urlparse

import pytest
from playwright.sync_api import expect

from selfattn import load_encoder
from selfattn.encoders.families import FAMILIES, save_tiny
from tests.browser.conftest import eventually, open_page, wait_for_address, wait_until_idle

pytestmark = pytest.mark.browser


def held(page) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(urlparse(page.url).query).items()}


@pytest.mark.long
def test_an_encoder_of_ones_own_its_weights_and_the_occurrence_go_along(page, server, tmp_path):
    folder = str(save_tiny(FAMILIES["BERT"], tmp_path / "tiny"))
    choice = {"model": "another ...", "other": folder, "a": "the bank and the bank", "b": "the bank", "at_a": "2"}
    choice |= {"word": "bank"}
    open_page(page, f"{server}/?{urlencode(choice)}")
    wait_for_address(page, "digest=")
    wanted = {**choice, "digest": load_encoder(folder).digest[:8]}
    first = held(page)
    for key in ("model", "other", "a", "b", "at_a", "digest"):
        assert first[key] == wanted[key], key
    page.get_by_role("link", name="Inside a head").first.click()
    wait_until_idle(page)
    wait_for_address(page, "digest=")
    eventually(page, lambda: held(page) == first)
    open_page(page, page.url)
    eventually(page, lambda: held(page) == first)
    expect(page.get_by_test_id("stSidebar").get_by_text(re.compile(r"^tiny\s"))).to_be_visible()
    expect(page.get_by_test_id("stAlert").filter(has_text="The link")).to_have_count(0)
    page.get_by_role("link", name="A word in two sentences").first.click()
    wait_until_idle(page)
    page.go_back()
    wait_until_idle(page)
    eventually(page, lambda: urlparse(page.url).path == "/inside-a-head")
    eventually(page, lambda: held(page) == first)


def words(page):
    """The picker of words."""
    return page.get_by_role("combobox", name="Word")


def test_a_chosen_word_is_in_the_address_where_a_fresh_load_would_choose_another(page, server):
    choice = {"a": "They approved of the bank.", "b": "We approved the bank."}
    open_page(page, f"{server}/?{urlencode(choice)}")
    expect(words(page)).to_have_value("approved")  # the first of both
    words(page).click()
    page.get_by_role("option", name="bank", exact=True).click()
    wait_for_address(page, "word=bank")
    open_page(page, page.url)
    expect(words(page)).to_have_value("bank")
