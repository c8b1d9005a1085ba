"""Generated texts in every input of every page: no traceback, and no text that takes effect as Markdown."""

import ast
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.fuzz.hostile import MARKUP, sentences, texts

ROOT = Path(__file__).parents[2]


def listed_pages() -> list[str]:
    """The pages that app.py lists and that exist."""
    tree = ast.parse((ROOT / "app.py").read_text("utf-8"))
    pages = next(node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "PAGES")
    listed = [f"pages/{path}" for entries in ast.literal_eval(pages).values() for path, *_ in entries]
    return [path for path in listed if (ROOT / path).exists()]


@pytest.mark.parametrize("path", listed_pages())
def test_texts_in_every_input(path, generated):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run().switch_page(path).run()
    assert not app.exception
    if not app.text_input and not app.text_area:
        return

    def typed(text):
        text = text.encode("utf-8", "ignore").decode()  # what a page sends can hold no half of a surrogate pair
        for widget in (*app.text_input, *app.text_area):
            if widget.key not in ("other", "revision"):  # an encoder's name: tests/fuzz/test_links.py
                widget.set_value(text)
        app.run()
        assert not app.exception, app.exception[0].message
        interpreted = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info, *app.success]
        for element in interpreted:
            assert not [markup for markup in MARKUP if markup in text and markup in element.value], element.value

    generated(4, sentences() | texts(), typed)
