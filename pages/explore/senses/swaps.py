"""The senses page's second part: which heads bring a word's sense in, by swapping their outputs; over all words, then in one."""

from collections.abc import Hashable

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator as Container

from pages.explore.senses.tables_and_reports import Labelled, show_map
from selfattn.captions import senses as captions
from selfattn.captions.vectors import OF_SWAPS, noise_floor
from selfattn.charts.bars import bar_list
from selfattn.charts.curves import lines
from selfattn.dashboard.figures import current_theme, literal, say, show_chart, side_by_side
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import NotRecomputable
from selfattn.senses import SwapReport, interchange
from selfattn.senses.swapping import ALL
from selfattn.stored_reports import LeadingHeads, swapped_heads
from selfattn.tidy_tables import named_heads, together_frame
from selfattn.words import fold

LIMIT = (
    "What this doesn't say: the sentences that a head's output is taken from may share a topic as well as a sense; and only the "
    "word's own position is swapped, so what other positions gathered for it counts to the head that fetched it. More than 100 % "
    "of the gap is possible: what is swapped in is a mean over sentences, and purer than the output in any one of them."
)


def pick_word(frame: pd.DataFrame) -> str:
    """One of the table's words, for every part of the page."""
    words = sorted(frame["word"].dropna().astype(str).str.strip().map(fold).unique())
    return st.selectbox("Word", words, key="sense_word", bind="query-params", width=150)


def begin(word: str) -> tuple[Container, Container]:
    """The heading, and the places of both maps: over all words, and in the chosen one."""
    st.markdown(
        "#### Which heads bring the sense in",
        help="At the word, a head's output is swapped for the mean of the other sense's sentences, and the word's vector moves "
        "toward that sense: the effect. The control swaps in the mean of its own sense's. Effect minus control, as a part of the "
        'gap between the senses, is the share of one head, of several swapped together, and of all; the table "gaps" has both '
        "parts of all heads'. Shares are never added up.",
    )
    over_all, in_one = side_by_side()
    in_one.markdown(f'**In "{literal(word)}"**')
    return over_all, in_one


def show_word(asked: Labelled, head: Head, word: str, place: Container) -> None:
    """The chosen word's map, in its place."""
    try:
        with place:
            late = asked.comes_late(SwapReport, "swaps")  # of all words it takes minutes, of one seconds
            report = _of_word(asked, word) if late else _of_all(asked)
            if reason := report.small_gaps.get(word):
                say(f"{reason} So no head's share of that gap is shown; the table has them all.")
            elif (report.heads["word"] == word).any():
                _show_shares(asked.encoder, report, word, captions.swaps_in_word(report, word, head), head)
                say(captions.ranking(report, word))
            else:
                raise ValueError
    except ValueError:
        place.text(f'"{word}" has too few sentences for it: four of each sense are needed.', width="stretch")
    except NotRecomputable:
        return  # `show_all` says why


def show_all(asked: Labelled, head: Head, place: Container) -> SwapReport | None:
    """The map of all words, in its place, and what it doesn't say."""
    try:
        with place:
            report = _of_all(asked)
            if (report.heads["word"] == ALL).any():
                st.markdown("**Over all words**")
                _show_shares(asked.encoder, report, ALL, captions.swaps(report), head)
                say(f"{captions.ranking(report, ALL)} {captions.leaders(report)}")
    except (ValueError, NotRecomputable) as error:
        place.text(f"Heads' outputs can't be swapped over these sentences. {error}", width="stretch")
        return None
    st.caption(LIMIT)
    return report


def show_together(asked: Labelled) -> None:
    """The leading heads swapped together; only where it was computed beforehand, for it takes minutes."""
    st.markdown("**How far the leading heads go together**")
    stored = asked.stored(LeadingHeads)
    if stored is None:
        st.text("Stored for the bundled encoder and the labelled set only; elsewhere, selfattn.senses.leading_heads.")
        return
    shares = stored.report.shares
    titles = ("heads swapped together", "share of the gap")
    frame = together_frame(shares)
    chart = lines(frame, "k", "share", current_theme(), "heads", titles=titles, size=(430, 240), level=1.0)
    show_chart(chart, captions.together(shares), one_head=False, name="leading heads together")


def _of_all(asked: Labelled) -> SwapReport:
    return asked.report(SwapReport, "swaps", "All words, sentence", swapped_heads)


def _of_word(asked: Labelled, word: str) -> SwapReport:
    return asked.of(word).report(SwapReport, "swaps", f'"{word}", sentence', interchange)


def _show_shares(encoder: Encoder, report: SwapReport, word: str, reading: str, head: Head) -> None:
    """The map of one word's shares, or of all words'; what a low precision's rounding makes is drawn as 0."""
    table = named_heads(report.heads[report.heads["word"] == word].drop(columns="word"))
    gap = report.gaps.set_index("word")["gap"][word]
    table, noise = noise_floor(table, "share", encoder.dtype, {"share": OF_SWAPS / gap})
    said = f"{reading} {noise}".strip()
    show_map(table, "share", "effect", head, said, "share of the gap", key=word, how="by gradient")


def show_sources(asked: Labelled, word: str, head: Head, row: Hashable) -> None:
    """Which tokens hand over what the chosen head brings in, in the sentence of this row."""
    try:
        found = _of_word(asked, word)
    except ValueError:
        return  # too few sentences, which stands beside the maps
    table = found.sources
    table = table[(table["row"] == row) & (table["layer"] == head.layer) & (table["head"] == head.head)]
    if table.empty or word in found.small_gaps:
        st.text("Where its parts come from can't be told for this sentence.")
        return
    bars = bar_list(table, "share", current_theme(), label="text", number=".1%")
    show_chart(bars, captions.sources(table, word, head), name="which tokens hand it over")
