"""Test parts of a page, which can rerun without the rest of the page."""

from types import SimpleNamespace

import streamlit as st

from selfattn.dashboard import parts, session


def test_fragment_that_reruns_has_own_container_and_panels(monkeypatch):
    """A Streamlit fragment can't write into containers outside the fragment."""
    record, shown = SimpleNamespace(news="the page's", panels=["a figure"], tables={"its": "table"}), []
    monkeypatch.setattr(parts, "this_page", lambda: record)
    monkeypatch.setattr(parts.st, "fragment", lambda function, key: function)
    monkeypatch.setattr(parts.st, "container", lambda: "its own")
    monkeypatch.setattr(st, "session_state", {session.RECORD: None})  # the page's run has ended

    def show():
        own = st.session_state[session.RECORD]
        shown.append((own.news, own.panels, own.tables))
        own.panels.append("drawn again")

    parts.show_part("a part", show)
    assert shown == [("its own", ["drawn again"], {})] and (record.panels, record.tables) == (
        ["a figure"],
        {"its": "table"},
    )
