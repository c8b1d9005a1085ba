"""The senses page in a real Chromium: upload, click a head, open a sentence in another view, stop a long computation."""

import csv
import io
import re

import pytest
from playwright.sync_api import expect

from selfattn.examples import labelled_sentences
from tests.browser.conftest import eventually, open_page, wait_for_address, wait_until_idle

pytestmark = pytest.mark.browser


def readings(page):
    return "\n".join(page.locator("[data-testid=stText]").all_inner_texts())


def upload(page, rows, name="mine.csv"):
    text = io.StringIO()
    csv.writer(text).writerows([("sentence", "word", "sense"), *rows])
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": text.getvalue().encode()}
    )


def labelled_rows(*words):
    frame = labelled_sentences()
    few = frame[frame["word"].isin(words)].groupby(["word", "sense"]).head(5)
    return list(few.itertuples(index=False, name=None))


def select_first_row(page):
    """Tick the first row's box in the last table: a canvas, so a click is known to have met it by what follows."""

    def selected():
        if page.get_by_text(re.compile("^A: ")).count() == 0:
            grid = page.locator("[data-testid=stDataFrame]").last
            grid.scroll_into_view_if_needed()
            grid.click(position={"x": 18, "y": 55})
            page.wait_for_timeout(500)
            wait_until_idle(page)
        return page.get_by_text(re.compile("^A: ")).count() > 0

    eventually(page, selected)


@pytest.mark.long
def test_an_upload_from_table_to_two_sentences(page, server):
    open_page(page, f"{server}/senses?source=your+own+table")
    rows = [
        *labelled_rows("bank", "bat"),
        ("Nothing here.", "bank", "money"),
        ("A `$x$` :red[bank] <b>.", "bank", "money house"),
    ]
    upload(page, rows)
    page.get_by_text("Over 2 words and").wait_for(timeout=120_000)
    page.get_by_text("Over 2 words: head").wait_for(timeout=120_000)
    wait_until_idle(page)
    eventually(page, lambda: "21 sentences" in readings(page))
    expect(page.get_by_text("1 rows can't be used")).to_be_visible()

    page.locator('path[aria-label="L3 H7"]').first.click()
    page.get_by_text("L3 H7 gets the sense right").wait_for()
    wait_for_address(page, "head=L3+H7")

    select_first_row(page)
    first = re.search(r"A: (.*)", readings(page)).group(1)
    wait_until_idle(page)
    page.get_by_role("link", name="The word in two sentences").click()
    page.get_by_label("Sentence A").wait_for()
    wait_until_idle(page)
    assert page.get_by_label("Sentence A").input_value() == first


def test_stop_is_where_it_was_seen_and_stops_at_the_first_click(page, server):
    open_page(page, f"{server}/senses?source=your+own+table")
    rows = [(f"{sentence} {word}wise", word, sense) for sentence, word, sense in labelled_rows("bank", "bat", "ring")]
    upload(page, rows)
    page.get_by_role("button", name=f"Ask this of {len(rows)} sentences").click()
    page.get_by_text("Hiding each other word, sentence").wait_for()
    page.get_by_role("button", name="Stop", exact=True).first.click()
    page.get_by_text("Stopped.").first.wait_for()
    page.get_by_role("button", name=f"Ask this of {len(rows)} sentences").wait_for()
