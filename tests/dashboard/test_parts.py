"""Parts of a page that run again by themselves: which of them waits for its turn."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import streamlit as st

from selfattn.dashboard import parts, session


@pytest.mark.parametrize("computes", [True, False])
def test_a_part_that_computes_nothing_waits_for_no_turn(monkeypatch, computes):
    """A wait is said in the part's own room; a room outside it can't be filled when the part runs by itself."""
    record, waited, shown = SimpleNamespace(news=object(), noted=["a figure"], tables={"its": "table"}), [], []
    monkeypatch.setattr(parts, "this_page", lambda: record)
    monkeypatch.setattr(parts, "page_turn", lambda news: waited.append(news) or nullcontext())
    monkeypatch.setattr(parts.st, "fragment", lambda function, key: function)
    monkeypatch.setattr(parts.st, "container", lambda: "its own")
    monkeypatch.setattr(st, "session_state", {session.RECORD: None})  # of a whole run that has ended

    def show():
        own = st.session_state[session.RECORD]
        shown.append((own.noted, own.tables))
        own.noted.append("drawn again")

    parts.show_part("a part", show, computes=computes)
    assert shown == [(["drawn again"], {})] and (record.noted, record.tables) == (["a figure"], {"its": "table"})
    assert waited == (["its own"] if computes else [])
