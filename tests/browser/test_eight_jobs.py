"""Jobs on the main view in a real Chromium, each in at most four actions: what is clicked or typed is counted.

The others of the eight (a head's steps, its picture, a link, a click on a word) stand in tests/browser/test_main_view.py.
"""

import shutil
from urllib.parse import urlencode

import pytest
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
        open_page(page, address)

    def click(self, role, name):
        self._act(lambda: self.page.get_by_role(role, name=name, exact=True).first.click())

    def type(self, field, text):
        self._act(lambda: self.page.get_by_role("textbox", name=field).fill(text) or self.page.keyboard.press("Enter"))

    def _act(self, act):
        self.actions += 1
        assert self.actions <= MOST
        act()
        wait_until_idle(self.page)

    def reads(self, part):
        texts = self.page.locator("[data-testid=stText]")
        eventually(self.page, lambda: any(part in text for text in texts.all_inner_texts()))


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


def test_a_against_b(page, server):
    visitor = Visitor(page, f"{server}/?example=crane")
    visitor.click("radio", "A against B")
    visitor.reads('What "crane" gives the words that one sentence has alone, only in A: ')
    visitor.reads('only in B: "steel" 0.43')
    visitor.click("link", "Many sentences")
    wait_for_address(page, "/senses")


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
    assert name in map(str, load_encoder(str(folder), device="cpu").all_heads)
    wait_for_address(page, urlencode({"other": str(folder)}))
    shutil.rmtree(folder)
