"""A report that was computed beforehand (selfattn/stored_reports.py), its date on the page, and "Compute again"."""

import functools
from collections.abc import Hashable, Sequence

import pandas as pd
import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.cache import cached
from selfattn.encoders.encoder import Encoder
from selfattn.examples import labelled_sentences
from selfattn.stored_reports import Stored, stored


@functools.cache
def labelled() -> pd.DataFrame:
    """The built-in labelled sentences."""
    return labelled_sentences()


def stored_report(name: str, encoder: Encoder, read: object, key: Hashable) -> Stored | None:
    """The stored report about `read`, which `key` names in the cache; None where there is none, or it is computed again."""
    if session.AGAIN.of(name).get():
        return None
    return cached(encoder, ("stored", name, key), lambda progress: stored(name, encoder, read))


def offer_again(reports: Sequence[str], date: str) -> None:
    """Say when the stored reports of these names were computed, with a button that computes them here and now."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Computed on {date}, with the weights and the sentences that are here now.", width="content")
        asked = dict.fromkeys(map(session.AGAIN.of, reports), True)
        st.button("Compute again", key=f"again {reports[0]}", on_click=st.session_state.update, args=(asked,))
