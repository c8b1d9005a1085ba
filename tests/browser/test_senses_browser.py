"""Test the page "Senses", and sentences with tinted words, in Chromium."""

from functools import partial

import pytest
from playwright.sync_api import expect

from selfattn.examples import labelled_sentences
from tests.browser.component import cut_or_overlapping, focused
from tests.browser.conftest import open_page, wait_for_address

pytestmark = pytest.mark.browser

HOSTILE = "<b>bold</b>"
WORDS = [
    {"text": "Somebody", "gap": False, "kind": "word", "depth": 0, "number": "", "tip": "Somebody: 1 %"},
    {"text": "bank", "gap": True, "kind": "chosen", "depth": 0, "number": "", "tip": ""},
    {"text": HOSTILE, "gap": True, "kind": "word", "depth": 80, "number": "43 %", "tip": "ferry: 43 % of the way"},
    {"text": "late", "gap": True, "kind": "word", "depth": -50, "number": "−20 %", "tip": "late: −20 %"},
    {"text": ".", "gap": False, "kind": "punctuation", "depth": 0, "number": "", "tip": ""},
]


def data(n=10, open="Open it", direction="ltr"):
    rows = [{"said": f"riverside {at}", "dir": direction, "words": WORDS} for at in range(n)]
    return {"version": 1, "key": "k", "open": open, "first": 8, "rows": rows}


@pytest.fixture
def shown(open_component):
    return partial(open_component, "shaded")


def test_click_or_enter_opens_row(shown):
    page = shown(data())
    rows = page.get_by_role("button", name="riverside")
    expect(rows).to_have_count(8)
    assert rows.first.get_attribute("aria-label") == f"riverside 0: Somebody bank {HOSTILE} 43 % late −20 % .. Open it"
    assert page.locator(".shaded b").count() == 0
    rows.nth(2).click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("sent") == [["open", 2], ["open", 3]]
    page.get_by_role("button", name="Show all 10").click()
    expect(rows).to_have_count(10)
    expect(rows.nth(8)).to_be_focused()
    page.get_by_text(HOSTILE).first.hover()
    expect(page.get_by_role("tooltip")).to_have_text("ferry: 43 % of the way")


def test_tint_depths_equal_those_in_data(shown):
    page = shown(data(1))
    depths = page.locator(".word").evaluate_all(
        "all => all.map(e => [e.style.getPropertyValue('--depth'), e.className])"
    )
    assert depths[2] == ["80%", "word word"] and depths[3] == ["50%", "word away"]
    assert page.get_by_role("button", name="Show all").count() == 0


def test_clicked_word_keeps_focus(shown):
    given = data(1, open="") | {"choose": "Ask about this word's tag"}
    page = shown(given)
    assert page.get_by_role("button", pressed=True).all_inner_texts() == ["bank"]
    page.get_by_role("button", name="late").click()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert page.evaluate("sent") == [["word", 3], ["word", 2]]
    page.evaluate("data => { show(data); }", given)
    assert focused(page) == "word 2"


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_texts_are_neither_cut_nor_overlapping(shown, direction):
    page = shown(data(open="", direction=direction))
    assert not cut_or_overlapping(page, ".said, .ink, .number", [360, 400, 800, 1440])
    assert page.get_by_role("button", name="riverside").count() == 0


def test_click_opens_sentence_in_main_view(page, server):
    open_page(page, f"{server}/senses?sense_word=bat")
    page.get_by_role("button", name="Open the sentence in the main view").nth(1).click()
    page.get_by_role("heading", name='Where does "bat" get its meaning?').wait_for()
    wait_for_address(page, "?a=")
    page.go_back()
    page.get_by_role("heading", name="Senses").wait_for()


def test_stop_button_works_at_first_click(page, server):
    open_page(page, f"{server}/senses?source=your+own+table")
    labelled = labelled_sentences().query("word in ('bank', 'bat', 'ring')").groupby(["word", "sense"]).head(5)
    own = labelled.assign(sentence=labelled["sentence"] + " " + labelled["word"] + "wise")  # have no stored report
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": own.to_csv(index=False).encode()}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name=f"Measure {len(own)} sentences").click()
    page.get_by_text("Hiding words in sentence").wait_for()
    page.get_by_role("button", name="Stop", exact=True).first.click()
    page.get_by_text("Stopped.").first.wait_for()
    page.get_by_role("button", name=f"Measure {len(own)} sentences").wait_for()
