"""Eight jobs on the main view in a real Chromium, each in at most four actions: what is clicked or typed is counted."""

import io
import json
import shutil
from urllib.parse import urlencode

import pytest
from PIL import Image
from playwright.sync_api import expect

from selfattn import load_encoder
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.views.two_sentences import word_in_two_sentences
from tests.browser.conftest import eventually, open_page, wait_for_address, wait_until_idle

pytestmark = [pytest.mark.browser, pytest.mark.long]

MOST = 4  # actions
CRANES = ("The crane lifted a heavy girder.", "A crane stood in the shallow lake.", "The crane hoisted the roof.")


class Visitor:
    """Acts on a page, waits until it rests, and counts."""

    def __init__(self, page, address):
        self.page, self.actions = page, 0
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        open_page(page, address)

    def click(self, role, name):
        self._act(lambda: self.page.get_by_role(role, name=name, exact=True).first.click())

    def type(self, field, text):
        self._act(lambda: self.page.get_by_role("textbox", name=field).fill(text) or self.page.keyboard.press("Enter"))

    def download(self, name):
        with self.page.expect_download() as got:
            self.click("button", name)
        return got.value.path().read_bytes()

    def _act(self, act):
        self.actions += 1
        assert self.actions <= MOST
        act()
        wait_until_idle(self.page)

    def reads(self, part):
        eventually(self.page, lambda: any(part in text for text in self.readings))

    @property
    def readings(self):
        return self.page.locator("[data-testid=stText]").all_inner_texts()


def places_of(encoder, word, *texts):
    encodings = [encoder.encode(text) for text in texts]
    return [encoding.places(word)[0] for encoding in encodings]


def chosen(page):
    return page.locator(".st-key-head input")


def test_own_sentences_with_crane(page, server, encoder):
    visitor = Visitor(page, server)
    visitor.type("Sentence A", CRANES[0])
    visitor.type("Sentence B", CRANES[1])
    expect(page.get_by_role("heading", name='Where does "crane" get its meaning?')).to_be_visible()
    expect(page.get_by_test_id("stAlert")).to_contain_text('write a third sentence with "crane" in A\'s sense')
    visitor.type("Control (A's sense)", CRANES[2])
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    view = word_in_two_sentences(encoder, *places_of(encoder, "crane", *CRANES))
    for line in view.answer:
        expect(page.locator(".st-key-answer")).to_contain_text(line)
    expect(chosen(page)).to_have_attribute("aria-valuetext", str(view.first_head))


def test_the_leading_head_its_steps_its_picture_and_many_sentences(page, server):
    """Three of the jobs, one after another: each has its own actions."""
    visitor = Visitor(page, server)
    expect(page.get_by_text("How head 10 of layer 0 computes it")).to_be_visible()
    chart = page.locator("[data-testid=stVegaLiteChart]", has=page.locator(".vega-bind input[type=radio]"))
    visitor._act(lambda: chart.locator("input[value='1']").check())
    lit = chart.locator("text[font-family='monospace']").filter(has_text="scores = query")
    pale = chart.locator("path[opacity='0.3']")
    eventually(page, lambda: pale.count() > 40)
    expect(lit).to_be_visible()
    before = pale.count()
    visitor._act(lambda: page.keyboard.press("ArrowRight"))
    eventually(page, lambda: 0 < pale.count() < before)

    visitor.actions = 0
    picture = Image.open(io.BytesIO(visitor.download("PNG of A")))
    assert picture.format == "PNG" and picture.width > 600
    provenance = json.loads(picture.text["provenance"])
    assert (provenance["layer"], provenance["head"]) == (0, 10) and visitor.actions == 1
    assert (picture.text["Title"], list(provenance["sentences"])) == ("What each word attends to in A, L0 H10", ["A"])
    toolbars = page.locator("[data-testid=stElementToolbar]")  # Streamlit's own: "Download" is the one route
    assert {bar.evaluate("bar => getComputedStyle(bar).display") for bar in toolbars.all()} == {"none"}

    visitor.actions = 0
    visitor.reads("Tested on 32 words, 768 sentences")
    visitor.click("link", "Many sentences")
    wait_for_address(page, "/senses")
    assert visitor.actions == 1


def test_a_against_b(page, server):
    visitor = Visitor(page, f"{server}/?example=crane")
    visitor.click("radio", "A against B")
    visitor.reads('What "crane" gives the words that one sentence has alone, only in A: ')
    visitor.reads('only in B: "steel" 0.43')


def test_a_link_and_the_bare_address_open_the_same(page, server, encoder):
    visitor = Visitor(page, server)
    bare = visitor.readings
    visitor.click("combobox", "Example")
    visitor.click("option", "crane")
    visitor.click("button", "Copy link")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{server}/?digest={encoder.digest[:8]}&example=crane"
    expected = visitor.readings
    page.evaluate("localStorage.clear()")
    page.context.clear_cookies()  # from here on the browser was never here
    fresh = page.context.new_page()
    for address, readings in ((link, expected), (server, bare)):
        open_page(fresh, address)
        eventually(fresh, lambda readings=readings: fresh.locator("[data-testid=stText]").all_inner_texts() == readings)


def test_a_word_hidden_in_the_head_that_is_open(page, server):
    visitor = Visitor(page, server)
    visitor.click("radio", '"river" and "loan" hidden')
    visitor.reads('Hidden, with score −∞ and weight 0: "river" in A and "loan" in B.')
    wait_for_address(page, "without=")
    assert visitor.actions == 1


def test_an_encoder_of_ones_own(page, server, tmp_path):
    folder = save_tiny(FAMILIES["BERT"], tmp_path / "mine")
    visitor = Visitor(page, server)
    visitor.click("combobox", "Encoder")
    visitor.click("option", "another ...")
    visitor.type("Hub id or folder", str(folder))
    visitor.reads(f"{folder.name}\n")
    name = chosen(page).get_attribute("aria-valuetext")
    assert name in map(str, load_encoder(str(folder), trusted=True, device="cpu").all_heads)
    wait_for_address(page, urlencode({"other": str(folder)}))
    shutil.rmtree(folder)


def test_a_click_on_a_word_hides_it_and_one_on_the_map_chooses_a_head(page, server):
    visitor = Visitor(page, f"{server}/?example=crane")
    visitor._act(lambda: page.locator('g[class*="chips_b_marks"] path[aria-label^="beam:"]').click())
    expect(page.get_by_role("radio", name='"wings" and "beam" hidden', exact=True)).to_be_visible()
    visitor._act(lambda: page.locator('g[class*="cells_marks"] path[aria-label^="L3 H7:"]').first.click())
    wait_for_address(page, "head=L3+H7")
