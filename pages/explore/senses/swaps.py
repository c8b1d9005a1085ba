"""The senses page's first part: which heads bring a word's sense in, by swapping their outputs; over all words, then in one."""

from collections.abc import Hashable

import pandas as pd
import streamlit as st

from pages.explore.senses.tables_and_reports import cached_report, show_map
from selfattn.captions import senses as captions
from selfattn.charts.bars import bar_list
from selfattn.dashboard.cache import encoder_key
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.frames import named_heads
from selfattn.senses import InterchangeReport, interchange
from selfattn.senses.patching import ALL
from selfattn.stored_reports import swapped_heads

COLUMN = 540
FIRST = "bank"
LIMIT = (
    "What this doesn't say: the sentences that a head's output is taken from may share a topic as well as a sense; and only the "
    "word's own position is swapped, so what other positions gathered for it counts to the head that fetched it."
)


def show(
    encoder: Encoder, frame: pd.DataFrame, key: Hashable, head: Head, stored: InterchangeReport | None
) -> InterchangeReport | None:
    """Both maps, with what hands it over in one sentence; `stored` where it was computed beforehand."""
    if not encoder.recomputable:
        st.info(f"Heads' outputs can't be swapped in this encoder: {encoder.reason}")
        return None
    st.markdown(
        "#### Which heads bring the sense in",
        help="At the word, a head's output is swapped for the mean of the other sense's sentences, and the word's vector moves "
        "toward that sense. The control swaps in the mean of its own sense's. Their difference, as a part of the gap between "
        "the senses, is the head's share. Several heads are swapped together, never added up.",
    )
    words = sorted(frame["word"].dropna().astype(str).str.casefold().unique())
    with st.container(horizontal=True, gap="medium"):
        over_all = st.container(width=COLUMN, gap="small")
        in_one = st.container(width=COLUMN, gap="small")
    with in_one:
        default = words.index(FIRST) if FIRST in words else 0
        word = st.selectbox("In one word", words, default, key="sense_word", bind="query-params", width=220)
    try:
        return _show_both(encoder, frame, key, head, stored, word, over_all, in_one)
    except ValueError as error:
        in_one.text(f"Heads' outputs can't be swapped over these sentences. {error}", width="stretch")
        return None


def _show_both(encoder, frame, key, head, stored, word, over_all, in_one) -> InterchangeReport:
    known = (encoder_key(encoder), key)
    with in_one:
        if stored is None and st.session_state.get("swapped") != known:
            # One word takes seconds and is there before all of them, which take minutes.
            _show_word(_of_word(encoder, frame, key, word), word, head)
    with over_all:
        report = stored or cached_report(
            encoder, ("swaps", key), "All words, sentence", lambda progress: swapped_heads(encoder, frame, progress)
        )
        if (report.heads["word"] == ALL).any():
            table = _shown(report, ALL)
            st.markdown("**Over all words**")
            show_map(table, "share", "effect", head, captions.swaps(report), "share of the gap", key="all words")
            st.text(f"{captions.ranking(report, ALL)} {captions.reliable_words(report)}", width="stretch")
    with in_one:
        if stored is not None or st.session_state.get("swapped") == known:
            _show_word(report, word, head)
        _show_sources(encoder, frame, key, word, head)
    if stored is None:
        st.session_state.swapped = known
    st.caption(LIMIT)
    return report


def _of_word(encoder: Encoder, frame: pd.DataFrame, key: Hashable, word: str) -> InterchangeReport:
    rows = frame[frame["word"].astype(str).str.casefold() == word]
    return cached_report(
        encoder,
        ("swaps", key, word),
        f'"{word}", sentence',
        lambda progress: interchange(encoder, rows, progress=progress),
    )


def _show_word(report: InterchangeReport, word: str, head: Head) -> None:
    if reason := report.small_gaps.get(word):
        st.text(f"{reason} So no head's share of that gap is shown; the table has them all.", width="stretch")
    elif (report.heads["word"] == word).any():
        reading = captions.swaps_in_word(report, word, head)
        show_map(_shown(report, word), "share", "effect", head, reading, "share of the gap", key=word)
        st.text(captions.ranking(report, word), width="stretch")
    else:
        st.text(f'"{word}" has too few sentences for it: four of each sense are needed.', width="stretch")


def _shown(report: InterchangeReport, word: str) -> pd.DataFrame:
    return named_heads(report.heads[report.heads["word"] == word].drop(columns="word"))


def _show_sources(encoder: Encoder, frame: pd.DataFrame, key: Hashable, word: str, head: Head) -> None:
    """Which tokens hand over what the chosen head brings in, in a sentence of the visitor's choice."""
    sentences = frame[frame["word"].astype(str).str.casefold() == word]["sentence"]
    row = st.selectbox(
        f"Which tokens hand it over to {head}?",
        list(sentences.index),
        None,
        format_func=sentences.get,
        placeholder="Choose a sentence",
        key=f"sources {key} {word}",
    )
    if row is None:
        return
    found = _of_word(encoder, frame, key, word)
    table = found.sources
    table = table[(table["row"] == row) & (table["layer"] == head.layer) & (table["head"] == head.head)]
    if table.empty or word in found.small_gaps:
        st.text("Where its parts come from can't be told for this sentence.")
        return
    bars = bar_list(table, "share", current_theme(), label="text", number=".1%")
    show_chart(bars, captions.sources(table, word, head), width="content")
