"""Generated links at a real server, each in a session of its own: the page answers, and nothing is read that mayn't be."""

import re

import pytest

from tests.fuzz.hostile import MARKUP, queries
from tests.pages.conftest import addresses
from tests.soak.session import Session

pytestmark = pytest.mark.slow


# The senses page makes its report anew for each link; tests/pages opens it.
LINKED = [pytest.param(page, marks=pytest.mark.long if page == "senses" else ()) for page in addresses()]


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page or "default")
def test_links_open_a_page_or_say_why_not(server, page, generated, tmp_path_factory):
    operators = str(tmp_path_factory.getbasetemp())  # where the server's encoders and scans are

    with Session(server) as session:
        first = session.open(page)
        assert not first.exceptions
        assert not first.not_found
        keys = session.widgets

    def opened(query):
        with Session(server) as session:
            run = session.open(page, query)
        assert not run.exceptions, run.exceptions
        for body in run.alerts:
            assert "root:" not in body
            assert operators not in body
            plain = re.sub(r"\\[!-/:-@\[-`{-~]", "", body)  # with a backslash before it a sign is only text
            assert not [markup for markup in MARKUP if markup in plain], body

    generated(2, 100, queries(list(keys)), opened)
