"""Test the settings from environment variables."""

import os
from dataclasses import fields, replace
from pathlib import Path

import pytest

from selfattn.encoders import hub
from selfattn.settings import Settings, forbid_the_hub, variable

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
def test_setting_is_read_from_environment_variable(monkeypatch, name):
    text, value = GIVEN[name]
    monkeypatch.setenv(f"SELFATTN_{name.upper()}", text)
    assert Settings.read() == replace(Settings(), **{name: value})
    monkeypatch.setenv(f"SELFATTN_{name.upper()}", "")
    assert Settings.read() == Settings()


@pytest.mark.parametrize(
    ("text", "offline"), [("True", True), ("YES", True), ("on", True), ("false", False), ("No", False), ("0", False)]
)
def test_yes_and_no_have_several_spellings(monkeypatch, text, offline):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("SELFATTN_OFFLINE", text)
    forbid_the_hub()
    assert (Settings.read().offline, hub.offline(), os.environ.get("HF_HUB_OFFLINE") == "1") == (offline,) * 3
    monkeypatch.setenv("SELFATTN_OFFLINE", "0")
    monkeypatch.setenv("HF_HUB_OFFLINE", text)
    assert hub.offline() is offline  # huggingface_hub reads this variable in the same way


def test_yes_or_no_setting_refuses_other_values(monkeypatch):
    monkeypatch.setenv("SELFATTN_OFFLINE", "perhaps")
    with pytest.raises(
        SystemExit, match="SELFATTN_OFFLINE must be one of 1, true, yes, on, 0, false, no, off, got 'perhaps'"
    ):
        Settings.read()


def test_unknown_variable_is_refused(monkeypatch):
    monkeypatch.setenv("SELFATTN_PROBE_SECONDS", "")
    assert Settings.read() == Settings()
    monkeypatch.setenv("SELFATTN_PROBE_SECONDS", "300")
    with pytest.raises(
        SystemExit, match=r"^SELFATTN_PROBE_SECONDS is not a setting of selfattn\. Unset SELFATTN_PROBE_SECONDS"
    ):
        Settings.read()


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "1.5"])
def test_invalid_number_is_refused(monkeypatch, wrong):
    monkeypatch.setenv("SELFATTN_MAX_ROWS", wrong)
    with pytest.raises(SystemExit, match="SELFATTN_MAX_ROWS must be a whole number of at least 1"):
        Settings.read()
