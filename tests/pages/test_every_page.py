"""Every page opens: the smoke test of `make quick`."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import APP, pages


def test_every_page_file_is_in_the_navigation():
    folder = APP.parent / "pages"
    files = {*folder.rglob("page.py"), *folder.glob("*/*.py")}
    assert {str(file.relative_to(APP.parent)) for file in files} == set(pages())


@pytest.fixture(scope="module")
def visitor():
    """One visitor, who walks through all the pages."""
    return AppTest.from_file(str(APP), default_timeout=120).run()


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=pytest.mark.slow if "/senses/" in path else ()) for path in pages()]
)
def test_opens_without_a_complaint(visitor, path):
    before = visitor.subheader[0].value
    at = visitor.switch_page(path).run()
    assert not at.exception and not at.error
    assert (at.subheader[0].value != before) == (path != pages()[0])
    assert at.markdown or at.text
