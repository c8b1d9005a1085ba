"""Test the figure that the start page shows while the encoder loads."""

import copy
import importlib
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest

from selfattn.dashboard import while_loading
from selfattn.encoders.sources import BUNDLED_CONTENT, BUNDLED_DIGESTS
from selfattn.examples import PAIRS
from selfattn.export.site import pair_panel
from selfattn.panel import Live
from tests.pages.conftest import APP

pytestmark = pytest.mark.slow
SAYING = "This figure was computed earlier"


@pytest.fixture
def opened(monkeypatch):
    """Return a function that opens the start page on a fresh server.

    The function returns the page, and True if the page first showed the figure in the file STORED.
    """
    monkeypatch.setattr(while_loading, "loaded", lambda: False)
    sent, enqueue = [], ScriptRunContext.enqueue
    monkeypatch.setattr(
        ScriptRunContext, "enqueue", lambda self, message: (sent.append(str(message)), enqueue(self, message))[1]
    )

    def run(**asked):
        at = AppTest.from_file(str(APP), default_timeout=180)
        for key, value in asked.items():
            at.query_params[key] = value
        at.run()
        assert not at.exception
        return at, any(SAYING in message for message in sent)

    return run


def kept():
    return json.loads(while_loading.STORED.read_text("utf-8"))


def assert_close(one, other, where=""):
    """Assert equality, with a tolerance for floats and for strings of comma-separated integers."""
    if isinstance(one, dict):
        assert [*one] == [*other], where
        for key in one:
            assert_close(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for i, pair in enumerate(zip(one, other)):
            assert_close(*pair, f"{where}[{i}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, abs=1e-3), where
    elif isinstance(one, str) and one[:1] in "-0123456789" and one.count(",") > 3:
        assert list(map(int, one.split(","))) == pytest.approx(list(map(int, other.split(","))), abs=10), where
    else:
        assert one == other, where


def test_stored_figure_is_current(encoder):
    """If this test fails, run `make demo`."""
    stored = kept()
    assert stored["content"] == encoder.content
    assert_close(stored["data"], json.loads(json.dumps(pair_panel(encoder, PAIRS[0]).live.data)))
    Live("way", stored["data"])  # validates the data
    assert while_loading.STORED.stat().st_size < 32_000


def test_live_figure_replaces_stored_figure(opened):
    at, shown = opened()
    assert shown and not at.warning
    assert SAYING not in str([caption.value for caption in at.caption])


@pytest.mark.parametrize("part", ["key", "finding", "share"])
def test_page_warns_if_stored_figure_is_outdated(opened, monkeypatch, tmp_path, part):
    stored = kept()
    if part == "share":
        stored["data"]["sides"][1]["words"][0]["share"] += 0.006
    else:
        stored["data"][part] = "another"
    monkeypatch.setattr(while_loading, "STORED", tmp_path / "kept.json")
    while_loading.STORED.write_text(json.dumps(stored), "utf-8")
    warnings = [warning.value for warning in opened()[0].warning]
    assert ["differs from the computed figure" in warning for warning in warnings] == [True]


def test_small_differences_between_figures_are_ignored():
    one = kept()["data"]
    other = copy.deepcopy(one)
    other["sides"][0]["words"][0]["share"] += 0.004
    assert while_loading._same(one, other)
    other["sides"][0]["words"][0]["share"] += 0.002
    assert not while_loading._same(one, other)


def test_link_to_another_view_shows_no_stored_figure(opened):
    assert not opened(head="L0 H1")[1]
    assert not opened(content="c0ffee00")[1]
    assert not opened(digest=BUNDLED_DIGESTS["model.safetensors"][:8])[1]  # an older link
    assert opened(content=BUNDLED_CONTENT[:8])[1]


def test_loaded_is_true_once_pickers_are_imported(monkeypatch):
    importlib.import_module("selfattn.dashboard.pickers")
    assert while_loading.loaded()
    monkeypatch.delitem(sys.modules, "selfattn.dashboard.pickers")
    assert not while_loading.loaded()


def test_no_stored_figure_if_command_line_names_model(monkeypatch):
    monkeypatch.setattr(while_loading, "loaded", lambda: False)
    monkeypatch.setattr(while_loading, "sys", SimpleNamespace(argv=["app.py", "--model=another"]))
    assert while_loading.show_stored_figure() is None


def test_stored_figure_needs_no_torch():
    """Importing torch would delay the stored figure."""
    heavy = "{'torch', 'transformers', 'pandas', 'altair', 'selfattn.panel', 'selfattn.charts.vega'}"
    code = "import sys, selfattn.dashboard.streamlit_internals, selfattn.dashboard.while_loading\n"
    code += f"print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
