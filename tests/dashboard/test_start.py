"""What stands at the start: the encoder named on the command line, and imports that take no time."""

import subprocess
import sys
from pathlib import Path

import pytest

from selfattn.dashboard.permissions import start_model
from selfattn.encoders.sources import BUNDLED_NAME

ROOT = Path(__file__).parents[2]


def test_the_encoder_named_on_the_command_line_is_the_first(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["app.py"])
    assert start_model() == BUNDLED_NAME
    monkeypatch.setattr(sys, "argv", ["app.py", "--model", "a/folder"])
    assert start_model() == "a/folder"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        # What app.py imports before its first visitor, and what the kernel's tests import, run at its every change.
        ("selfattn.dashboard.streamlit_internals", "torch transformers pandas altair"),
        ("tests.conftest, selfattn.kernel", "transformers streamlit playwright pandas hypothesis xdist"),
    ],
)
def test_nothing_heavy_is_imported_by(modules, heavy):
    code = f"import {modules}, sys; print([name for name in {heavy.split()} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    import selfattn

    for name in selfattn.__all__:
        assert getattr(selfattn, name).__name__ == name
    assert set(selfattn.__all__) <= set(dir(selfattn))
