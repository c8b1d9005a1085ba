"""Markup in a real Chromium: on the main view it stays text."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from pages.explore.two_sentences.gallery import GALLERY
from tests.browser.conftest import eventually, open_page
from tests.fuzz.hostile import MARKUP

pytestmark = pytest.mark.browser

INJECTED = (
    "img[src='x'], img[src*='127.0.0.1:9'], iframe, object, embed, [onerror], [onload],"
    " a[href^='javascript'], [data-testid=stMain] script"
)


def harmless(text: str) -> str:
    """What a text input takes: one line, and no bytes that a link can't carry."""
    return " ".join("".join(c for c in text if c.isprintable()).split())


def test_markup_stays_text_on_the_main_view(server, page):
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    texts = {key: f"The bank {harmless(' '.join(part))}" for key, part in (("a", MARKUP[:12]), ("b", MARKUP[12:]))}
    open_page(page, f"{server}/?{urlencode(texts)}")  # a typed text takes the same way
    for key, label in (("a", "Sentence A"), ("b", "Sentence B")):
        assert page.get_by_role("textbox", name=label, exact=True).input_value() == texts[key]
    assert page.get_by_test_id("stException").count() == 0
    assert page.locator(INJECTED).count() == 0
    assert page.title() == "selfattn"
    assert page.locator("[data-testid=stMain] strong", has_text="bold").count() == 0
    eventually(
        page, lambda: page.locator("[data-testid=stVegaLiteChart]").get_by_text("script", exact=True).count() >= 1
    )
    # Links to other views and the gallery's six aside, whose addresses are ours.
    links = page.get_by_test_id("stMain").locator("a[href]:not([data-testid=stPageLink-NavLink])")
    expect(links).to_have_count(len(GALLERY))
    assert all(link.get_attribute("href").startswith("./") for link in links.all())
