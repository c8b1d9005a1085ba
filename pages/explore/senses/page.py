"""Draw the page Senses: results over many labelled sentences."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from pages.explore.senses.finished_scan import show_scan
from pages.explore.senses.reports import BUILT_IN, Labelled, labelled, open_pair, pick_table, pick_word, show_opened
from selfattn.analysis.usable_rows import check_rows
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, encoder_key
from selfattn.dashboard.copy_as_python import LABELLED, OWN_TABLE, lines, load
from selfattn.dashboard.figures import PageEnds, note_panel, say, show_error, show_panel, side_by_side, this_page
from selfattn.dashboard.pickers import segmented
from selfattn.dashboard.reports import say_dates
from selfattn.dashboard.typed_text import show_rejected
from selfattn.encoders.capture import Head
from selfattn.examples import other_sentences
from selfattn.senses import HiddenWordsReport, SeparationReport, hidden_words, separation
from selfattn.senses.telling_words import MOST, OTHERS, PER_SENSE
from selfattn.stored_reports import measured, shipped_of_others
from selfattn.tidy_tables import leading_words_frame
from selfattn.views import senses as views

FOLDED = 530  # pixels: two columns of this width fit into a window of 1440 pixels
SOURCES = {"labelled": "the labelled set", "table": "your own table", "scan": "a finished scan"}


def show_hidden_words(asked: Labelled, word: str, head: Head) -> None:
    if why := asked.encoder.hide_reason:
        say(f"No word can be hidden in this encoder: {why} Choose another encoder.")
        return
    stored = asked.stored(HiddenWordsReport)
    report = stored.report if stored else _made(asked)
    if report is None:
        return
    others = _others(asked) if asked.key == BUILT_IN else {}
    make = partial(views.hidden_words_panels, asked.encoder, report, asked.frame, word, head, others)
    key = ("panels of hidden words", asked.key, word, head)
    panels = cached(asked.encoder, key, lambda _: list(make()))
    wide, narrow = (panels[:-2], panels[-2:]) if panels[-1].name == "heads" else (panels, [])
    for panel in wide:
        opens = panel.name == "sentences"
        choose = partial(_open, report, asked.frame, word) if opens else None
        show_panel(panel, choose=choose, states=("open",) if opens else ())
    for panel, place in zip(narrow, side_by_side()):
        with place:
            show_panel(panel)


def show_separation(asked: Labelled, head: Head) -> None:
    label, is_table = "How well layers and heads tell the senses apart", asked.key != BUILT_IN
    key = "separation of a table" if is_table else "separation"
    place = st.expander(label, expanded=is_table, key=key, on_change="rerun")
    if not place.open:
        kept = asked.stored(SeparationReport)
        for panel in views.separation_panels(kept.report, head) if kept else ():
            note_panel(panel)
        return
    with place:
        report = asked.report(SeparationReport, "senses", "Telling senses apart: word", separation)
        for panel, column in zip(views.separation_panels(report, head), side_by_side(width=FOLDED)):
            with column:
                show_panel(panel)
        if not asked.encoder.patchable:
            st.info(
                f"Heads can't be compared, because selfattn can't read the heads' outputs: {asked.encoder.patch_reason}"
            )
        show_rejected(report.rejected)


def _others(asked: Labelled) -> dict[str, HiddenWordsReport]:
    read = partial(shipped_of_others, "hidden_words", asked.encoder, asked.frame)
    found = cached(asked.encoder, "reports of others", lambda _: read())
    return {name.split("/")[-1]: report for name, report in found.items()}


def _open(report: HiddenWordsReport, frame: pd.DataFrame, word: str, state: str, at: Any) -> None:
    """Open the main view with the sentence in row `at`, a sentence of another sense, and a control sentence."""
    rows = views.opened(report, frame, word)
    if isinstance(at, int) and 0 <= at < len(rows):
        table = leading_words_frame(report, frame)
        open_pair(rows["sentence"].iloc[at], *other_sentences(table, rows.index[at]), word)


def _made(asked: Labelled) -> HiddenWordsReport | None:
    """Compute the report if the visitor asked for it. If not, draw the button that asks for the report."""
    encoder, frame, what = asked.encoder, asked.frame, "hidden words"
    key = (encoder_key(encoder), (what, asked.key))
    place = st.empty()  # cleared at once, so that "Stop" doesn't move
    if session.HIDDEN_ASKED.get() == key and session.STOPPED.get() != key:
        make = _measured if asked.key == BUILT_IN else hidden_words
        try:
            return asked.report(HiddenWordsReport, what, "Hiding words in sentence", make)
        except ValueError as error:
            say(f"These sentences can't be used for hiding words. {error}")
            return None
    check = partial(check_rows, encoder, frame, per_sense=PER_SENSE, most=MOST, others=OTHERS)
    usable, rejected = cached(encoder, ("rows to hide words in", asked.key), lambda _: check())
    if usable.empty:
        say(f"These sentences can't be used for hiding words: {rejected['reason'].iloc[0]}")
        return None
    with place.container(horizontal=True, vertical_alignment="center"):
        if session.STOPPED.get() == key:
            st.text("Stopped.")
        label = "Measure this encoder" if asked.key == BUILT_IN else f"Measure {len(usable)} sentences"
        st.button(label, key="ask_hidden", on_click=_ask, args=(key,))
        kept = " The result is saved." if asked.key == BUILT_IN else ""
        st.caption(f"Hiding each word of {len(usable)} sentences takes about a second per sentence.{kept}")
    return None


def _measured(encoder, _frame, progress) -> HiddenWordsReport:
    return measured(encoder, progress)


def _ask(key: tuple) -> None:
    session.HIDDEN_ASKED.set(key)
    if session.STOPPED.get() == key:
        session.STOPPED.set(None)


show_opened()
encoder, head = this_page().encoder, this_page().head
with this_page().beside:
    source = segmented("Sentences", SOURCES, key="source")
if source == "scan":
    show_scan(encoder, head)
    raise PageEnds
built_in = source == "labelled"
asked = Labelled(encoder, *((labelled(), BUILT_IN) if built_in else pick_table() or st.stop()))
with this_page().beside:
    word = pick_word(asked.frame)
this_page().python = lines(
    LABELLED if built_in else OWN_TABLE,
    load(encoder),
    "from selfattn.senses import separation\nfrom selfattn.views.senses import layers",
    "notebook.chart(layers(separation(encoder, senses)))",
)
try:
    show_hidden_words(asked, word, head)
    show_separation(asked, head)
except ValueError as error:
    show_error(error)
    _, rejected = cached(encoder, ("rejected", asked.key), lambda _: check_rows(encoder, asked.frame))
    show_rejected(rejected)
    st.stop()
kept = [asked.stored(kind) for kind in (SeparationReport, HiddenWordsReport)]
if any(kept):
    say_dates(*kept)
