"""What stands at the start: imports that take no time, and the public names."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_nothing_heavy_is_imported_before_the_first_visitor():
    heavy = "{'torch', 'transformers', 'pandas', 'altair'}"
    code = f"import selfattn.dashboard.streamlit_internals, sys; print({heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_public_name_is_there():
    import selfattn

    for name in selfattn.__all__:
        assert getattr(selfattn, name).__name__ == name
    assert set(selfattn.__all__) <= set(dir(selfattn))
