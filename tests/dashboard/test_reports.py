"""Test the progress bar of costly work."""

from types import SimpleNamespace

import streamlit as st

from selfattn.dashboard import cache as the_cache
from selfattn.dashboard import reports, session
from selfattn.dashboard.cache import Cache, bytes_of


def test_progress_bar_fills(monkeypatch):
    shown, thing = [], SimpleNamespace(name="n", content="n", device="cpu", dtype="float32", revision=None)
    bar = SimpleNamespace(progress=lambda *given: shown.append(given))
    monkeypatch.setattr(the_cache, "_results", Cache(2**20, bytes_of))
    monkeypatch.setattr(session, "STOPPED", SimpleNamespace(get=lambda: None, set=None))
    monkeypatch.setattr(st, "progress", lambda *given: bar)

    def make(progress):
        for done in (0, 3, 4):
            progress(done, 4)
        return "the report"

    assert reports.stoppable(thing, "key", "Reading", make) == "the report"
    assert shown == [(0.0, "Reading 0 of 4"), (0.75, "Reading 3 of 4"), (1.0, "Reading 4 of 4")]
