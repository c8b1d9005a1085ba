"""The stored first pictures: shown at once while the encoder is loaded, gone when the live ones are there, and checked."""

import importlib
import json
import re
import sys
from types import SimpleNamespace

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest

from selfattn.dashboard import while_loading
from selfattn.encoders.sources import BUNDLED_CONTENT, BUNDLED_DIGESTS
from tests.pages.conftest import APP

pytestmark = pytest.mark.slow
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
BAR = {"mark": "bar", "data": {"values": []}}
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


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_stored_pictures_are_shown_at_once_and_are_those_of_now(opened, look, monkeypatch):
    drawn, figures = [], while_loading.figures
    monkeypatch.setattr(while_loading, "figures", lambda record: drawn.extend(figures(record)) or figures(record))
    at, shown = opened(look)
    assert shown
    stored, now = (
        json.dumps(specs, sort_keys=True)
        for specs in (
            [spec for _, spec in json.loads(while_loading.STORED.read_text("utf-8"))["pictures"][look]],
            [json.loads(json.dumps(figure.draw(), default=float)) for figure in drawn],
        )
    )
    assert NUMBER.sub("", stored) == NUMBER.sub("", now)
    for one, other in zip(NUMBER.findall(stored), NUMBER.findall(now), strict=True):
        assert float(one) == pytest.approx(float(other), abs=1e-3 if "." in one else 3)  # as rows travel: "44,16,-3"
    assert not at.warning, "python docs/while_loading.py stores them anew"
    assert not any(SAYING in caption.value for caption in at.caption)
    assert len(at.get("vega_lite_chart")) == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [("content", "another"), ("sentences", {"A": "Another."}), ("pictures", {"light": [["Another.", BAR]]})],
)
def test_what_differs_from_the_stored_pictures_is_said(opened, monkeypatch, tmp_path, name, value):
    kept = json.loads(while_loading.STORED.read_text("utf-8")) | {name: value}
    monkeypatch.setattr(while_loading, "STORED", tmp_path / "kept.json")
    while_loading.STORED.write_text(json.dumps(kept), "utf-8")
    warnings = [warning.value for warning in opened()[0].warning]
    assert ["not those that are computed now" in warning for warning in warnings] == [True]


def test_who_asks_for_something_else_sees_nothing_stored(opened):
    assert not opened(head="L0 H1")[1]
    assert not opened(content="c0ffee00")[1]
    assert not opened(digest=BUNDLED_DIGESTS["model.safetensors"][:8])[1]  # an older link, which needs a note
    assert opened(content=BUNDLED_CONTENT[:8])[1]


def test_a_server_that_has_the_pages_parts_is_loaded(monkeypatch):
    importlib.import_module("selfattn.dashboard.pickers")
    assert while_loading.loaded() and while_loading.show_stored_pictures() is None
    monkeypatch.delitem(sys.modules, "selfattn.dashboard.pickers")
    assert not while_loading.loaded()


def test_another_encoder_on_the_command_line_has_nothing_stored(opened, monkeypatch):
    monkeypatch.setattr(while_loading.sys, "argv", ["app.py", "--model=another"])
    assert while_loading.show_stored_pictures() is None
