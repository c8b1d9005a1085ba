"""`streamlit run app.py -- --model NAME` opens on that encoder."""

import sys

from selfattn.dashboard.state import start_model
from selfattn.sources import BUNDLED_NAME


def test_the_encoder_named_on_the_command_line_is_the_first(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["app.py"])
    assert start_model() == BUNDLED_NAME
    monkeypatch.setattr(sys, "argv", ["app.py", "--model", "a/folder"])
    assert start_model() == "a/folder"
