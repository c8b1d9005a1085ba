"""Generated texts in every input of every page cause no traceback and take no effect as Markdown or HTML."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.fuzz.hostile import MARKUP, sentences, texts
from tests.pages.conftest import APP, pages

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("path", pages())
def test_texts_in_every_input(path, generated):
    app = AppTest.from_file(str(APP), default_timeout=120).run().switch_page(path).run()
    assert not app.exception
    if not app.text_input and not app.text_area:
        return

    def typed(text):
        text = text.encode("utf-8", "ignore").decode()  # a page can't send lone surrogates
        for widget in (*app.text_input, *app.text_area):
            if widget.key not in ("other", "revision"):  # test_browser.py generates names of encoders
                widget.set_value(text)
        app.run()
        assert not app.exception, app.exception[0].message
        interpreted = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info, *app.success]
        for element in interpreted:
            assert not [markup for markup in MARKUP if markup in text and markup in element.value], element.value

    generated(1, 40, sentences() | texts(), typed)
