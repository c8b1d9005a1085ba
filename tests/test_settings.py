"""What an operator sets: how each kind of variable is read, and what a wrong value says."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

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
    assert Settings.read() == replace(Settings(), **{name: value})
    monkeypatch.setenv(f"SELFATTN_{name.upper()}", "")
    assert Settings.read() == Settings()


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "1.5"])
def test_a_number_that_is_none_stops_the_start(monkeypatch, wrong):
    monkeypatch.setenv("SELFATTN_MAX_ROWS", wrong)
    with pytest.raises(SystemExit, match="SELFATTN_MAX_ROWS must be a whole number of at least 1"):
        Settings.read()
