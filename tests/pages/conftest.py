"""Pages run through app.py, as a visitor meets them."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "app.py"


@pytest.fixture
def main_view() -> AppTest:
    """The default page, run once."""
    return AppTest.from_file(str(APP), default_timeout=120).run()
