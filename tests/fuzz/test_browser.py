"""Markup in a real Chromium: on the main view and in the report it stays text."""

from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from pages.explore.two_sentences.gallery import GALLERY
from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import LIGHT
from selfattn.export import report
from selfattn.export.files import View
from selfattn.export.provenance import Provenance
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


def test_markup_stays_text_in_the_report(page, tmp_path, encoder):
    text = " ".join(MARKUP)
    origin = Provenance.of(encoder, text, {"A": encoder.encode(text)}, layer=0, head=0, link="javascript:alert(1)")
    spec = heatmap(np.eye(len(MARKUP)), MARKUP, LIGHT, title=text)
    table = pd.DataFrame({"token": MARKUP})
    file = tmp_path / "report.html"
    view = View("x", origin, {"map": lambda: spec}, {"tokens": lambda: table}, captions={"map": text})
    view = replace(view, live=view.figures)
    file.write_text(report.html(view), "utf-8")
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    expect(page.locator(".live svg.marks")).to_have_count(1)
    assert page.locator(INJECTED).count() == 0
    assert page.locator("script").count() == 2  # the spec, and what draws it
    assert page.locator("img").evaluate("image => image.complete && image.naturalWidth > 300")
    assert [url for url in requests if not url.startswith("data:")] == [file.as_uri()]
    assert MARKUP[0] in page.locator("h1").inner_text()
