"""The Senses page's first panel: which word brings the sense in, and how often attention names that word."""

from functools import partial

import pandas as pd
import streamlit as st

from pages.explore.senses.tables_and_reports import Labelled, open_row, pick_row
from selfattn.analysis.usable_rows import check_rows
from selfattn.captions import which_word as captions
from selfattn.captions.which_word import ranked
from selfattn.charts.which_word import accuracy_list, agreement_list, shaded_sentences
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, encoder_key
from selfattn.dashboard.figures import current_theme, say, show_chart, side_by_side, this_page
from selfattn.encoders.encoder import Encoder
from selfattn.senses import HiddenWordsReport, hidden_words
from selfattn.senses.telling_words import MOST, OTHERS, PER_SENSE
from selfattn.tidy_tables import leading_words_frame, shaded_frame

SHOWN = 12  # sentences to draw from each end of the ranking: together all of a built-in word
FEW, HIGH = 6, 340  # more sentences than FEW scroll in a window of HIGH pixels


def show(asked: Labelled, word: str) -> None:
    """Show the panel for all words and the chosen one. Without a stored report, offer a button that computes one."""
    st.markdown("#### Which word brings the sense in", help=captions.HELP)
    if why := asked.encoder.hide_reason:
        say(f"No word can be hidden in this encoder: {why} Choose another one to see it.")
        return
    stored = asked.stored(HiddenWordsReport)
    report = stored.report if stored else _made(asked)
    if report is None:
        return
    over_words, on_trial = side_by_side()
    with over_words:
        st.markdown("**Is one word enough?**")
        chart = accuracy_list(report, current_theme())
        show_chart(chart, captions.one_word(report), one_head=False, name="the sense with one word hidden, and alone")
        say(captions.in_word(report, word))
        say(captions.not_from_two(report))
    with on_trial:
        st.markdown("**Does attention name it?**")
        chart = agreement_list(report, current_theme())
        show_chart(chart, captions.on_trial(report), one_head=False, name="how often each way names the telling word")
    _show_sentences(asked, report, word)
    names = ("words", "accuracy", "agreement", "between", "rejected")
    this_page().tables |= {f"{name}, hidden words": partial(getattr, report, name) for name in names}


def _made(asked: Labelled) -> HiddenWordsReport | None:
    """Compute this table's report once the visitor asks for it. Return None before that, or if it can't be computed."""
    encoder, frame, what = asked.encoder, asked.frame, "hidden words"
    key = (encoder_key(encoder), (what, asked.key))
    place = st.empty()  # remove the button at once: if it stayed until the end, "Stop" would move under a click
    if session.HIDDEN_ASKED.get() == key and session.STOPPED.get() != key:
        try:
            return asked.report(HiddenWordsReport, what, "Hiding each other word, sentence", hidden_words)
        except ValueError as error:
            say(f"No word can be asked for over these sentences. {error}")
            return None
    check = partial(check_rows, encoder, frame, per_sense=PER_SENSE, most=MOST, others=OTHERS)
    usable, rejected = cached(encoder, ("rows to hide words in", asked.key), lambda _: check())
    if usable.empty:
        say(f"No word can be asked for over these sentences: {rejected['reason'].iloc[0]}")
        return None
    with place.container(horizontal=True, vertical_alignment="center"):
        if session.STOPPED.get() == key:
            st.text("Stopped.")
        st.button(f"Ask this of {len(usable)} sentences", key="ask_hidden", on_click=_ask, args=(key,))
        st.caption("Each word of each sentence is hidden in turn: about a second a sentence.")
    return None


def _ask(key: tuple) -> None:
    session.HIDDEN_ASKED.set(key)
    if session.STOPPED.get() == key:
        session.STOPPED.set(None)


def _show_sentences(asked: Labelled, report: HiddenWordsReport, word: str) -> None:
    """Show all sentences in a table, the chosen word's first, and shade the words of that word's or of the ticked sentence."""
    table = leading_words_frame(report, asked.frame)
    own = table["word"] == word
    table = pd.concat([table[own], table[~own]])
    n = int(own.sum())
    st.markdown("**Sentence by sentence**", help=captions.SHADES)
    below = st.container()
    percent = st.column_config.NumberColumn(format="%.0f %%")
    shown = table.assign(share=100 * table["share"], next=100 * table["next"])
    shown = shown.rename(columns={"first": "leading word", "share": "of the way", "second": "next word"})
    ticked = pick_row(shown, f"hidden in {word}", column_config={"of the way": percent, "next": percent})
    rows = [*dict.fromkeys([*table.index[: min(SHOWN, n)], *table.index[max(n - SHOWN, 0) : n]])]
    if ticked is not None:
        rows = [ticked]
    with below:
        if rows:
            chart = shaded_sentences(shaded_frame(report, _read(asked.encoder, report, table, rows)), current_theme())
            reading = captions.shaded(ticked is not None, word, n, SHOWN)
            with st.container(height=HIGH if len(rows) > FEW else "content", border=False):
                show_chart(chart, reading, one_head=False, name="sentences, word by word", visible=False)
            say(reading)
        if ticked is not None:
            open_row(table, ticked)


def _read(encoder: Encoder, report: HiddenWordsReport, table: pd.DataFrame, rows: list) -> dict:
    """Map each row to the sentence's words, and to a line with its sense and the word that the sense comes from."""
    found = {}
    for row in rows:
        words, sense = encoder.tokenize(table["sentence"][row]).words, table["sense"][row]
        own = report.words[report.words["row"] == row].set_index("start")["share"]
        others = [word for word in words if word.start in own.index]
        found[row] = words, f"{sense}: {captions.in_sentence(ranked(others, own))}"
    return found
