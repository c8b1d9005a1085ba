"""The stored first pictures: shown at once while the encoder is loaded, gone when the live ones are there, and checked."""

import importlib
import json
import sys
from types import SimpleNamespace

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest

from selfattn.dashboard import while_loading
from tests.pages.conftest import APP

pytestmark = pytest.mark.slow
SAYING = "Stored pictures of the first example"


@pytest.fixture
def opened(monkeypatch):
    """Open the start page on a server that has loaded nothing yet: the page, and whether stored pictures were sent."""
    monkeypatch.setattr(while_loading, "loaded", lambda: False)
    sent, enqueue = [], ScriptRunContext.enqueue
    monkeypatch.setattr(
        ScriptRunContext, "enqueue", lambda self, message: (sent.append(str(message)), enqueue(self, message))[1]
    )

    def run(look="light", **asked):
        theme = property(lambda self: SimpleNamespace(type=look))
        monkeypatch.setattr(ContextProxy, "theme", theme)
        at = AppTest.from_file(str(APP), default_timeout=180)
        for key, value in asked.items():
            at.query_params[key] = value
        at.run()
        assert not at.exception
        return at, any(SAYING in message for message in sent)

    return run


def change(monkeypatch, tmp_path, edit):
    kept = json.loads(while_loading.STORED.read_text("utf-8"))
    edit(kept)
    monkeypatch.setattr(while_loading, "STORED", tmp_path / "kept.json")
    while_loading.STORED.write_text(json.dumps(kept), "utf-8")


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_stored_pictures_are_shown_at_once_and_are_those_of_now(opened, look):
    at, shown = opened(look)
    assert shown
    assert not at.warning, "python docs/while_loading.py stores them anew"
    assert not any(SAYING in caption.value for caption in at.caption)
    assert len(at.get("vega_lite_chart")) == 4


def test_another_picture_than_the_stored_one_is_said(opened, monkeypatch, tmp_path):
    def edit(kept):
        record = next(iter(kept["pictures"]["light"][0][1]["datasets"].values()))[-1]
        name = next(name for name, value in record.items() if isinstance(value, float))
        record[name] += 0.01

    change(monkeypatch, tmp_path, edit)
    at, _ = opened()
    assert ["not those that are computed now" in warning.value for warning in at.warning] == [True]


@pytest.mark.parametrize(("name", "value"), [("weights", "another digest"), ("sentences", {"A": "Another."})])
def test_other_weights_and_other_sentences_are_said(opened, monkeypatch, tmp_path, name, value):
    change(monkeypatch, tmp_path, lambda kept: kept.update({name: value}))
    assert len(opened()[0].warning) == 1


def test_who_asks_for_something_else_sees_nothing_stored(opened):
    assert not opened(head="L0 H1")[1]
    assert not opened(digest="c0ffee00")[1]
    assert opened(digest=json.loads(while_loading.STORED.read_text("utf-8"))["weights"][:8])[1]


def test_a_server_that_has_the_pages_parts_is_loaded(monkeypatch):
    importlib.import_module("selfattn.dashboard.pickers")
    assert while_loading.loaded() and while_loading.show_stored_pictures() is None
    monkeypatch.delitem(sys.modules, "selfattn.dashboard.pickers")
    assert not while_loading.loaded()


def test_another_encoder_on_the_command_line_has_nothing_stored(opened, monkeypatch):
    monkeypatch.setattr(while_loading.sys, "argv", ["app.py", "--model=another"])
    assert while_loading.show_stored_pictures() is None
