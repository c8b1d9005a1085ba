"""Test the box "Download"."""

import io
import json

import pytest
from PIL import Image

from selfattn.dashboard import download
from selfattn.export import report
from tests.pages.conftest import at_address, open_link, open_page, pages

pytestmark = pytest.mark.slow


@pytest.fixture
def views(monkeypatch):
    """Collect the `View` objects whose files the box "Download" offers."""
    found = []
    whole = download._whole
    monkeypatch.setattr(download, "_whole", lambda view, *size: found.append(view) or whole(view, *size))
    return found


def opened(path, **state):
    return open_page(path, download=True, **state)


@pytest.mark.parametrize("path", pages())
def test_every_figure_has_table(path, views):
    at = opened(path)
    pictures = at.get("vega_lite_chart")
    if path.endswith("from_scratch/page.py") or (not pictures and not at.get("bidi_component")):  # nothing to download
        assert not views
        return
    view = views[-1]
    assert len(view.panels) >= len(pictures)
    for name, panel in view.panels.items():
        assert len(panel.table) and panel.alt, name
        assert not name.endswith("..."), name  # the figure's name, not the start of its caption
    titles = [view.origin(name).title for name in view.panels]
    assert len(set(titles)) == len(titles)
    assert at.selectbox(key="download_figure").options == list(view.panels)
    page = report.html(view)
    assert page.count('<img src="data:image/svg') == len(view.panels)
    assert ("<script" in page) == any(panel.live for panel in view.panels.values()) and "http://" not in page.replace(
        "http://www.w3.org", ""
    ).replace("http://localhost", "")


def test_provenance_states_chosen_head(views):
    opened("pages/explore/all_heads.py", head="L3 H7")
    origins = {name.split(". ")[1]: views[-1].origin(name) for name in views[-1].panels}
    assert origins["all heads"].layer is None
    assert (origins["over many sentences"].layer, origins["over many sentences"].head) == (3, 7)


def test_missing_font_is_reported():
    """The sentence has a character that Unicode hasn't assigned, so no font has it."""
    for address in ("", "all-heads"):
        at = open_link(address, a="The \U000e1234 bank of the river.")
        assert not at.caption or "found no font" not in str(
            [each.value for each in (*at.caption, *at.text, *at.markdown)]
        )
        at.session_state["download"] = True
        at.run()
        shown = str([each.value.replace("\\", "") for each in (*at.caption, *at.text, *at.markdown)])
        assert "selfattn found no font with" in shown and "(U+E1234)" in shown and "fonts-noto-cjk" in shown


def test_start_page_offers_picture_to_share(monkeypatch):
    made = {}
    monkeypatch.setattr(download, "file_button", lambda label, *what: made.update({label: what}))
    opened("pages/explore/two_sentences/page.py")
    make, file, kind, *_ = made["Picture to share (1200 x 675)"]
    picture = Image.open(io.BytesIO(make()))
    assert picture.size == (1200, 675) and picture.getpixel((0, 0))[:3] == (255, 255, 255)
    provenance = json.loads(picture.text["provenance"])
    assert list(provenance["sentences"]) == ["A", "B"] and provenance["model"].endswith("all-MiniLM-L6-v2")
    assert (file, kind) == ("selfattn-two-sentences-share.png", "image/png")


@pytest.mark.parametrize(("path", "state"), [("all_heads.py", {}), ("two_sentences/page.py", {"guessed": "asked"})])
def test_picture_to_share_needs_main_view_with_answer(path, state, monkeypatch):
    """Other pages don't offer the picture, nor does the main view while the visitor is asked to guess."""
    made = {}
    monkeypatch.setattr(download, "file_button", lambda label, *what: made.update({label: what}))
    opened(f"pages/explore/{path}", **state)
    assert "Report (HTML)" in made and "Picture to share (1200 x 675)" not in made


def test_provenance_of_lesson_names_no_encoder(views):
    at = at_address("from-scratch", stop="soft-lookup", reveal="yes")  # the pictures are shown with the answer
    at.session_state["download"] = True
    at.run()
    assert views[-1].provenance.line() == "computed by selfattn, without a pretrained encoder"
    assert not views[-1].arrays


def test_link_in_provenance_keeps_parameters_the_page_does_not_use(views):
    at = at_address("inside-a-head", encoder="x", self="x", **{"model name": "x"})
    at.session_state["download"] = True
    at.run()
    assert "encoder=x" in views[-1].provenance.link
