"""What an operator sets: every variable, its default, what a wrong value says, and the README's table."""

from dataclasses import fields
from pathlib import Path

import pytest

from docs.readme import limits
from selfattn.settings import Settings, variable

GIVEN = {
    "max_rows": (" 7 ", 7),
    "devices": ("cpu, mps,", ("cpu", "mps")),
    "models": ("some/model", ("some/model",)),
    "model_dir": ("/tmp/../tmp", Path("/tmp")),
    "offline": ("1", True),
}


@pytest.fixture(autouse=True)
def nothing_is_set(monkeypatch):
    for each in fields(Settings):
        monkeypatch.delenv(variable(each.name), raising=False)


@pytest.mark.parametrize("name", GIVEN)
def test_each_is_read_when_it_is_asked_for(monkeypatch, name):
    text, value = GIVEN[name]
    monkeypatch.setenv(f"SELFATTN_{name.upper()}", text)
    read = Settings.read()
    assert getattr(read, name) == value
    assert {each.name for each in fields(Settings) if getattr(read, each.name) != getattr(Settings(), each.name)} == {
        name
    }
    monkeypatch.setenv(f"SELFATTN_{name.upper()}", "")
    assert Settings.read() == Settings()


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "1.5"])
def test_a_number_that_is_none_stops_the_start(monkeypatch, wrong):
    monkeypatch.setenv("SELFATTN_MAX_ROWS", wrong)
    with pytest.raises(SystemExit, match="SELFATTN_MAX_ROWS must be a whole number of at least 1"):
        Settings.read()


def test_the_table_holds_every_setting():
    assert "| `SELFATTN_MAX_CHARACTERS` | 40,000 | characters of one text |" in limits()
    assert all(f"`{variable(each.name)}`" in limits() for each in fields(Settings))
