"""Generated links at a real server, each in a session of its own: the page answers, and nothing is read that mayn't be."""

import re

import pytest

from selfattn import LoadError, TextError
from selfattn.dashboard import permissions
from selfattn.dashboard.permissions import allowed_scan_folder, check_encoder
from selfattn.encoders.sources import resolve
from tests.fuzz.hostile import MARKUP, names_around, queries
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

    generated(2, 100, queries(keys), opened)


@pytest.fixture
def worlds(tmp_path):
    """Two that are alike but for what is outside the operator's folder: there is much, and nothing."""
    for root in (tmp_path / "full", tmp_path / "bare"):
        (root / "shelf" / "mine").mkdir(parents=True)
        (root / "shelf" / "file").touch()
        (root / "shelf" / "door").symlink_to(root / "outside")
        (root / "shelf" / "loop").symlink_to(root / "shelf" / "loop")
        (root / "also-shelf").symlink_to(root / "shelf")
    outside = tmp_path / "full" / "outside"
    (outside / "there" / "mine").mkdir(parents=True)
    (outside / "file").touch()
    (outside / "loop").symlink_to(outside / "loop")
    (outside / "away").symlink_to("/")
    for name in ("back", "mine"):
        (outside / name).symlink_to(tmp_path / "full" / "shelf" / "mine")
    return tmp_path / "full", tmp_path / "bare"


def test_no_answer_tells_what_exists_outside_the_operators_folder(worlds, monkeypatch, generated):
    monkeypatch.setattr(permissions, "beyond_localhost", lambda: True)
    monkeypatch.setenv("SELFATTN_OFFLINE", "1")

    def answers(root, name):
        for setting in ("SELFATTN_MODEL_DIR", "SELFATTN_SCAN_DIR"):
            monkeypatch.setenv(setting, str(root / "also-shelf"))
        for ask in (check_encoder, allowed_scan_folder, resolve):
            try:
                yield str(ask(name.format(root=root))).replace(str(root), "")
            except (LoadError, TextError) as error:
                yield str(error).replace(str(root), "")

    def alike(name):
        full, bare = (list(answers(root, name)) for root in worlds)
        assert full == bare

    generated(300, 10_000, names_around(), alike)
