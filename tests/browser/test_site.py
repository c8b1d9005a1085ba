"""The static pages of `selfattn site`, opened from their folder in a browser that has no network."""

import pytest
from playwright.sync_api import expect

from selfattn.examples import PAIRS
from selfattn.export.site import write_site

pytestmark = pytest.mark.browser

EVAL = """() => new Promise(done => setTimeout(() => {
    try { done(String(new Function('return 1')())); } catch (error) { done(error.name); }
}))"""


@pytest.fixture(scope="module")
def site(encoder, tmp_path_factory):
    """The folder of one pair's page."""
    folder = tmp_path_factory.mktemp("web") / "site"
    write_site(encoder, PAIRS[:1], folder, print)
    return folder


def test_a_visitor_goes_from_the_index_to_a_pair_and_back_offline(site, page):
    page.context.set_offline(True)
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="bank").click()
    expect(page.get_by_role("heading", name='Where does "bank" get its meaning?')).to_be_visible()
    figure = page.locator(".live").first
    expect(figure.locator("svg.marks")).to_be_visible()
    expect(figure.locator("img")).to_be_hidden()
    expect(figure.locator("svg.marks")).to_contain_text("reads “river”")
    page.locator(".live g[class*='chips_b_marks'] path[aria-label^='loan:']").click()
    expect(figure.locator("svg.marks")).to_contain_text("reads “loan”")
    page.locator(".live g[class*='cells_marks'] path[aria-label^='L3 H7:']").hover()
    expect(figure.locator("svg.marks")).to_contain_text("Head 7 of layer 3 gives “loan”")
    assert page.evaluate(EVAL) == "EvalError"
    assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 200)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="All pages").click()
    expect(page.get_by_text(PAIRS[0].second)).to_be_visible()
