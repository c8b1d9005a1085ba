"""The static pages of `selfattn site`, opened from their folder in a browser that has no network."""

import pytest
from playwright.sync_api import expect

from selfattn.examples import PAIRS
from selfattn.export.site import write_site

pytestmark = pytest.mark.browser


def test_a_visitor_goes_from_the_index_to_a_pair_and_back_offline(encoder, page, tmp_path):
    write_site(encoder, PAIRS[:1], tmp_path / "site", print)
    page.context.set_offline(True)
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.get_by_role("link", name="bank").click()
    expect(page.get_by_role("heading", name='Where does "bank" get its meaning?')).to_be_visible()
    expect(page.locator("img")).to_have_count(4)
    assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 200)")
    page.get_by_role("link", name="All pages").click()
    expect(page.get_by_text(PAIRS[0].second)).to_be_visible()
