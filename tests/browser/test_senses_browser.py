"""The senses page in a real Chromium: a long computation is stopped."""

import pytest

from selfattn.examples import labelled_sentences
from tests.browser.conftest import open_page

pytestmark = pytest.mark.browser


def test_stop_is_where_it_was_seen_and_stops_at_the_first_click(page, server):
    open_page(page, f"{server}/senses?source=your+own+table")
    labelled = labelled_sentences().query("word in ('bank', 'bat', 'ring')").groupby(["word", "sense"]).head(5)
    own = labelled.assign(sentence=labelled["sentence"] + " " + labelled["word"] + "wise")  # nothing is stored of these
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": own.to_csv(index=False).encode()}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name=f"Ask this of {len(own)} sentences").click()
    page.get_by_text("Hiding each other word, sentence").wait_for()
    page.get_by_role("button", name="Stop", exact=True).first.click()
    page.get_by_text("Stopped.").first.wait_for()
    page.get_by_role("button", name=f"Ask this of {len(own)} sentences").wait_for()
