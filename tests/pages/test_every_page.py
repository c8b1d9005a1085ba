"""Test that every page opens and is in the navigation."""

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from selfattn.dashboard import encoder_picker
from selfattn.dashboard.cache import Cache
from tests.pages.conftest import APP, open_link, pages

pytestmark = pytest.mark.slow


def test_page_files_are_in_navigation():
    folder = APP.parent / "pages"
    files = {*folder.rglob("page.py"), *folder.glob("*/*.py")}
    assert {str(file.relative_to(APP.parent)) for file in files} == set(pages())


@pytest.fixture(scope="module")
def visitor():
    return AppTest.from_file(str(APP), default_timeout=120).run()


def _headings(at):
    return [heading.value for heading in (*at.title, *at.subheader)]


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=pytest.mark.slow if "/senses/" in path else ()) for path in pages()]
)
def test_page_opens_without_errors(visitor, path):
    before = _headings(visitor)
    at = visitor.switch_page(path).run()
    assert not at.error
    assert _headings(at) != before or "two_sentences" in path  # the visitor starts there
    assert at.markdown or at.text


def _places(block: Block, path: tuple[int, ...] = ()) -> dict[tuple[int, ...], tuple[str, str]]:
    """Return {place in the page: (type, key)} for all fields and charts."""
    found = {}
    for number, element in block.children.items():
        here, key = (*path, number), getattr(element, "key", None)
        if element.type in ("vega_lite_chart", "bidi_component", "dataframe"):
            found[here] = (element.type, "")  # no key, because another chart may take this place
        elif key:
            found[here] = (element.type, key)
        found |= _places(element, here) if isinstance(element, Block) else {}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", ["", "inside-a-head", "all-heads", "senses", "two-encoders", "predictions"])
def test_fields_and_charts_keep_their_places(page, nothing_computed, monkeypatch):
    """If a slider's place in the page changed, the slider would lose the keyboard focus."""
    if not page:  # load again, to show the message about loading
        monkeypatch.setattr(encoder_picker, "_encoders", Cache(2, lambda _: 1))
    at = open_link(page)
    before = _places(at.main)
    assert before
    at.session_state.head = "L0 H1"
    if "a" in at.session_state:
        field = at.text_area if page == "predictions" else at.text_input
        field(key="a").set_value("The bank of the wide river was muddy.")
    assert _places(at.run().main) == before
