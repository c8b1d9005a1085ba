"""Test static pages in a browser without a network."""

import json
import re

import pytest
from playwright.sync_api import expect

from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import LIGHT
from selfattn.examples import PAIRS
from selfattn.export import report
from selfattn.export.provenance import Provenance
from selfattn.export.site import write_site
from selfattn.panel import Live
from tests.browser.conftest import watch
from tests.browser.kernel_data import kernel_data
from tests.browser.way_data import VARIANTS
from tests.small_panel import panel_of, view_of

pytestmark = pytest.mark.browser

EVAL = """() => new Promise(done => setTimeout(() => {
    try { done(String(new Function('return 1')())); } catch (error) { done(error.name); }
}))"""
CUT_OFF = "() => document.documentElement.scrollWidth > innerWidth"
BACKGROUND = "() => getComputedStyle(document.documentElement).backgroundColor"
WHITE, BLACK = "rgb(255, 255, 255)", "rgb(15, 19, 26)"


@pytest.fixture(scope="module", params=[3, pytest.param(len(PAIRS), marks=pytest.mark.long)])
def site(request, encoder, tmp_path_factory):
    """Write a static site and return its folder. It has three pages; `make test-long` also tests a site with all pages."""
    folder = tmp_path_factory.mktemp("web") / "site"
    write_site(encoder, PAIRS[: request.param], folder, lambda file: None)
    return folder


@pytest.fixture
def open_file(browser):
    """Return a function that opens a file in a browser without a network."""
    contexts = []

    def opened(path, scheme="light", width=1100, **options):
        context = browser.new_context(
            offline=True, color_scheme=scheme, viewport={"width": width, "height": 900}, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.trouble = watch(page)
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("scheme", "background", "width"), [("light", WHITE, 1100), ("dark", BLACK, 390)])
def test_static_pages_work_offline(site, open_file, scheme, background, width):
    page = open_file(site / "index.html", scheme, width)
    links = page.locator("h2 a").evaluate_all("all => all.map(link => [link.textContent, link.getAttribute('href')])")
    assert [text for text, _ in links] == [pair.word for pair in PAIRS][: len(links)] and len(links) >= 3
    for pair, (_, file) in zip(PAIRS, links):
        page.goto((site / file).as_uri())
        data = json.loads(page.locator(".live script").text_content())
        expect(page.locator(".finding")).to_have_text(data["finding"])
        expect(page.get_by_role("heading", level=1)).to_have_text(f'Where does "{pair.word}" get its meaning?')
        hidden = next(word for word in data["sides"][0]["words"] if word["at"] is not None)
        button = page.locator(f'[data-id="word 0 {hidden["at"]}"]')
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        assert page.evaluate(BACKGROUND) == background
        assert not page.evaluate(CUT_OFF), file
        assert (site / file).stat().st_size < 80_000
        page.get_by_role("link", name="All pages").click()
        expect(page).to_have_title(re.compile(f"^Where {len(links)} words"))
        assert page.evaluate(BACKGROUND) == background and not page.evaluate(CUT_OFF)
    assert page.trouble == []


def test_page_blocks_eval_and_requests(site, open_file):
    page = open_file(site / "bank.html")
    assert page.evaluate(EVAL) == "EvalError"
    blocked = "() => new Promise(done => fetch('https://localhost/').then(() => done('sent'), () => done('blocked')))"
    assert page.evaluate(blocked) == "blocked"
    assert any("Content Security Policy" in each for each in page.trouble)


def test_page_states_finding_without_javascript(site, open_file):
    page = open_file(site / "bank.html", java_script_enabled=False)
    # A locator wouldn't do: for Playwright, text in <noscript> is hidden.
    text = page.evaluate("document.querySelector('noscript p').textContent")
    assert 'In A, hiding "river" moves "bank" by 44' in text
    page.get_by_text("How this was measured").click()
    expect(page.get_by_text("The encoder runs again with an attention mask")).to_be_visible()


def test_report_shows_several_components(open_file, tmp_path):
    spec = heatmap([[0.5, 0.5], [0.1, 0.9]], ["a", "b"], LIGHT)
    lives = {"bank": Live("way", VARIANTS["bank"]), "kernel": Live("kernel", kernel_data())}
    panels = [panel_of(spec, name=name, live=lives.get(name)) for name in (*lives, "still")]
    file = tmp_path / "report.html"
    file.write_text(report.html(view_of(Provenance(title="Title"), *panels)), "utf-8")
    page = open_file(file)
    expect(page.locator(".way .finding")).to_have_text(VARIANTS["bank"]["finding"])
    expect(page.locator(".kernel .token button")).to_have_count(0)  # no buttons, because a file has no server
    page.locator('[data-id="row 0 2"]').hover()
    expect(page.locator(".kernel .line bdi").first).to_have_text("sat")
    assert page.evaluate("[...document.images].map(image => image.complete && image.naturalWidth > 100)") == [True]
    page.locator("button.word").first.click()
    expect(page.locator(".way [aria-pressed=true]")).to_have_count(1)
    assert page.trouble == []
    still = open_file(file, java_script_enabled=False)
    assert still.evaluate("[...document.images].map(image => image.complete && image.naturalWidth > 100)") == [True] * 3
