"""The example pairs as static pages: the index leads to all of them, and each says what the main view says."""

import re

import pytest

from selfattn.__main__ import main
from selfattn.examples import PAIRS
from selfattn.export.site import SiteError, write_site
from tests.export.test_report import Elements


@pytest.mark.slow
def test_the_index_leads_to_a_page_a_pair(encoder, tmp_path):
    folder, wrote = tmp_path / "site", []
    write_site(encoder, PAIRS[:2], folder, wrote.append)
    assert wrote == ["bank.html", "bat.html", "index.html"]
    assert {path.name for path in folder.iterdir()} == set(wrote)
    index = Elements((folder / "index.html").read_text("utf-8"))
    assert [attributes["href"] for name, attributes in index.found if name == "a"] == wrote[:2]
    for pair in PAIRS[:2]:
        assert pair.first in index.text and pair.second in index.text
    assert "One head makes a quarter of the difference." in index.text
    bank = Elements((folder / "bank.html").read_text("utf-8"))
    assert [name for name, _ in bank.found].count("img") == 4
    assert "script" not in {name for name, _ in index.found + bank.found}
    assert "a quarter of the way" in bank.text and "(25 %)" in bank.text and "(river side)" in bank.text
    assert PAIRS[0].control in bank.text
    assert '24 labelled sentences of "bank" show whether it holds.' in bank.text
    assert re.search(r"our weights equal the model's own to 0\.000000\d", bank.text)


def test_a_folder_that_holds_something_is_left_alone(encoder, tmp_path):
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(SiteError, match=r"holds something already\. Choose a new or empty folder"):
        write_site(encoder, PAIRS[:1], tmp_path, print)
    assert (tmp_path / "index.html").read_text() == "mine"


def test_the_command_says_what_is_wrong(tmp_path, capsys):
    assert main(["site", str(tmp_path / "site"), "--model", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.startswith("selfattn site: ")
    assert not (tmp_path / "site").exists()
