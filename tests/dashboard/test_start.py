"""`streamlit run app.py -- --model NAME` opens on that encoder."""

import subprocess
import sys

import pytest

from selfattn.dashboard.permissions import start_model
from selfattn.encoders.sources import BUNDLED_NAME


def test_the_encoder_named_on_the_command_line_is_the_first(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["app.py"])
    assert start_model() == BUNDLED_NAME
    monkeypatch.setattr(sys, "argv", ["app.py", "--model", "a/folder"])
    assert start_model() == "a/folder"


@pytest.mark.slow
def test_the_frame_needs_nothing_heavy():
    """What app.py imports before its first visitor: torch and transformers would hold up the server by seconds."""
    imports = "import selfattn.dashboard.streamlit_internals, sys"
    code = f"{imports}; print([name for name in ('torch', 'transformers', 'pandas', 'altair') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    import selfattn

    for name in selfattn.__all__:
        assert getattr(selfattn, name).__name__ == name
    assert set(selfattn.__all__) <= set(dir(selfattn))
