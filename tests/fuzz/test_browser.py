"""Test that random links and typed markup never break a page."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from benchmarks.session import Session
from pages.explore.two_sentences.gallery import GALLERY
from selfattn.dashboard.navigation import ENTRIES
from tests.browser.conftest import eventually, open_page
from tests.fuzz.hostile import MARKUP, queries

pytestmark = pytest.mark.slow

# The page Senses is slow, because it computes a report for each link.
LINKED = [pytest.param(page, marks=pytest.mark.long if page == "senses" else ()) for page in ENTRIES]
INJECTED = (
    "img[src='x'], img[src*='127.0.0.1:9'], iframe, object, embed, [onerror], [onload],"
    " a[href^='javascript'], [data-testid=stMain] script"
)


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page or "default")
def test_generated_links_open_page(server, page, generated, tmp_path_factory):
    operators = str(tmp_path_factory.getbasetemp())  # the folder of the server's encoders and scans

    with Session(server) as session:
        first = session.open(page)
        assert not first.exceptions
        assert not first.not_found
        keys = session.widgets

    def opened(query):
        with Session(server) as session:
            run = session.open(page, query)
        assert not run.exceptions, run.exceptions
        for body in run.alerts:
            assert "root:" not in body
            assert operators not in body
            plain = re.sub(r"\\[!-/:-@\[-`{-~]", "", body)  # Markdown escapes are harmless
            assert not [markup for markup in MARKUP if markup in plain], body

    generated(1, 100, queries(list(keys)), opened)


@pytest.mark.browser
def test_markup_stays_text(server, page):
    page.on("dialog", lambda dialog: pytest.fail(f"the page opened a dialog: {dialog.message}"))
    texts = {key: f"The bank {harmless(' '.join(part))}" for key, part in (("a", MARKUP[:6]), ("b", MARKUP[6:12]))}
    open_page(page, f"{server}/?{urlencode(texts)}")  # the page shows typed texts in the same way as texts from a link
    page.get_by_role("button", name="Your own ...").click()
    for key, label in (("a", "Sentence A"), ("b", "Sentence B")):
        expect(page.get_by_role("textbox", name=label, exact=True)).to_have_value(texts[key])
    assert page.get_by_test_id("stException").count() == 0
    assert page.locator(INJECTED).count() == 0
    assert page.title() == "selfattn"
    assert page.locator("[data-testid=stMain] strong", has_text=re.compile("^bold$")).count() == 0
    eventually(page, lambda: page.locator(".selfattn .sentence").get_by_text("script", exact=True).count() >= 1)
    # Apart from st.page_link's, the only links are those of GALLERY and one in the figure.
    links = page.get_by_test_id("stMain").locator("a[href]:not([data-testid=stPageLink-NavLink])")
    expect(links).to_have_count(len(GALLERY) + 1)
    assert all(link.get_attribute("href").startswith(("./", "senses")) for link in links.all())


def harmless(text: str) -> str:
    return " ".join("".join(c for c in text if c.isprintable()).split())
